"""Acts on a ledger that a test runs in a process without root's power to ignore permissions."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import LedgerError
from ledger_core.kernel.statements import facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.stores import Ledger
from ledger_core.stores.verify import verify
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell


def _say(line: object) -> None:
    sys.stdout.write(f"{line}\n")


def _open(home: Path) -> Ledger:
    return Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


def _append(ledger: Ledger, step: int) -> None:
    # No new blob: what runs out of room is the log.
    content = next(event.statement.body.content for event in ledger.events() if event.statement.kind == "entry.given")
    body = EntryGivenBody.make(content=content, role="user")
    fact = facts.message_fact("tests.full", "r", step)
    ledger.append((Author(SCOPE, "tests.full", "1").write(EntryGiven, fact, body),), role="recorder")


def _open_only(home: Path) -> None:
    _open(home)


def _read(home: Path) -> None:
    ledger = _open(home)
    _say(f"{ledger.head()} {verify(ledger).first_divergence}")


def _append_once(home: Path) -> None:
    _append(_open(home), 1)


def _fill(home: Path) -> None:
    """Append until a file may grow no further; the limit is as good as a full disk."""
    ledger = _open(home)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    step = 0
    try:
        while True:
            _append(ledger, step)
            step += 1
    except LedgerError as error:
        _say(f"{type(error).__name__}: {error}")
        _say(ledger.count())


def _fill_blobs(home: Path) -> None:
    ledger = _open(home)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    ledger.put_blob(b"small enough", TEXT)
    ledger.put_blob(b"x" * 100_001, TEXT)


ACTS: dict[str, Callable[[Path], None]] = {
    "open": _open_only,
    "read": _read,
    "append": _append_once,
    "fill": _fill,
    "fill-blobs": _fill_blobs,
}


def warm_up() -> None:
    """Import all that an act may need while the interpreter's own files can still be read."""
    ledger = open_memory()
    tell(ledger)
    verify(ledger).require()


def act(home: Path, name: str) -> None:
    """Perform an act and print the ledger's error, if any, as one line."""
    try:
        ACTS[name](home)
    except LedgerError as error:
        _say(f"{type(error).__name__}: {error}")
