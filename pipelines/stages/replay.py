"""Ledger -> rows: the log as replayed, entries with their belief, declared edges, generations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ledger_core.belief.fold import fold
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import CLAIM_KINDS, ENTRY_KINDS, Statement, decode_statement
from ledger_core.kernel.statements.entries import ClaimBody
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.stores.ledger import Ledger

OUTPUT_KINDS = frozenset({"edges.measured", "trial.recorded"})
"""What the pipeline itself appends. Replay leaves it out, so that a resumed run reads what the first one read."""

Rows = list[dict[str, Any]]
ReadBlob = Callable[[ContentRef], bytes]


def ledger_event_rows(ledger: Ledger) -> Rows:
    """One row per evidence event, in log order, without :data:`OUTPUT_KINDS`."""
    rows: Rows = []
    for event in ledger.events("evidence"):
        statement = event.statement
        if statement.kind in OUTPUT_KINDS:
            continue
        rows.append(
            {
                "offset": event.offset,
                "event_id": event.event_id,
                "kind": statement.kind,
                "namespace": statement.source_fact.namespace,
                "object": statement.source_fact.object,
                "fact_key": statement.source_fact.key,
                "role": event.receipt.role,
                "statement": event.encoded.decode(),
            }
        )
    return rows


def statements_of(rows: Iterable[dict[str, Any]]) -> list[Statement]:
    """The typed statements of ``ledger_events`` rows, in log order."""
    return [decode_statement(row["statement"].encode()) for row in rows]


def text_of(read: ReadBlob, ref: ContentRef) -> str:
    """The text behind a reference; bytes that are no UTF-8 become replacement characters."""
    return read(ref).decode("utf-8", "replace")


def record_index(statements: Sequence[Statement]) -> dict[str, str]:
    """Event id -> record key, for entries and generations: claims inherit the record of their generation."""
    record: dict[str, str] = {}
    for statement in statements:
        body: Any = statement.body
        spoken_in = body.generation if statement.kind in CLAIM_KINDS else None
        record[statement.event_id] = record.get(spoken_in or "", statement.source_fact.object)
    return record


def entry_rows(statements: Sequence[Statement], policy: Policy, read: ReadBlob) -> Rows:
    """One row per context entry: its text, and tier, belief and attenuation (parts of 10⁹) under ``policy``."""
    state = fold(statements, policy)
    record = record_index(statements)
    rows: Rows = []
    for statement in statements:
        if statement.kind not in ENTRY_KINDS:
            continue
        entry = state.entries[statement.event_id]
        body: Any = statement.body
        rows.append(
            {
                "entry": statement.event_id,
                "kind": statement.kind,
                "record": record[statement.event_id],
                "text": text_of(read, body.content),
                "tier": entry.tier,
                "belief": entry.belief,
                "attenuation": entry.attenuation,
                "retracted": entry.retracted,
                "invalidated": entry.invalidated,
                "generation": getattr(body, "generation", None),
            }
        )
    return rows


def _claim(statement: Statement) -> ClaimBody:
    body = statement.body
    assert isinstance(body, ClaimBody)
    return body


def edge_rows(statements: Sequence[Statement]) -> Rows:
    """One row per declared parent of a claim."""
    return [
        {"claim": statement.event_id, "parent": parent.entry, "ppm": parent.ppm}
        for statement in statements
        if statement.kind in CLAIM_KINDS
        for parent in _claim(statement).parents
    ]


def _roles(statements: Sequence[Statement]) -> dict[str, str]:
    """Speaker of each entry: system, user, tool or assistant."""
    roles: dict[str, str] = {}
    for statement in statements:
        if statement.kind == "entry.given":
            body: Any = statement.body
            roles[statement.event_id] = body.role
        elif statement.kind == "entry.observed":
            roles[statement.event_id] = "tool"
        elif statement.kind in CLAIM_KINDS:
            roles[statement.event_id] = "assistant"
    return roles


def _forms(statements: Sequence[Statement]) -> dict[tuple[str, int, int], str]:
    """Generation and byte range -> whether a sentence or a tool call stands there."""
    return {
        (statement.event_id, claim.byte_start, claim.byte_stop): claim.form
        for statement in statements
        if isinstance(statement, GenerationRecorded)
        for claim in statement.body.claims
    }


def generation_rows(statements: Sequence[Statement], read: ReadBlob) -> Rows:
    """One row per model call; contexts and claims as JSON documents in order."""
    kinds = {statement.event_id: statement.kind for statement in statements}
    roles = _roles(statements)
    forms = _forms(statements)
    claims: dict[str, list[dict[str, Any]]] = {}
    for statement in statements:
        body: Any = statement.body
        if statement.kind in CLAIM_KINDS and body.generation is not None:
            claims.setdefault(body.generation, []).append(
                {
                    "entry": statement.event_id,
                    "form": forms.get((body.generation, body.span.start, body.span.stop), "sentence"),
                    "start": body.span.start,
                    "stop": body.span.stop,
                }
            )
    rows: Rows = []
    steps: dict[str, int] = {}
    for statement in statements:
        if statement.kind != "generation.recorded":
            continue
        generation: Any = statement.body
        record = statement.source_fact.object
        steps[record] = steps.get(record, -1) + 1
        context = [
            {
                "entry": region.entry,
                "kind": "template" if region.entry is None else kinds[region.entry],
                "role": "template" if region.entry is None else roles[region.entry],
                "unit": region.unit,
                "start": region.token_start,
                "stop": region.token_stop,
            }
            for region in generation.context
        ]
        said = sorted(claims.get(statement.event_id, []), key=lambda claim: (claim["start"], claim["stop"]))
        rows.append(
            {
                "record": record,
                "step": steps[record],
                "generation": statement.event_id,
                "model": generation.model,
                "attestation": generation.attestation,
                "exact": generation.is_exact,
                "decoding": generation.decoding,
                "response": text_of(read, generation.response),
                "context": [json.dumps(item, sort_keys=True) for item in context],
                "claims": [json.dumps(claim, sort_keys=True) for claim in said],
            }
        )
    return rows
