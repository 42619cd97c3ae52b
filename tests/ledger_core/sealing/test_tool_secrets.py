"""A tool is given its secrets; the ledger only ever sees their names."""

from __future__ import annotations

import pytest

from ledger_core.kernel.errors import SealError, ToolError
from ledger_core.sealing.secrets import from_environment
from tests.ledger_core.sealing.workshop import Counted, boundary, content, external, open_ledger, statements


@pytest.fixture
def ledger():
    return open_ledger()


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
