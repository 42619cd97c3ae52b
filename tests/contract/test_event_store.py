"""What every event store does, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledger_core.kernel import log
from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import AppendError, BlobError, CollisionError, StoreError, UnknownReferenceError
from ledger_core.kernel.statements import Lineage, Scope, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import LedgerGenesis, PolicyActivated, PolicyActivatedBody
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.verdicts import VerdictFiled
from ledger_core.stores.groups import Group, append_groups
from ledger_core.stores.protocols import Delivery, Fresh, Replayed
from tests.ledger_core.story import NOW, SCOPE, Story

DELIVERY = Delivery(principal_id="local", role="recorder", channel="embedded", received_at=NOW)


def at(second: int) -> Delivery:
    return replace(DELIVERY, received_at=f"2026-03-01T12:00:{second:02}.000000000Z")


def told(backend, *, upto: str | None = None) -> Story:
    """The story's blobs, and its statements up to the first named ``upto``."""
    story = Story(put=backend.put)
    statements = list(story)
    end = len(statements) if upto is None else statements.index(story.named[upto])
    backend.store.append(statements[:end], DELIVERY)
    return story


def given_entry(backend, step: int, text: str, *, version: str = "1", lineage: Lineage | None = None) -> EntryGiven:
    backend.blobs.put(text.encode())
    body = EntryGivenBody.make(content=content_ref(text.encode(), TEXT), role="user")
    author = Author(SCOPE, "tests.contract", version)
    fact = facts.message_fact("tests.contract", "r", step)
    return (
        author.write(EntryGiven, fact, body)
        if lineage is None
        else author.write(EntryGiven, fact, body, lineage=lineage)
    )


def opened(backend) -> Story:
    return told(backend, upto="strict")


def evidence(backend) -> list[str]:
    return [event.event_id for event in backend.store.events("evidence")]


def test_before_genesis_there_is_no_head(backend):
    assert backend.store.count("control") == 0
    assert backend.store.policy_head() is None
    with pytest.raises(StoreError, match="no genesis"):
        backend.store.head("evidence")


def test_the_first_statement_is_the_genesis_and_there_is_one(backend):
    story = Story(put=backend.put)
    with pytest.raises(AppendError, match=r"first statement of a ledger is `ledger.genesis`, not `entry.given`"):
        backend.store.append((story.named["system"],), DELIVERY)
    told(backend, upto="strict")
    genesis = story.named["genesis"]
    other = Author(SCOPE, "tests.contract", "1").write(
        LedgerGenesis, facts.message_fact("tests.contract", "g", 1), genesis.body
    )
    with pytest.raises(AppendError, match="one genesis"):
        backend.store.append((other,), DELIVERY)
    assert backend.store.count("control") == 2


def test_every_kind_is_appended_in_its_family_and_read_back(backend):
    story = told(backend)
    stored = [*backend.store.events("control"), *backend.store.events("evidence")]
    assert {event.statement.event_id for event in stored} == {statement.event_id for statement in story}
    assert [event.event_id for event in backend.store.events("control")] == [
        story.id(name) for name in ("genesis", "policy", "strict", "key", "criteria")
    ]
    for family in ("control", "evidence"):
        events = list(backend.store.events(family))
        assert [event.offset for event in events] == list(range(1, len(events) + 1))
        assert backend.store.count(family) == len(events)
        assert backend.store.head(family) == events[-1].chain
    for statement in story:
        found = backend.store.event(statement.event_id)
        assert found.encoded == statement.encoded
        assert found.statement == statement
    assert backend.store.event("ab" * 32) is None


def test_the_chain_is_the_one_of_the_design(backend):
    story = told(backend)
    epoch = log.epoch_id(SCOPE)
    for family in ("control", "evidence"):
        chain = log.genesis_chain(story.id("genesis"), epoch, family, 0)
        for event in backend.store.events(family):
            assert (event.position.epoch_id, event.position.shard) == (epoch, 0)
            chain = log.append_chain(chain, event.position, event.event_id, event.receipt_bytes)
            assert event.chain == chain


def test_an_empty_family_has_its_genesis_chain_as_head(backend):
    story = opened(backend)
    assert backend.store.head("evidence") == log.genesis_chain(story.id("genesis"), log.epoch_id(SCOPE), "evidence", 0)


