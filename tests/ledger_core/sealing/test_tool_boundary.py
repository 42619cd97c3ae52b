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
from ledger_core.kernel.errors import (
    CollisionError,
    SealError,
    StatementError,
    StorageFullError,
    ToolError,
    UnserialisableError,
)
from ledger_core.sealing import Returned
from ledger_core.sealing.secrets import from_environment
from ledger_core.stores import Ledger
from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import (
    SCOPE,
    Counted,
    boundary,
    content,
    external,
    local,
    open_ledger,
    statements,
)


class FailingSink:
    """A ledger whose disk is full for the first few writes of one kind."""

    def __init__(self, ledger, *, fail, times=1):
        self.ledger, self.fail, self.times = ledger, fail, times
        self.appended = []

    @property
    def scope(self):
        return self.ledger.scope

    def _try(self, step):
        if step == self.fail and self.times:
            self.times -= 1
            raise StorageFullError("no space left; free some")

    def put_blobs(self, many):
        self._try("blobs")
        return self.ledger.put_blobs(many)

    def put_blob_stream(self, chunks, media_type):
        self._try("stream")
        return self.ledger.put_blob_stream(chunks, media_type)

    def append(self, statements, *, role):
        self.appended.append([statement.encoded for statement in statements])
        self._try("append")
        outcomes = self.ledger.append(statements, role=role)
        self._try("acknowledge")
        return outcomes


@pytest.fixture
def ledger():
    return open_ledger()


def on_disk(home):
    return Ledger.open(
        home, SCOPE, now="2026-05-01T09:00:00.000000000Z", policy=SEED_V4_CLUSTERS, policy_name="workshop"
    )


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


class TestDelivery:
    @pytest.mark.parametrize("fail", ["blobs", "append", "acknowledge"])
    def test_a_retry_sends_the_same_bytes_and_does_not_run_the_tool_again(self, ledger, fail):
        sink, tool = FailingSink(ledger, fail=fail), Counted({"a": 1}, {"a": 2})
        tools = boundary(external("search", tool, effect="mutating"), ledger=sink)
        with pytest.raises(StorageFullError):
            tools.call("search", {"q": 1}, step=0)
        assert len(tools.undelivered) == 1
        call = tools.call("search", {"q": 1}, step=0)
        assert tool.calls == 1
        assert tools.undelivered == ()
        assert len({tuple(batch) for batch in sink.appended}) == 1
        assert ledger.count() == 2
        assert content(ledger, call) == [b'{"a":1}']

    def test_undelivered_calls_can_be_delivered_without_knowing_them(self, ledger):
        tools = boundary(external("search", dict), ledger=FailingSink(ledger, fail="append"))
        with pytest.raises(StorageFullError):
            tools.call("search", {})
        (waiting,) = tools.undelivered
        assert tools.deliver(waiting) == tools.deliver(waiting)
        assert (tools.undelivered, ledger.count()) == ((), 2)

    def test_a_stream_can_be_delivered_again(self, ledger):
        tools = boundary(external("file", lambda: iter([b"a" * 100, b"b"])), ledger=FailingSink(ledger, fail="stream"))
        with pytest.raises(StorageFullError):
            tools.call("file", {}, step=3)
        assert content(ledger, tools.call("file", {}, step=3)) == [b"a" * 100 + b"b"]

    @pytest.mark.invariant("EVENT-01")
    def test_the_same_call_again_is_the_same_seal(self, ledger):
        tool = Counted(1, 2)
        tools = boundary(external("search", tool), ledger=ledger)
        first = tools.call("search", {"q": 1}, step=0, call_id="call_9")
        assert tools.call("search", {"q": 1}, step=0, call_id="call_9") == first
        assert (tool.calls, ledger.count()) == (1, 2)

    @pytest.mark.parametrize("again", [("search", {"q": 2}), ("other", {"q": 1})])
    def test_a_call_id_is_used_for_one_call(self, ledger, again):
        tools = boundary(external("search", Counted(1)), external("other", Counted(1)), ledger=ledger)
        tools.call("search", {"q": 1}, step=0)
        with pytest.raises(SealError, match="was another call"):
            tools.call(*again, step=0)

    def test_another_process_that_says_otherwise_about_the_same_call_collides(self, ledger):
        boundary(external("search", lambda: 1), ledger=ledger).call("search", {})
        with pytest.raises(CollisionError):
            boundary(external("search", lambda: 2), ledger=ledger).call("search", {})
        assert ledger.count() == 2

    def test_a_run_that_goes_on_counts_on(self, ledger):
        boundary(external("search", dict), ledger=ledger).call("search", {})
        boundary(external("search", dict), ledger=ledger, first_step=1).call("search", {})
        assert ledger.count() == 4

    def test_the_next_step_is_one_that_nobody_named(self, ledger):
        tool = Counted(1, 2, 3)
        tools = boundary(external("search", tool), ledger=ledger)
        calls = [tools.call("search", {}, step=4), tools.call("search", {}), tools.call("search", {}, step=2)]
        assert tools.reserve_step() == 6
        assert len({call.seal for call in calls}) == tool.calls == 3
        keys = [statement.source_fact.key for statement in statements(ledger, "seal.minted")]
        assert keys == ["4/call", "5/call", "2/call"]

    def test_one_place_runs_one_call_at_a_time(self, ledger):
        tools = boundary(external("search", lambda: tools.call("search", {}, step=0)), ledger=ledger)
        call = tools.call("search", {}, step=0)
        assert b"is running" in content(ledger, call)[0]


