"""A call runs once and is delivered until it is stored: a retry sends the same bytes."""

from __future__ import annotations

import pytest

from ledger_core.kernel.errors import CollisionError, SealError, StorageFullError
from tests.ledger_core.sealing.workshop import (
    Counted,
    FailingSink,
    boundary,
    content,
    external,
    open_ledger,
    statements,
)


@pytest.fixture
def ledger():
    return open_ledger()


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
