"""`veritas audit`: the evidence for one belief, event by event, with the arithmetic that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.harness.account import Account, Hop, QuorumEvidence, RetractionEvidence, SealEvidence
    from pipelines.cli.snapshot import Snapshot


def command(
    context: typer.Context,
    entry: Annotated[str, typer.Argument(help="8 or more digits of an entry's id.")],
    tenant: Tenant = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Account for an entry's belief: seal, audits, reputation, quorum and attenuating path, each with its event ids.

    `why` tells what a claim rests on; this is what an auditor recomputes: every line of arithmetic stands by itself.
    """
    from ledger_core.harness.account import account
    from pipelines.cli.entries import check_entry_name, entry_named
    from pipelines.cli.output import print_json
    from pipelines.cli.snapshot import snapshot

    check_entry_name(entry)
    with snapshot(state_of(context).settings(tenant=tenant, project=project)) as seen:
        found = account(seen.statements, seen.policy, entry_named(seen, entry))
        if as_json:
            print_json(_document(seen, found))
            return
        for line in _lines(seen, found):
            typer.echo(line)


def _document(seen: Snapshot, found: Account) -> dict[str, Any]:
    state = found.state
    return {
        "tenant": seen.scope.tenant_namespace,
        "project": seen.scope.project_namespace,
        "head": seen.head,
        "policy": {"event_id": seen.policy_event, "digest": seen.policy.digest()},
        "entry": found.entry,
        "kind": state.kind,
        "tier": state.tier,
        "tier_reason": found.tier_reason,
        "belief": state.belief,
        "retracted": state.retracted,
        "suspended": state.suspended,
        "invalidated": state.invalidated,
        "corroborated": state.corroborated,
        "reputation": {
            "cluster": state.cluster,
            "family": state.family,
            "successes": [asdict(each) for each in found.successes],
            "failures": [asdict(each) for each in found.failures],
        },
        "path": [asdict(hop) for hop in found.hops],
        "steps": [asdict(step) for step in found.steps],
    }


def _lines(seen: Snapshot, found: Account) -> Iterator[str]:
    from pipelines.cli.output import printable

    state = found.state
    marks = [word for word, is_so in (("RETRACTED", state.retracted), ("SUSPENDED", state.suspended)) if is_so] or (
        ["INVALIDATED"] if state.invalidated else []
    )
    yield f"entry   {found.entry} {state.kind} {' '.join(marks)}".rstrip()
    yield f"head    {seen.head}"
    yield f"policy  {seen.policy_event} (digest {seen.policy.digest()})"
    yield f"tier    {state.tier}: {printable(found.tier_reason)}"
    if state.cluster is not None:
        yield f"origin  {printable(state.cluster)}, family {state.family}"
        yield from _reputation("for", "s", found.successes)
        yield from _reputation("against", "f", found.failures)
    yield "path"
    for hop in found.hops:
        yield from _hop(hop)
    if not found.steps:
        yield "belief  none: what was given is not believed, it is given"
        return
    yield "arithmetic (integers, // rounds down)"
    for step in found.steps:
        yield f"  {step.name} = {step.expression} = {step.value}"
        yield f"      {printable(step.reason)}"


def _reputation(side: str, count: str, evidence: tuple[RetractionEvidence, ...]) -> Iterator[str]:
    if not evidence:
        yield f"  {side:<8} {count} = 0"
        return
    number = len({each.cluster for each in evidence}) if count == "s" else len(evidence)
    yield f"  {side:<8} {count} = {number}"
    for each in evidence:
        receipts = f", cascade {', '.join(each.fired)}" if each.fired else ""
        yield f"    {each.target} of {each.cluster} retracted{receipts}"


def _hop(hop: Hop) -> Iterator[str]:
    yield f"  {hop.entry}"
    if hop.seal is not None:
        yield from _seal(hop.seal)
    if hop.quorum is not None:
        yield from _quorum(hop.quorum)
    if hop.cause is None:
        yield "    loses nothing through what it rests on"
        return
    others = f"; {hop.others} more cost it no more" if hop.others else ""
    yield f"    rests on {' + '.join(hop.parents)} at {hop.cause.ppm} ppm{others}"
    for ground in hop.cause.grounds:
        yield f"      {ground.basis} {ground.ppm} ppm by {ground.event_id}"


def _seal(seal: SealEvidence) -> Iterator[str]:
    yield f"    seal {seal.event_id}, origin {seal.cluster}, family {seal.family}"
    for audit in seal.audits:
        yield f"      audit {audit.event_id}: {audit.outcome}{'' if audit.is_head else ' (succeeded by another)'}"
    if seal.effect != "none":
        yield f"      {seal.effect} by its audits"


def _quorum(quorum: QuorumEvidence) -> Iterator[str]:
    yield (
        f"    retracted by {len(quorum.members)} members, {quorum.independent} pairwise independent, {quorum.wanted} wanted"
    )
    for member in quorum.members:
        verdicts = ", ".join(member.verdicts)
        yield f"      {member.entry} of {member.cluster} (seal {member.seal}) contradicts it in {verdicts}"
    for event_id, first, second, result in quorum.assessments:
        yield f"      assessment {event_id}: {first} and {second} {result}"
    for fired in quorum.fired:
        yield f"      cascade {fired}"
