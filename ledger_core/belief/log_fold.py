"""The fold of a whole log in its own order, in columns: for a log that is larger than memory as statements.

Gives what :func:`~.fold.fold` gives for the same statements. It costs a few dozen bytes a statement, judgements apart, and the
states of entries are made when they are asked for.
"""

from __future__ import annotations

from array import array
from binascii import unhexlify
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

from ledger_core.belief.attenuation import remaining_of
from ledger_core.belief.audits import audit_results
from ledger_core.belief.columns import CLAIMS, DERIVED, ENTRIES, GENERATION, OBSERVED, SEAL, Columns, Read, SealColumns
from ledger_core.belief.edges import Dependence, dependence_of, unmeasured
from ledger_core.belief.fold import EntryFacts, Judge
from ledger_core.belief.index import Claim, SealedOrigin, grouped, live
from ledger_core.belief.origin import check_suffix_list
from ledger_core.belief.policies import check_policy
from ledger_core.belief.quorum import retractions, testimony_of
from ledger_core.belief.reputation import in_good_standing, reputations
from ledger_core.belief.state import BeliefState, EntryState, Hyperedge
from ledger_core.kernel.content import TOKENS, ContentRef, content_ref
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.entries import ClaimBody, DeclaredParent, EntryDerived
from ledger_core.kernel.statements.generation import ContextRegion, GenerationRecorded, GenerationRecordedBody
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.outline import Outline, Recorded
from ledger_core.kernel.statements.sealing import ReplayAudited, SealMinted, SealMintedBody
from ledger_core.kernel.statements.verdicts import IndependenceAssessed, VerdictFiled, VerdictReversed
from ledger_core.kernel.types import PPM, EventId, U

_T = TypeVar("_T")
_RecordT = TypeVar("_RecordT", bound=Record)

_NO_FIELDS: Final[set[str]] = set()
"""One set for all: pydantic gives every record one of its own."""

_NOTHING: Final = Dependence((), ungrounded=False)
_KNOWN_TOKENS: Final[ContentRef] = content_ref(b"", TOKENS)
"""Stands for token ids that are known, whatever they are."""


