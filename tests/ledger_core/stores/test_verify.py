"""Verification: an untouched ledger passes; every kind of tampering is found, and found where it was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.kernel import log
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.log import Position, Receipt
from ledger_core.kernel.statements import FAMILIES, LogFamily, Statement, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.stores import Ledger
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import StoredEvent
from ledger_core.stores.verify import DivergenceKind, VerificationReport, verify
from tests.ledger_core.story import NOW, SCOPE, Story, open_memory, tell

Logs = dict[LogFamily, list[StoredEvent]]


@pytest.fixture(scope="module")
def told() -> tuple[Ledger, Story]:
    ledger = open_memory()
    return ledger, tell(ledger)


def logs_of(ledger: Ledger) -> Logs:
    return {family: list(ledger.events(family)) for family in FAMILIES}


def walked(ledger: Ledger, logs: Logs) -> VerificationReport:
    """Verify ``logs`` as a ledger with the blobs of ``ledger``."""
    events = [event for family in FAMILIES for event in logs[family]]
    store = MemoryEventStore.restore(SCOPE, ledger.blobs, events)
    return verify(Ledger(store, ledger.blobs, now=NOW))


def found(report: VerificationReport) -> tuple[str, str, int | None]:
    assert report.first_divergence is not None, "the tampering went unseen"
    return report.first_divergence.kind.value, report.first_divergence.family, report.first_divergence.offset


def relinked(genesis: str, family: LogFamily, statements: list[tuple[Statement, bytes]]) -> list[StoredEvent]:
    """A family's log written by somebody who knows the formulas: every link fits, whatever the statements say."""
    epoch = log.epoch_id(SCOPE)
    chain = log.genesis_chain(genesis, epoch, family, 0)
    events = []
    for offset, (statement, receipt) in enumerate(statements, start=1):
        position = Position.make(committed_offset=str(offset), epoch_id=epoch, shard=0)
        chain = log.append_chain(chain, position, statement.event_id, receipt)
        events.append(StoredEvent(statement.event_id, family, position, statement.encoded, receipt, chain))
    return events


def test_an_untouched_ledger_verifies(told):
    ledger, story = told
    report = verify(ledger)
    assert report.first_divergence is None
    assert (report.head, report.control_head) == (ledger.head(), ledger.head("control"))
    assert report.events == len(list(story)) == ledger.count() + ledger.count("control")
    assert (report.blobs, report.erased) == (len(set(blobs_of(story))), 0)
    report.require()


def blobs_of(story: Story) -> Iterator[str]:
    for statement in story:
        yield from re.findall(rb'"byte_length":[0-9]+,"digest":"[0-9a-f]+","media_type":"[^"]*"', statement.encoded)


CHANGES: dict[str, tuple[str, Callable[[StoredEvent], StoredEvent]]] = {
    "event id": ("event-id", lambda event: replace(event, event_id="ab" * 32)),
    "chain": ("chain", lambda event: replace(event, chain="ab" * 32)),
    "epoch": (
        "position",
        lambda event: replace(event, position=event.position.model_copy(update={"epoch_id": "ab" * 32})),
    ),
    "shard": ("position", lambda event: replace(event, position=event.position.model_copy(update={"shard": 1}))),
    "offset": (
        "offset",
        lambda event: replace(event, position=event.position.model_copy(update={"committed_offset": "9999"})),
    ),
    "statement bytes": ("statement", lambda event: replace(event, encoded=event.encoded + b" ")),
    "another valid statement": (
        "event-id",
        lambda event: replace(event, encoded=event.encoded.replace(b'"revision":"1"', b'"revision":"2"')),
    ),
    "receipt bytes": ("receipt", lambda event: replace(event, receipt_bytes=event.receipt_bytes + b" ")),
    "receipt's time": (
        "receipt",
        lambda event: replace(
            event, receipt_bytes=event.receipt_bytes.replace(b'"recorded_at":"2026', b'"recorded_at":"2025')
        ),
    ),
    "receipt's principal": (
        "chain",
        lambda event: replace(event, receipt_bytes=event.receipt_bytes.replace(b'"local"', b'"mallory"')),
    ),
    "receipt's policy": (
        "receipt",
        lambda event: replace(
            event,
            receipt_bytes=re.sub(
                rb'"policy_head":"[0-9a-f]{64}"', b'"policy_head":"' + b"ab" * 32 + b'"', event.receipt_bytes
            ),
        ),
    ),
    "receipt without policy": (
        "receipt",
        lambda event: replace(
            event, receipt_bytes=re.sub(rb'"policy_head":"[0-9a-f]{64}"', b'"policy_head":null', event.receipt_bytes)
        ),
    ),
}