def test_events_after_an_offset(backend):
    told(backend)
    everything = evidence(backend)
    assert len(everything) > 10
    assert [event.event_id for event in backend.store.events("evidence", after=7)] == everything[7:]
    assert list(backend.store.events("evidence", after=len(everything))) == []


def test_reading_while_appending_is_allowed(backend):
    opened(backend)
    backend.store.append([given_entry(backend, step, f"text {step}") for step in range(3)], DELIVERY)
    reader = backend.store.events("evidence")
    next(reader)
    backend.store.append((given_entry(backend, 9, "later"),), DELIVERY)
    assert len(list(reader)) >= 2


@pytest.mark.invariant("EVENT-01")
def test_the_same_statement_again_is_a_replay_with_its_position(backend):
    story = told(backend)
    head, count = backend.store.head("evidence"), backend.store.count("evidence")
    statements = list(story)
    for statement, outcome in zip(statements, backend.store.append(statements, at(59)), strict=True):
        assert isinstance(outcome, Replayed)
        assert outcome.position == backend.store.event(statement.event_id).position
    assert (backend.store.head("evidence"), backend.store.count("evidence")) == (head, count)


def test_a_batch_may_repeat_itself(backend):
    opened(backend)
    entry = given_entry(backend, 1, "text")
    first, second = backend.store.append((entry, entry), DELIVERY)
    assert isinstance(first, Fresh)
    assert second == Replayed(first.event_id, first.family, first.position)
    assert backend.store.count("evidence") == 1


@pytest.mark.invariant("§2.6", "EVID-01", "EVENT-01")
def test_other_bytes_about_the_same_fact_collide_and_the_digest_is_kept(backend):
    opened(backend)
    held, refused = given_entry(backend, 1, "text"), given_entry(backend, 1, "another text")
    backend.store.append((held,), DELIVERY)
    head = backend.store.head("evidence")
    for _ in range(2):
        with pytest.raises(CollisionError, match="in one representation") as caught:
            backend.store.append((refused,), at(1))
        assert (caught.value.held, caught.value.refused) == (held.event_id, refused.event_id)
    assert backend.store.head("evidence") == head
    (collision,) = backend.store.collisions()
    assert (collision.held, collision.refused) == (held.event_id, refused.event_id)
    assert collision.source_fact_id == held.source_fact_id
    assert collision.received_at == at(1).received_at


@pytest.mark.invariant("EVID-01", "EVENT-01", "EVENT-02")
def test_another_representation_collides_unless_it_supersedes_the_current_one(backend):
    opened(backend)
    first = given_entry(backend, 1, "text")
    backend.store.append((first,), DELIVERY)
    with pytest.raises(CollisionError, match=f"declare lineage `supersedes` {first.event_id}"):
        backend.store.append((given_entry(backend, 1, "text", version="2"),), DELIVERY)
    second = given_entry(
        backend, 1, "text", version="2", lineage=Lineage.make(event_id=first.event_id, relation="supersedes")
    )
    third = given_entry(
        backend, 1, "text", version="3", lineage=Lineage.make(event_id=second.event_id, relation="supersedes")
    )
    late = given_entry(
        backend, 1, "text", version="4", lineage=Lineage.make(event_id=first.event_id, relation="supersedes")
    )
    assert all(isinstance(outcome, Fresh) for outcome in backend.store.append((second, third), DELIVERY))
    with pytest.raises(CollisionError, match=third.event_id):
        backend.store.append((late,), DELIVERY)
    assert isinstance(backend.store.append((first,), DELIVERY)[0], Replayed)
    assert evidence(backend) == [first.event_id, second.event_id, third.event_id]


def test_superseding_what_is_not_there_is_refused(backend):
    opened(backend)
    stray = given_entry(backend, 1, "text", lineage=Lineage.make(event_id="ab" * 32, relation="supersedes"))
    with pytest.raises(UnknownReferenceError, match="ab" * 32):
        backend.store.append((stray,), DELIVERY)


def test_superseding_an_event_about_another_fact_is_refused(backend):
    opened(backend)
    other = given_entry(backend, 1, "text")
    stray = given_entry(backend, 2, "text", lineage=Lineage.make(event_id=other.event_id, relation="supersedes"))
    with pytest.raises(UnknownReferenceError, match="same source fact"):
        backend.store.append((other, stray), DELIVERY)


