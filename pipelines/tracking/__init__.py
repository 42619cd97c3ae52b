"""MLflow on SQLite, through `MlflowClient` alone: no global state, no telemetry, one run a materialisation."""
