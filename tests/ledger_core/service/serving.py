"""A service in a process of its own: ``python -m tests.ledger_core.service.serving HOME [CERTIFICATE KEY]``."""

from __future__ import annotations

import sys
from pathlib import Path

from ledger_core.service.server import Binding, serve
from tests.ledger_core.service.served import config_of

if __name__ == "__main__":
    home, *tls = map(Path, sys.argv[1:])
    certificate, key = tls or (None, None)
    binding = Binding(port=0, certificate=certificate, private_key=key)
    serve(config_of(home), binding, lambda url: print(url, flush=True))  # noqa: T201 - its only way to tell
