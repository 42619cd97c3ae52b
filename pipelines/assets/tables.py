"""Makes an asset of a stage: one table per scope, written deterministically, its row root as the data version."""

# No `from __future__ import annotations` here: Dagster reads the annotations of `context` as objects.

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.statements import Scope
from pipelines.lake import TABLES, write_table
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource
from pipelines.workspace import Workspace

Rows = list[dict[str, Any]]
Stage = Callable[[Workspace, Scope], Rows]
DataVersion = Callable[[Workspace, Scope], str]

tenants = dg.DynamicPartitionsDefinition(name="tenants")
"""One partition per tenant: `eval`, `samples`, and whatever was imported."""


def table_asset(
    stage: Stage,
    *,
    group: str,
    deps: Sequence[str] = (),
    partitioned: bool = True,
    data_version: DataVersion | None = None,
) -> dg.AssetsDefinition:
    """An asset that writes the table of the stage's name for every scope of its partition.

    Args:
        stage: computes the rows; its name (without ``_rows``) is the asset's and the table's.
        group: group in the asset graph.
        deps: names of the assets whose tables it reads.
        partitioned: by tenant; otherwise it belongs to the evaluation run alone.
        data_version: how the data version is found, where it is not the root over the written rows.
    """
    name = stage.__name__.removesuffix("_rows")

    @dg.asset(
        name=name,
        group_name=group,
        deps=list(deps),
        description=TABLES[name].description,
        partitions_def=tenants if partitioned else None,
        kinds={"parquet"},
    )
    def asset(context: dg.AssetExecutionContext, workspace: WorkspaceResource) -> dg.MaterializeResult[None]:
        at = workspace.get()
        tenant = context.partition_key if partitioned else EVALUATION_TENANT
        versions: list[str] = []
        count = 0
        for scope in at.scopes(tenant):
            rows = stage(at, scope)
            written = write_table(at.lake(scope), name, rows)
            versions.append(written if data_version is None else data_version(at, scope))
            count += len(rows)
        version = versions[0] if len(versions) == 1 else digests.framed_hex(Prefix.ROWS, [v.encode() for v in versions])
        at.tracking.record(context.run.run_id, metrics={f"rows.{tenant}.{name}": count})
        return dg.MaterializeResult(
            metadata={"dagster/row_count": count, "root": version},
            data_version=dg.DataVersion(version),
        )

    return asset