@pytest.mark.invariant("EVENT-02")
def test_the_same_words_at_another_step_are_another_fact(backend):
    opened(backend)
    outcomes = backend.store.append((given_entry(backend, 1, "text"), given_entry(backend, 2, "text")), DELIVERY)
    assert [outcome.position.committed_offset for outcome in outcomes] == ["1", "2"]


def test_an_unknown_reference_is_refused(backend):
    story = told(backend, upto="observed_alpha")
    assert story.id("seal_alpha") in evidence(backend)
    stray = story.named["observed_alpha"]
    body = stray.body.model_copy(update={"seal": "ab" * 32})
    broken = stray.model_copy(update={"body": body})
    with pytest.raises(UnknownReferenceError, match=r"entry\.observed\.seal refers to abab.*no event of this ledger"):
        backend.store.append((type(stray).decode(broken.canonical_bytes()),), DELIVERY)


def test_a_reference_to_a_foreign_kind_is_refused(backend):
    story = told(backend, upto="verdict_beta")
    verdict = story.named["verdict_beta"]
    for target in ("generation", "seal_alpha", "criteria", "genesis"):
        body = verdict.body.model_copy(update={"target": story.id(target)})
        broken = VerdictFiled.decode(verdict.model_copy(update={"body": body}).canonical_bytes())
        with pytest.raises(UnknownReferenceError, match=f"a `{story.named[target].kind}`; admitted: entry"):
            backend.store.append((broken,), DELIVERY)


def test_a_reference_may_be_to_an_earlier_statement_of_the_batch_only(backend):
    story = told(backend, upto="seal_alpha")
    seal, observed = story.named["seal_alpha"], story.named["observed_alpha"]
    with pytest.raises(UnknownReferenceError):
        backend.store.append((observed, seal), DELIVERY)
    assert len(backend.store.append((seal, observed), DELIVERY)) == 2


@pytest.mark.invariant("EVENT-03")
def test_a_batch_is_appended_whole_or_not_at_all(backend):
    opened(backend)
    head = backend.store.head("evidence")
    good = given_entry(backend, 1, "text")
    missing = EntryGivenBody.make(content=content_ref(b"never put", TEXT), role="user")
    bad = Author(SCOPE, "tests.contract", "1").write(EntryGiven, facts.message_fact("tests.contract", "r", 2), missing)
    with pytest.raises(BlobError, match="missing"):
        backend.store.append((good, bad), DELIVERY)
    assert backend.store.head("evidence") == head
    assert backend.store.event(good.event_id) is None
    assert isinstance(backend.store.append((good,), DELIVERY)[0], Fresh)


@pytest.mark.invariant("EVID-08")
def test_content_that_was_erased_on_purpose_may_be_cited(backend):
    opened(backend)
    entry = given_entry(backend, 1, "a secret")
    backend.blobs.erase(entry.body.content.digest)
    assert isinstance(backend.store.append((entry,), DELIVERY)[0], Fresh)


@pytest.mark.invariant("EVID-02")
def test_a_content_reference_with_another_length_is_refused(backend):
    opened(backend)
    entry = given_entry(backend, 1, "text")
    content = entry.body.content.model_copy(update={"byte_length": 5})
    broken = entry.model_copy(update={"body": entry.body.model_copy(update={"content": content})})
    with pytest.raises(BlobError):
        backend.store.append((EntryGiven.decode(broken.canonical_bytes()),), DELIVERY)


@pytest.mark.invariant("EVID-04")
def test_a_statement_of_another_scope_is_refused(backend):
    opened(backend)
    elsewhere = Scope.make(tenant_namespace="tests", project_namespace="other")
    entry = given_entry(backend, 1, "text")
    stray = Author(elsewhere, "tests.contract", "1").write(EntryGiven, entry.source_fact, entry.body)
    with pytest.raises(AppendError, match="scope tests/other, this ledger is tests/story"):
        backend.store.append((stray,), DELIVERY)


def test_a_value_that_was_never_validated_is_refused(backend):
    opened(backend)
    entry = given_entry(backend, 1, "text")
    forged = entry.model_copy(update={"visibility_class": "public"})
    with pytest.raises(Exception, match="visibility_class"):
        backend.store.append((forged,), DELIVERY)
    assert backend.store.count("evidence") == 0


