"""Sharing a transaction is never seen from outside: what each group comes to is what it comes to alone."""

from __future__ import annotations

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import BlobError, CollisionError, StorageFullError, UnknownReferenceError
from ledger_core.kernel.statements import entries, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.stores import Fresh, Ledger, Replayed
from ledger_core.stores.groups import Group, append_groups
from ledger_core.stores.protocols import Delivery
from ledger_core.stores.verify import verify
from tests.ledger_core.story import NOW, SCOPE, open_memory

AUTHOR = Author(SCOPE, "tests.groups", "1")


def in_files(folder):
    return Ledger.open(folder, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


@pytest.fixture(params=["memory", "sqlite", "any other"])
def ledger(request, tmp_path):
    made = in_files(tmp_path) if request.param == "sqlite" else open_memory()
    if request.param == "any other":
        made.store = OneAtATime(made.store)
    yield made
    made.close()


class OneAtATime:
    """A store that cannot commit groups."""

    def __init__(self, inner):
        self.append, self.events, self.collisions, self.close = (
            inner.append,
            inner.events,
            inner.collisions,
            inner.close,
        )


def claim(content, key, parents=()):
    body = entries.ClaimBody.make(
        content=content,
        generation=None,
        parents=tuple(entries.DeclaredParent.make(entry=parent, ppm=1) for parent in parents),
        span=None,
    )
    return AUTHOR.write(entries.EntryConjectured, facts.message_fact("tests.groups", "notes", key), body)


def group(*statements, principal="one"):
    return Group(tuple(statements), Delivery(principal_id=principal, role="agent", channel="service", received_at=NOW))


def evidence(ledger):
    return [event.event_id for event in ledger.store.events("evidence")]


def test_groups_stand_in_order_and_each_has_its_own_receipt(ledger):
    notes = [claim(ledger.put_blob(f"note {key}".encode(), TEXT), key) for key in range(4)]
    results = append_groups(
        ledger.store, [group(notes[0], notes[1]), group(notes[2], principal="two"), group(notes[3], principal="three")]
    )
    assert [[type(one) for one in result] for result in results] == [[Fresh, Fresh], [Fresh], [Fresh]]
    assert evidence(ledger) == [note.event_id for note in notes]
    principals = [event.receipt.principal_id for event in ledger.store.events("evidence")]
    assert principals == ["one", "one", "two", "three"]


def test_what_one_group_appends_the_next_may_refer_to_and_replay(ledger):
    content = ledger.put_blob(b"note", TEXT)
    first = claim(content, 0)
    second = claim(content, 1, parents=(first.event_id,))
    results = append_groups(ledger.store, [group(first), group(second), group(first, second)])
    assert [[type(one) for one in result] for result in results] == [[Fresh], [Fresh], [Replayed, Replayed]]
    assert results[2][0].position == results[0][0].position


@pytest.mark.invariant("§2.6", "EVENT-03")
def test_a_group_that_is_refused_leaves_nothing_and_takes_nothing_with_it(ledger):
    content, other = ledger.put_blob(b"note", TEXT), ledger.put_blob(b"another", TEXT)
    held, good, left_out = claim(content, 0), claim(content, 1), claim(content, 2)
    results = append_groups(
        ledger.store,
        [
            group(held),
            group(left_out, claim(other, 0)),
            group(left_out, claim(content, 3, parents=("ab" * 32,))),
            group(left_out, claim(content_ref(b"nowhere", TEXT), 4)),
            group(good),
        ],
    )
    assert [type(result) for result in results] == [tuple, CollisionError, UnknownReferenceError, BlobError, tuple]
    assert evidence(ledger) == [held.event_id, good.event_id]
    assert [(one.held, one.refused) for one in ledger.store.collisions()] == [(held.event_id, claim(other, 0).event_id)]


def test_what_a_refused_group_would_have_appended_nobody_can_refer_to(ledger):
    content = ledger.put_blob(b"note", TEXT)
    first = claim(content, 0)
    results = append_groups(
        ledger.store,
        [group(first, claim(content, 1, parents=("ab" * 32,))), group(claim(content, 2, parents=(first.event_id,)))],
    )
    assert [type(result) for result in results] == [UnknownReferenceError, UnknownReferenceError]
    assert evidence(ledger) == []


def test_one_transaction_gives_the_log_that_one_after_the_other_gives(tmp_path):
    def groups(ledger):
        contents = [ledger.put_blob(f"note {key % 3}".encode(), TEXT) for key in range(12)]
        return [group(claim(content, key % 5)) for key, content in enumerate(contents)]

    with in_files(tmp_path / "together") as together, in_files(tmp_path / "apart") as apart:
        shared = append_groups(together.store, groups(together))
        alone = append_groups(OneAtATime(apart.store), groups(apart))
        assert [type(one) for one in shared] == [type(one) for one in alone]
        assert (together.head(), evidence(together)) == (apart.head(), evidence(apart))
        assert together.store.collisions() == apart.store.collisions()
        assert verify(together).first_divergence is None


def test_where_the_store_itself_fails_nothing_of_any_group_is_there(tmp_path, monkeypatch):
    with in_files(tmp_path) as ledger:
        content = ledger.put_blob(b"note", TEXT)

        def full(*_):
            raise StorageFullError("no space")

        before = ledger.head()
        monkeypatch.setattr(type(ledger.blobs), "require_durable", full)
        with pytest.raises(StorageFullError):
            ledger.store.append_groups([group(claim(content, 0)), group(claim(content, 1))])
        monkeypatch.undo()
        assert ledger.head() == before
        assert ledger.store.append_groups([group(claim(content, 0))])[0][0].position.committed_offset == "1"
