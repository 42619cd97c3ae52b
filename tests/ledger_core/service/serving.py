"""A service in a process of its own, to be killed: ``python -m tests.ledger_core.service.serving HOME``."""

from __future__ import annotations

import sys
from pathlib import Path

from ledger_core.service.server import Binding, serve
from tests.ledger_core.service.served import config_of

if __name__ == "__main__":
    serve(config_of(Path(sys.argv[1])), Binding(port=0), lambda url: print(url, flush=True))  # noqa: T201 - its only way to tell
