"""The part of a log that a verdict can reach, so that filing and checking cost what changes and not the whole ledger.

Attenuation flows from an entry to what refers to it, reputation to what shares its origin. Folding only that part
gives the same attenuation and reputation there as folding everything; a test holds it to that.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable

from ledger_core.belief.index import Claim
from ledger_core.belief.origin import seal_cluster
from ledger_core.kernel.statements import ENTRY_KINDS, Statement
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.sealing import EntryObserved, ReplayAudited, SealMinted
from ledger_core.kernel.statements.verdicts import IndependenceAssessed, VerdictFiled, VerdictReversed
from ledger_core.kernel.types import EventId

_OriginKey = tuple[str, str]


class ReferenceIndex:
    """Statements with their references both ways; grows by :meth:`add`."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        """Start with ``statements``, in any order that puts a seal before what was observed from it."""
        self._kept: dict[EventId, Statement] = {}
        self._known: dict[EventId, EventId] = {}
        """Every id by itself, so that references share one string."""
        self._entries: set[EventId] = set()
        self._candidate_of: dict[EventId, EventId] = {}
        """Verdict -> candidate."""
        self._seal_of: dict[EventId, EventId] = {}
        """Observation -> seal."""
        self._cluster_of: dict[EventId, str] = {}
        """Seal -> origin cluster."""
        self._above: dict[EventId, list[EventId]] = defaultdict(list)
        """Entry or generation -> claims and generations that refer to it."""
        self._below: dict[EventId, list[EventId]] = defaultdict(list)
        """Claim or generation -> entries and generations it refers to."""
        self._about: dict[EventId, list[EventId]] = defaultdict(list)
        """Statement -> judgements about it: audits, measurements, verdicts on it, reversals, assessments."""
        self._testified: dict[EventId, list[EventId]] = defaultdict(list)
        """Candidate -> targets of its verdicts."""
        self._origin: dict[EventId, _OriginKey] = {}
        self._of_origin: dict[_OriginKey, list[EventId]] = defaultdict(list)
        for statement in statements:
            self.add(statement)

    def __contains__(self, event_id: object) -> bool:
        return event_id in self._known

    def add(self, statement: Statement) -> None:
        """Take in one statement; the same one again changes nothing."""
        key = statement.event_id
        if key in self._known:
            return
        self._known[key] = key
        self._kept[key] = statement
        if statement.kind in ENTRY_KINDS:
            self._entries.add(key)
        if isinstance(statement, Claim | GenerationRecorded):
            for reference in map(self._shared, _rests_on(statement)):
                self._above[reference].append(key)
                self._below[key].append(reference)
        elif isinstance(statement, SealMinted):
            self._cluster_of[key] = sys.intern(seal_cluster(statement.body))
        elif isinstance(statement, EntryObserved):
            self._note_origin(statement)
        else:
            for subject in map(self._shared, judged_by(statement)):
                self._about[subject].append(key)
            if isinstance(statement, VerdictFiled):
                candidate, target = map(
                    self._shared, (EventId(statement.body.candidate), EventId(statement.body.target))
                )
                self._candidate_of[key] = candidate
                self._testified[candidate].append(target)

    def _shared(self, reference: EventId) -> EventId:
        return self._known.get(reference, reference)

    def around(self, target: EventId, candidate: EventId) -> tuple[Statement, ...]:
        """Everything that decides what a verdict of ``candidate`` on ``target`` changes, each once."""
        reached = _closure({target}, self._above)
        resting_on = _closure(reached, self._below)
        judged = (resting_on & self._entries) | {target}
        speakers = {candidate, *self._candidates(target)}
        for key in {self._origin[entry] for entry in (target, *speakers) if entry in self._origin}:
            for entry in self._of_origin[key]:
                judged.add(entry)
                judged.update(self._testified.get(entry, ()))
        wanted = resting_on | judged | speakers
        for entry in judged:
            wanted.update(self._candidates(entry))
        wanted |= {self._seal_of[node] for node in wanted if node in self._seal_of}
        judgements = _closure(wanted, self._about)
        return tuple(self._kept[node] for node in sorted(wanted | judgements) if node in self._known)

    def _candidates(self, target: EventId) -> list[EventId]:
        return [self._candidate_of[key] for key in self._about.get(target, ()) if key in self._candidate_of]

    def _note_origin(self, entry: EntryObserved) -> None:
        seal = self._shared(EventId(entry.body.seal))
        self._seal_of[entry.event_id] = seal
        cluster = self._cluster_of.get(seal)
        if cluster is not None:
            key = (cluster, entry.body.predicate_family)
            self._origin[entry.event_id] = key
            self._of_origin[key].append(entry.event_id)


def _closure(start: Iterable[EventId], edges: dict[EventId, list[EventId]]) -> set[EventId]:
    reached = set(start)
    frontier = list(reached)
    while frontier:
        fresh = [node for node in edges.get(frontier.pop(), ()) if node not in reached]
        reached.update(fresh)
        frontier.extend(fresh)
    return reached


def _rests_on(statement: Claim | GenerationRecorded) -> set[EventId]:
    if isinstance(statement, GenerationRecorded):
        return {EventId(region.entry) for region in statement.body.context if region.entry is not None}
    referred = {EventId(parent.entry) for parent in statement.body.parents}
    if statement.body.generation is not None:
        referred.add(EventId(statement.body.generation))
    return referred


def judged_by(statement: Statement) -> tuple[EventId, ...]:
    """What a judgement is about; empty for every other kind."""
    match statement:
        case VerdictFiled():
            return (EventId(statement.body.target),)
        case VerdictReversed():
            return (EventId(statement.body.verdict),)
        case EdgesMeasured():
            return (EventId(statement.body.claim),)
        case ReplayAudited():
            return (EventId(statement.body.seal),)
        case IndependenceAssessed():
            return (EventId(statement.body.first), EventId(statement.body.second))
        case _:
            return ()
