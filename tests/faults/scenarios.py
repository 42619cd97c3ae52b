"""What is done while the shim watches. Each acknowledges with ``say`` what it has been told is durable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import LedgerError
from ledger_core.stores import Ledger, sqlite
from tests.faults.preload import Durable
from tests.ledger_core.stores.test_sqlite import note, open_ledger

Armed = Callable[[], AbstractContextManager[None]]
Say = Callable[[str], None]

ERASED = b"text 0"
"""Content of the event that every prepared ledger holds."""


def prepare(home: Path) -> str:
    """A ledger of one event, closed; its id."""
    with open_ledger(home) as ledger:
        return write(ledger, 0)


def write(ledger: Ledger, *steps: int) -> str:
    """Append one transaction of new events, each over a new blob; the last id."""
    outcomes = ledger.append([note(ledger, step, f"text {step}") for step in steps], role="recorder")
    return outcomes[-1].event_id


@contextmanager
def _refusals(say: Say) -> Iterator[None]:
    """Say what was refused; any other error is a defect and ends the child with a failure."""
    try:
        yield
    except LedgerError as error:
        say(f"refused {type(error).__name__}")


def append(home: Path, armed: Armed, say: Say, durable: Durable, *, steps: list[int], power: str = "") -> None:
    """One transaction into an open ledger; then, if it was refused, the same again on a disk that works."""
    with open_ledger(home) as ledger:
        ledger.count()
        with _refusals(say), armed():
            say(f"event {write(ledger, *steps)}")
            if power:
                durable.copy_to(Path(power))
        say(f"again {write(ledger, *steps)}")


def append_and_checkpoint(home: Path, armed: Armed, say: Say, durable: Durable, *, steps: list[int]) -> None:
    """As :func:`append`, with a write-ahead log that is long enough to be folded back."""
    sqlite._CHECKPOINT_PAGES = 0
    append(home, armed, say, durable, steps=steps)


def close(home: Path, armed: Armed, say: Say, _: Durable, *, steps: list[int]) -> None:
    """A ledger with an event in its write-ahead log is closed, which folds the log back."""
    ledger = open_ledger(home)
    say(f"event {write(ledger, *steps)}")
    with _refusals(say), armed():
        ledger.close()
    with open_ledger(home) as again:
        say(f"again {write(again, *steps)}")


def create(home: Path, armed: Armed, say: Say, durable: Durable, *, power: str = "") -> None:
    """A ledger begins."""
    with _refusals(say), armed():
        open_ledger(home).close()
        say("begun")
        if power:
            durable.copy_to(Path(power))
    with open_ledger(home) as ledger:
        say(f"again {write(ledger, 0)}")


def erase(home: Path, armed: Armed, say: Say, durable: Durable, *, power: str = "") -> None:
    """Content is destroyed."""
    with open_ledger(home) as ledger:
        digest = content_ref(ERASED, TEXT).digest
        with _refusals(say), armed():
            ledger.blobs.erase(digest)
            say("erased")
            if power:
                durable.copy_to(Path(power))
        ledger.blobs.erase(digest)
        say("again")
