"""Everything that orchestrates: Dagster assets, lake I/O, MLflow tracking and the `veritas` command line."""
