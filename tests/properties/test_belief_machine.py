"""A ledger that grows and is withdrawn from at random: at every step the fold equals the oracle and keeps its laws."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from tests.properties.ledgers import Story
from tests.properties.oracle import believe
from tests.properties.test_belief_laws import never_better, view

SEEDS = st.integers(0, 2**16)


class GrowingLedger(RuleBasedStateMachine):
    @initialize(seed=SEEDS, strict=st.booleans())
    def open(self, seed, strict):
        self.story = Story(seed)
        self.policy = STRICT_CLUSTERS if strict else SEED_V4_CLUSTERS
        self.withdrawn = set()
        for _ in range(6):
            self.story.seal()

    def state(self):
        return fold(self.story.statements, self.policy)

    @rule()
    def claim(self):
        before = self.state()
        self.story.claim()
        after = self.state()
        assert {key: after.entries[key].belief for key in before.entries} == {
            key: entry.belief for key, entry in before.entries.items()
        }

    @rule()
    def seal(self):
        self.story.seal()

    @rule()
    def measure(self):
        self.story.measure()

    @rule()
    def only_add(self):
        before = self.state()
        self.story.measure(scorer="dd" * 32)
        never_better(before, self.state())

    @rule()
    def quarrel(self):
        """More contradiction never un-retracts."""
        before = self.state()
        self.story.quarrel()
        dissent = {
            s.event_id for s in self.story.statements if getattr(s.body, "result", None) not in (None, "independent")
        }
        if not dissent:
            assert before.retractions.keys() <= self.state().retractions.keys()

    @rule()
    def audit(self):
        self.story.audit()

    @precondition(lambda self: len(self.withdrawn) < len(self.story.verdicts))
    @rule(pick=SEEDS)
    def reverse(self, pick):
        """Reversal is forgetting: the state is that of the statements without the verdict."""
        live = [verdict for verdict in self.story.verdicts if verdict not in self.withdrawn]
        verdict = live[pick % len(live)]
        without = fold([s for s in self.story.statements if s.event_id != verdict], self.policy)
        self.story.book.reverse(verdict)
        self.withdrawn.add(verdict)
        assert self.state() == without

    @rule(seed=SEEDS)
    def shuffle(self, seed):
        """The log's order is the writer's business; from here on the ledger is read in another one."""
        before = self.state()
        random.Random(seed).shuffle(self.story.statements)
        assert self.state() == before

    @invariant()
    def agrees_with_the_oracle(self):
        if hasattr(self, "story"):
            assert view(self.state()) == believe(self.story.statements, self.policy)


TestGrowingLedger = GrowingLedger.TestCase
TestGrowingLedger.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
