"""Strata 1 to 3: what replay audits do to seals, which entries are retracted, and what that does to reputations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ledger_core.audit.cliques import largest

Statement = dict[str, Any]
Cluster = Callable[[Statement], str]
"""The body of a seal -> its origin cluster."""

HARM = ("tampered", "mismatch", "stale", "unavailable", "not_comparable", "intact", "match")
"""Outcomes of an audit, worst first."""

ORIGIN = ("mismatch", "stale", "match")
"""Outcomes in which the origin itself was heard."""


@dataclass(frozen=True)
class Origin:
    """Where an observation comes from."""

    seal: str
    cluster: str
    family: str
    speaks: bool
    """Sealed at the boundary from outside: it may count for or against others."""
    external: bool


@dataclass(frozen=True)
class Quorum:
    """What stands against one target."""

    eligible: frozenset[str]
    size: int
    """Pairwise independent contradictors, at most."""
    members: frozenset[str]
    """Those that belong to some independent set of the policy's number."""
    passes: bool


def _standing(audits: Mapping[str, Statement]) -> dict[str, Statement]:
    """``audits`` of one seal without those that heard nobody after the origin had contradicted it.

    From the beginnings of the chains on: what the origin said last comes down to each successor, and a successor of one
    that is dropped succeeds what that one named.
    """
    after: dict[str | None, list[str]] = defaultdict(list)
    for key, audit in audits.items():
        after[audit["predecessor"] if audit["predecessor"] in audits else None].append(key)
    kept: dict[str, Statement] = {}
    reached: list[tuple[str, str, str | None]] = [(key, "", audits[key]["predecessor"]) for key in after[None]]
    while reached:
        key, heard, before = reached.pop()
        outcome = audits[key]["outcome"]
        dropped = heard in {"mismatch", "stale"} and outcome not in {*ORIGIN, "tampered"}
        if not dropped:
            kept[key] = audits[key] | {"predecessor": before}
        heard = outcome if outcome in ORIGIN else heard
        reached.extend((successor, heard, before if dropped else key) for successor in after[key])
    return kept


