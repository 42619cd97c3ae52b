"""Transformers without a network, without progress bars, without touching anyone's loggers for good."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def offline_transformers() -> Iterator[ModuleType]:
    """Import transformers with every hub call disabled; its chatter is silenced inside the block only.

    The hub reads its environment at import, so the variables are set before the first import and stay.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
