"""The ledger in PostgreSQL against a bare table in the same server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import psycopg

from ledger_core.belief import SEED_V4_CLUSTERS
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.statements import Statement
from ledger_core.stores import Ledger
from ledger_core.stores.place import Place
from tests.bench.measuring import Comparison, Figure, Finding, compare
from tests.bench.sizes import Sizes
from tests.bench.trajectories import NOW, given
from tests.bench.turns import append_one, each
from tests.ledger_core.belief.book import SCOPE
from tests.postgres import PostgresUnavailableError, Server

_TABLE = """CREATE TABLE events (family text NOT NULL, committed_offset bigint NOT NULL, shard integer NOT NULL,
 epoch_id text NOT NULL, event_id text NOT NULL UNIQUE, kind text NOT NULL, source_fact_id text NOT NULL,
 receipt bytea NOT NULL, statement bytea NOT NULL, chain text NOT NULL, PRIMARY KEY (family, committed_offset));
 CREATE INDEX ON events (source_fact_id, committed_offset)"""
_INSERT = "INSERT INTO events VALUES ('evidence', %s, 0, %s, %s, %s, %s, %s, %s, %s)"


def run(place: Path, sizes: Sizes) -> Iterator[Finding]:
    """Single and batched appends; one line that says why where no server can be had."""
    try:
        server = Server(flushes=True)
    except (PostgresUnavailableError, OSError) as error:
        yield Figure("PostgreSQL", f"not measured: {error}")
        return
    try:
        where = Place(place, store=server.create("ours"))
        with (
            psycopg.connect(server.create("bare")) as bare,
            Ledger.open(where, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger,
        ):
            bare.execute(_TABLE)
            bare.commit()
            assert bare.execute("SHOW fsync").fetchone() == ("on",)
            bare.commit()
            yield _single(ledger, bare, sizes)
            yield _batch(ledger, bare, sizes)
    finally:
        server.stop()


def _single(ledger: Ledger, bare: psycopg.Connection, sizes: Sizes) -> Comparison:
    statements = given(ledger, sizes.appends * sizes.rounds)
    offsets = count(1)

    def insert(statement: Statement) -> None:
        bare.execute(_INSERT, _row(statement, next(offsets)))
        bare.commit()

    return compare(
        "PostgreSQL: one durable append",
        each(append_one(ledger), statements, sizes.appends),
        each(insert, statements, sizes.appends),
        against="a bare table, INSERT and commit",
        per="append",
        units=sizes.appends,
        rounds=sizes.rounds,
    ).fast(at_least=0.8)


def _batch(ledger: Ledger, bare: psycopg.Connection, sizes: Sizes) -> Comparison:
    done = sizes.appends * sizes.rounds
    statements = given(ledger, sizes.batch * sizes.rounds, start=done)
    parts = [statements[at : at + sizes.batch] for at in range(0, len(statements), sizes.batch)]
    ours_next, plain_next, first = iter(parts), iter(parts), count(done + 1, sizes.batch)

    def insert(part: Sequence[Statement]) -> None:
        with bare.cursor() as cursor:
            cursor.executemany(_INSERT, [_row(statement, at) for at, statement in enumerate(part, start=next(first))])
        bare.commit()

    return compare(
        f"PostgreSQL: a batch of {sizes.batch} in one transaction",
        lambda: ledger.append(next(ours_next), role="recorder"),
        lambda: insert(next(plain_next)),
        against="a bare table of the same columns and indexes, executemany",
        per="event",
        units=sizes.batch,
        rounds=sizes.rounds,
    ).fast(at_least=0.2)


def _row(statement: Statement, offset: int) -> tuple[object, ...]:
    return (
        offset,
        "e" * 64,
        statement.event_id,
        statement.kind,
        statement.source_fact_id,
        b"r" * 350,
        statement.canonical_bytes(),
        "c" * 64,
    )
