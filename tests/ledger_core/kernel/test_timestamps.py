from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.timestamps import check_timestamp, from_datetime, to_datetime


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("0001-01-01T00:00:00.000000000Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("2024-02-29T23:59:59.999999000Z", datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("9999-12-31T23:59:59.000001000Z", datetime(9999, 12, 31, 23, 59, 59, 1, tzinfo=UTC)),
    ],
)
def test_a_timestamp_and_its_instant(value: str, instant: datetime) -> None:
    assert check_timestamp(value) is value
    assert to_datetime(value) == instant
    assert from_datetime(instant) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2026-08-14T12:34:56Z", "not of the form"),
        ("2026-08-14T12:34:56.000000000", "not of the form"),
        ("2026-08-14T12:34:56.000Z", "not of the form"),
        ("2026-08-14T12:34:56.000000000+00:00", "not of the form"),
        ("2026-08-14t12:34:56.000000000z", "not of the form"),
        ("2026-08-14 12:34:56.000000000Z", "not of the form"),
        ("2026-08-14T12:34:56.000000000Z\n", "not of the form"),
        ("٢٠٢٦-08-14T12:34:56.000000000Z", "not of the form"),
        ("12026-08-14T12:34:56.000000000Z", "not of the form"),
        ("2026-08-14T12:34:56.000000001Z", "finer than a microsecond"),
        ("2026-08-14T12:34:60.000000000Z", "no instant of the calendar"),
        ("2016-12-31T23:59:60.000000000Z", "leap seconds are not admitted"),
        ("2026-08-14T24:00:00.000000000Z", "no instant of the calendar"),
        ("0000-08-14T12:34:56.000000000Z", "year 0"),
        ("2026-13-01T00:00:00.000000000Z", "no instant of the calendar"),
        ("1900-02-29T00:00:00.000000000Z", "no instant of the calendar"),
        ("2026-04-31T00:00:00.000000000Z", "no instant of the calendar"),
    ],
)
def test_other_timestamps_are_refused(value: str, message: str) -> None:
    with pytest.raises(StrictProfileError, match=message):
        check_timestamp(value)


def test_a_message_repeats_sixty_four_characters_of_a_value() -> None:
    with pytest.raises(StrictProfileError, match=f"^timestamp '{'x' * 64}' is not of the form"):
        check_timestamp("x" * 65)


def test_an_instant_in_another_zone_is_converted() -> None:
    instant = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert from_datetime(instant) == "2025-12-31T23:30:00.000000000Z"


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(StrictProfileError, match="no UTC offset"):
        from_datetime(datetime(2026, 1, 1))  # noqa: DTZ001 - the naive instant is the point


def test_an_instant_outside_the_years_is_refused() -> None:
    with pytest.raises(StrictProfileError, match="outside the years 1 to 9999"):
        from_datetime(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))))


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_text_order_is_time_order_and_the_conversion_is_exact(one: datetime, other: datetime) -> None:
    assert to_datetime(from_datetime(one)) == one
    assert (from_datetime(one) < from_datetime(other)) is (one < other)
