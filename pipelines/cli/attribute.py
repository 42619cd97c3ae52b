"""`veritas attribute`: measure which context entries the claims of imported transcripts rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.attribute_text import Html, PartsOf, Query, ResponseFile, Span, Text, Top
from pipelines.cli.computing_flags import (
    CPU,
    FLOAT32,
    Device,
    Dtype,
    Executor,
    MaxMemory,
    MaxMinutes,
    RayAddress,
    Workers,
    computing,
    given,
)
from pipelines.cli.flags import Project, Tenant
from pipelines.cli.scorer_flags import (
    BaseUrl,
    MaxRequests,
    ModelName,
    Samples,
    Scorer,
    Scoring,
    ServerDialect,
    ServerDtype,
    Value,
)
from pipelines.cli.state import state_of
from pipelines.errors import UsageError

if TYPE_CHECKING:
    from ledger_core.kernel.statements import Scope
    from pipelines.settings import Settings
    from pipelines.workspace import Workspace


def command(
    context: typer.Context,
    tenant: Tenant = None,
    project: Project = None,
    record: Annotated[list[str] | None, typer.Option(help="Record to measure; repeatable. Default: all.")] = None,
    shortest: Annotated[
        int | None,
        typer.Option(min=1, help="Measure the N shortest records with two tool results and assistant text after them."),
    ] = None,
    window: Annotated[
        int | None, typer.Option(min=64, help="Tokens to cut longer transcripts to; what is left out is recorded.")
    ] = None,
    gate: Annotated[str, typer.Option(help="cuts-v1, or seed-v4 for the specification's stability gate.")] = "cuts-v1",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and append nothing.")] = False,
    text: Text = None,
    query: Query = "",
    response: ResponseFile = None,
    parts: PartsOf = "sentence",
    span: Span = None,
    top: Top = None,
    html: Html = None,
    scorer: Scorer = None,
    base_url: BaseUrl = None,
    model_name: ModelName = None,
    server_dtype: ServerDtype = None,
    dialect: ServerDialect = None,
    samples: Samples = None,
    value: Value = None,
    max_requests: MaxRequests = None,
    executor: Executor = None,
    workers: Workers = None,
    max_memory: MaxMemory = None,
    max_minutes: MaxMinutes = None,
    dtype: Dtype = FLOAT32,
    device: Device = CPU,
    ray_address: RayAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per claim.")] = False,
) -> None:
    """Ablate, decide and write measured edges into the ledger of a tenant."""
    from_ledger = {
        "--tenant": tenant,
        "--project": project,
        "--record": record,
        "--shortest": shortest,
        "--window": window,
        "--dry-run": dry_run or None,
    }
    scoring: dict[str, Any] = {
        "scorer": scorer,
        "base_url": base_url,
        "model_name": model_name,
        "server_dtype": server_dtype,
        "dialect": dialect,
        "samples": samples,
        "value": value,
        "max_requests": max_requests,
    }
    bounds: dict[str, Any] = {
        "max_memory": max_memory,
        "max_minutes": max_minutes,
        "dtype": dtype,
        "device": device,
        "ray_address": ray_address,
    }
    if text is not None:
        from pipelines.cli.attribute_text import Question, attribute_files

        refuse_together("--text", from_ledger | given(executor=executor, workers=workers, **bounds))
        if gate != "cuts-v1":
            raise UsageError("--text knows the gate cuts-v1 alone; leave --gate out")
        question = Question(text, query, response, parts, tuple(span or ()))
        asked = Scoring(**scoring)
        attribute_files(state_of(context).settings(), question, html, scoring=asked, top=top, as_json=as_json)
        return
    from_files = {"--query": query or None, "--response": response, "--span": span, "--top": top, "--html": html}
    refuse_together(None, from_files | given(**scoring) | {"--parts": None if parts == "sentence" else parts})
    names: dict[str, Any] = {"tenant": tenant, "project": project, "executor": executor, "workers": workers}
    at, scope = _opened(state_of(context).settings(**names), bounds, gate, window)
    _measure(at, scope, tuple(record or ()), shortest, dry_run=dry_run, as_json=as_json)


def _opened(settings: Settings, bounds: dict[str, Any], gate: str, window: int | None) -> tuple[Workspace, Scope]:
    """The ledger that is there, and how it is measured."""
    from pipelines.cli.clock import wall_clock
    from pipelines.cli.ledgers import existing_scope
    from pipelines.cli.options import check_gate
    from pipelines.workspace import Workspace

    check_gate(gate)
    how = computing(settings, **bounds)
    scope = existing_scope(settings)
    at = Workspace(settings, now=wall_clock(), gate=gate, window=window, project=scope.project_namespace, bounded=how)
    return at, scope


def _measure(
    at: Workspace, scope: Scope, records: tuple[str, ...], shortest: int | None, *, dry_run: bool, as_json: bool
) -> None:
    """Measure ``records`` and the ``shortest``, or say what that would cost, and print what came of it."""
    from pipelines.orchestrator import materialise
    from pipelines.progress import display
    from pipelines.stages.selection import check_records, shortest_records

    tables = ["ledger_events", "entries", "edges", "generations"]
    with display():
        materialise(at, scope.tenant_namespace, only=tables)
        check_records(at, scope, records)
        if shortest is not None:
            found = shortest_records(at, scope, shortest)
            if len(found) < shortest:
                typer.echo(f"veritas: only {len(found)} records fit --shortest {shortest}", err=True)
            records += found
        at.records = records
        if dry_run:
            from pipelines.cost import estimate_scope, print_estimate

            print_estimate(estimate_scope(at, scope), as_json=as_json)
            return
        measures = ["ablation_scores", "surrogate_weights", "loo_effects", "stability_report", "measured_edges"]
        materialise(at, scope.tenant_namespace, only=[*measures, "edges_upsert"])
    _print(at, scope, as_json=as_json)


def refuse_together(mode: str | None, options: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` for an option that is given (not None) and that ``mode`` has no use for."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} is about a ledger; leave it out with {mode}" if mode else f"{name} needs --text")


def _print(at: Workspace, scope: Scope, *, as_json: bool) -> None:
    import json

    from pipelines.lake import read_table

    texts = {row["entry"]: row["text"] for row in read_table(at.lake(scope), "entries")}
    for row in read_table(at.lake(scope), "measured_edges"):
        found = _document(row, texts)
        if as_json:
            typer.echo(json.dumps(found, ensure_ascii=True, sort_keys=True))
        else:
            _print_claim(found)


def _document(row: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    import json

    entries = json.loads(row["entries"])
    return {
        "claim": row["claim"],
        "text": texts[row["claim"]],
        "result": row["result"],
        "reason": row["reason"],
        "flags": row["flags"],
        "gate": row["gate"],
        "edges": [
            {"entry": entry["entry"], "ppm": entry["ppm"], "labels": entry["labels"], "text": texts[entry["entry"]]}
            for entry in entries
            if entry["verdict"] == "edge"
        ],
        "cuts": json.loads(row["cuts"]),
    }


def _print_claim(found: dict[str, Any]) -> None:
    from pipelines.cli.output import SHORT, snippet, weight

    flags = f" [{', '.join(found['flags'])}]" if found["flags"] else ""
    typer.echo(f"{found['claim'][:SHORT]} {found['result']}{flags} {snippet(found['text'])}")
    for edge in found["edges"]:
        labels = ", ".join(edge["labels"])
        typer.echo(f"    <- {edge['entry'][:SHORT]} {weight(edge['ppm'])} {labels} {snippet(edge['text'])}")
    if found["reason"]:
        typer.echo(f"    no edge: {found['reason']}")
