"""What one conversation becomes in the ledger, statement by statement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger_core.connectors import import_transcripts
from ledger_core.kernel.statements import Statement
from ledger_core.stores import Ledger

Write = Callable[..., Path]


def call(call_id: str | None, name: str, arguments: object) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hi. What is it?"},
    {"role": "user", "content": "When does it open?"},
    {
        "role": "assistant",
        "content": "I will look.",
        "tool_calls": [call("call_one", "hours", '{"day": "Monday", "b": 1.0}'), call("call_two", "name", "not json")],
    },
    {"role": "tool", "tool_call_id": "call_one", "content": "Opens at nine."},
    {"role": "tool", "tool_call_id": "call_two", "content": "Error: no such tool"},
    {"role": "assistant", "content": "It opens at nine [1]. Its name is unknown (call_two). Goodbye."},
]


def statements(ledger: Ledger, path: Path, format_name: str = "chat") -> list[Any]:
    report = import_transcripts(ledger, format_name, path)
    assert report.rejects == ()
    return [event.statement for event in ledger.events()]


def text(ledger: Ledger, ref: Any) -> str:
    return ledger.read_blob(ref).decode()


def of_kind(found: list[Any], kind: str) -> list[Any]:
    return [statement for statement in found if statement.kind == kind]


@pytest.fixture
def found(ledger: Ledger, jsonl: Write) -> list[Statement]:
    return statements(ledger, jsonl({"messages": CONVERSATION, "model": "gpt-x"}))


def test_messages_become_statements_in_order(found: list[Statement]) -> None:
    assert [statement.kind for statement in found] == [
        "entry.given",
        "entry.given",
        "generation.recorded",
        "entry.conjectured",
        "entry.conjectured",
        "entry.given",
        "generation.recorded",
        "entry.conjectured",
        "entry.conjectured",
        "entry.conjectured",
        "seal.minted",
        "entry.observed",
        "seal.minted",
        "entry.observed",
        "generation.recorded",
        "entry.derived",
        "entry.derived",
        "entry.conjectured",
    ]


def test_given_entries_keep_role_and_text(ledger: Ledger, found: list[Any]) -> None:
    given = [(entry.body.role, text(ledger, entry.body.content)) for entry in of_kind(found, "entry.given")]
    assert given == [("system", "Be brief."), ("user", "Hello."), ("user", "When does it open?")]


@pytest.mark.invariant("§2.1")
def test_an_imported_seal_claims_the_least(ledger: Ledger, found: list[Any]) -> None:
    seal, other = of_kind(found, "seal.minted")
    body = seal.body
    assert (body.attestation, body.effect, body.reach, body.determinism) == ("imported", "mutating", "local", "unknown")
    assert (body.runner, body.origin_host, body.reacquisition) == ("foreign", None, None)
    assert (body.tool, body.source_id, body.outcome) == ("hours", "chat:hours", "ok")
    assert text(ledger, body.args) == '{"b":1,"day":"Monday"}'
    assert text(ledger, other.body.args) == "not json"
    observed = of_kind(found, "entry.observed")[0]
    assert observed.body.seal == seal.event_id
    assert observed.body.content == body.result
    assert text(ledger, body.result) == "Opens at nine."


@pytest.mark.invariant("EVID-03")
def test_nothing_has_a_time_that_the_source_does_not_state(found: list[Statement]) -> None:
    assert {(statement.occurred_at, statement.observed_at) for statement in found} == {(None, None)}


def test_a_foreign_generation_knows_no_tokens_and_no_weights(found: list[Any]) -> None:
    body = of_kind(found, "generation.recorded")[0].body
    assert (body.attestation, body.decoding, body.model, body.splitter) == (
        "imported",
        "unknown",
        "gpt-x",
        "sentences-v1",
    )
    assert (body.prompt_tokens, body.response_tokens, body.weights_digest, body.renderer, body.policy) == (None,) * 5


def test_the_context_is_everything_before_with_the_question_as_template(found: list[Any]) -> None:
    entries = [statement for statement in found if statement.kind.startswith("entry.")]
    system, hello, hi, what, when, look, one, two, nine, error = entries[:10]
    first, second, third = (generation.body.context for generation in of_kind(found, "generation.recorded"))
    units = [[(region.entry, region.unit) for region in context] for context in (first, second, third)]
    assert units[0] == [(system.event_id, None), (hello.event_id, None)]
    assert units[1] == [
        (system.event_id, None),
        (hello.event_id, 0),
        (hi.event_id, 1),
        (what.event_id, 2),
        (when.event_id, None),
    ]
    assert units[2] == [
        *units[1],
        (look.event_id, 3),
        (one.event_id, 4),
        (two.event_id, 5),
        (nine.event_id, 4),
        (error.event_id, 5),
    ]


@pytest.mark.invariant("EVID-02")
def test_claims_are_exactly_the_bytes_of_their_ranges(ledger: Ledger, found: list[Any]) -> None:
    generations = {generation.event_id: generation.body for generation in of_kind(found, "generation.recorded")}
    claims = [entry for entry in found if entry.kind in {"entry.conjectured", "entry.derived"}]
    for claim in claims:
        response = ledger.read_blob(generations[claim.body.generation].response)
        span = claim.body.span
        assert ledger.read_blob(claim.body.content) == response[span.start : span.stop]
    assert [text(ledger, claim.body.content) for claim in claims[2:5]] == [
        "I will look.\n",
        '{"arguments":{"b":1,"day":"Monday"},"name":"hours"}',
        '{"arguments":"not json","name":"name"}',
    ]
    forms = [claim.form for claim in of_kind(found, "generation.recorded")[1].body.claims]
    assert forms == ["sentence", "tool_call", "tool_call"]


def test_declared_parents_are_what_the_text_cites(found: list[Any]) -> None:
    nine, error = of_kind(found, "entry.observed")
    opens, name = of_kind(found, "entry.derived")
    assert [(parent.entry, parent.ppm) for parent in opens.body.parents] == [(nine.event_id, 1_000_000)]
    assert [parent.entry for parent in name.body.parents] == [error.event_id]
    assert all(entry.body.parents == () for entry in of_kind(found, "entry.conjectured"))


def test_a_number_in_arguments_cites_nothing(ledger: Ledger, jsonl: Write) -> None:
    conversation = [*CONVERSATION, {"role": "assistant", "tool_calls": [call("call_three", "sum", {"of": [1]})]}]
    last = statements(ledger, jsonl(conversation))[-1]
    assert last.kind == "entry.conjectured"
    assert text(ledger, last.body.content) == '{"arguments":{"of":[1]},"name":"sum"}'


def test_an_entry_is_cited_by_its_id(ledger: Ledger, jsonl: Write) -> None:
    opening = [{"role": "user", "content": "The sky is green."}]
    (given,) = statements(ledger, jsonl(opening))
    # The id depends on the record, so cite the entry of this very record: none matches, and nothing is declared.
    answer = {"role": "assistant", "content": f"It is green [entry:{given.event_id[:8]}]."}
    assert statements(ledger, jsonl([*opening, answer]))[-1].kind == "entry.conjectured"


def test_calls_without_ids_meet_their_results_in_order(ledger: Ledger, jsonl: Write) -> None:
    conversation = [
        {"role": "user", "content": "Both, please."},
        {"role": "assistant", "tool_calls": [call(None, "a", "{}"), call(None, "b", "{}")]},
        {"role": "tool", "content": "of a"},
        {"role": "tool", "content": "of b"},
        {"role": "assistant", "content": None, "function_call": {"name": "c", "arguments": "{}"}},
        {"role": "function", "name": "c", "content": "of c"},
        {"role": "assistant", "content": "Done."},
    ]
    found = statements(ledger, jsonl(conversation))
    assert [seal.body.tool for seal in of_kind(found, "seal.minted")] == ["a", "b", "c"]
    units = [region.unit for region in of_kind(found, "generation.recorded")[-1].body.context]
    assert units == [None, 0, 1, 0, 1, 2, 2]


def test_ids_that_are_used_again_mean_the_latest_call(ledger: Ledger, jsonl: Write) -> None:
    conversation = [{"role": "user", "content": "Twice."}]
    for name in ("a", "b"):
        conversation += [
            {"role": "assistant", "tool_calls": [call("call_0", name, "{}")]},
            {"role": "tool", "tool_call_id": "call_0", "content": f"of {name}"},
        ]
    conversation.append({"role": "assistant", "content": "Done."})
    found = statements(ledger, jsonl(conversation))
    assert [seal.body.tool for seal in of_kind(found, "seal.minted")] == ["a", "b"]
    units = [region.unit for region in of_kind(found, "generation.recorded")[-1].body.context]
    assert units == [None, 0, 0, 1, 1]


def test_a_result_without_a_call_stands_alone(ledger: Ledger, jsonl: Write) -> None:
    found = statements(ledger, jsonl([{"role": "tool", "tool_call_id": "x", "content": "out of nowhere"}]))
    body = found[0].body
    assert (body.tool, text(ledger, body.args)) == ("unknown", "null")


def test_an_image_leaves_a_marker_and_different_images_differ(ledger: Ledger, jsonl: Write) -> None:
    contents = []
    for url in ("data:image/png;base64,AAAA", "data:image/png;base64,BBBB"):
        part = {"type": "image_url", "image_url": {"url": url}}
        message = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}
        contents.append(text(ledger, statements(ledger, jsonl([message]))[-1].body.content))
    assert contents[0].startswith("What is this?\n[image_url omitted: ")
    assert contents[0] != contents[1]


@pytest.mark.parametrize("content", [None, "", "  \n ", []])
def test_an_assistant_who_says_nothing_claims_nothing(ledger: Ledger, jsonl: Write, content: object) -> None:
    found = statements(ledger, jsonl([{"role": "assistant", "content": content}]))
    assert [statement.kind for statement in found] == ["generation.recorded"]


def test_names_that_no_statement_may_hold_leave_their_digest(ledger: Ledger, jsonl: Write) -> None:
    conversation = [
        {"role": "assistant", "tool_calls": [call("id\x00", "na\x00me", "{}")]},
        {"role": "tool", "tool_call_id": "id\x00", "content": "nul \x00 inside, half \ud83d emoji"},
    ]
    found = statements(ledger, jsonl(conversation))
    seal = of_kind(found, "seal.minted")[0]
    assert seal.body.tool.startswith("sha256:")
    assert text(ledger, seal.body.result) == "nul \x00 inside, half \ufffd emoji"


def test_developer_is_system_and_refusal_is_text(ledger: Ledger, jsonl: Write) -> None:
    conversation = [
        {"role": "developer", "content": "Rules."},
        {"role": "assistant", "content": None, "refusal": "I cannot."},
    ]
    found = statements(ledger, jsonl(conversation))
    assert found[0].body.role == "system"
    assert text(ledger, found[1].body.response) == "I cannot."


def test_arguments_keep_what_no_double_can_hold(ledger: Ledger, jsonl: Write) -> None:
    line = json.dumps([{"role": "assistant", "tool_calls": [call("c", "f", "@")]}])
    path = jsonl(line.replace('"@"', '{"n": 123456789012345678901, "x": NaN, "y": 1e999}').encode())
    claim = statements(ledger, path)[-1]
    assert json.loads(text(ledger, claim.body.content))["arguments"] == {
        "n": "123456789012345678901",
        "x": "NaN",
        "y": "1e999",
    }
