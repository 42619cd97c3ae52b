"""The ledger against bare SQLite, the `eventsourcing` library and bare hashing, on the same disk and the same bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.stores import Ledger
from tests.bench import peers, postgres_lines, service_lines
from tests.bench.measuring import Comparison, Figure, Finding, Goal, compare, growth, memory, timed
from tests.bench.reading import Reading, read
from tests.bench.sizes import Sizes
from tests.bench.trajectories import fill, given, in_memory, open_ledger
from tests.bench.turns import append_one, each

PEAK_MEBIBYTES = 512
TIMES = 10
"""How many times as much the growth lines compare."""


def run(folder: Path, sizes: Sizes) -> Iterator[Finding]:
    """Every line of the suite, in ``folder``, whose disk is what is measured."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        yield _single_against_sqlite(place / "single", sizes)
        yield _single_against_eventsourcing(place / "eventsourcing", sizes)
        yield _batch(place / "batch", sizes)
        yield from _reading(place / "reading", sizes)
        yield _belief_growth(sizes.nodes)
        yield from postgres_lines.run(place / "postgres", sizes)
        yield from service_lines.run(place / "service", sizes)


def _single_against_sqlite(place: Path, sizes: Sizes) -> Comparison:
    bare = peers.one_table(place / "bare.sqlite3")
    with open_ledger(place / "ours") as ledger:
        statements = given(ledger, sizes.appends * sizes.rounds)
        found = compare(
            "one durable append",
            each(append_one(ledger), statements, sizes.appends),
            each(lambda statement: peers.insert_one(bare, statement), statements, sizes.appends),
            against="bare SQLite, INSERT and commit",
            per="append",
            units=sizes.appends,
            rounds=sizes.rounds,
        )
        _require_equal(ledger, dict(bare.execute("SELECT event_id, statement FROM events")))
    bare.close()
    return found.fast(at_least=0.8).thrifty(at_most=250)


def _single_against_eventsourcing(place: Path, sizes: Sizes) -> Comparison:
    save = peers.event_sourced(place / "theirs" / "events.sqlite3")
    with open_ledger(place / "ours") as ledger:
        statements = given(ledger, sizes.appends * sizes.rounds)
        return compare(
            "one durable append beside a library",
            each(append_one(ledger), statements, sizes.appends),
            each(save, statements, sizes.appends),
            against="`eventsourcing` over SQLite, one aggregate saved",
            per="append",
            units=sizes.appends,
            rounds=sizes.rounds,
        )


def _batch(place: Path, sizes: Sizes) -> Comparison:
    bare = peers.same_schema(place / "bare.sqlite3")
    with open_ledger(place / "ours") as ledger:
        statements = given(ledger, sizes.batch * sizes.rounds)
        parts = [statements[at : at + sizes.batch] for at in range(0, len(statements), sizes.batch)]
        ours_next, plain_next, first = iter(parts), iter(parts), count(1, sizes.batch)
        found = compare(
            f"a batch of {sizes.batch} in one transaction",
            lambda: ledger.append(next(ours_next), role="recorder"),
            lambda: peers.insert_many(bare, next(plain_next), next(first)),
            against="bare SQLite, executemany into the same schema",
            per="event",
            units=sizes.batch,
            rounds=sizes.rounds,
        )
        _require_equal(ledger, dict(bare.execute("SELECT event_id, statement FROM events")))
    bare.close()
    return found.fast(at_least=0.2)


def _reading(place: Path, sizes: Sizes) -> Iterator[Finding]:
    for name, events in (("small", sizes.events // TIMES), ("large", sizes.events)):
        with open_ledger(place / name) as ledger:
            filled = timed(lambda ledger=ledger, events=events: fill(ledger, events))
        if name == "small":
            small_fill = filled
    readings: list[Reading] = []

    def ours() -> object:
        readings.append(read(place / "large", "verify-and-fold"))
        return readings[-1].timing

    found = compare(
        "verify and fold",
        ours,
        lambda: read(place / "large", "plain").timing,
        against="reading, hashing and parsing the same bytes",
        per="event",
        units=sizes.events,
        rounds=sizes.reading_rounds,
    )
    peak = max(reading.peak_mebibytes for reading in readings)
    goal = Goal("peak memory", peak, PEAK_MEBIBYTES, at_most=True, unit="MiB")
    yield found.slow(at_most=3).held(goal)
    fewer = [read(place / "small", "verify-and-fold") for _ in range(sizes.reading_rounds)]
    small, large = (min(reading.timing.seconds for reading in found) for found in (fewer, readings))
    yield growth("verify and fold, growth", small, large, times=TIMES, per=f"events, from {sizes.events // TIMES}")
    sides = [(found[0].events, max(reading.peak_mebibytes for reading in found)) for found in (fewer, readings)]
    yield memory("verify and fold, memory", *sides, at_most=PEAK_MEBIBYTES)
    yield growth(
        "append in batches, growth", small_fill.seconds, filled.seconds, times=TIMES, per="events, making them included"
    )


def _belief_growth(nodes: int) -> Figure:
    small, large = (_belief_pass(nodes // part) for part in (TIMES, 1))
    return growth("belief pass, growth", small, large, times=TIMES, per=f"entries, from {nodes // TIMES}")


def _belief_pass(nodes: int) -> float:
    """Seconds of the best of three folds over ``nodes`` entries that are in memory."""
    statements = in_memory(nodes)
    return min(timed(lambda: fold(statements, SEED_V4_CLUSTERS)).seconds for _ in range(3))


def _require_equal(ledger: Ledger, stored: dict[str, bytes]) -> None:
    """Both hold the same statements, byte for byte."""
    if {event.event_id: event.encoded for event in ledger.events()} != stored:
        raise AssertionError("the two ways did not store the same statements: the ratio would mean nothing")
