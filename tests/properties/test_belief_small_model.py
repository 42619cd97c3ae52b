"""Every ledger of a small world: all subsets of a pool of statements, fold against oracle.

State is a function of the set of statements, so a world is a pool of statements that were written once, and its
ledgers are the pool's subsets.
"""

from __future__ import annotations

import itertools

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book
from tests.properties.oracle import believe
from tests.properties.test_belief_laws import view


class World:
    """One premise, two claims in a chain, a source that both may rest on, three contradictors of two origins."""

    def __init__(self, first_ppm: int, second_ppm: int) -> None:
        book = Book()
        premise, spare = book.seal("t.example"), book.seal("s.example")
        early = book.generation([premise, spare])
        first = book.claim(early, {premise: first_ppm})
        late = book.generation([first, spare])
        second = book.claim(late, {first: second_ppm, spare: 100_000})
        self.members = [book.seal("a.example"), book.seal("www.a.example"), book.seal("b.example")]
        self.base = list(book.statements)
        start = len(self.base)
        verdicts = [book.verdict(premise, member) for member in self.members]
        book.verdict(spare, self.members[0])
        book.verdict(spare, self.members[2])
        book.assess(self.members[0], self.members[1], "dependent")
        self.dependence = book.statements[-1]
        book.assess(self.members[0], self.members[2])
        book.assess(self.members[1], self.members[2])
        book.reverse(verdicts[2])
        root = book.measure(first, early, {premise: 10_000, spare: 10_000}, cuts={(premise, spare): 900_000})
        book.measure(first, early, {premise: "null", spare: 200_000}, predecessor=root)
        book.measure(second, late, {first: 400_000, spare: 600_000}, scorer=OTHER_WEIGHTS, result="ungrounded")
        self.proxy = book.statements[-1]
        book.audit(self.members[2], "mismatch")
        self.audit = book.statements[-1]
        self.pool = book.statements[start:]

    def ledgers(self):
        for size in range(len(self.pool) + 1):
            for chosen in itertools.combinations(self.pool, size):
                yield [*self.base, *chosen]


def check(world, policy):
    ledgers = retracted = 0
    for statements in world.ledgers():
        state = fold(statements, policy)
        assert view(state) == believe(statements, policy)
        ledgers += 1
        retracted += bool(state.retractions)
    return ledgers, retracted


# Retracting ledgers, by hand. Every independent pair contains the third member, so its audit must be absent. Of the
# 2⁸ choices of five verdicts, the reversal of the third and two independences, 28 retract the premise, 32 the spare
# source and 5 both: 55. The other members of the pool (three measurements, one dependence) are free.
RETRACTING = 28 + 32 - 5


@pytest.mark.slow
@pytest.mark.parametrize("policy", [SEED_V4_CLUSTERS, STRICT_CLUSTERS], ids=["seed-v4", "strict"])
@pytest.mark.parametrize(("first", "second"), [(1_000_000, 1_000_000), (526_316, 300_000)])
def test_every_ledger_of_the_world(policy, first, second):
    assert check(World(first, second), policy) == (2**13, RETRACTING * 2**4)


def test_every_ledger_of_the_world_without_audit_dependence_and_proxy():
    world = World(1_000_000, 526_315)
    world.pool = [s for s in world.pool if s not in (world.audit, world.dependence, world.proxy)]
    assert check(world, STRICT_CLUSTERS) == (2**10, RETRACTING * 2**2)
