"""What an agent reads of a ledger is the fold of it, however it was read before."""

from __future__ import annotations

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS, STRICT_CLUSTERS
from ledger_core.harness.view import LedgerView
from ledger_core.kernel.errors import PolicyError, StoreError
from tests.ledger_core.sealing.workshop import boundary, external, open_ledger, statements


@pytest.fixture
def ledger():
    return open_ledger()


@pytest.fixture
def tools(ledger):
    return boundary(external("a", lambda: "one"), external("b", lambda: "two"), ledger=ledger)


def assert_is_the_fold(view, ledger):
    head, seen, state, policy = view.look()
    assert (head, seen, policy) == (ledger.head(), tuple(statements(ledger)), ledger.policy())
    assert state == fold(seen, policy)
    return state


@pytest.mark.invariant("REPLAY-01")
def test_every_look_is_the_fold_of_what_is_there(ledger, tools):
    view = LedgerView(ledger)
    assert_is_the_fold(view, ledger)
    tools.call("a", {})
    first = assert_is_the_fold(view, ledger)
    assert assert_is_the_fold(view, ledger) is first
    tools.call("b", {})
    ledger.activate_policy(STRICT_CLUSTERS, "strict")
    tools.call("a", {})
    assert_is_the_fold(view, ledger)
    assert_is_the_fold(LedgerView(ledger), ledger)


def test_a_look_that_broke_off_is_made_good_by_the_next(ledger, tools, monkeypatch):
    view = LedgerView(ledger)
    tools.call("a", {})
    whole = ledger.events

    def broken(family="evidence", after=0):
        yield next(whole(family, after))
        raise StoreError("the disk is gone; plug it in")

    monkeypatch.setattr(ledger, "events", broken)
    with pytest.raises(StoreError):
        view.look()
    monkeypatch.setattr(ledger, "events", whole)
    assert_is_the_fold(view, ledger)


def test_a_policy_that_cannot_be_applied_does_not_spoil_the_next(ledger, tools, monkeypatch):
    view = LedgerView(ledger)
    tools.call("a", {})
    view.look()
    monkeypatch.setattr(ledger, "policy", lambda: SEED_V4_CLUSTERS.model_copy(update={"prior_successes": 0}))
    with pytest.raises(PolicyError):
        view.look()
    monkeypatch.undo()
    assert_is_the_fold(view, ledger)
