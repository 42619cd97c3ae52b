"""Tables -> trajectories ready to be scored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attribution.trajectory import (
    TEMPLATE as FOREIGN_TEMPLATE,
)
from attribution.trajectory import (
    Claim,
    ContextItem,
    Generation,
    Trajectory,
    Wording,
    exact_trajectories,
    foreign_trajectory,
    wording_of_texts,
)
from evals.prompts import TEMPLATE as NOTES_TEMPLATE
from evals.scenarios import decode_scenario
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.tokens import unpack_tokens
from ledger_core.stores.ledger import Ledger
from pipelines.lake import read_table
from pipelines.plan import EVALUATION_TENANT, JobPlan
from pipelines.stages.scenarios import is_measured, stored_scenarios
from pipelines.workspace import Workspace

TEMPLATES = {"exact": NOTES_TEMPLATE, "proxy": FOREIGN_TEMPLATE}
"""Fidelity -> name of the prompt template, as floors and recipes know it."""


def trajectories(at: Workspace, scope: Scope) -> Iterator[Trajectory]:
    """Every trajectory of the scope, laid out; records in key order.

    Raises:
        ContextWindowError: a transcript that the model cannot see whole, and no window was asked for.
    """
    model = at.model()
    entries = {row["entry"]: row for row in read_table(at.lake(scope), "entries")}
    wording = _wording(at, scope, entries)
    chosen = _chosen(at, scope)
    with at.ledger(scope) as ledger:
        for record, generations in _records(at, scope, entries, ledger):
            if chosen and record not in chosen:
                continue
            if all(generation.prompt_ids is not None for generation in generations):
                yield from exact_trajectories(
                    generations,
                    wording,
                    tokenize=model.tokenize,
                    token_bytes=model.token_bytes,
                    context_window=model.context_window,
                )
            else:
                yield foreign_trajectory(
                    generations,
                    wording,
                    tokenize=model.tokenize,
                    chat=model.chat_template_pieces,
                    context_window=model.context_window,
                    window=at.window,
                )


def _chosen(at: Workspace, scope: Scope) -> frozenset[str]:
    """Records that are measured, empty for all: those asked for; of a suite, those whose edges some arm reads."""
    if at.records or scope.tenant_namespace != EVALUATION_TENANT or isinstance(at.run.plan, JobPlan):
        return frozenset(at.records)
    return frozenset(scenario.id for scenario in stored_scenarios(at, scope) if is_measured(at, scenario))


def _records(
    at: Workspace, scope: Scope, entries: dict[str, dict[str, Any]], ledger: Ledger
) -> Iterator[tuple[str, list[Generation]]]:
    by_record: dict[str, list[Generation]] = {}
    for row in read_table(at.lake(scope), "generations"):
        by_record.setdefault(row["record"], []).append(_generation(row, entries, ledger))
    yield from by_record.items()


def _generation(row: dict[str, Any], entries: dict[str, dict[str, Any]], ledger: Ledger) -> Generation:
    statement = ledger.statement(row["generation"])
    body = statement.body if isinstance(statement, GenerationRecorded) else None
    exact = body is not None and body.is_exact
    encoded = row["response"].encode()
    context = []
    for document in row["context"]:
        item = json.loads(document)
        text = "" if item["entry"] is None else entries[item["entry"]]["text"]
        context.append(
            ContextItem(
                entry=item["entry"],
                kind=item["kind"],
                role=item["role"],
                text=text,
                unit=item["unit"],
                token_start=item["start"],
                token_stop=item["stop"],
            )
        )
    claims = []
    for document in row["claims"]:
        claim = json.loads(document)
        if claim["stop"] <= len(encoded):
            claims.append(Claim(claim["entry"], claim["start"], claim["stop"], claim["form"]))
    return Generation(
        event_id=row["generation"],
        record=row["record"],
        step=row["step"],
        context=tuple(context),
        response=row["response"],
        claims=tuple(claims),
        prompt_ids=unpack_tokens(ledger.read_blob(body.prompt_tokens))
        if exact and body and body.prompt_tokens
        else None,
        response_ids=(
            unpack_tokens(ledger.read_blob(body.response_tokens)) if exact and body and body.response_tokens else None
        ),
        weights_digest=body.weights_digest if body is not None else None,
    )


def _wording(at: Workspace, scope: Scope, entries: dict[str, dict[str, Any]]) -> Wording:
    """Foils and swaps: the scenario's own where there is one, else made from the text."""
    if scope.tenant_namespace == EVALUATION_TENANT:
        return _scenario_wording(at, scope)
    texts: dict[str, dict[str, str]] = {}
    claims: dict[str, list[str]] = {}
    for key, row in entries.items():
        texts.setdefault(row["record"], {})[key] = row["text"]
        if row["generation"] is not None:
            claims.setdefault(row["record"], []).append(key)
    found = [wording_of_texts(words, claims.get(record, ())) for record, words in texts.items()]
    return Wording(
        foils={key: foils for one in found for key, foils in one.foils.items()},
        swaps={key: swap for one in found for key, swap in one.swaps.items()},
    )


def _scenario_wording(at: Workspace, scope: Scope) -> Wording:
    event_of = {
        (row["scenario"], row["part"]): row["event_id"] for row in read_table(at.lake(scope), "scenario_events")
    }
    foils: dict[str, tuple[str, ...]] = {}
    swaps: dict[str, str] = {}
    for row in read_table(at.lake(scope), "scenarios"):
        scenario = decode_scenario(row["document"].encode())
        for entry in scenario.entries:
            event_id = event_of[row["scenario"], f"entry/{entry.key}"]
            swaps[event_id] = entry.swap
            if entry.foils:
                foils[event_id] = entry.foils
    return Wording(foils, swaps)
