"""Receipts of a log, recomputed: each transaction by what it holds, and by what stood before it."""

from __future__ import annotations

import pytest

from ledger_core.belief import receipts
from ledger_core.belief.policies import CALIBRATED, SEED_V4_CLUSTERS
from ledger_core.belief.receipts import ReceiptMismatch, check_receipts, expected_receipts
from ledger_core.kernel.statements.facts import receipt_fact
from ledger_core.kernel.statements.verdicts import (
    AttenuatedEntry,
    CascadeFired,
    CascadeFiredBody,
    CascadeRefused,
    CascadeRefusedBody,
    ReputationAdjusted,
    ReputationAdjustedBody,
)
from tests.ledger_core.belief.book import NAMESPACE, Book


class Log(Book):
    """A book that also writes receipts."""

    def filed(self, first):
        """The statements from ``first`` on, and those before them."""
        ids = [statement.event_id for statement in self.statements]
        place = ids.index(first)
        return self.statements[:place], self.statements[place:]

    def due(self, verdict, policy=SEED_V4_CLUSTERS):
        """The receipts of ``verdict``, whose transaction is the last."""
        before, filed = self.filed(verdict)
        return expected_receipts(before, filed, filed[0], policy)

    def write(self, verdict, *bodies):
        for body in bodies:
            if isinstance(body, ReputationAdjustedBody):
                fact = receipt_fact(NAMESPACE, verdict, body.cluster, body.family)
                self.add(self.author.write(ReputationAdjusted, fact, body))
            else:
                kind = CascadeFired if isinstance(body, CascadeFiredBody) else CascadeRefused
                self.add(self.author.write(kind, receipt_fact(NAMESPACE, verdict, body.target), body))

    def settle(self, verdict, policy=SEED_V4_CLUSTERS):
        """Write what is due, and give it back."""
        due = self.due(verdict, policy)
        self.write(verdict, *due)
        return due


@pytest.fixture
def log():
    return Log()


def refused(verdict, target, reason, eligible, largest):
    return CascadeRefusedBody.make(
        eligible=eligible, largest_independent=largest, reason=reason, target=target, verdict=verdict
    )


def test_an_assessment_behind_the_receipts_is_not_of_their_transaction(log):
    target, first, second = (log.seal(f"{name}.example") for name in "tab")
    log.settle(log.verdict(target, first))
    last = log.verdict(target, second)
    assert log.settle(last) == (refused(last, target, "not_independent", 2, 1),)
    log.assess(first, second)
    assert check_receipts(log.statements, SEED_V4_CLUSTERS) == []


def test_an_assessment_in_front_of_the_receipts_is(log):
    target, first, second = (log.seal(f"{name}.example", family="price") for name in "tab")
    claim = log.claim(log.generation([target]), {target: 400_000})
    one = log.verdict(target, first)
    assert log.settle(one) == (refused(one, target, "too_few", 1, 1),)
    two = log.verdict(target, second)
    log.assess(first, second)
    adjusted = [
        ReputationAdjustedBody.make(
            cluster=f"{name}.example", failures=lost, family="price", successes=won, target=target
        )
        for name, won, lost in (("a", 1, 0), ("b", 1, 0), ("t", 0, 1))
    ]
    attenuated = sorted([(target, 50_000_000), (claim, 620_000_000)])
    fired = CascadeFiredBody.make(
        attenuated=tuple(AttenuatedEntry.make(attenuation=left, entry=key) for key, left in attenuated),
        members=tuple(sorted((first, second))),
        target=target,
        verdict=two,
    )
    assert log.settle(two) == (fired, *adjusted)
    assert check_receipts(log.statements, SEED_V4_CLUSTERS) == []
    assert check_receipts(log.statements, lambda _: SEED_V4_CLUSTERS) == []
    # One receipt less is a transaction that says otherwise.
    assert check_receipts(log.statements[:-1], SEED_V4_CLUSTERS) == [
        ReceiptMismatch(two, (fired, *adjusted), (fired, *adjusted[:-1]))
    ]


def test_receipts_that_follow_no_verdict_are_named(log):
    target = log.seal("t.example")
    odd = refused("ab" * 32, target, "too_few", 1, 1)
    log.write("ab" * 32, odd)
    assert check_receipts(log.statements, SEED_V4_CLUSTERS) == [ReceiptMismatch(None, (), (odd,))]
    # Also where nothing stands before them.
    assert check_receipts(log.statements[-1:], SEED_V4_CLUSTERS) == [ReceiptMismatch(None, (), (odd,))]


def test_support_and_indecision_have_no_receipts(log):
    target, one, two = (log.seal(f"{name}.example") for name in "tab")
    for verdict in (log.verdict(target, one, "support"), log.verdict(target, two, "undecided")):
        before, filed = log.filed(verdict)
        assert expected_receipts(before, filed[:1], filed[0], SEED_V4_CLUSTERS) == ()
    assert check_receipts(log.statements, SEED_V4_CLUSTERS) == []


def test_each_refusal_says_why(log):
    target, local, own = log.seal("t.example"), log.local(), log.seal("www.t.example")
    for none in (local, own):
        verdict = log.verdict(target, none)
        assert log.settle(verdict) == (refused(verdict, target, "not_eligible", 0, 0),)
    members = [log.seal(f"{name}.example") for name in "abc"]
    verdicts = []
    for number, member in enumerate(members):
        verdicts.append(log.verdict(target, member))
        for earlier in members[:number]:
            log.assess(earlier, member)
        due = log.settle(verdicts[-1])
        if number == 2:
            assert due[0] == refused(verdicts[-1], target, "already_retracted", 3, 3)
            assert [(body.cluster, body.successes, body.failures) for body in due[1:]] == [("c.example", 1, 0)]
    assert check_receipts(log.statements, SEED_V4_CLUSTERS) == []


def test_a_majority_that_is_missing_is_a_reason_of_its_own(log):
    target, supporter, one, two = (log.seal(f"{name}.example") for name in "tsab")
    log.verdict(target, supporter, "support")
    log.settle(log.verdict(target, one), CALIBRATED)
    for member in (one, two):
        log.assess(supporter, member)
    last = log.verdict(target, two)
    log.assess(one, two)
    assert log.due(last, CALIBRATED) == (refused(last, target, "outnumbered", 2, 2),)


def test_a_long_cascade_lists_those_that_lose_most(log, monkeypatch):
    monkeypatch.setattr(receipts, "MAX_LISTED", 2)
    target, *members = (log.seal(f"{name}.example") for name in "tabc")
    claims = [log.claim(None, {target: ppm}, derived=False) for ppm in (1, 500_000, 2)]
    for number, member in enumerate(members[:2]):
        last = log.verdict(target, member)
        for earlier in members[:number]:
            log.assess(earlier, member)
    fired = log.due(last)[0]
    assert {each.entry: each.attenuation for each in fired.attenuated} == {target: 50_000_000, claims[1]: 525_000_000}
    assert fired.members == tuple(sorted(members[:2]))
