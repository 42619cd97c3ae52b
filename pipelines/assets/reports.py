"""The asset that writes the report an analyst reads."""

# No `from __future__ import annotations` here: Dagster reads the annotations of `context` as objects.

import dagster as dg

from pipelines.resources import WorkspaceResource
from pipelines.stages import reports

GROUP = "evaluation"


@dg.asset(
    group_name=GROUP,
    deps=["kill_report", "answer_attribution", "weight_pairs", "metrics", "stability_report"],
    description="The evaluation report: one HTML file that opens from disk, with JSON and Parquet beside it.",
    kinds={"html"},
)
def report(context: dg.AssetExecutionContext, workspace: WorkspaceResource) -> dg.MaterializeResult[None]:
    """Write the report and log it to MLflow."""
    at = workspace.get()
    written = reports.write_report(at)
    at.tracking.record(
        context.run.run_id,
        metrics=written.figures,
        parameters={"model": at.run.plan.model, "seed": str(at.run.plan.seed), "run": at.run.plan.digest},
        artifacts=(written.html, written.json),
    )
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(written.html)),
            **{name: dg.MetadataValue.float(value) for name, value in written.figures.items()},
        },
        data_version=dg.DataVersion(written.digest),
    )


ASSETS = [report]
