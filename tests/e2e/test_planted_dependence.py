"""On the committed transcript with planted dependence, the packaged model and the shipped floors give the planted edges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledger_core.connectors.importing import import_transcripts
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table, write_table
from pipelines.main_job import SAMPLE, samples_folder
from pipelines.settings import Settings
from pipelines.stages import attribution
from pipelines.stages import ledger as replay
from pipelines.workspace import Workspace
from tests.pipelines.tiny_run import NOW

pytestmark = pytest.mark.slow

SCOPE = Scope.make(tenant_namespace="samples", project_namespace="planted-chat")
ANSWER = 8
"""Index of the message whose sentences rest on something."""


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    home = tmp_path_factory.mktemp("planted")
    at = Workspace(Settings(home, home / "reports", "smollm2-135m", "samples", "planted-chat", threads=1), now=NOW)
    with at.ledger(SCOPE) as ledger:
        assert not import_transcripts(ledger, "chat", samples_folder() / SAMPLE).rejects
    for stage in (
        replay.ledger_events_rows,
        replay.entries_rows,
        replay.edges_rows,
        replay.generations_rows,
        attribution.measured_edges_rows,
    ):
        write_table(at.lake(SCOPE), stage.__name__.removesuffix("_rows"), stage(at, SCOPE))
    return at


def planted() -> dict[tuple[int, int], set[str]]:
    """(conversation, sentence) -> the tool calls whose results it rests on."""
    file = Path(samples_folder() / SAMPLE.replace(".jsonl", ".edges.jsonl"))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["message"] for row in rows} == {ANSWER}
    return {(row["conversation"], row["sentence"]): set(row["rests_on"]) for row in rows}


def sentences(at: Workspace) -> dict[tuple[int, int], str]:
    """(conversation, sentence) -> claim of the answer; conversations in the order of the log."""
    events = read_table(at.lake(SCOPE), "ledger_events")
    conversations = list(dict.fromkeys(row["object"] for row in events if row["kind"] == "entry.given"))
    answers = {row["record"]: row for row in read_table(at.lake(SCOPE), "generations")}  # the last step of each record
    return {
        (number, place): json.loads(claim)["entry"]
        for number, record in enumerate(conversations)
        for place, claim in enumerate(answers[record]["claims"])
    }


def edges(at: Workspace) -> dict[str, set[str]]:
    """Claim -> tool calls to whose results it has an edge."""
    events = read_table(at.lake(SCOPE), "ledger_events")
    call_of = {row["event_id"]: row["fact_key"].split("/")[-1] for row in events if row["kind"] == "entry.observed"}
    return {
        row["claim"]: {
            call_of[entry["entry"]]
            for entry in json.loads(row["entries"])
            if entry["verdict"] == "edge" and entry["entry"] in call_of
        }
        for row in read_table(at.lake(SCOPE), "measured_edges")
    }


def test_exactly_the_planted_edges_come_out(at):
    found = {claim: calls for claim, calls in edges(at).items() if calls}
    assert found == {sentences(at)[place]: calls for place, calls in planted().items()}


def test_every_sentence_is_grounded_and_says_that_another_model_wrote_it(at):
    rows = {row["claim"]: row for row in read_table(at.lake(SCOPE), "measured_edges")}
    for claim in sentences(at).values():
        assert rows[claim]["result"] == "grounded"
        assert "proxy-scored" in rows[claim]["flags"]
        assert rows[claim]["reason"] == ""


def test_every_claim_has_a_result_or_says_why_not(at):
    rows = read_table(at.lake(SCOPE), "measured_edges")
    claims = {
        json.loads(claim)["entry"] for row in read_table(at.lake(SCOPE), "generations") for claim in row["claims"]
    }
    assert {row["claim"] for row in rows} == claims
    for row in rows:
        assert row["reason"] or any(entry["verdict"] == "edge" for entry in json.loads(row["entries"]))