@pytest.mark.invariant("§2.6", "EVID-01")
@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("place", [2, 9, 25])
def test_a_change_of_one_event_is_found_at_that_event(told, change, place):
    ledger, _ = told
    kind, apply = CHANGES[change]
    logs = logs_of(ledger)
    changed = apply(logs["evidence"][place - 1])
    assert changed != logs["evidence"][place - 1]
    logs["evidence"][place - 1] = changed
    if change == "receipt without policy" and place == 2:
        kind = "receipt"  # evidence before any policy cannot be
    assert found(walked(ledger, logs)) == (kind, "evidence", place)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_event_in_the_middle_is_found_at_its_place(told, family):
    ledger, _ = told
    logs = logs_of(ledger)
    del logs[family][2]
    assert found(walked(ledger, logs)) == ("offset", family, 3)


def test_a_missing_event_whose_gap_was_closed_is_found_at_its_place(told):
    ledger, _ = told
    logs = logs_of(ledger)
    del logs["evidence"][4]
    logs["evidence"] = [
        replace(event, position=event.position.model_copy(update={"committed_offset": str(offset)}))
        for offset, event in enumerate(logs["evidence"], start=1)
    ]
    assert found(walked(ledger, logs)) == ("chain", "evidence", 5)


def test_swapped_events_are_found_at_the_first_of_them(told):
    ledger, _ = told
    logs = logs_of(ledger)
    first, second = logs["evidence"][0], logs["evidence"][1]
    logs["evidence"][0] = replace(second, position=first.position)
    logs["evidence"][1] = replace(first, position=second.position)
    assert found(walked(ledger, logs)) == ("chain", "evidence", 1)


def test_a_repeated_event_is_found(told):
    ledger, _ = told
    logs = logs_of(ledger)
    logs["evidence"].insert(3, logs["evidence"][2])
    assert found(walked(ledger, logs)) == ("offset", "evidence", 4)


def test_an_event_in_the_wrong_family_is_found(told):
    ledger, story = told
    logs = logs_of(ledger)
    control = [(event.statement, event.receipt_bytes) for event in logs["control"]]
    control.append((story.named["user"], logs["control"][-1].receipt_bytes))
    logs["control"] = relinked(story.id("genesis"), "control", control)
    assert found(walked(ledger, logs)) == ("family", "control", 6)


@pytest.mark.parametrize("first", ["policy", None])
def test_a_log_without_genesis_is_found(told, first):
    ledger, _ = told
    logs = logs_of(ledger)
    logs["control"] = [] if first is None else logs["control"][1:]
    kind, family, _ = found(walked(ledger, logs))
    assert (kind, family) == ("genesis", "control")


def test_a_ledger_of_another_scope_is_found(told):
    ledger, _ = told
    store = MemoryEventStore.restore(
        SCOPE.model_copy(update={"project_namespace": "other"}), ledger.blobs, ledger.events("control")
    )
    assert found(verify(Ledger(store, ledger.blobs, now=NOW))) == ("genesis", "control", 1)


def well_linked(told, edit: Callable[[list[tuple[Statement, bytes]]], None]) -> VerificationReport:
    """Verify an evidence log that was edited and then linked again by an expert forger."""
    ledger, story = told
    logs = logs_of(ledger)
    evidence = [(event.statement, event.receipt_bytes) for event in logs["evidence"]]
    edit(evidence)
    logs["evidence"] = relinked(story.id("genesis"), "evidence", evidence)
    return walked(ledger, logs)


def test_a_forged_chain_over_a_dangling_reference_is_found(told):
    _, story = told
    order = [event.event_id for event in told[0].events()]
    seal, observed = order.index(story.id("seal_beta")), order.index(story.id("observed_beta"))

    def swap(evidence):
        evidence[seal], evidence[observed] = evidence[observed], evidence[seal]

    assert found(well_linked(told, swap)) == ("reference", "evidence", seal + 1)


def test_a_forged_chain_that_says_two_things_about_one_fact_is_found(told):
    _, story = told
    user = story.named["user"]

    def contradict(evidence):
        body = user.body.model_copy(update={"role": "system"})
        twin = EntryGiven.decode(user.model_copy(update={"body": body}).canonical_bytes())
        evidence.insert(2, (twin, evidence[1][1]))

    assert found(well_linked(told, contradict)) == ("fact", "evidence", 3)


def test_a_forged_chain_over_a_foreign_scope_is_found(told):
    _, story = told
    user = story.named["user"]

    def smuggle(evidence):
        scope = SCOPE.model_copy(update={"tenant_namespace": "mallory"})
        foreign = EntryGiven.decode(user.model_copy(update={"scope": scope}).canonical_bytes())
        evidence.insert(2, (foreign, evidence[1][1]))

    assert found(well_linked(told, smuggle)) == ("rule", "evidence", 3)


def test_a_forged_chain_under_an_older_policy_is_found(told):
    _, story = told

    def go_back(evidence):
        statement, receipt = evidence[5]
        old = Receipt.decode(receipt).model_copy(update={"policy_head": story.id("policy")})
        evidence[5] = (statement, old.canonical_bytes())

    assert found(well_linked(told, go_back)) == ("receipt", "evidence", 6)


