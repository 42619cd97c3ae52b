"""Runs assets in this process under a local Dagster instance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError

from pipelines.assets import attribution, ledger, upsert
from pipelines.assets.checks import CHECKS, chain_verifies
from pipelines.assets.tables import tenants
from pipelines.definitions import ASSETS
from pipelines.errors import CheckFailedError, DamagedLedgerError
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource
from pipelines.workspace import SAMPLES_TENANT, Workspace

_INSTANCE = """\
telemetry:
  enabled: false
nux: # the dialog before the first page, which asks for an address
  enabled: false
concurrency: # each run is a process with torch in it; two at once on two cores are ten times slower
  runs:
    max_concurrent_runs: 1
python_logs: # what a run does stands on its page; the terminal gets what went wrong
  python_log_level: WARNING
"""

_PROCESS = "veritas/process"
"""Tag with the id of the process that carries a run out."""


def instance_folder(home: Path) -> Path:
    """The Dagster instance's folder below ``home``: no telemetry, no newsletter's dialog, one run at a time, a quiet terminal."""
    folder = home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "dagster.yaml"
    if not configuration.exists():
        configuration.write_text(_INSTANCE, encoding="utf-8")
    os.environ["DAGSTER_HOME"] = str(folder)
    return folder


def ensure_partitions(instance: dg.DagsterInstance, names: Sequence[str]) -> None:
    """Make sure that the tenants in ``names`` are partitions."""
    known = set(instance.get_dynamic_partitions(tenants.name or ""))
    missing = [name for name in dict.fromkeys(names) if name not in known]
    if missing:
        instance.add_dynamic_partitions(tenants.name or "", missing)


def materialise(at: Workspace, tenant: str, *, only: Sequence[str] | None = None) -> None:
    """Materialise the graph for one tenant; checks block what is downstream of a failure.

    Args:
        at: the workspace.
        tenant: partition to materialise; a tenant other than the evaluation's gets the ledger and attribution assets.
        only: asset names to restrict to.

    Raises:
        CheckFailedError: a blocking check failed; the message names it.
        KeyboardInterrupt: Ctrl-C or SIGTERM while a step ran; what was done is kept.
    """
    folder = instance_folder(at.settings.home)
    WorkspaceResource.install(at)
    assets = ASSETS if tenant == EVALUATION_TENANT else [*ledger.ASSETS, *attribution.ASSETS, *upsert.ASSETS]
    selection = dg.AssetSelection.assets(*only) if only else None
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        _close_dead_runs(instance)
        ensure_partitions(instance, (EVALUATION_TENANT, SAMPLES_TENANT, tenant))
        keys = {asset.key for asset in assets}
        chosen = [asset for asset in assets if not only or asset.key.path[-1] in only]
        partitioned = any(asset.partitions_def is not None for asset in chosen)
        checks = [check for check in CHECKS if {spec.asset_key for spec in check.check_specs} <= keys]
        try:
            dg.materialize(
                [*assets, *checks],
                instance=instance,
                partition_key=tenant if partitioned else None,
                resources={"workspace": WorkspaceResource()},
                selection=selection,
                tags={_PROCESS: str(os.getpid())},
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
        except DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error  # Dagster's own name for Ctrl-C and SIGTERM while a step runs
        except dg.DagsterError as error:
            failed = _failed_checks(instance)
            if not failed:
                raise
            raise _refusal(failed) from error


def _close_dead_runs(instance: dg.DagsterInstance) -> None:
    """Mark runs of processes that are gone as failed: a killed one would go on for ever in the UI and hold up its queue."""
    under_way = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED])
    for run in instance.get_runs(filters=under_way):
        process = run.tags.get(_PROCESS)
        if process is not None and not _is_alive(int(process)):
            instance.report_run_failed(run, f"process {process} is gone; the run was killed")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)  # signal 0 asks and sends nothing
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _failed_checks(instance: dg.DagsterInstance) -> list[dg.AssetCheckEvaluation]:
    """Checks that did not pass in the newest run of ``instance``."""
    (run,) = instance.get_runs(limit=1)
    records = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION).records
    events = [record.event_log_entry.dagster_event for record in records]
    evaluations = [event.asset_check_evaluation_data for event in events if event is not None]
    return [evaluation for evaluation in evaluations if not evaluation.passed]


def _refusal(failed: Sequence[dg.AssetCheckEvaluation]) -> CheckFailedError:
    detail = "; ".join(
        f"{check.check_name}: {', '.join(str(value.value) for value in check.metadata.values())}" for check in failed
    )
    if {check.check_name for check in failed} & {spec.name for spec in chain_verifies.check_specs}:
        return DamagedLedgerError(f"the ledger does not verify: {detail}; `veritas verify` shows the place")
    return CheckFailedError(f"a blocking check failed: {detail}; nothing downstream of it was done")
