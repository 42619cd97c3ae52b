"""Identities recomputed by hand: event id, source-fact id, representation key, and the references a statement makes."""

from __future__ import annotations

import hashlib
import json

import pytest

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.statements import ENTRY_KINDS, STATEMENT_TYPES, Statement, content_refs, references
from ledger_core.kernel.statements.codec import Reference
from tests.ledger_core.story import Story

STORY = Story()


def spelled(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def domain(prefix: str, data: bytes) -> str:
    return hashlib.sha256(prefix.encode() + b"\x00" + data).hexdigest()


@pytest.mark.parametrize("name", sorted(STORY.named))
def test_the_three_identities_follow_the_design(name):
    statement = STORY.named[name]
    document = json.loads(statement.encoded)
    assert statement.event_id == domain("ostk-accepted-event-v1", spelled(document))
    fact = {"kind": document["kind"], "scope": document["scope"], "source_fact": document["source_fact"]}
    fact_id = domain("veritas-source-fact-v1", spelled(fact))
    assert statement.source_fact_id == fact_id
    representation = {
        "source_fact_id": fact_id,
        "schema_version": document["schema_version"],
        "profile": document["profile"],
        "representation": document["representation"],
    }
    assert statement.representation_key == domain("veritas-representation-v1", spelled(representation))


def test_identities_of_this_version_never_change():
    # Anchors of our own: a change here is a change of every ledger ever written.
    seal = STORY.named["seal_alpha"]
    assert seal.event_id == "0d58ef63743b2f77a13d0b9488eeab4d5726687f8610e37298ea778805527c45"
    assert seal.source_fact_id == "891a955f5f4f96d938c106f7f9b4c033ac9992d7f113847e42ec48d72dfa2b06"
    assert seal.representation_key == "bee7f75c9d356efbfd9ea4199c2184d0811f5719ec654cbf092316bf5ae8acca"
    assert STORY.id("user_again") == "69acd4fcf5470ee7d804ddc1a82e07ef7a747706cd8ffd0dc8e5011682bf24ba"


def test_the_same_fact_in_another_representation_keeps_its_fact_id_only():
    first, again = STORY.named["user"], STORY.named["user_again"]
    assert first.body == again.body
    assert first.source_fact_id == again.source_fact_id
    assert first.representation_key != again.representation_key
    assert first.event_id != again.event_id


def test_a_seal_and_its_observation_share_a_call_and_are_two_facts():
    seal, observed = STORY.named["seal_alpha"], STORY.named["observed_alpha"]
    assert seal.source_fact.object == observed.source_fact.object == "run-1"
    assert seal.source_fact_id != observed.source_fact_id


REFERENCES = {
    "genesis": [],
    "policy": [],
    "strict": [("predecessor", "policy")],
    "key": [],
    "criteria": [],
    "system": [],
    "seal_alpha": [],
    "observed_alpha": [("seal", "seal_alpha")],
    "generation": [
        ("context", "system"),
        ("context", "user"),
        ("context", "observed_alpha"),
        ("context", "observed_beta"),
    ],
    "derived": [("generation", "generation"), ("parents", "observed_alpha")],
    "conjectured": [("generation", "generation")],
    "measured": [
        ("generation", "generation"),
        ("claim", "derived"),
        ("entries", "observed_alpha"),
        ("entries", "observed_beta"),
    ],
    "verdict_beta": [("target", "observed_alpha"), ("candidate", "observed_beta")],
    "independent": list(
        zip(("first", "second"), sorted(("observed_beta", "observed_gamma"), key=STORY.id), strict=True)
    ),
    "refused": [("target", "observed_alpha"), ("verdict", "verdict_beta")],
    "fired": [
        ("target", "observed_alpha"),
        ("verdict", "verdict_gamma"),
        ("members", "observed_beta"),
        ("members", "observed_gamma"),
        ("attenuated", "observed_alpha"),
        ("attenuated", "derived"),
        ("attenuated", "conjectured"),
    ],
    "adjusted": [("target", "observed_alpha")],
    "reversed": [("verdict", "verdict_beta")],
    "audited": [("seal", "seal_alpha")],
    "erased": [],
    "trial": [("criteria", "criteria")],
    "user_again": [("lineage", "user")],
}


def test_the_table_of_references_covers_every_kind():
    assert {STORY.named[name].kind for name in REFERENCES} == set(STATEMENT_TYPES)


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_references_are_exactly_the_events_a_statement_names(name):
    statement = STORY.named[name]
    expected = {(field, STORY.id(other)) for field, other in REFERENCES[name]}
    found = references(statement)
    assert {(ref.field, ref.event_id) for ref in found} == expected
    assert len(found) == len(expected)
    kinds = {event.event_id: event.kind for event in STORY}
    for ref in found:
        assert kinds[ref.event_id] in ref.kinds


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_no_event_id_in_a_body_escapes_the_references(name):
    # Every 64-digit value of a body that is the id of an event must be among its references.
    statement = STORY.named[name]
    ids = {event.event_id for event in STORY}
    named = {text for text in strings(json.loads(statement.encoded)["body"]) if text in ids}
    assert named <= {ref.event_id for ref in references(statement)}


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for child in value.values() for text in strings(child)]
    if isinstance(value, list):
        return [text for child in value for text in strings(child)]
    return [value] if isinstance(value, str) else []


def test_what_a_statement_replaces_is_of_its_own_kind():
    (replaced,) = references(STORY.named["user_again"])
    assert replaced == Reference("lineage", STORY.id("user"), frozenset({"entry.given"}))


def test_a_verdict_may_be_about_entries_only():
    target, candidate = references(STORY.named["verdict_beta"])
    assert target.kinds == candidate.kinds == ENTRY_KINDS


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_content_references_are_found_wherever_they_stand(name):
    statement: Statement = STORY.named[name]
    document = json.loads(statement.encoded)
    expected = [spelled(part) for part in objects(document) if "algorithm" in part and "digest" in part]
    found = list(content_refs(statement))
    assert all(isinstance(ref, ContentRef) for ref in found)
    assert sorted(ref.canonical_bytes() for ref in found) == sorted(expected)


def objects(value: object) -> list[dict]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) else []) + [part for child in children for part in objects(child)]
