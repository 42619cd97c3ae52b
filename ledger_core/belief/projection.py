"""The fold, kept up to date: takes in statements as they come and gives what :func:`~.fold.fold` gives for all of them.

Incremental, in the size of what a batch reaches: the index, origins, each claim's dependence, depths, attenuation and
the states of entries. Recomputed whole, when a batch holds a judgement or something that a judgement names: audits,
retractions and reputation, which cost as much as there are judgements and not as there are entries.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ledger_core.belief.attenuation import depths, referred_by, remaining_of
from ledger_core.belief.audits import AuditResult, audit_results
from ledger_core.belief.edges import Dependence, dependence_of
from ledger_core.belief.fold import Judge, facts_of
from ledger_core.belief.index import Claim, Entry, LedgerIndex, live, origin_of
from ledger_core.belief.policies import check_policy
from ledger_core.belief.quorum import retractions, testimony_of
from ledger_core.belief.reputation import ReputationKey, in_good_standing, reputation_key, reputations
from ledger_core.belief.slim import slim
from ledger_core.belief.state import BeliefState, EntryState, Hyperedge
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.sealing import EntryObserved, ReplayAudited, SealMinted
from ledger_core.kernel.statements.verdicts import IndependenceAssessed, VerdictFiled, VerdictReversed
from ledger_core.kernel.types import PPM, EventId, U

_NOTHING = Dependence((), ungrounded=False)


class Projection:
    """Belief in a growing set of statements under one policy.

    ``projection.extend(a); projection.extend(b)`` leaves the state of ``fold([*a, *b], policy)``, whatever the order
    and however often a statement comes. A projection in which :meth:`extend` raised is of no further use.
    """

    def __init__(self, policy: Policy, statements: Iterable[Statement] = ()) -> None:
        """Start with ``statements``; raises :class:`PolicyError` as :func:`~.fold.fold` does."""
        check_policy(policy)
        self.policy = policy
        self._index = LedgerIndex()
        self._texts: dict[str, str] = {}
        """Every id once, however often it is referred to."""
        self._judgements = _Judgements()
        self._index.measurements = self._judgements.measurements
        self._graph = _Graph()
        self._dependences: dict[EventId, Dependence] = {}
        self._left: dict[EventId, int] = {}
        self._built: BeliefState | None = None
        self._states: dict[EventId, EntryState] = {}
        """States that still hold, but for their place in the order."""
        self._observations_of: dict[EventId, list[EventId]] = defaultdict(list)
        self._claims_of: dict[EventId, list[EventId]] = defaultdict(list)
        self._of_origin: dict[ReputationKey, list[EventId]] = defaultdict(list)
        self._judge = self._conclude()
        self.extend(statements)

    def __len__(self) -> int:
        """Number of entries."""
        return len(self._index.entries)

    def extend(self, statements: Iterable[Statement]) -> None:
        """Take in ``statements``; those that are known already change nothing."""
        reached = _Reached()
        for statement in statements:
            self._built = None
            self._take(slim(statement, self._shared), reached)
        self._place(reached.nodes)
        reached.judged |= self._note_origins(reached.observations)
        entries = [node for node in reached.nodes if node in self._index.entries]
        changed = {*self._rest(reached.claims), *reached.observations, *entries}
        if reached.judged:
            changed |= self._rejudge()
        self._attenuate(changed)
        for key in changed:
            self._states.pop(key, None)

    def _shared(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _take(self, statement: Statement, reached: _Reached) -> None:
        index, key = self._index, statement.event_id
        match statement:
            case SealMinted():
                index.seals[key] = statement
                reached.observations.extend(self._observations_of.get(key, ()))
            case GenerationRecorded() if key not in index.generations:
                index.generations[key] = statement
                reached.nodes.append(key)
                reached.claims.update(self._claims_of.get(key, ()))
            case EdgesMeasured():
                reached.claims.update(self._judgements.measure(statement))
            case VerdictFiled() | VerdictReversed() | ReplayAudited():
                reached.judged |= self._judgements.file(statement)
            case IndependenceAssessed() if key not in index.assessments:
                index.assessments[key] = statement
                reached.judged = True
            case EntryObserved() | EntryGiven() | EntryDerived() | EntryConjectured() if key not in index.entries:
                self._take_entry(statement, reached)
            case _:
                pass

    def _take_entry(self, entry: Entry, reached: _Reached) -> None:
        key = entry.event_id
        self._index.entries[key] = entry
        reached.nodes.append(key)
        reached.judged |= self._judgements.names(key)
        if isinstance(entry, EntryObserved):
            self._observations_of[EventId(entry.body.seal)].append(key)
            reached.observations.append(key)
        elif isinstance(entry, Claim):
            reached.claims.add(key)
            if entry.body.generation is not None:
                self._claims_of[EventId(entry.body.generation)].append(key)

    def state(self) -> BeliefState:
        """The state of everything taken in so far, equal to that of the fold; costs one pass over the entries, once."""
        if self._built is not None:
            return self._built
        entries: dict[EventId, EntryState] = {}
        for place, key in enumerate(self._graph.order()):
            known = self._states.get(key)
            if known is None:
                hyperedges = self._dependences.get(key, _NOTHING).hyperedges
                facts = facts_of(key, self._index, self._dependences)
                known = self._judge.entry_state(key, facts, place, self._left[key], hyperedges)
            elif known.order != place:
                known = replace(known, order=place)
            self._states[key] = entries[key] = known
        self._built = BeliefState(entries, self._judge.retracted, self._judge.reputation)
        return self._built

    def _place(self, nodes: Sequence[EventId]) -> None:
        known: dict[EventId, Entry | GenerationRecorded] = {
            key: self._index.entries.get(key) or self._index.generations[key] for key in nodes
        }
        self._graph.add({key: referred_by(node) for key, node in known.items()}, self._index.entries.keys() & known)

    def _note_origins(self, observations: Iterable[EventId]) -> bool:
        """Find the origins of ``observations`` whose seal is there; whether any of them concerns a judgement."""
        judged = False
        for key in observations:
            entry = self._index.entries[key]
            seal = self._index.seals.get(EventId(entry.body.seal)) if isinstance(entry, EntryObserved) else None
            if seal is None or not isinstance(entry, EntryObserved) or key in self._index.origins:
                continue
            origin = origin_of(entry, seal, self.policy)
            self._index.origins[key] = origin
            self._of_origin[reputation_key(origin)].append(key)
            judged |= self._judgements.names(key) or self._judgements.names(origin.seal)
        return judged

    def _rest(self, claims: Iterable[EventId]) -> list[EventId]:
        """Recompute what ``claims`` rest on; those among them that are there."""
        there: list[EventId] = []
        for key in claims:
            claim = self._index.entries.get(key)
            if isinstance(claim, Claim):
                found = dependence_of(claim, self._judgements.measurements_of(key), self._index, self.policy)
                self._graph.rest(key, self._dependences.get(key, _NOTHING).hyperedges, found.hyperedges)
                self._dependences[key] = found
                there.append(key)
        return there

    def _conclude(self) -> Judge:
        """Strata 1 to 3 over everything taken in."""
        index, policy = self._index, self.policy
        index.verdicts, index.audits = self._judgements.verdicts(), self._judgements.audits()
        audits = audit_results(index, policy)
        retracted = retractions(index, testimony_of(index), audits, policy)
        reputation = reputations(index, retracted)
        standing = in_good_standing(index, audits, reputation) if policy.standing_required else None
        return Judge(policy, audits, retracted, reputation, standing)

    def _rejudge(self) -> set[EventId]:
        """Conclude anew; entries whose state may differ by it."""
        old, new = self._judge, self._conclude()
        self._judge = new
        seals = _audited(old.audits) ^ _audited(new.audits)
        of_seals = {key for seal, _ in seals for key in self._observations_of.get(seal, ())}
        keys = {key for key, _ in old.reputation.items() ^ new.reputation.items()}
        keys |= (old.standing or frozenset()) ^ (new.standing or frozenset())
        of_origins = {entry for key in keys for entry in self._of_origin.get(key, ())}
        return of_seals | of_origins | (old.retracted.keys() ^ new.retracted.keys()) | (old.counted ^ new.counted)

    def _attenuate(self, changed: Iterable[EventId]) -> None:
        """Recompute what is left of ``changed`` and, parents first, of everything that their loss reaches."""
        judge, depth = self._judge, self._graph.depth
        waiting = [(depth[key], key) for key in changed]
        queued = {key for _, key in waiting}
        heapq.heapify(waiting)
        while waiting:
            _, key = heapq.heappop(waiting)
            left = remaining_of(self._dependences.get(key, _NOTHING).hyperedges, self._left)
            if key in judge.retracted or judge.is_suspended(self._index.origins.get(key)):
                left = self.policy.retracted_ppm * left // PPM
            before = self._left.get(key, U)
            self._left[key] = left
            if left == before:
                continue
            self._states.pop(key, None)
            for dependent in self._graph.resting_on.get(key, ()):
                if dependent not in queued:
                    queued.add(dependent)
                    heapq.heappush(waiting, (depth[dependent], dependent))


@dataclass(slots=True)
class _Reached:
    """What a batch reaches at first hand."""

    nodes: list[EventId] = field(default_factory=list)
    """New entries and generations."""
    claims: set[EventId] = field(default_factory=set)
    """Claims whose dependence may have changed; some may not be there yet."""
    observations: list[EventId] = field(default_factory=list)
    """Observations that are new or whose seal is."""
    judged: bool = False
    """Whether strata 1 to 3 may have changed."""


def _audited(audits: AuditResult) -> set[tuple[EventId, bool]]:
    return {(seal, True) for seal in audits.verified} | {(seal, False) for seal in audits.suspended}


class _Judgements:
    """Everything that was ever filed, so that what a withdrawal brings back is found again."""

    def __init__(self) -> None:
        self.measurements: dict[EventId, EdgesMeasured] = {}
        """Those that no other representation of the same fact supersedes."""
        self._verdicts: dict[EventId, VerdictFiled] = {}
        self._reversals: dict[EventId, EventId] = {}
        self._audits: dict[EventId, ReplayAudited] = {}
        self._measured: dict[EventId, dict[EventId, EdgesMeasured]] = defaultdict(dict)
        """Source fact -> all measurements of it."""
        self._of_claim: dict[EventId, set[EventId]] = defaultdict(set)
        self._named: set[EventId] = set()

    def names(self, key: EventId) -> bool:
        """Whether a verdict or an audit is about ``key``, or rests on it."""
        return key in self._named

    def file(self, statement: VerdictFiled | VerdictReversed | ReplayAudited) -> bool:
        """Take in a judgement; whether it is new."""
        key = statement.event_id
        if key in self._verdicts or key in self._reversals or key in self._audits:
            return False
        match statement:
            case VerdictFiled():
                self._verdicts[key] = statement
                self._named.update((EventId(statement.body.target), EventId(statement.body.candidate)))
            case VerdictReversed():
                self._reversals[key] = EventId(statement.body.verdict)
            case ReplayAudited():
                self._audits[key] = statement
                self._named.add(EventId(statement.body.seal))
        return True

    def measure(self, statement: EdgesMeasured) -> set[EventId]:
        """Take in a measurement; the claims whose live measurements are others than before."""
        same = self._measured[EventId(statement.source_fact_id)]
        if statement.event_id in same:
            return set()
        before = live(same)
        same[statement.event_id] = statement
        after = live(same)
        changed: set[EventId] = set()
        for key in before.keys() ^ after.keys():
            claim = EventId(same[key].body.claim)
            changed.add(claim)
            if key in after:
                self.measurements[key] = same[key]
                self._of_claim[claim].add(key)
            else:
                del self.measurements[key]
                self._of_claim[claim].discard(key)
        return changed

    def measurements_of(self, claim: EventId) -> Iterable[EventId]:
        """The live measurements of ``claim``."""
        return self._of_claim.get(claim, ())

    def verdicts(self) -> dict[EventId, VerdictFiled]:
        """Those that are neither reversed nor superseded."""
        reversed_ones = set(self._reversals.values())
        return live({key: verdict for key, verdict in self._verdicts.items() if key not in reversed_ones})

    def audits(self) -> dict[EventId, ReplayAudited]:
        """Those that are not superseded."""
        return live(self._audits)


class _Graph:
    """Who refers to whom, how deep everything lies, and who loses with whom."""

    def __init__(self) -> None:
        self.depth: dict[EventId, int] = {}
        self.resting_on: dict[EventId, set[EventId]] = defaultdict(set)
        """Parent -> claims with a hyperedge that it is in."""
        self._below: dict[EventId, Sequence[EventId]] = {}
        self._above: dict[EventId, list[EventId]] = defaultdict(list)
        self._ordered: list[tuple[int, EventId]] = []
        self._entries: set[EventId] = set()
        self._sorted = True

    def add(self, references: dict[EventId, list[EventId]], entries: Iterable[EventId]) -> None:
        """Add nodes with what they refer to; ``entries`` are those among them that are entries."""
        self._below.update(references)
        for node, below in references.items():
            for reference in below:
                self._above[reference].append(node)
        touched = set(references)
        frontier = list(touched)
        while frontier:
            fresh = [node for node in self._above.get(frontier.pop(), ()) if node not in touched]
            touched.update(fresh)
            frontier.extend(fresh)
        found = depths({node: self._below[node] for node in touched}, self.depth)
        moved = any(self.depth.get(node, depth) != depth for node, depth in found.items())
        self.depth.update(found)
        self._entries.update(entries)
        if moved:  # something came after what refers to it, which a log in its own order never does
            self._ordered.clear()
        self._ordered.extend((self.depth[entry], entry) for entry in (self._entries if moved else entries))
        self._sorted = False

    def order(self) -> Iterable[EventId]:
        """The entries in canonical order."""
        if not self._sorted:
            self._ordered.sort()  # nearly in order already, which this sort makes use of
            self._sorted = True
        return (entry for _, entry in self._ordered)

    def rest(self, claim: EventId, old: tuple[Hyperedge, ...], new: tuple[Hyperedge, ...]) -> None:
        """Let ``claim`` rest on ``new`` instead of ``old``."""
        before = {parent for edge in old for parent in edge.parents}
        after = {parent for edge in new for parent in edge.parents}
        for parent in before - after:
            self.resting_on[parent].discard(claim)
        for parent in after - before:
            self.resting_on[parent].add(claim)
