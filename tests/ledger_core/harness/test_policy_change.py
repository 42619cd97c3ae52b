"""Another policy in force: the whole log is believed anew, recorded pairs are not judged anew, and old receipts still verify."""

from __future__ import annotations

import pytest

from ledger_core.belief import CALIBRATED, SEED_V4, SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import AppendError
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.stores.ledger import Ledger, genesis_statements
from ledger_core.stores.protocols import Fresh, Replayed
from ledger_core.stores.verify import verify
from tests.ledger_core.belief.book import SCOPE, Book

NOW = "2026-01-02T00:00:00.000000000Z"
ONE = (
    "The museum reported on Friday that its oldest lamp had been sold to a collector for three hundred and fifty euros."
)
COPY = (
    "The museum reported on Friday that its oldest lamp had been sold to a collector for three hundred and fifty euros!"
)
OTHER = (
    "Our own price list names 350 for that antique light; Karin signed the receipt herself, and nobody has disputed it."
)


class World:
    def __init__(self, policy) -> None:
        self.book = Book()
        self.target, self.second = (self.book.seal(f"{name}.example", f"{name} says 400") for name in ("t", "u"))
        self.one = self.book.seal("a.example", ONE)
        self.copy = self.book.seal("b.example", COPY)
        self.other = self.book.seal("c.example", OTHER)
        self.ledger = Ledger.in_memory(SCOPE, now=NOW, policy=policy, policy_name="first")
        for data in self.book.blobs.values():
            self.ledger.put_blob(data, TEXT)
        self.ledger.append(self.book.statements, role="recorder")
        self.desk = VerdictDesk(self.ledger, FakeEmbedder())

    def contradict(self, target, *members):
        filed = [
            self.desk.file(target=target, candidate=member, verdict="contradict", recipe="r") for member in members
        ]
        return [self.ledger.statement(key).body for each in filed for key in each.assessments]

    def retracted(self):
        log = [event.statement for event in self.ledger.events()]
        return set(fold(log, self.ledger.policy()).retractions)

    def verifies(self):
        return verify(self.ledger).first_divergence is None


def test_a_copy_that_counted_by_cluster_counts_on_and_its_next_pair_does_not():
    world = World(SEED_V4_CLUSTERS)
    (assessed,) = world.contradict(world.target, world.one, world.copy)
    assert (assessed.recipe, assessed.result) == ("cluster-v1", "independent")
    world.ledger.activate_policy(SEED_V4, "seed-v4")
    assert world.retracted() == {world.target}
    assert world.contradict(world.second, world.one, world.copy) == []
    assert world.retracted() == {world.target, world.second}
    late = world.book.seal("d.example", COPY + " ")
    world.ledger.put_blob((COPY + " ").encode(), TEXT)
    world.ledger.append(world.book.statements[-2:], role="recorder")
    found = world.contradict(world.second, late)
    assert {(pair.recipe, pair.result) for pair in found} == {("m3-v1", "dependent")}
    assert world.verifies()


def test_a_copy_that_was_merged_stays_merged_under_a_laxer_policy():
    world = World(SEED_V4)
    (assessed,) = world.contradict(world.target, world.one, world.copy)
    assert (assessed.recipe, assessed.result) == ("m3-v1", "dependent")
    world.ledger.activate_policy(SEED_V4_CLUSTERS, "seed-v4-clusters")
    assert world.contradict(world.second, world.one, world.copy) == []
    assert world.retracted() == set()
    assert world.verifies()


def test_a_stricter_majority_lifts_a_retraction_and_a_laxer_one_puts_it_back():
    """Belief is a reading of the whole log under the policy in force; what was filed under another stays as filed."""
    world = World(SEED_V4)
    world.contradict(world.target, world.one, world.other)
    world.desk.file(target=world.target, candidate=world.copy, verdict="support", recipe="r")
    assert world.retracted() == {world.target}
    head = world.ledger.head()
    world.ledger.activate_policy(CALIBRATED, "calibrated")
    assert world.retracted() == set()
    world.ledger.activate_policy(SEED_V4, "seed-v4")
    assert world.retracted() == {world.target}
    assert world.ledger.head() == head
    assert world.verifies()


def test_policies_are_one_chain():
    ledger = World(SEED_V4).ledger
    (_, first) = (event for event in ledger.events("control"))
    assert isinstance(ledger.activate_policy(CALIBRATED, "calibrated"), Fresh)
    assert isinstance(ledger.activate_policy(CALIBRATED, "calibrated"), Replayed)
    *_, second = ledger.events("control")
    assert second.statement.body.predecessor == first.event_id
    with pytest.raises(AppendError, match=r"in force is .*; read the policy in force again"):
        ledger.append([_activation(STRICT_CLUSTERS, first.event_id)], role="operator")
    assert ledger.policy() == CALIBRATED


def _activation(policy, predecessor):
    """A rival successor of ``predecessor``, as a process writes it that has not read the last activation."""
    _, opening = genesis_statements(SCOPE, policy, "rival")
    body = opening.body.model_copy(update={"predecessor": predecessor})
    fact = opening.source_fact.model_copy(update={"key": "rival"})
    return opening.model_copy(update={"body": body, "source_fact": fact})
