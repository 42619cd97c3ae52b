"""Stratum 1: what replay audits say about each seal. Reads nothing but seals, audits and the policy.

Only what asked the origin again, or found the stored bytes themselves wrong, takes the place of a `mismatch` or a `stale`: a
look that asked nobody is void there, whoever filed it, and what names it as its predecessor succeeds what stood before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_args

from ledger_core.belief.index import IndexView, chain_heads, grouped
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements.sealing import AuditOutcome, ReplayAudited, SealMinted
from ledger_core.kernel.types import EventId

_WORST_FIRST: Final[tuple[AuditOutcome, ...]] = get_args(AuditOutcome)
"""`tampered > mismatch > stale > unavailable > not_comparable > intact > match`, the order of the enumeration."""

_ASKED: Final[frozenset[AuditOutcome]] = frozenset({"match", "mismatch", "stale"})
"""Outcomes that only asking the origin can have."""

_ASKED_NOBODY: Final[frozenset[AuditOutcome]] = frozenset({"unavailable", "not_comparable", "intact"})


@dataclass(frozen=True, slots=True)
class AuditResult:
    """Seals by what their audits did to them."""

    verified: frozenset[EventId]
    suspended: frozenset[EventId]


def audit_results(index: IndexView, policy: Policy) -> AuditResult:
    """The worst head of every seal's audit chain, turned into suspension or verification."""
    verified: set[EventId] = set()
    suspended: set[EventId] = set()
    by_seal = grouped((EventId(audit.body.seal), key) for key, audit in index.audits.items())
    for seal_id, keys in by_seal.items():
        seal = index.seals.get(seal_id)
        if seal is None:
            continue
        links = _effective({key: index.audits[key] for key in keys})
        heads = [index.audits[head] for head in chain_heads(links)]
        worst = min(heads, key=lambda audit: (_WORST_FIRST.index(audit.body.outcome), audit.event_id)).body.outcome
        if worst in {"tampered", "mismatch"} or (worst == "stale" and _any_too_old(seal, heads, policy)):
            suspended.add(seal_id)
        elif worst == "match" and seal.body.attestation == "boundary" and seal.body.effect == "read_only":
            verified.add(seal_id)
    return AuditResult(frozenset(verified), frozenset(suspended))


def _effective(chain: Mapping[EventId, ReplayAudited]) -> dict[EventId, EventId | None]:
    """The audits of one seal that count, each with the one it succeeds: the void ones are stepped over."""
    said = _said_by_the_origin(chain)
    links = {key: _predecessor(audit) for key, audit in chain.items()}
    void = {
        key
        for key, audit in chain.items()
        if audit.body.outcome in _ASKED_NOBODY and said[key] in {"mismatch", "stale"}
    }
    effective: dict[EventId, EventId | None] = {}
    for key in chain.keys() - void:
        before = links[key]
        while before is not None and before in void:
            before = links[before]
        effective[key] = before
    return effective


def _said_by_the_origin(chain: Mapping[EventId, ReplayAudited]) -> dict[EventId, AuditOutcome | None]:
    """What the origin said last, at each audit or before it; None where nobody asked."""
    said: dict[EventId, AuditOutcome | None] = {}
    for start in chain:
        walked: list[EventId] = []
        at: EventId | None = start
        found: AuditOutcome | None = None
        while at is not None and at in chain:  # every predecessor is named by hash, so the walk ends
            walked.append(at)
            outcome = chain[at].body.outcome
            if at in said or outcome in _ASKED:
                found = said.get(at, outcome)
                break
            at = _predecessor(chain[at])
        said.update(dict.fromkeys(walked, found))
    return said


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