def test_a_policy_succeeds_the_one_in_force(backend):
    story = opened(backend)
    assert backend.store.policy_head().event_id == story.id("policy")
    strict = story.named["strict"]
    forked = Author(SCOPE, "tests.contract", "1").write(
        PolicyActivated,
        facts.message_fact("tests.contract", "fork", 1),
        PolicyActivatedBody.make(name="fork", policy=strict.body.policy, predecessor=story.id("policy")),
    )
    backend.store.append((strict,), DELIVERY)
    assert backend.store.policy_head().event_id == strict.event_id
    with pytest.raises(AppendError, match=f"in force is {strict.event_id}"):
        backend.store.append((forked,), DELIVERY)


def test_the_first_policy_is_the_one_that_genesis_promises(backend):
    story = Story(put=backend.put)
    strict = story.named["strict"].body
    other = Author(SCOPE, "tests.contract", "1").write(
        PolicyActivated,
        facts.message_fact("tests.contract", "policy", 1),
        strict.model_copy(update={"predecessor": None}),
    )
    with pytest.raises(AppendError, match="genesis promises"):
        backend.store.append((story.named["genesis"], other), DELIVERY)
    assert backend.store.count("control") == 0


def measured(story: Story, **changes: object) -> EdgesMeasured:
    statement = story.named["measured"]
    body = statement.body.model_copy(update=changes)
    return EdgesMeasured.decode(statement.model_copy(update={"body": body}).canonical_bytes())


def test_a_measurement_stays_inside_the_context_of_its_generation(backend):
    story = told(backend, upto="measured")
    entries = story.named["measured"].body.entries
    stray = entries[0].model_copy(update={"entry": story.id("derived"), "verdict": "null", "ppm": None})
    both = tuple(sorted((*entries, stray), key=lambda one: one.entry))
    with pytest.raises(UnknownReferenceError, match=f"{story.id('derived')} is none"):
        backend.store.append((measured(story, entries=both),), DELIVERY)
    template = stray.model_copy(update={"entry": story.id("user")})
    with pytest.raises(UnknownReferenceError, match=f"{story.id('user')} is none"):
        backend.store.append(
            (measured(story, entries=tuple(sorted((*entries, template), key=lambda one: one.entry))),), DELIVERY
        )


def test_a_measurement_lists_every_ablatable_entry(backend):
    story = told(backend, upto="measured")
    kept = tuple(entry for entry in story.named["measured"].body.entries if entry.verdict == "edge")
    with pytest.raises(UnknownReferenceError, match=f"{story.id('observed_beta')} is missing"):
        backend.store.append((measured(story, entries=kept),), DELIVERY)


def test_a_measurement_is_about_a_claim_of_its_generation(backend):
    story = told(backend, upto="measured")
    derived = story.named["derived"]
    foreign = Author(SCOPE, "tests.contract", "1").write(
        type(derived),
        facts.message_fact("tests.contract", "claim", 1),
        derived.body.model_copy(update={"generation": None, "span": None}),
    )
    backend.store.append((foreign,), DELIVERY)
    with pytest.raises(UnknownReferenceError, match="is not a claim of generation"):
        backend.store.append((measured(story, claim=foreign.event_id),), DELIVERY)


@pytest.mark.invariant("EVID-03")
def test_receipts_say_who_when_and_under_which_policy(backend):
    story = opened(backend)
    delivery = Delivery(
        principal_id="alice",
        role="agent",
        channel="service",
        received_at=at(5).received_at,
        delivery_id="d-1",
        context_head="cd" * 32,
    )
    backend.store.append((given_entry(backend, 1, "text"),), delivery)
    (event,) = backend.store.events("evidence")
    assert event.receipt.model_dump() == {
        "channel": "service",
        "context_head": None,
        "delivery_id": "d-1",
        "policy_head": story.id("policy"),
        "principal_id": "alice",
        "received_at": at(5).received_at,
        "recorded_at": at(5).received_at,
        "role": "agent",
    }
    genesis, policy = backend.store.events("control")
    assert genesis.receipt.policy_head is None
    assert policy.receipt.policy_head is None


