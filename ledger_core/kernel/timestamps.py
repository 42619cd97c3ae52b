"""Timestamps of the strict profile: ``YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ``, UTC, nine digits of which the last three are 0.

The nanoseconds are the contracts' width; microsecond alignment makes every timestamp an exact ``datetime``, and the one
width makes the order of strings the order of time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from ledger_core.kernel.errors import StrictProfileError

_SHAPE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{6})([0-9]{3})Z",
)
_QUOTED = 64  # characters of an offending value that a message repeats


@lru_cache(maxsize=256)
def check_timestamp(value: str) -> str:
    """``value`` itself, if it is a strict timestamp.

    Raises:
        StrictProfileError: another shape, finer than a microsecond, a leap second, year 0, or no calendar date.
    """
    to_datetime(value)
    return value


def to_datetime(value: str) -> datetime:
    """The instant as an aware ``datetime`` in UTC.

    Raises:
        StrictProfileError: as :func:`check_timestamp`.
    """
    match = _SHAPE.fullmatch(value)
    if match is None:
        raise StrictProfileError(
            f"timestamp {value[:_QUOTED]!r} is not of the form YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ in UTC"
        )
    *fields, beyond = match.groups()
    if beyond != "000":
        raise StrictProfileError(f"timestamp {value!r} is finer than a microsecond; its last three digits must be 000")
    year, month, day, hour, minute, second, microsecond = map(int, fields)
    try:
        return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
    except ValueError as error:
        raise StrictProfileError(
            f"timestamp {value!r} is no instant of the calendar ({error}); year 0 and leap seconds are not admitted"
        ) from error


def from_datetime(instant: datetime) -> str:
    """The strict timestamp of an aware ``datetime``, converted to UTC.

    Raises:
        StrictProfileError: ``instant`` has no UTC offset, or leaves the years 1 to 9999 in UTC.
    """
    if instant.utcoffset() is None:
        raise StrictProfileError(f"instant {instant.isoformat()} has no UTC offset; pass an aware datetime")
    try:
        universal = instant.astimezone(UTC)
    except OverflowError as error:
        raise StrictProfileError(f"instant {instant.isoformat()} lies outside the years 1 to 9999 in UTC") from error
    return universal.replace(tzinfo=None).isoformat(timespec="microseconds") + "000Z"