class TestAsync:
    def test_an_async_call_is_sealed_like_any_other(self, ledger):
        async def search(q):
            return {"about": q}

        call = asyncio.run(boundary(external("search", search), ledger=ledger).acall("search", {"q": 1}))
        assert content(ledger, call) == [b'{"about":1}']

    def test_a_cancelled_call_is_sealed_as_an_error_and_stays_cancelled(self, ledger):
        acted = asyncio.Event()

        async def book():
            acted.set()
            await asyncio.sleep(60)

        tools = boundary(external("book", book, effect="mutating"), ledger=ledger)

        async def cancelled():
            task = asyncio.create_task(tools.acall("book", {}))
            await acted.wait()
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
        seal, observed = statements(ledger)
        assert seal.body.outcome == "error"
        assert ledger.read_blob(observed.body.content) == b'{"error":{"message":"","type":"CancelledError"}}'

    def test_many_at_once_are_all_sealed(self, ledger):
        async def echo(n):
            await asyncio.sleep(0)
            return n

        tools = boundary(external("echo", echo), external("slow", lambda n: n), ledger=ledger)

        async def many():
            names = ("echo", "slow")
            return await asyncio.gather(*(tools.acall(names[n % 2], {"n": n}, step=n) for n in range(20)))

        calls = asyncio.run(many())
        assert [content(ledger, call) for call in calls] == [[str(n).encode()] for n in range(20)]
        assert verify(ledger).first_divergence is None

    def test_a_ledger_on_disk_is_written_from_its_threads(self, tmp_path):
        with on_disk(tmp_path) as ledger:
            tools = boundary(external("echo", lambda n: n), ledger=ledger)

            async def many():
                return await asyncio.gather(*(tools.acall("echo", {"n": n}, step=n) for n in range(8)))

            calls = asyncio.run(many())
            assert [content(ledger, call) for call in calls] == [[str(n).encode()] for n in range(8)]
            assert verify(ledger).first_divergence is None

    def test_the_same_call_again_is_a_replay(self, ledger):
        tools = boundary(external("search", Counted(1)), ledger=ledger)

        async def twice():
            return [await tools.acall("search", {}, step=0) for _ in range(2)]

        first, second = asyncio.run(twice())
        assert first == second


class TestRecords:
    def hits(self, ledger, result):
        return boundary(external("search", lambda: result, records="/found/hits"), ledger=ledger).call("search", {})

    def test_each_declared_record_is_an_observation_of_its_own(self, ledger):
        call = self.hits(ledger, {"found": {"hits": [{"b": 1, "a": 2}, "text"]}, "took": 3})
        assert content(ledger, call) == [b'{"a":2,"b":1}', b'"text"']
        observed = statements(ledger, "entry.observed")
        assert [each.body.record_pointer for each in observed] == ["/found/hits/0", "/found/hits/1"]
        assert {each.body.seal for each in observed} == {call.seal}
        assert verify(ledger).first_divergence is None

    @pytest.mark.parametrize(
        "result", [{"found": {"hits": []}}, {"found": 1}, [1], "text", {"found": {"hits": {"a": 1}}}]
    )
    def test_a_result_without_the_array_is_observed_whole(self, ledger, result):
        call = self.hits(ledger, result)
        assert [each.body.record_pointer for each in statements(ledger, "entry.observed")] == [None]
        assert len(call.observations) == 1

    def test_more_records_than_a_seal_holds_are_refused(self, ledger):
        with pytest.raises(ToolError, match="holds 1001 records"):
            self.hits(ledger, {"found": {"hits": [0] * 1_001}})
        assert statements(ledger) == []
        assert len(self.hits(ledger, {"found": {"hits": [0] * 1_000}}).observations) == 1_000

    def test_escaped_names_are_followed(self, ledger):
        tool = external("search", lambda: {"a/b": {"~": [1]}}, records="/a~1b/~0")
        assert content(ledger, boundary(tool, ledger=ledger).call("search", {})) == [b"1"]


