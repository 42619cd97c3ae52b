"""Writes one MLflow run per Dagster run into a local SQLite store: what was materialised, its figures, its report."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.offline import go_offline

EXPERIMENT = "veritas"
_RUN_TAG = "dagster_run_id"
_KIND_TAG, _KIND = "mlflow.experimentKind", "custom_model_development"
"""Tells the MLflow UI that the experiment is a list of runs with metrics; untold, it opens on pages for chat traces."""
_BATCH = 1_000
"""Figures in one transaction: what the store takes at most."""


class MlflowStore:
    """A local MLflow store.

    The schema is migrated once, at construction, before anything could write in parallel. MLflow is imported here and
    nowhere else, because its import takes seconds.
    """

    def __init__(self, database: Path) -> None:
        go_offline()
        from mlflow.tracking import MlflowClient

        logging.getLogger("mlflow").setLevel(
            logging.WARNING
        )  # it tells of its tables, a reader wants the run's progress
        database.parent.mkdir(parents=True, exist_ok=True)
        self.uri = f"sqlite:///{database}"
        self._client: Any = MlflowClient(tracking_uri=self.uri)
        found = self._client.get_experiment_by_name(EXPERIMENT)
        self._experiment: str = (
            found.experiment_id
            if found is not None
            else self._client.create_experiment(
                EXPERIMENT, artifact_location=(database.parent / "artifacts").as_uri(), tags={_KIND_TAG: _KIND}
            )
        )
        self._runs: dict[str, str] = {}

    def record(
        self,
        dagster_run: str,
        *,
        metrics: Mapping[str, float],
        parameters: Mapping[str, str] | None = None,
        artifacts: tuple[Path, ...] = (),
    ) -> str:
        """Add figures of one materialised asset to the MLflow run of ``dagster_run`` and return the MLflow run's id.

        The run is marked finished after each addition, so that a killed process leaves no run that seems to go on.
        """
        from mlflow.entities import Metric, Param

        run_id = self._run(dagster_run)
        now = time.time_ns() // 1_000_000
        logged = [Metric(key, float(number), now, 0) for key, number in sorted(metrics.items())]
        parameters_logged = [Param(key, value) for key, value in sorted((parameters or {}).items())]
        self._client.log_batch(run_id, params=parameters_logged)
        for start in range(0, len(logged), _BATCH):
            self._client.log_batch(run_id, metrics=logged[start : start + _BATCH])
        for path in artifacts:
            self._client.log_artifact(run_id, str(path))
        self._client.set_terminated(run_id, status="FINISHED")
        return run_id

    def _run(self, dagster_run: str) -> str:
        if dagster_run not in self._runs:
            found = self._client.search_runs(
                [self._experiment], filter_string=f"tags.{_RUN_TAG} = '{dagster_run}'", max_results=1
            )
            run = (
                found[0]
                if found
                else self._client.create_run(
                    self._experiment, run_name=f"materialisation-{dagster_run[:8]}", tags={_RUN_TAG: dagster_run}
                )
            )
            self._runs[dagster_run] = run.info.run_id
        return self._runs[dagster_run]
