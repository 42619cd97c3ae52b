"""The command line's clock: `--now`, or the wall clock; and how an instant is written there."""

from __future__ import annotations

from datetime import UTC, datetime

from ledger_core.kernel import timestamps
from ledger_core.kernel.errors import StrictProfileError
from pipelines.errors import UsageError


def parse_now(text: str) -> str:
    """The strict timestamp of ``text``, an ISO 8601 instant with its offset; raises :class:`UsageError`."""
    return parse_instant(text, "--now")


def parse_instant(text: str, option: str) -> str:
    """:func:`parse_now` for the value of another ``option``."""
    try:
        return timestamps.check_timestamp(text)
    except StrictProfileError:
        pass
    try:
        return timestamps.from_datetime(datetime.fromisoformat(text))
    except (ValueError, StrictProfileError) as error:
        raise UsageError(f"{option} {text!r} is no instant ({error}); write e.g. 2026-01-31T12:00:00Z") from error


def wall_clock() -> str:
    """The present as a strict timestamp."""
    return timestamps.from_datetime(datetime.now(UTC))
