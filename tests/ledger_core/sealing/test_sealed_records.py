"""A result that declares records is one seal and an observation for each of them."""

from __future__ import annotations

import pytest

from ledger_core.kernel.errors import ToolError
from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import boundary, content, external, open_ledger, statements


@pytest.fixture
def ledger():
    return open_ledger()


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