def test_the_context_head_stands_in_the_receipt_of_generations_only(backend):
    story = told(backend, upto="generation")
    batch = [story.named[name] for name in ("generation", "derived")]
    backend.store.append(batch, replace(DELIVERY, context_head="cd" * 32))
    assert [backend.store.event(one.event_id).receipt.context_head for one in batch] == ["cd" * 32, None]


@pytest.mark.invariant("EVID-03")
def test_a_clock_that_goes_back_never_goes_back_in_the_log(backend):
    opened(backend)
    for step, second in enumerate((10, 30, 20, 40)):
        backend.store.append((given_entry(backend, step, "text"),), at(second))
    receipts = [event.receipt for event in backend.store.events("evidence")]
    assert [receipt.received_at for receipt in receipts] == [at(s).received_at for s in (10, 30, 20, 40)]
    assert [receipt.recorded_at for receipt in receipts] == [at(s).received_at for s in (10, 30, 30, 40)]


def test_an_empty_batch_changes_nothing(backend):
    opened(backend)
    head = backend.store.head("evidence")
    assert backend.store.append((), DELIVERY) == ()
    assert backend.store.head("evidence") == head


def test_more_events_than_a_page_come_in_order(backend):
    opened(backend)
    entries = [given_entry(backend, step, f"text {step % 7}") for step in range(1203)]
    backend.store.append(entries, DELIVERY)
    assert evidence(backend) == [entry.event_id for entry in entries]
    assert [event.offset for event in backend.store.events("evidence", after=1100)] == list(range(1101, 1204))


def test_another_log_is_taken_over_as_it_is(backend):
    told(backend)
    for number in (1, 2):
        with pytest.raises(CollisionError):
            backend.store.append((given_entry(backend, 1, "one"), given_entry(backend, 1, f"other {number}")), DELIVERY)
    heads = {family: backend.store.head(family) for family in ("control", "evidence")}
    events = [event for family in heads for event in backend.store.events(family)]
    collisions = backend.store.collisions()
    assert len(collisions) == 2
    another = backend.another()
    another.adopt(iter(events), iter(collisions))
    try:
        assert [event for family in heads for event in another.events(family)] == events
        assert {family: another.head(family) for family in heads} == heads
        assert another.collisions() == collisions
        assert another.policy_head().event_id == backend.store.policy_head().event_id
        assert list(another.index_errors()) == []
        (outcome,) = another.append((given_entry(backend, 7, "later"),), at(30))
        assert outcome.position.committed_offset == str(backend.store.count("evidence") + 1)
        with pytest.raises(AppendError, match=r"holds 5 control events already; choose an empty scope"):
            another.adopt(events, ())
    finally:
        another.close()


def test_a_log_that_breaks_off_is_not_taken_over(backend):
    told(backend)

    def broken():
        yield from backend.store.events("control")
        raise OSError("the disk went away")

    another = backend.another()
    try:
        with pytest.raises(OSError, match="went away"):
            another.adopt(broken(), ())
        assert another.count("control") == 0
        another.adopt(backend.store.events("control"), ())
        assert another.head("control") == backend.store.head("control")
    finally:
        another.close()


def test_many_appends_at_once_are_each_all_or_nothing(backend):
    opened(backend)
    first, second, third = (given_entry(backend, step, "text") for step in (1, 2, 3))
    clash = given_entry(backend, 1, "another text")
    missing = EntryGivenBody.make(content=content_ref(b"never put", TEXT), role="user")
    without = Author(SCOPE, "tests.contract", "1").write(
        EntryGiven, facts.message_fact("tests.contract", "r", 9), missing
    )
    results = append_groups(
        backend.store,
        [
            Group((first,), at(1)),
            Group((second, clash), at(2)),
            Group((second, without), at(3)),
            Group((first, third), at(4)),
            Group((), at(5)),
        ],
    )
    assert isinstance(results[1], CollisionError)
    assert isinstance(results[2], BlobError)
    assert [type(outcome) for outcome in (*results[0], *results[3])] == [Fresh, Replayed, Fresh]
    assert results[4] == ()
    assert evidence(backend) == [first.event_id, third.event_id]
    assert [event.receipt.received_at for event in backend.store.events("evidence")] == [
        at(second).received_at for second in (1, 4)
    ]
    assert [collision.refused for collision in backend.store.collisions()] == [clash.event_id]