@pytest.mark.invariant("EVID-05")
class TestSecrets:
    KEY = "AKIAIOSFODNN7EXAMPLE"
    TOKEN = "correct-horse-battery"

    def tools(self, ledger, function, **fields):
        source = from_environment({"TOKEN": self.TOKEN, "SHORT": "abc"})
        return boundary(
            external("search", function, secret_refs=("env:TOKEN",), **fields), ledger=ledger, secrets=source
        )

    def everything(self, ledger):
        return b"".join([*ledger.blobs._blobs.values(), *(statement.encoded for statement in statements(ledger))])

    def test_a_tool_is_given_its_secrets_and_the_ledger_their_names(self, ledger):
        seen = {}

        def search(q, secrets):
            seen.update(secrets)
            return f"hello {secrets['env:TOKEN']}, you asked {q}"

        call = self.tools(ledger, search).call("search", {"q": "x"})
        assert seen == {"env:TOKEN": self.TOKEN}
        assert content(ledger, call) == [b"hello [REDACTED:repeated], you asked x"]
        body = statements(ledger, "seal.minted")[0].body
        assert body.reacquisition.secret_refs == ("env:TOKEN",)
        assert ledger.read_blob(body.args) == b'{"q":"x"}'
        assert self.TOKEN.encode() not in self.everything(ledger)

    @pytest.mark.parametrize("result", ["exception", "stream", "bytes", "json", "records"])
    def test_no_value_reaches_the_ledger_by_any_way(self, ledger, result):
        token = self.TOKEN

        def search(secrets):  # noqa: ARG001 - given, not used
            if result == "exception":
                raise ValueError(f"401 for {token}")
            return {
                "stream": iter([token[:5].encode(), token[5:].encode()]),
                "bytes": b"\xff" + token.encode(),
                "json": {"deep": [f'{{"quoted":"{token}"}}'], token: 1},
                "records": {"hits": [token, {"a": token}]},
            }[result]

        self.tools(ledger, search, records="/hits" if result == "records" else None).call("search", {})
        assert token.encode() not in self.everything(ledger)

    def test_secret_arguments_are_redacted_and_the_result_is_not_fetched_again(self, ledger):
        tool = external("search", lambda url: f"you asked for {url}")
        call = boundary(tool, ledger=ledger).call("search", {"url": f"https://a.test/?key={self.KEY}"})
        assert self.KEY.encode() not in self.everything(ledger)
        assert statements(ledger, "seal.minted")[0].body.reacquisition is None
        assert b"you asked for https://a.test/?key=[REDACTED:" in content(ledger, call)[0]

    @pytest.mark.parametrize(
        "give", [lambda text: text, lambda text: iter([text.encode()]), lambda text: {"said": text}]
    )
    def test_a_secret_found_among_the_arguments_is_one_in_the_result(self, ledger, give):
        tool = external("search", lambda password: give(f"you said {password} to me"))
        boundary(tool, ledger=ledger).call("search", {"password": "hunter2-correct-horse9"})
        assert b"hunter2" not in self.everything(ledger)

    def test_a_call_id_that_is_a_secret_leaves_its_digest(self, ledger):
        boundary(external("search", dict), ledger=ledger).call("search", {}, call_id=self.KEY)
        assert self.KEY.encode() not in self.everything(ledger)

    def test_a_caller_does_not_choose_the_secrets(self, ledger):
        with pytest.raises(ToolError, match="given its secrets by the boundary"):
            self.tools(ledger, dict).call("search", {"secrets": {"env:TOKEN": "mine-and-yours"}})

    def test_a_tool_without_secrets_may_have_an_argument_of_that_name(self, ledger):
        call = boundary(external("search", lambda secrets: secrets), ledger=ledger).call("search", {"secrets": "none"})
        assert content(ledger, call) == [b"none"]

    @pytest.mark.parametrize(
        ("reference", "complaint"),
        [("env:MISSING", "is not set"), ("TOKEN", "is not set"), ("env:SHORT", "fewer than 8")],
    )
    def test_a_secret_that_is_not_there_or_too_short_stops_the_call(self, ledger, reference, complaint):
        source = from_environment({"SHORT": "abc", "TOKEN": "x" * 9})
        tool = Counted(1)
        tools = boundary(external("search", tool, secret_refs=(reference,)), ledger=ledger, secrets=source)
        with pytest.raises(SealError, match=complaint):
            tools.call("search", {})
        assert tool.calls == 0
        with pytest.raises(SealError, match="no secrets are configured"):
            boundary(external("search", tool, secret_refs=(reference,)), ledger=ledger).call("search", {})


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
