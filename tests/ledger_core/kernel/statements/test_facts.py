"""Source facts: equal facts meet, different facts never do."""

from __future__ import annotations

import hashlib

from hypothesis import assume, given
from hypothesis import strategies as st

from ledger_core.kernel.statements import facts

SPACE = "tests.facts"


def test_keys_are_spelled_as_designed():
    call = facts.call_fact(SPACE, "task-3/trial-1", 7, "call_x")
    assert (call.object, call.key, call.revision) == ("task-3/trial-1", "7/call_x", "1")
    pointed = facts.call_fact(SPACE, "task-3/trial-1", 7, "call_x", "/hits/0")
    assert pointed.key == f"7@{hashlib.sha256(b'/hits/0').hexdigest()}/call_x"
    assert facts.message_fact(SPACE, "r", 4).key == "4"
    assert facts.claim_fact(SPACE, "a" * 64, 3, 9).key == "3/9"
    measured = facts.measurement_fact(SPACE, "a" * 64, "b" * 64, "c" * 64, "d" * 64)
    assert (measured.object, measured.key) == ("a" * 64, f"{'b' * 64}/{'c' * 64}/{'d' * 64}")
    verdict = facts.verdict_fact(SPACE, "a" * 64, "b" * 64, "oracle-v1")
    assert (verdict.object, verdict.key) == ("a" * 64, f"{'b' * 64}/oracle-v1")
    assert facts.successor_fact(SPACE, "a" * 64, None).key == "none"
    assert facts.successor_fact(SPACE, "a" * 64, "b" * 64).key == "b" * 64
    receipt = facts.receipt_fact(SPACE, "a" * 64, "alpha.example", "*")
    assert (receipt.object, receipt.key, receipt.revision) == ("a" * 64, "alpha.example/*", "1")
    assert facts.trial_fact(SPACE, "a" * 64, "2m", "local/x", 3).key == "2m/local/x/3"


def test_what_a_key_cannot_hold_is_digested():
    for value in ("", "line\nbreak", "x" * 257, "a\u0301", "\ud800", "\ue000", "sha256:" + "0" * 64):
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        assert facts.fact_text(value) == "sha256:" + digest
    for value in ("x", "Größe", "x" * 256, "sha-256"):
        assert facts.fact_text(value) == value


@given(st.text(max_size=300), st.text(max_size=300))
def test_different_foreign_ids_never_meet(left, right):
    assume(left != right)
    assert facts.fact_text(left) != facts.fact_text(right)


def test_a_foreign_id_cannot_pose_as_the_digest_of_another():
    long = "y" * 300
    assert facts.fact_text(facts.fact_text(long)) != facts.fact_text(long)


CALLS = st.tuples(st.integers(0, 99), st.text("0/@a", min_size=1, max_size=6), st.none() | st.text("/a0", max_size=4))


@given(CALLS, CALLS)
def test_different_calls_are_different_facts(left, right):
    assume(left != right)
    assert facts.call_fact(SPACE, "r", *left) != facts.call_fact(SPACE, "r", *right)
