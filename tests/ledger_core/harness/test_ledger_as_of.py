"""A stored ledger at earlier times: its statements, its policy, its head, and what it refused."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS_NAME
from ledger_core.harness.as_of import read_as_of
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import BeliefError, CollisionError
from ledger_core.stores.ledger import Ledger
from tests.ledger_core.belief.book import SCOPE, Book


def day(number):
    return f"2026-02-{number:02}T00:00:00.000000000Z"


class Clock:
    def __init__(self):
        self.day = 1

    def __call__(self):
        return day(self.day)


@pytest.fixture
def told():
    """Day by day: genesis, entries, two contradictions, a stricter policy, a reversal, a collision."""
    clock, book = Clock(), Book()
    ledger = Ledger.in_memory(SCOPE, now=clock, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    heads = {1: ledger.head()}
    target, one, two = (book.seal(f"{name}.example") for name in "tab")
    claim = book.claim(book.generation([target]))
    for data in book.blobs.values():
        ledger.put_blob(data, TEXT)
    clock.day = 2
    ledger.append(book.statements, role="recorder")
    heads[2] = ledger.head()
    clock.day = 4
    desk = VerdictDesk(ledger)
    filed = [
        desk.file(target=target, candidate=candidate, verdict="contradict", recipe="r") for candidate in (one, two)
    ]
    heads[4] = ledger.head()
    clock.day = 6
    ledger.activate_policy(STRICT_CLUSTERS, STRICT_CLUSTERS_NAME)
    clock.day = 8
    desk.reverse(filed[1].verdict, "verifier_error")
    heads[8] = ledger.head()
    clock.day = 9
    with pytest.raises(CollisionError):
        desk.file(target=target, candidate=one, verdict="support", recipe="r")
    return ledger, heads, target, claim


def state(ledger, number):
    found = read_as_of(ledger, recorded=day(number))
    return fold(found.reading.statements, found.reading.policy)


@pytest.mark.invariant("§2.4", "§2.6")
def test_every_day_can_be_read_again(told):
    ledger, _, target, claim = told
    assert state(ledger, 1).entries == {}
    assert not state(ledger, 3).entries[target].retracted
    retracted = state(ledger, 5)
    assert retracted.entries[target].retracted
    assert retracted.entries[claim].attenuation == 10**9
    # The policy of day 6 presumes that the claim rests on its context, which is retracted until day 8.
    assert state(ledger, 7).entries[claim].attenuation == 50_000_000
    assert not state(ledger, 8).entries[target].retracted
    now = read_as_of(ledger)
    assert fold(now.reading.statements, now.reading.policy) == state(ledger, 28)


@pytest.mark.parametrize(("number", "pinned"), [(1, 1), (2, 2), (3, 2), (4, 4), (7, 4), (8, 8), (28, 8)])
def test_the_head_pins_what_was_read(told, number, pinned):
    ledger, heads, *_ = told
    assert read_as_of(ledger, recorded=day(number)).head == heads[pinned]


def test_what_was_refused_is_known_from_then_on_by_its_digests(told):
    ledger, *_ = told
    assert read_as_of(ledger, recorded=day(8)).collisions == ()
    (collision,) = read_as_of(ledger, recorded=day(9)).collisions
    assert ledger.event(collision.held).statement.body.verdict == "contradict"
    assert len(collision.refused) == 64
    assert read_as_of(ledger).collisions == (collision,)


def test_before_genesis_there_is_no_ledger(told):
    with pytest.raises(BeliefError, match="the ledger begins later"):
        read_as_of(told[0], recorded="2026-01-31T00:00:00.000000000Z")


def test_effective_time_is_the_sources(told):
    ledger, _, target, _ = told
    found = read_as_of(ledger, effective="2025-12-31T00:00:00.000000000Z")
    assert fold(found.reading.statements, found.reading.policy).entries == {}
    found = read_as_of(ledger, effective="2026-01-01T00:00:00.000000000Z", recorded=day(5))
    assert fold(found.reading.statements, found.reading.policy).entries[target].retracted