@dataclass
class Ledger:
    """The statements of one ledger, by kind and id, as judgements leave them."""

    statements: Mapping[str, Statement]
    policy: dict[str, Any]
    cluster: Cluster
    origins: dict[str, Origin] = field(init=False)
    suspended: frozenset[str] = field(init=False)
    """Seals that an audit took out of service."""
    verified: frozenset[str] = field(init=False)
    """Seals that were found the same at their source."""

    def __post_init__(self) -> None:
        seals = self.of("seal.minted")
        self.origins = {}
        for key, entry in self.of("entry.observed").items():
            seal = seals.get(entry["seal"])
            if seal is not None:
                external = seal["reach"] == "external_read"
                speaks = external and seal["attestation"] == "boundary"
                at = (entry["seal"], self.cluster(seal), entry["predicate_family"])
                self.origins[key] = Origin(*at, speaks=speaks, external=external)
        self._audit()
        self._hear()

    def of(self, *kinds: str) -> dict[str, Any]:
        """The bodies of these kinds by event id."""
        return {key: s["body"] for key, s in self.statements.items() if s["kind"] in kinds}

    def live(self, kind: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The bodies of judgements of ``kind`` that no other of them replaces; ``without`` are taken out before."""
        mine = {key: s for key, s in self.statements.items() if s["kind"] == kind and key not in without}
        replaced = set()
        for statement in mine.values():
            earlier = mine.get(str(statement["representation"]["lineage"]["event_id"]))
            if earlier is not None and earlier["source_fact"] == statement["source_fact"]:
                replaced.add(statement["representation"]["lineage"]["event_id"])
        return {key: statement["body"] for key, statement in mine.items() if key not in replaced}

    def _audit(self) -> None:
        """Stratum 1: of the heads of a seal's audit chain the worst decides."""
        by_seal: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, audit in self.live("replay.audited").items():
            by_seal[audit["seal"]][key] = audit
        suspended, verified = set(), set()
        for seal, body in self.of("seal.minted").items():
            mine = _standing(by_seal.get(seal, {}))
            named = {audit["predecessor"] for audit in mine.values()}
            heads = {key: audit for key, audit in mine.items() if key not in named}
            worst = min((audit["outcome"] for audit in heads.values()), key=HARM.index, default=None)
            old = any(self._is_old(seal, key) for key, audit in heads.items() if audit["outcome"] == "stale")
            if worst in {"tampered", "mismatch"} or (worst == "stale" and old):
                suspended.add(seal)
            elif worst == "match" and body["attestation"] == "boundary" and body["effect"] == "read_only":
                verified.add(seal)
        self.suspended, self.verified = frozenset(suspended), frozenset(verified)

    def _is_old(self, seal: str, audit: str) -> bool:
        limit = self.policy["stale_after_seconds"]
        then, now = (self.statements[key]["observed_at"] for key in (seal, audit))
        if limit is None or then is None or now is None:
            return False
        elapsed = datetime.fromisoformat(now[:26]) - datetime.fromisoformat(then[:26])
        return elapsed.days * 86_400 + elapsed.seconds > int(limit)

    def _hear(self) -> None:
        """Live verdicts by target, and who was found independent of whom by everybody that assessed the pair."""
        reversed_ = frozenset(body["verdict"] for body in self.of("verdict.reversed").values())
        self._said: dict[str, dict[str, set[str]]] = {"contradict": defaultdict(set), "support": defaultdict(set)}
        for body in self.live("verdict.filed", reversed_).values():
            if body["verdict"] in self._said:
                self._said[body["verdict"]][body["target"]].add(body["candidate"])
        results: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._echoes: set[str] = set()
        for body in self.of("independence.assessed").values():
            results[body["first"], body["second"]].add(body["result"])
            self._echoes.update(body["echoes"])
        partners: dict[str, set[str]] = defaultdict(set)
        for (first, second), result in results.items():
            if result == {"independent"}:
                partners[first].add(second)
                partners[second].add(first)
        self._partners = {key: frozenset(others) for key, others in partners.items()}

    def _eligible(self, target: str, said: str) -> frozenset[str]:
        """Who counts on ``target``: speaks, is not suspended, echoes nobody, and is of another origin."""
        about = self.origins.get(target)
        found = set()
        for key in self._said[said].get(target, ()):
            origin = self.origins.get(key)
            if origin is None or not origin.speaks or key == target or key in self._echoes:
                continue
            if origin.seal not in self.suspended and (about is None or about.cluster != origin.cluster):
                found.add(key)
        return frozenset(found)

    def quorum(self, target: str) -> Quorum:
        """Stratum 2 for one target."""
        eligible, wanted = self._eligible(target, "contradict"), self.policy["quorum"]
        size = largest(self._partners, eligible)
        members = (
            key
            for key in eligible
            if 1 + largest(self._partners, self._partners.get(key, frozenset()) & eligible) >= wanted
        )
        outnumbered = False
        if self.policy["require_majority"]:
            # The origin of something sealed speaks for it; what a model says has no origin.
            outnumbered = size <= largest(self._partners, self._eligible(target, "support")) + (target in self.origins)
        return Quorum(eligible, size, frozenset(members), size >= wanted and not outnumbered)

    def retracted(self, entries: Iterable[str]) -> dict[str, Quorum]:
        """Stratum 2: the retracted of ``entries``, each with its quorum."""
        contradicted = (key for key in entries if key in self._said["contradict"])
        return {key: quorum for key in contradicted if (quorum := self.quorum(key)).passes}


Key = tuple[str, str]
"""Origin cluster and predicate family."""


def reputations(ledger: Ledger, retracted: Mapping[str, Quorum]) -> dict[Key, tuple[int, int]]:
    """Stratum 3: (successes, failures) by origin and family. Only the retraction of something sealed counts."""
    successes: dict[Key, set[str]] = defaultdict(set)
    failures: dict[Key, set[str]] = defaultdict(set)
    for target, quorum in retracted.items():
        about = ledger.origins.get(target)
        if about is None:
            continue
        failures[about.cluster, about.family].add(target)
        for member in quorum.members:
            by = ledger.origins[member]
            successes[by.cluster, by.family].add(about.cluster)
    keys = successes.keys() | failures.keys()
    return {key: (len(successes.get(key, ())), len(failures.get(key, ()))) for key in keys}
