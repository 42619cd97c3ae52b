"""The facade: how a ledger begins, what it answers, and where it lies."""

from __future__ import annotations

from itertools import count

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS, STRICT_CLUSTERS_NAME
from ledger_core.kernel import log
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import BlobError, CanonicalError, StoreError, UnknownReferenceError
from ledger_core.kernel.statements import Scope
from ledger_core.stores import BlobStatus, Fresh, Ledger, Replayed, list_scopes
from ledger_core.stores.blobs import MemoryBlobStore
from ledger_core.stores.ledger import genesis_statements
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.verify import verify
from tests.ledger_core.stores.test_sqlite import file_of, note, open_ledger
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell

OPENING = {"policy": SEED_V4_CLUSTERS, "policy_name": SEED_V4_CLUSTERS_NAME}


def test_a_new_ledger_holds_its_genesis_and_its_first_policy():
    ledger = open_memory()
    genesis, policy = ledger.events("control")
    assert genesis.statement.body.policy_digest == SEED_V4_CLUSTERS.digest()
    assert genesis.statement.body.scope == SCOPE
    assert genesis.receipt.role == policy.receipt.role == "admin"
    assert policy.statement.body.name == "seed-v4-clusters"
    assert ledger.policy() == SEED_V4_CLUSTERS
    assert (ledger.count("control"), ledger.count()) == (2, 0)
    assert ledger.head() == log.genesis_chain(genesis.event_id, log.epoch_id(SCOPE), "evidence", 0)


def test_a_genesis_holds_nothing_random_and_no_time():
    early = Ledger.in_memory(SCOPE, now=NOW, **OPENING)
    late = Ledger.in_memory(SCOPE, now="2030-01-01T00:00:00.000000000Z", **OPENING)
    assert [event.event_id for event in early.events("control")] == [event.event_id for event in late.events("control")]
    assert early.head() == late.head()
    assert early.head("control") != late.head("control"), "the chain covers the receipts"


def test_another_scope_or_policy_is_another_ledger():
    other = Scope.make(tenant_namespace="tests", project_namespace="other")
    ids = {
        genesis_statements(SCOPE, SEED_V4_CLUSTERS, "a")[0].event_id,
        genesis_statements(other, SEED_V4_CLUSTERS, "a")[0].event_id,
        genesis_statements(SCOPE, STRICT_CLUSTERS, "a")[0].event_id,
    }
    assert len(ids) == 3


def test_the_clock_is_handed_in_as_a_value_or_a_function():
    assert open_memory().now() == NOW
    seconds = count(10)
    ledger = Ledger.in_memory(SCOPE, now=lambda: f"2026-01-01T00:00:{next(seconds)}.000000000Z", **OPENING)
    ledger.append((note(ledger, 1),), role="recorder")
    (event,) = ledger.events()
    assert event.receipt.received_at == "2026-01-01T00:00:11.000000000Z"


def test_a_clock_that_gives_no_strict_timestamp_is_refused():
    with pytest.raises(CanonicalError, match="2026-01-01"):
        Ledger.in_memory(SCOPE, now="2026-01-01T00:00:00Z", **OPENING)


def test_principal_role_and_channel_reach_the_receipt():
    ledger = Ledger.in_memory(SCOPE, now=NOW, principal="importer", **OPENING)
    ledger.append((note(ledger, 1),), role="recorder", channel="import")
    (event,) = ledger.events()
    assert (event.receipt.principal_id, event.receipt.role, event.receipt.channel) == (
        "importer",
        "recorder",
        "import",
    )


def test_statements_are_found_by_their_id():
    ledger = open_memory()
    story = tell(ledger)
    for statement in story:
        assert ledger.statement(statement.event_id) == statement
        assert ledger.event(statement.event_id).event_id == statement.event_id
    with pytest.raises(UnknownReferenceError, match=r"abab.* is no event of this ledger"):
        ledger.statement("ab" * 32)


def test_a_policy_follows_the_policy_in_force():
    ledger = open_memory()
    assert isinstance(ledger.activate_policy(SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME), Replayed)
    assert isinstance(ledger.activate_policy(STRICT_CLUSTERS, STRICT_CLUSTERS_NAME), Fresh)
    assert isinstance(ledger.activate_policy(STRICT_CLUSTERS, STRICT_CLUSTERS_NAME), Replayed)
    assert ledger.policy() == STRICT_CLUSTERS
    assert isinstance(ledger.activate_policy(SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME), Fresh)
    assert ledger.policy() == SEED_V4_CLUSTERS
    assert ledger.count("control") == 4
    assert verify(ledger).first_divergence is None


def test_blobs_come_back_and_are_told_apart():
    ledger = open_memory()
    one = ledger.put_blob(b"one", TEXT)
    two, again = ledger.put_blobs([(b"two", TEXT), (b"one", TEXT)])
    assert again == one
    assert (ledger.read_blob(one), ledger.read_blob(two)) == (b"one", b"two")
    assert ledger.blob_status(one) is BlobStatus.PRESENT
    ledger.blobs.erase(one.digest)
    assert ledger.blob_status(one) is BlobStatus.ERASED
    with pytest.raises(BlobError, match="erased"):
        ledger.put_blob(b"one", TEXT)


def test_a_store_without_genesis_has_no_policy():
    blobs = MemoryBlobStore()
    with pytest.raises(StoreError, match="no policy in force"):
        Ledger(MemoryEventStore(SCOPE, blobs), blobs, now=NOW).policy()


def test_scopes_lie_where_their_names_say(tmp_path):
    assert list_scopes(tmp_path) == ()
    assert not Ledger.exists(tmp_path, SCOPE)
    scopes = [
        Scope.make(tenant_namespace=tenant, project_namespace=project)
        for tenant, project in (("b", "x"), ("a", "y"), ("a", "run-1"))
    ]
    for scope in scopes:
        Ledger.open(tmp_path, scope, now=NOW, **OPENING).close()
        assert Ledger.exists(tmp_path, scope)
    assert (tmp_path / "ledgers" / "a" / "run-1" / "ledger.sqlite3").is_file()
    assert list_scopes(tmp_path) == (scopes[2], scopes[1], scopes[0])
    assert not Ledger.exists(tmp_path, SCOPE)


def test_what_is_no_ledger_is_not_listed(tmp_path):
    open_ledger(tmp_path).close()
    (tmp_path / "ledgers" / "Not A Scope" / "x").mkdir(parents=True)
    (tmp_path / "ledgers" / "Not A Scope" / "x" / "ledger.sqlite3").write_bytes(b"")
    empty = tmp_path / "ledgers" / "tests" / "empty"
    empty.mkdir()
    (empty / "ledger.sqlite3").write_bytes(b"")
    assert list_scopes(tmp_path) == (SCOPE,)
    assert file_of(tmp_path).is_file()


def test_two_that_begin_at_once_with_different_policies_share_the_first(tmp_path, monkeypatch):
    first = open_ledger(tmp_path)
    assert first.count("control") == 2
    real = Ledger._is_new
    answers = iter([True])
    monkeypatch.setattr(Ledger, "_is_new", lambda self: next(answers, real(self)))
    late = Ledger.open(tmp_path, SCOPE, now=NOW, policy=STRICT_CLUSTERS, policy_name=STRICT_CLUSTERS_NAME)
    assert late.policy() == SEED_V4_CLUSTERS
    assert late.count("control") == 2
