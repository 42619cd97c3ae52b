"""The part of a log that a verdict can reach, so that filing and checking cost what changes and not the whole ledger.

Attenuation flows from an entry to what refers to it, reputation to what shares its origin. Folding only that part
gives the same attenuation and reputation there as folding everything; a test holds it to that.
"""

from __future__ import annotations

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
        self._statements: dict[EventId, Statement] = {}
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
        return event_id in self._statements

    def add(self, statement: Statement) -> None:
        """Take in one statement; the same one again changes nothing."""
        key = statement.event_id
        if key in self._statements:
            return
        self._statements[key] = statement
        if isinstance(statement, Claim | GenerationRecorded):
            for reference in _rests_on(statement):
                self._above[reference].append(key)
                self._below[key].append(reference)
        elif isinstance(statement, EntryObserved):
            self._note_origin(statement)
        else:
            for subject in _judges(statement):
                self._about[subject].append(key)
            if isinstance(statement, VerdictFiled):
                self._testified[EventId(statement.body.candidate)].append(EventId(statement.body.target))

    def around(self, target: EventId, candidate: EventId) -> tuple[Statement, ...]:
        """Everything that decides what a verdict of ``candidate`` on ``target`` changes, each once."""
        reached = _closure({target}, self._above)
        resting_on = _closure(reached, self._below)
        judged = {node for node in resting_on if self._is_entry(node)} | {target}
        speakers = {candidate, *self._candidates(target)}
        for key in {self._origin[entry] for entry in (target, *speakers) if entry in self._origin}:
            for entry in self._of_origin[key]:
                judged.add(entry)
                judged.update(self._testified.get(entry, ()))
        wanted = resting_on | judged | speakers
        for entry in judged:
            wanted.update(self._candidates(entry))
        wanted |= {
            EventId(s.body.seal) for node in wanted if isinstance(s := self._statements.get(node), EntryObserved)
        }
        judgements = _closure(wanted, self._about)
        return tuple(self._statements[node] for node in sorted(wanted | judgements) if node in self._statements)

    def _candidates(self, target: EventId) -> list[EventId]:
        found = (self._statements[key] for key in self._about.get(target, ()))
        return [EventId(s.body.candidate) for s in found if isinstance(s, VerdictFiled)]

    def _is_entry(self, node: EventId) -> bool:
        statement = self._statements.get(node)
        return statement is not None and statement.kind in ENTRY_KINDS

    def _note_origin(self, entry: EntryObserved) -> None:
        seal = self._statements.get(EventId(entry.body.seal))
        if isinstance(seal, SealMinted):
            key = (seal_cluster(seal.body), entry.body.predicate_family)
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


def _judges(statement: Statement) -> tuple[EventId, ...]:
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
