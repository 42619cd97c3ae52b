"""Writes one MLflow run per materialisation into a local SQLite store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXPERIMENT = "veritas"


class MlflowStore:
    """A local MLflow store: parameters, metrics and the report of each materialisation.

    The schema is migrated once, at construction, before anything could write in parallel. MLflow is imported here and nowhere
    else, because its import takes seconds.
    """

    def __init__(self, database: Path) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("DO_NOT_TRACK", "true")
        from mlflow.tracking import MlflowClient

        database.parent.mkdir(parents=True, exist_ok=True)
        self._artifacts = database.parent / "artifacts"
        self._client: Any = MlflowClient(tracking_uri=f"sqlite:///{database}")
        found = self._client.get_experiment_by_name(EXPERIMENT)
        self._experiment = (
            found.experiment_id
            if found is not None
            else self._client.create_experiment(EXPERIMENT, artifact_location=self._artifacts.as_uri())
        )

    def record(
        self,
        name: str,
        *,
        parameters: Mapping[str, str],
        metrics: Mapping[str, float],
        artifacts: tuple[Path, ...] = (),
    ) -> str:
        """Record one finished materialisation and return its MLflow run id."""
        run = self._client.create_run(self._experiment, run_name=name)
        run_id: str = run.info.run_id
        try:
            for key, value in sorted(parameters.items()):
                self._client.log_param(run_id, key, value)
            for key, number in sorted(metrics.items()):
                self._client.log_metric(run_id, key, number)
            for path in artifacts:
                self._client.log_artifact(run_id, str(path))
        except Exception:
            self._client.set_terminated(run_id, status="FAILED")
            raise
        self._client.set_terminated(run_id, status="FINISHED")
        return run_id
