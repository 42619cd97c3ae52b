"""The boundary: nothing is seen before it is sealed, nothing is half-written, and a retry is a replay."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel import jcs
from ledger_core.kernel.errors import StatementError, ToolError, UnserialisableError
from ledger_core.sealing import Returned
from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import (
    Counted,
    FailingSink,
    boundary,
    content,
    external,
    local,
    on_disk,
    open_ledger,
    statements,
)


@pytest.fixture
def ledger():
    return open_ledger()


def test_a_call_becomes_a_seal_and_its_observation(ledger):
    tool = external("search", lambda q: {"b": 1.0, "about": q}, predicate_family="height", secret_refs=())
    call = boundary(tool, ledger=ledger).call("search", {"q": "tower"})
    seal, observed = statements(ledger)
    assert (call.seal, call.entry, call.outcome) == (seal.event_id, observed.event_id, "ok")
    body = seal.body
    assert ledger.read_blob(body.args) == b'{"q":"tower"}'
    assert ledger.read_blob(body.result) == b'{"about":"tower","b":1}'
    assert (body.attestation, body.effect, body.reach, body.determinism) == (
        "boundary",
        "read_only",
        "external_read",
        "deterministic",
    )
    assert (body.origin_host, body.source_id, body.tool, body.runner) == ("search.test", "search", "search", "live")
    assert body.reacquisition.tool_digest == tool.registration.digest()
    assert seal.observed_at == observed.observed_at == "2026-05-01T10:00:00.000000000Z"
    assert seal.representation.redaction_policy == "secrets-v1"
    assert (observed.body.seal, observed.body.content, observed.body.record_pointer) == (
        seal.event_id,
        body.result,
        None,
    )
    assert observed.body.predicate_family == "height"
    assert fold(statements(ledger), SEED_V4_CLUSTERS).entries[call.entry].tier == "sealed_unverified"


def test_seal_and_observation_are_one_transaction_of_the_sealer(ledger):
    sink = FailingSink(ledger, fail=None)
    boundary(external("search", dict), ledger=sink).call("search", {})
    assert [len(batch) for batch in sink.appended] == [2]
    assert {event.receipt.role for event in ledger.events()} == {"sealer"}


def test_a_mutating_call_has_no_procedure(ledger):
    boundary(external("book", lambda: "booked", effect="mutating"), ledger=ledger).call("book", {})
    body = statements(ledger, "seal.minted")[0].body
    assert (body.effect, body.reacquisition, body.origin_host) == ("mutating", None, "book.test")


def test_equal_results_of_two_calls_are_two_facts(ledger):
    tools = boundary(external("search", dict), ledger=ledger)
    first, second = tools.call("search", {}), tools.call("search", {})
    assert first.seal != second.seal
    assert [statement.source_fact.key for statement in statements(ledger, "seal.minted")] == ["0/call", "1/call"]


def test_the_tool_gets_exactly_what_is_sealed(ledger):
    seen = []
    given = {"n": 1.0, "list": (1, 2)}
    boundary(external("search", lambda **arguments: seen.append(arguments)), ledger=ledger).call("search", given)
    assert seen == [{"list": [1, 2], "n": 1}]
    assert jcs.parse(ledger.read_blob(statements(ledger, "seal.minted")[0].body.args)) == seen[0]


@pytest.mark.parametrize("error", [ValueError("no such page"), RecursionError(), AssertionError()])
def test_an_exception_is_a_sealed_result(ledger, error):
    call = boundary(external("search", Counted(error)), ledger=ledger).call("search", {})
    assert call.outcome == "error"
    (found,) = content(ledger, call)
    assert jcs.parse(found)["error"] == {"type": type(error).__name__, "message": str(error)}
    assert verify(ledger).first_divergence is None


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interruption_is_sealed_and_passed_on(ledger, interruption):
    with pytest.raises(type(interruption)):
        boundary(external("book", Counted(interruption), effect="mutating"), ledger=ledger).call("book", {})
    assert [seal.body.outcome for seal in statements(ledger, "seal.minted")] == ["error"]


def test_a_timeout_is_a_sealed_result(ledger):
    async def late():
        await asyncio.sleep(60)

    call = boundary(external("search", late, timeout_seconds=0.02), ledger=ledger).call("search", {})
    assert call.outcome == statements(ledger, "seal.minted")[0].body.outcome == "timeout"
    assert content(ledger, call) == [b'{"error":{"message":"no result within 0.02 s","type":"Timeout"}}']


def test_what_a_tool_did_not_give_is_of_no_origin_and_is_not_fetched_again(ledger):
    boundary(external("search", Counted(ValueError("x is 330 m"))), ledger=ledger).call("search", {})
    body = statements(ledger, "seal.minted")[0].body
    assert (body.reach, body.origin_host, body.reacquisition) == ("local", None, None)


def test_what_the_origin_answered_with_a_failure_is_still_the_origins(ledger):
    tool = external("search", lambda: Returned("not found", peer="a.test", ok=False), origin_host=None)
    call = boundary(tool, ledger=ledger).call("search", {})
    body = statements(ledger, "seal.minted")[0].body
    assert (call.outcome, body.reach, body.origin_host, body.reacquisition) == (
        "error",
        "external_read",
        "a.test",
        None,
    )


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": 2**70}, "\ud800", iter(["text"])])
def test_a_result_without_bytes_is_a_typed_error_and_nothing_is_written(ledger, value):
    tools = boundary(external("search", lambda: value), ledger=ledger)
    with pytest.raises(UnserialisableError):
        tools.call("search", {})
    assert statements(ledger) == []
    assert ledger.blobs._blobs == {}
    assert tools.undelivered == ()


def test_arguments_without_bytes_are_refused_before_the_tool_runs(ledger):
    tool = Counted(1)
    with pytest.raises(UnserialisableError, match="the arguments cannot be sealed"):
        boundary(external("search", tool), ledger=ledger).call("search", {"a": object()})
    assert tool.calls == 0


@pytest.mark.parametrize(
    ("tool", "complaint"),
    [
        (external("search", dict, origin_host=None), "as of its final peer and named none"),
        (external("search", lambda: Returned(1, peer="evil.test")), "its registration decides: search.test"),
        (local("search", lambda: Returned(1, peer="evil.test")), "a local tool has none"),
    ],
)
def test_a_result_that_contradicts_the_registration_is_refused_and_nothing_is_written(ledger, tool, complaint):
    with pytest.raises(ToolError, match=complaint):
        boundary(tool, ledger=ledger).call("search", {})
    assert statements(ledger) == []


nasty = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=20)
    | st.builds(object),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(value=nasty, arguments=st.dictionaries(st.text(st.characters()), nasty, max_size=2))
def test_any_value_is_sealed_as_it_is_or_refused_by_type_with_nothing_written(value, arguments):
    ledger = open_ledger()
    tools = boundary(external("search", lambda **_given: value), ledger=ledger)
    try:
        call = tools.call("search", arguments)
    except UnserialisableError:
        assert statements(ledger) == []
        assert ledger.blobs._blobs == {}
    else:
        (found,) = content(ledger, call)
        if isinstance(value, bytes):
            assert found == value
        elif isinstance(value, str):
            assert found == value.encode()
        else:
            assert found == jcs.encode(value)
        assert verify(ledger).first_divergence is None


def test_ten_megabytes_stream_into_the_store_in_little_memory(tmp_path):
    piece = b"0123456789abcdef" * 4_096

    def file(pieces):
        for _ in range(pieces):
            yield piece

    with on_disk(tmp_path) as ledger:
        tools = boundary(external("file", file), ledger=ledger)
        tools.call("file", {"pieces": 16})  # what is imported and cached once is not the stream's
        tracemalloc.start()
        call = tools.call("file", {"pieces": 160})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        (observation,) = call.observations
        assert observation.content.byte_length == 10_485_760
        assert ledger.read_blob(observation.content) == piece * 160
    assert peak < 4_000_000, peak


def test_an_unknown_field_is_refused_and_the_tool_not_run(ledger):
    tool = Counted(1)
    with pytest.raises(StatementError, match="colour: no such field"):
        boundary(external("search", tool), ledger=ledger).call("search", {}, colour="red")
    assert tool.calls == 0
