"""Nothing is looked up and nothing is reported at run time: what that takes, in the words of each library."""

from __future__ import annotations

import os

ENVIRONMENT = {
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DO_NOT_TRACK": "true",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}


def go_offline() -> None:
    """Set :data:`ENVIRONMENT` for this process and its children; must precede the import of the libraries, which read it then."""
    os.environ.update(ENVIRONMENT)