class LogFold:
    """Belief in a log that is read once, from its beginning."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._verdicts: dict[EventId, VerdictFiled] = {}
        self._reversed: set[EventId] = set()
        self._measurements: dict[EventId, EdgesMeasured] = {}
        self._audits: dict[EventId, ReplayAudited] = {}
        self._assessments: dict[EventId, IndependenceAssessed] = {}

    def take(self, read: Read) -> None:
        """Take in the next statement; one that is known already changes nothing.

        Raises:
            BeliefError: it refers to what did not come before it.
        """
        if self.columns.add(read) is None or isinstance(read, Outline):
            return
        match read:
            case VerdictFiled():
                self._verdicts[read.event_id] = read
            case VerdictReversed():
                self._reversed.add(EventId(read.body.verdict))
            case EdgesMeasured():
                self._measurements[read.event_id] = read
            case ReplayAudited():
                self._audits[read.event_id] = read
            case IndependenceAssessed():
                self._assessments[read.event_id] = read
            case _:
                pass

    def state(self, policy: Policy) -> BeliefState:
        """What the log up to here makes believed under ``policy``; holds until the next statement is taken in.

        Raises:
            PolicyError: as :func:`~.fold.fold`.
        """
        check_policy(policy)
        if any(True for _ in self.columns.origins()):
            check_suffix_list(policy)
        standing_verdicts = {key: each for key, each in self._verdicts.items() if key not in self._reversed}
        view = _View(
            self.columns, live(standing_verdicts), live(self._measurements), live(self._audits), self._assessments
        )
        audits = audit_results(view, policy)
        retracted = retractions(view, testimony_of(view), audits, policy)
        reputation = reputations(view, retracted)
        standing = in_good_standing(view, audits, reputation) if policy.standing_required else None
        states = _States(view, Judge(policy, audits, retracted, reputation, standing))
        return BeliefState(states, retracted, reputation)


class _Lookup(Mapping[EventId, _T]):
    """Statements of some kinds by id, made when asked for."""

    def __init__(self, columns: Columns, kinds: frozenset[int], make: Callable[[int], _T]) -> None:
        self._columns = columns
        self._kinds = kinds
        self._make = make

    def number(self, key: object) -> int | None:
        """The number of ``key``, None where it is none of these."""
        number = self._columns.ids.find(unhexlify(key)) if isinstance(key, str) else None
        return number if number is not None and self._columns.kinds[number] in self._kinds else None

    def __contains__(self, key: object) -> bool:
        return self.number(key) is not None

    def __getitem__(self, key: EventId) -> _T:
        number = self.number(key)
        if number is None:
            raise KeyError(key)
        return self._make(number)

    def __iter__(self) -> Iterator[EventId]:
        kinds = self._columns.kinds
        return (self._columns.hex(number) for number in range(len(kinds)) if kinds[number] in self._kinds)

    def __len__(self) -> int:
        return sum(self._columns.kinds.count(kind) for kind in self._kinds)


def _partly(record: type[_RecordT], **fields: object) -> _RecordT:
    """A record with ``fields`` and nothing else, for readers that ask for nothing else; never encoded, appended or shown."""
    construct: Any = record.model_construct
    return cast("_RecordT", construct(_fields_set=_NO_FIELDS, **fields))


class _View:
    """Columns and judgements as an :class:`~.index.IndexView`."""

    def __init__(
        self,
        columns: Columns,
        verdicts: Mapping[EventId, VerdictFiled],
        measurements: Mapping[EventId, EdgesMeasured],
        audits: Mapping[EventId, ReplayAudited],
        assessments: Mapping[EventId, IndependenceAssessed],
    ) -> None:
        self.columns = columns
        self.verdicts = verdicts
        self.measurements = measurements
        self.audits = audits
        self.assessments = assessments
        self.entries: Mapping[EventId, object] = _Lookup(columns, ENTRIES, lambda number: number)
        self.seals: Mapping[EventId, SealMinted] = _Lookup(columns, frozenset({SEAL}), self._seal)
        self.generations: Mapping[EventId, GenerationRecorded] = _Lookup(
            columns, frozenset({GENERATION}), self._generation
        )
        self.origins: Mapping[EventId, SealedOrigin] = _Lookup(columns, frozenset({OBSERVED}), self.origin)

    def origin(self, observation: int) -> SealedOrigin:
        """The origin of an observation."""
        seal, sealed, key = self.columns.origin(observation)
        return SealedOrigin(self.columns.hex(seal), key.cluster, key.family, sealed.external, sealed.boundary)

    def claim(self, number: int) -> Claim:
        """A claim with what its dependence reads."""
        columns = self.columns
        generation = columns.generation(number)
        parents = tuple(
            _partly(DeclaredParent, entry=columns.hex(parent), ppm=ppm) for parent, ppm in columns.parents(number)
        )
        body = _partly(ClaimBody, generation=None if generation is None else columns.hex(generation), parents=parents)
        return _partly(EntryDerived, body=body)

    def _seal(self, number: int) -> SealMinted:
        sealed = self.columns.detail(number)
        assert isinstance(sealed, SealColumns), "a seal was sealed"
        body = _partly(
            SealMintedBody,
            attestation="boundary" if sealed.boundary else "imported",
            effect="read_only" if sealed.read_only else "mutating",
        )
        return _partly(SealMinted, body=body, observed_at=self.columns.sealed_at.get(number))

    def _generation(self, number: int) -> GenerationRecorded:
        recorded = self.columns.detail(number)
        assert isinstance(recorded, Recorded), "a generation was recorded"
        tokens = _KNOWN_TOKENS if recorded.is_exact else None
        body = _partly(
            GenerationRecordedBody,
            attestation=recorded.attestation,
            context=tuple(
                _partly(ContextRegion, entry=self.columns.hex(each)) for each in self.columns.referred(number)
            ),
            prompt_tokens=tokens,
            response_tokens=tokens,
            weights_digest=recorded.weights_digest,
        )
        generation = _partly(GenerationRecorded, body=body)
        vars(generation)["event_id"] = self.columns.hex(number)  # where the record keeps what it has computed
        return generation


class _States(Mapping[EventId, EntryState]):
    """The states of all entries in canonical order; only what retractions took is held."""

    def __init__(self, view: _View, judge: Judge) -> None:
        self._view = view
        self._columns = columns = view.columns
        self._judge = judge
        self._measured = grouped((EventId(m.body.claim), key) for key, m in view.measurements.items())
        self._order = array(
            "I", sorted(columns.entries(), key=lambda number: (columns.depth[number], columns.ids[number]))
        )
        self._places: array[int] | None = None
        self._left = self._attenuated()

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[EventId]:
        return map(self._columns.hex, self._order)

    def __getitem__(self, key: EventId) -> EntryState:
        number = self._columns.ids.find(unhexlify(key))
        if number is None or not self._columns.is_entry(number):
            raise KeyError(key)
        if self._places is None:
            self._places = array("I", bytes(4 * len(self._columns)))
            for place, each in enumerate(self._order):
                self._places[each] = place
        return self._state(number, self._places[number])

    def _state(self, number: int, place: int) -> EntryState:
        columns, key = self._columns, self._columns.hex(number)
        rests, origin, derived = _NOTHING, None, False
        code = columns.kinds[number]
        if code in CLAIMS:
            rests = self._dependence(number)
            derived = code == DERIVED and self._is_recorded(number) and not rests.ungrounded
        elif code == OBSERVED:
            origin = self._view.origin(number)
        facts = EntryFacts(columns.kind_of(number), origin, derived)
        return self._judge.entry_state(key, facts, place, self._left.get(key, U), rests.hyperedges)

    def _is_recorded(self, claim: int) -> bool:
        generation = self._columns.generation(claim)
        recorded = None if generation is None else self._columns.detail(generation)
        return isinstance(recorded, Recorded) and recorded.attestation == "boundary"

    def _dependence(self, claim: int) -> Dependence:
        columns, policy = self._columns, self._judge.policy
        measurements = self._measured.get(columns.hex(claim))
        if measurements is not None:
            return dependence_of(self._view.claim(claim), measurements, self._view, policy)
        generation = columns.generation(claim) if policy.undeclared_context_ppm else None
        context = () if generation is None else columns.referred(generation)
        parents = ((columns.hex(parent), ppm) for parent, ppm in columns.parents(claim))
        return Dependence(unmeasured(parents, map(columns.hex, context), policy), ungrounded=False)

    def _attenuated(self) -> dict[EventId, int]:
        """What is left of every entry that lost anything, in parts of U: one pass in the order of the log.

        A claim loses only by what it declares or was generated from, for a measurement is of nothing else.
        """
        columns, judge = self._columns, self._judge
        taken_out = {self._number(key) for key in judge.retracted}
        for seal in judge.audits.suspended:
            taken_out.update(columns.referring(self._number(seal)))
        left: dict[EventId, int] = {}
        reached = set(taken_out)
        """Entries that lost something, and generations that saw one."""
        for number in range(min(taken_out), len(columns)) if taken_out else ():
            code = columns.kinds[number]
            if code == GENERATION and not reached.isdisjoint(columns.referred(number)):
                reached.add(number)
            elif number in taken_out or (code in CLAIMS and not reached.isdisjoint(columns.referred(number))):
                remaining = remaining_of(self._hyperedges(number), left)
                if number in taken_out:
                    remaining = judge.policy.retracted_ppm * remaining // PPM
                if remaining != U:
                    left[columns.hex(number)] = remaining
                    reached.add(number)
        return left

    def _hyperedges(self, number: int) -> tuple[Hyperedge, ...]:
        return self._dependence(number).hyperedges if self._columns.kinds[number] in CLAIMS else ()

    def _number(self, key: EventId) -> int:
        number = self._columns.ids.find(unhexlify(key))
        assert number is not None, "what is judged is in the log"
        return number
