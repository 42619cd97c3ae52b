"""One pass over the statements: each once, by kind, with withdrawn judgements taken out.

Everything the strata read is here; nothing depends on the order in which the statements came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ledger_core.belief.origin import cluster_of
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.sealing import EntryObserved, ReplayAudited, SealMinted
from ledger_core.kernel.statements.verdicts import IndependenceAssessed, VerdictFiled, VerdictReversed
from ledger_core.kernel.types import EventId

Claim = EntryDerived | EntryConjectured
Entry = EntryObserved | EntryGiven | Claim

_JudgementT = TypeVar("_JudgementT", VerdictFiled, EdgesMeasured, ReplayAudited)


@dataclass(frozen=True, slots=True)
class SealedOrigin:
    """What the strata need of an observation's seal."""

    seal: EventId
    cluster: str
    family: str
    external: bool
    boundary: bool
    """Sealed at our own boundary, not reported by another system's transcript."""

    @property
    def may_testify(self) -> bool:
        """Whether the observation may count for or against anything: sealed at the boundary from outside."""
        return self.external and self.boundary


@dataclass(slots=True)
class LedgerIndex:
    """The statements of one ledger by kind; filled by :func:`index_statements` and then only read."""

    entries: dict[EventId, Entry] = field(default_factory=dict)
    seals: dict[EventId, SealMinted] = field(default_factory=dict)
    generations: dict[EventId, GenerationRecorded] = field(default_factory=dict)
    verdicts: dict[EventId, VerdictFiled] = field(default_factory=dict)
    """Live ones: neither reversed nor superseded."""
    measurements: dict[EventId, EdgesMeasured] = field(default_factory=dict)
    audits: dict[EventId, ReplayAudited] = field(default_factory=dict)
    assessments: dict[EventId, IndependenceAssessed] = field(default_factory=dict)
    """All of them: a recorded assessment is never re-judged, not even by one that supersedes it."""
    origins: dict[EventId, SealedOrigin] = field(default_factory=dict)
    """Observation -> its seal's origin."""


class IndexView(Protocol):
    """What the strata read of an index, wherever it lies; nothing that they return depends on more."""

    @property
    def entries(self) -> Mapping[EventId, object]:
        """Which entries there are."""
        ...

    @property
    def seals(self) -> Mapping[EventId, SealMinted]:
        """Seals, as far as audits read them."""
        ...

    @property
    def generations(self) -> Mapping[EventId, GenerationRecorded]:
        """Generations, as far as dependences read them."""
        ...

    @property
    def verdicts(self) -> Mapping[EventId, VerdictFiled]:
        """Live ones."""
        ...

    @property
    def measurements(self) -> Mapping[EventId, EdgesMeasured]:
        """Live ones."""
        ...

    @property
    def audits(self) -> Mapping[EventId, ReplayAudited]:
        """Live ones."""
        ...

    @property
    def assessments(self) -> Mapping[EventId, IndependenceAssessed]:
        """All of them."""
        ...

    @property
    def origins(self) -> Mapping[EventId, SealedOrigin]:
        """Observation -> its seal's origin."""
        ...


def index_statements(statements: Iterable[Statement], policy: Policy) -> LedgerIndex:
    """Index ``statements``; raises :class:`PolicyError` when the policy names another suffix list than installed."""
    index = LedgerIndex()
    reversed_verdicts: set[str] = set()
    tables: Mapping[type, dict[EventId, Statement]] = _tables(index)
    for statement in statements:
        if isinstance(statement, VerdictReversed):
            reversed_verdicts.add(statement.body.verdict)
            continue
        table = tables.get(type(statement))
        if table is not None:
            table[statement.event_id] = statement
    index.verdicts = live({k: v for k, v in index.verdicts.items() if k not in reversed_verdicts})
    index.measurements = live(index.measurements)
    index.audits = live(index.audits)
    for key, entry in index.entries.items():
        if isinstance(entry, EntryObserved):
            seal = index.seals.get(EventId(entry.body.seal))
            if seal is not None:
                index.origins[key] = origin_of(entry, seal, policy)
    return index


def chain_heads(links: Mapping[EventId, EventId | None]) -> tuple[EventId, ...]:
    """Members of ``links`` (statement -> predecessor) that no other member names as its predecessor, sorted."""
    named = {predecessor for predecessor in links.values() if predecessor is not None}
    return tuple(sorted(key for key in links if key not in named))


def grouped(pairs: Iterable[tuple[EventId, EventId]]) -> dict[EventId, list[EventId]]:
    """The second members of ``pairs`` by the first, in the order given."""
    groups: dict[EventId, list[EventId]] = defaultdict(list)
    for group, member in pairs:
        groups[group].append(member)
    return dict(groups)


def _tables(index: LedgerIndex) -> dict[type, dict[EventId, Statement]]:
    tables: dict[type, object] = {
        SealMinted: index.seals,
        EntryObserved: index.entries,
        EntryGiven: index.entries,
        EntryDerived: index.entries,
        EntryConjectured: index.entries,
        GenerationRecorded: index.generations,
        VerdictFiled: index.verdicts,
        EdgesMeasured: index.measurements,
        ReplayAudited: index.audits,
        IndependenceAssessed: index.assessments,
    }
    return tables  # type: ignore[return-value]  # each table only ever receives its own kind


def live(judgements: Mapping[EventId, _JudgementT]) -> dict[EventId, _JudgementT]:
    """``judgements`` without those that another representation of the same fact supersedes."""
    superseded = {
        lineage.event_id
        for judgement in judgements.values()
        if (lineage := judgement.representation.lineage).event_id is not None
        and (earlier := judgements.get(EventId(lineage.event_id))) is not None
        and earlier.source_fact_id == judgement.source_fact_id
    }
    return {key: judgement for key, judgement in judgements.items() if key not in superseded}


def origin_of(entry: EntryObserved, seal: SealMinted, policy: Policy) -> SealedOrigin:
    """The origin of ``entry`` as its seal attests it; raises :class:`PolicyError` for another suffix list."""
    return SealedOrigin(
        seal=seal.event_id,
        cluster=cluster_of(seal.body, policy),
        family=entry.body.predicate_family,
        external=seal.body.reach == "external_read",
        boundary=seal.body.attestation == "boundary",
    )
