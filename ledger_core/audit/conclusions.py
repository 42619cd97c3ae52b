"""What followed from each verdict, recomputed: the receipts that its transaction must hold, and no others.

Slow on purpose: two whole beliefs for every verdict that completes a quorum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ledger_core.audit.beliefs import State, believe
from ledger_core.audit.findings import FindingKind, FoundError
from ledger_core.audit.logs import Event
from ledger_core.audit.quorums import Cluster, Ledger, Quorum

RECEIPTS = frozenset({"cascade.fired", "cascade.refused", "reputation.adjusted"})
_MOST = 4096

Body = dict[str, Any]


def check_conclusions(evidence: Sequence[Event], policies: Mapping[str, dict[str, Any]], cluster: Cluster) -> None:
    """Compare every verdict's receipts with what follows from the log before it; raises :class:`FoundError`."""
    before: dict[str, Body] = {}
    for filed, receipts in _transactions(evidence):
        first = filed[0] if filed else receipts[0]
        found = [(event.statement["kind"], event.statement["body"]) for event in receipts]
        expected: list[tuple[str, Body]] = []
        body = first.statement["body"]
        if first.statement["kind"] == "verdict.filed" and body["verdict"] == "contradict":
            policy = policies.get(str(first.policy_head))
            if policy is None:
                raise FoundError(FindingKind.FOLD, "evidence", first.offset, "a verdict while no policy was in force")
            expected = list(_expected(before, filed, policy, cluster))
        if found != expected:
            detail = f"the receipts of verdict {first.event_id} say {found}, the log gives {expected}"
            raise FoundError(FindingKind.FOLD, "evidence", first.offset, detail)
        before.update((event.event_id, event.statement) for event in filed)


def _transactions(evidence: Sequence[Event]) -> Iterator[tuple[list[Event], list[Event]]]:
    """One statement, or a verdict and its assessments; then the receipts right behind."""
    filed: list[Event] = []
    receipts: list[Event] = []
    for event in evidence:
        kind = event.statement["kind"]
        if kind in RECEIPTS:
            receipts.append(event)
            continue
        after_verdict = bool(filed) and filed[0].statement["kind"] == "verdict.filed" and not receipts
        if not (kind == "independence.assessed" and after_verdict) and (filed or receipts):
            yield filed, receipts
            filed, receipts = [], []
        filed.append(event)
    if filed or receipts:
        yield filed, receipts


def _expected(
    before: Mapping[str, Body], filed: Sequence[Event], policy: dict[str, Any], cluster: Cluster
) -> Iterator[tuple[str, Body]]:
    verdict = filed[0]
    after = {**before, **{event.event_id: event.statement for event in filed}}
    target, candidate = verdict.statement["body"]["target"], verdict.statement["body"]["candidate"]
    about = {"target": target, "verdict": verdict.event_id}
    quorum = Ledger(after, policy, cluster).quorum(target)
    if not quorum.passes:
        reason = _reason(candidate, quorum, policy["quorum"])
        yield "cascade.refused", _refused(quorum, reason) | about
        return
    old, new = believe(before, policy, cluster), believe(after, policy, cluster)
    if target in old.retractions:
        yield "cascade.refused", _refused(quorum, "already_retracted") | about
    else:
        yield "cascade.fired", _fired(quorum, old, new) | about
    ledger = Ledger(after, policy, cluster)
    origins = [ledger.origins[key] for key in {target, *quorum.members} if key in ledger.origins]
    for key in sorted({(origin.cluster, origin.family) for origin in origins}):
        counts = new.reputation.get(key, (0, 0))
        if counts != old.reputation.get(key, (0, 0)):
            said = dict(zip(("cluster", "family", "successes", "failures"), (*key, *counts), strict=True))
            yield "reputation.adjusted", said | {"target": target}


def _reason(candidate: str, quorum: Quorum, wanted: int) -> str:
    if candidate not in quorum.eligible:
        return "not_eligible"
    if len(quorum.eligible) < wanted:
        return "too_few"
    return "not_independent" if quorum.size < wanted else "outnumbered"


def _refused(quorum: Quorum, reason: str) -> Body:
    return {"eligible": len(quorum.eligible), "largest_independent": quorum.size, "reason": reason}


def _fired(quorum: Quorum, old: State, new: State) -> Body:
    changed = sorted(
        (belief.attenuation, key)
        for key, belief in new.entries.items()
        if key in old.entries and belief.attenuation != old.entries[key].attenuation
    )[:_MOST]
    return {
        "attenuated": [
            {"attenuation": left, "entry": key} for key, left in sorted((key, left) for left, key in changed)
        ],
        "members": sorted(quorum.members)[:_MOST],
    }
