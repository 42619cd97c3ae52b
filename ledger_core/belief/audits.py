"""Stratum 1: what replay audits say about each seal. Reads nothing but seals, audits and the policy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_args

from ledger_core.belief.index import LedgerIndex, chain_heads, grouped
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements.sealing import AuditOutcome, ReplayAudited, SealMinted
from ledger_core.kernel.types import EventId

_WORST_FIRST: Final[tuple[AuditOutcome, ...]] = get_args(AuditOutcome)
"""`tampered > mismatch > stale > unavailable > not_comparable > intact > match`, the order of the enumeration."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """Seals by what their audits did to them."""

    verified: frozenset[EventId]
    suspended: frozenset[EventId]


def audit_results(index: LedgerIndex, policy: Policy) -> AuditResult:
    """The worst head of every seal's audit chain, turned into suspension or verification."""
    verified: set[EventId] = set()
    suspended: set[EventId] = set()
    by_seal = grouped((EventId(audit.body.seal), key) for key, audit in index.audits.items())
    for seal_id, keys in by_seal.items():
        seal = index.seals.get(seal_id)
        if seal is None:
            continue
        links = {key: _predecessor(index.audits[key]) for key in keys}
        heads = [index.audits[head] for head in chain_heads(links)]
        worst = min(heads, key=lambda audit: (_WORST_FIRST.index(audit.body.outcome), audit.event_id)).body.outcome
        if worst in {"tampered", "mismatch"} or (worst == "stale" and _any_too_old(seal, heads, policy)):
            suspended.add(seal_id)
        elif worst == "match" and seal.body.attestation == "boundary" and seal.body.effect == "read_only":
            verified.add(seal_id)
    return AuditResult(frozenset(verified), frozenset(suspended))


def _predecessor(audit: ReplayAudited) -> EventId | None:
    predecessor = audit.body.predecessor
    return None if predecessor is None else EventId(predecessor)


def _any_too_old(seal: SealMinted, heads: list[ReplayAudited], policy: Policy) -> bool:
    """Whether a stale head looked at the origin past the policy's age of the seal; an unknown age is not past it."""
    limit = policy.stale_after_seconds
    sealed_at = seal.observed_at
    if limit is None or sealed_at is None:
        return False
    return any(
        head.body.outcome == "stale" and head.observed_at is not None and _seconds(sealed_at, head.observed_at) > limit
        for head in heads
    )


def _seconds(start: str, stop: str) -> int:
    """Whole seconds from one canonical timestamp to another, rounded down; the last three digits are always zero."""
    elapsed = datetime.fromisoformat(stop[:26]) - datetime.fromisoformat(start[:26])
    return elapsed.days * 86_400 + elapsed.seconds