@pytest.mark.parametrize(
    ("name", "about"), [("refused", "verdict_beta"), ("fired", "verdict_gamma"), ("adjusted_gamma", "verdict_gamma")]
)
def test_a_conclusion_that_was_left_out_is_found_at_its_verdict(told, name, about):
    _, story = told
    order = [event.event_id for event in told[0].events()]

    def leave_out(evidence):
        del evidence[order.index(story.id(name))]

    assert found(well_linked(told, leave_out)) == ("fold", "evidence", order.index(story.id(about)) + 1)


def test_a_conclusion_that_was_embellished_is_found_at_its_verdict(told):
    _, story = told
    order = [event.event_id for event in told[0].events()]
    fired = story.named["fired"]
    kept = tuple(entry.model_copy(update={"attenuation": 10**9}) for entry in fired.body.attenuated)

    def embellish(evidence):
        body = fired.body.model_copy(update={"attenuated": kept})
        place = order.index(fired.event_id)
        milder = type(fired).decode(fired.model_copy(update={"body": body}).canonical_bytes())
        evidence[place] = (milder, evidence[place][1])

    assert found(well_linked(told, embellish)) == ("fold", "evidence", order.index(story.id("verdict_gamma")) + 1)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_no_bit_of_an_event_can_be_flipped_unseen(data):
    ledger = open_memory()
    tell(ledger)
    logs = logs_of(ledger)
    family = data.draw(st.sampled_from(FAMILIES))
    place = data.draw(st.integers(0, len(logs[family]) - 1))
    field = data.draw(st.sampled_from(["encoded", "receipt_bytes", "chain", "event_id"]))
    original = logs[family][place]
    value = getattr(original, field)
    raw = bytearray(value if isinstance(value, bytes) else value.encode())
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8
    flipped = bytes(raw) if isinstance(value, bytes) else raw.decode("latin-1")
    logs[family][place] = replace(original, **{field: flipped})
    kind, where, offset = found(walked(ledger, logs))
    assert (where, offset) == (family, place + 1)
    assert kind in {"statement", "event-id", "receipt", "chain", "genesis", "position"}


@pytest.mark.invariant("§2.6")
@pytest.mark.slow
def test_every_single_bit_of_one_record_matters(told):
    ledger, _ = told
    logs = logs_of(ledger)
    original = logs["evidence"][0]
    logs["evidence"] = logs["evidence"][:1]
    for field in ("encoded", "receipt_bytes"):
        value = getattr(original, field)
        for bit in range(len(value) * 8):
            raw = bytearray(value)
            raw[bit // 8] ^= 1 << bit % 8
            logs["evidence"][0] = replace(original, **{field: bytes(raw)})
            assert found(walked(ledger, logs))[1:] == ("evidence", 1)


def test_another_policy_in_the_log_than_genesis_promised_is_found(told):
    ledger, story = told
    logs = logs_of(ledger)
    genesis, first = logs["control"][:2]
    strict = story.named["strict"]
    body = strict.body.model_copy(update={"predecessor": None})
    other = type(strict).decode(strict.model_copy(update={"body": body}).canonical_bytes())
    control = [(genesis.statement, genesis.receipt_bytes), (other, first.receipt_bytes)]
    logs["control"] = relinked(story.id("genesis"), "control", control)
    assert found(walked(ledger, logs)) == ("rule", "control", 2)


def test_every_kind_of_divergence_is_shown_by_a_test():
    files = [Path(__file__).with_name(f"test_{name}.py") for name in ("verify", "verify_file", "kept")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    elsewhere = {DivergenceKind.LEDGER_MISSING}  # nothing to walk there: the command says so
    assert {kind for kind in DivergenceKind if f'"{kind}"' not in text} == elsewhere


def test_a_store_that_fails_while_it_is_read_is_unreadable_from_there(told):
    ledger, _ = told
    store = MemoryEventStore.restore(SCOPE, ledger.blobs, [*ledger.events("control"), *ledger.events()])
    whole = store.events

    def failing(family: LogFamily, after: int = 0) -> Iterator[StoredEvent]:
        for event in whole(family, after):
            if family == "evidence" and event.offset == 4:
                raise StoreError("disk I/O error")
            yield event

    store.events = failing
    report = verify(Ledger(store, ledger.blobs, now=NOW))
    assert found(report) == ("unreadable", "evidence", 4)
    assert report.events == 8
    assert report.head is None


def test_an_unknown_media_type_changes_nothing():
    # Two references to the same bytes under two media types are two references and one blob.
    ledger = open_memory()
    for step, media_type in enumerate((TEXT, "text/x-other")):
        body = EntryGivenBody.make(content=ledger.put_blob(b"same", media_type), role="user")
        fact = facts.message_fact("tests.verify", "r", step)
        ledger.append((Author(SCOPE, "tests.verify", "1").write(EntryGiven, fact, body),), role="recorder")
    assert verify(ledger).first_divergence is None
