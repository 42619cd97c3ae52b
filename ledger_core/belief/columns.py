"""The statements of a log as columns: a few dozen bytes each, by number, for whoever walks a log that is larger than memory.

Statements come in the order of the log, so that everything they refer to has a number already. Of the outlined kinds the columns
hold what belief reads; of every other kind the id, the kind, and what a judgement is about.
"""

from __future__ import annotations

from array import array
from binascii import unhexlify
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ledger_core.belief.digest_table import DigestTable
from ledger_core.belief.neighbourhood import judged_by
from ledger_core.belief.origin import seal_cluster
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements import ENTRY_KINDS, STATEMENT_TYPES, Statement
from ledger_core.kernel.statements.outline import Outline, Recorded, outline_of
from ledger_core.kernel.statements.verdicts import VerdictFiled
from ledger_core.kernel.types import EventId

Read = Statement | Outline
"""A statement as it was read: whole, or what its bytes say of it."""

Fetch = Callable[[EventId], Statement]
"""A statement that was added, by its id."""

_KINDS: Final = tuple(sorted(STATEMENT_TYPES))
_CODES: Final = {kind: code for code, kind in enumerate(_KINDS)}
ENTRIES: Final = frozenset(_CODES[kind] for kind in ENTRY_KINDS)
SEAL, OBSERVED, GIVEN, DERIVED, CONJECTURED, GENERATION = (
    _CODES[kind]
    for kind in (
        "seal.minted",
        "entry.observed",
        "entry.given",
        "entry.derived",
        "entry.conjectured",
        "generation.recorded",
    )
)
CLAIMS: Final = frozenset({DERIVED, CONJECTURED})
_RESTING: Final = frozenset({*CLAIMS, GENERATION})
_NONE: Final = -1


class SealColumns(NamedTuple):
    """What seals share with many others."""

    cluster: str
    external: bool
    boundary: bool
    read_only: bool


class OriginKey(NamedTuple):
    """Whom an observation comes from."""

    cluster: str
    family: str


Detail = SealColumns | OriginKey | Recorded | None
"""Of a seal, an observation, a generation; each stands once, however many share it."""


class Columns:
    """A log by numbers; grows by :meth:`add` and :meth:`add_outline`."""

    def __init__(self) -> None:
        self.ids = DigestTable()
        self.kinds = bytearray()
        """Number -> code of its kind."""
        self.depth = array("i")
        """Longest chain of references below an entry or a generation, from 0; of others nothing."""
        self.sealed_at: dict[int, str] = {}
        """Seal -> when, where it says so."""
        self._first = array("I", [0])
        self._pool = array("I")
        """What each number refers to, one after the other; of a claim its parents and then its generation."""
        self._ppm = array("I")
        self._last_referring = array("i")
        """Number -> place in the pool of the last reference to it."""
        self._referring_before = array("i")
        """Place in the pool -> that of the reference to the same before it."""
        self._detail = array("I")
        self._details: list[Detail] = [None]
        self._detail_numbers: dict[Detail, int] = {None: 0}
        self._of_origin: dict[OriginKey, array[int]] = {}
        self._about: dict[int, list[int]] = defaultdict(list)
        """Statement -> judgements about it."""
        self._candidate: dict[int, int] = {}
        """Verdict -> candidate."""
        self._testified: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Candidate -> its verdicts, each with the target."""

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, read: Read) -> int | None:
        """The number of a new statement; None where it is there already.

        Raises:
            BeliefError: it refers to what did not come before it.
        """
        found = read if isinstance(read, Outline) else outline_of(read)
        if found is not None:
            return self._add_outline(found)
        assert not isinstance(read, Outline), "every outline is its own"
        return self._add_other(read)

    def kind(self, event_id: bytes) -> str | None:
        """The kind of a statement, or None."""
        number = self.ids.find(event_id)
        return None if number is None else _KINDS[self.kinds[number]]

    def kind_of(self, number: int) -> str:
        """The kind of ``number``."""
        return _KINDS[self.kinds[number]]

    def hex(self, number: int) -> EventId:
        """The id of ``number`` as statements spell it."""
        return EventId(self.ids[number].hex())

    def is_entry(self, number: int) -> bool:
        """Whether the statement is an entry."""
        return self.kinds[number] in ENTRIES

    def entries(self) -> Iterator[int]:
        """Every entry in the order of the log."""
        kinds = self.kinds
        return (number for number in range(len(kinds)) if kinds[number] in ENTRIES)

    def referred(self, number: int) -> array[int]:
        """What a statement refers to: an observation to its seal, a claim to its parents and its generation."""
        return self._pool[self._first[number] : self._first[number + 1]]

    def parents(self, claim: int) -> Iterator[tuple[int, int]]:
        """The declared parents of a claim, each with its weight in ppm."""
        for place in range(self._first[claim], self._first[claim + 1]):
            if self.kinds[self._pool[place]] != GENERATION:
                yield self._pool[place], self._ppm[place]

    def generation(self, claim: int) -> int | None:
        """The generation of a claim, None where it has none, or is no claim."""
        stop = self._first[claim + 1]
        if self.kinds[claim] in CLAIMS and stop > self._first[claim]:
            last = self._pool[stop - 1]
            if self.kinds[last] == GENERATION:
                return last
        return None

    def detail(self, number: int) -> Detail:
        """What is kept of a seal, an observation or a generation."""
        return self._details[self._detail[number]]

    def origin(self, observation: int) -> tuple[int, SealColumns, OriginKey]:
        """Seal and origin of an observation."""
        seal = self._pool[self._first[observation]]
        sealed, key = self.detail(seal), self.detail(observation)
        assert isinstance(sealed, SealColumns), "a seal was sealed"
        assert isinstance(key, OriginKey), "an observation has a seal"
        return seal, sealed, key

    def origins(self) -> Iterable[OriginKey]:
        """Every origin that anything was observed from."""
        return self._of_origin.keys()

    def observed_from(self, key: OriginKey) -> Sequence[int]:
        """The observations of one origin."""
        return self._of_origin.get(key, ())

    def _add_outline(self, found: Outline) -> int | None:
        number = self.ids.add(found.event_id)
        if number is None:
            return None
        referred = [self._known(event_id, found) for event_id in found.referred]
        ppm = list(found.ppm)
        if found.generation is not None:
            referred.append(self._known(found.generation, found))
        code = _CODES[found.kind]
        depth = 0
        detail: Detail = found.recorded
        if code == OBSERVED:
            detail = self._note_origin(number, referred[0], str(found.family))
        elif code in _RESTING:
            depth = 1 + max([self.depth[each] for each in referred], default=-1)
        elif found.sealed is not None:
            sealed = found.sealed
            detail = SealColumns(
                seal_cluster(sealed),
                sealed.reach == "external_read",
                sealed.attestation == "boundary",
                sealed.effect == "read_only",
            )
            if sealed.observed_at is not None:
                self.sealed_at[number] = sealed.observed_at
        self._put(code, depth, detail, referred, ppm)
        return number

    def _add_other(self, statement: Statement) -> int | None:
        number = self.ids.add(unhexlify(statement.event_id))
        if number is None:
            return None
        self._put(_CODES[statement.kind], 0, None, (), ())
        for subject in judged_by(statement):
            self._about[self._known(unhexlify(subject), statement)].append(number)
        if isinstance(statement, VerdictFiled):
            candidate = self._known(unhexlify(statement.body.candidate), statement)
            self._candidate[number] = candidate
            target = self._known(unhexlify(statement.body.target), statement)
            self._testified[candidate].append((number, target))
        return number

    def _known(self, event_id: bytes, referring: Read) -> int:
        number = self.ids.find(event_id)
        if number is None:
            raise BeliefError(
                f"{referring.kind} refers to {event_id.hex()}, which did not come before it; statements in columns come in "
                "the order of their log"
            )
        return number

    def _note_origin(self, observation: int, seal: int, family: str) -> OriginKey:
        sealed = self.detail(seal)
        if not isinstance(sealed, SealColumns):
            raise BeliefError(f"observation {self.hex(observation)} is of {self.hex(seal)}, which is no seal")
        key = OriginKey(sealed.cluster, family)
        self._of_origin.setdefault(key, array("I")).append(observation)
        return key

    def _put(self, code: int, depth: int, detail: Detail, referred: Sequence[int], ppm: Sequence[int]) -> None:
        self.kinds.append(code)
        self.depth.append(depth)
        self._last_referring.append(_NONE)
        place = self._detail_numbers.get(detail)
        if place is None:
            place = self._detail_numbers[detail] = len(self._details)
            self._details.append(detail)
        self._detail.append(place)
        pool, last, before = self._pool, self._last_referring, self._referring_before
        for each in referred:
            before.append(last[each])
            last[each] = len(pool)
            pool.append(each)
        self._ppm.extend(ppm)
        self._ppm.extend([0] * (len(referred) - len(ppm)))
        self._first.append(len(pool))

    def referring(self, number: int) -> Iterator[int]:
        """What refers to ``number``, the last first."""
        place = self._last_referring[number]
        while place != _NONE:
            yield bisect_right(self._first, place) - 1
            place = self._referring_before[place]

    def _below(self, number: int) -> Sequence[int]:
        return self.referred(number) if self.kinds[number] in _RESTING else ()

    def around(self, verdict: VerdictFiled, fetch: Fetch) -> tuple[Statement, ...]:
        """What stood before ``verdict`` and decides what it changes, each once; ``fetch`` gives a statement by its id.

        As :meth:`~.neighbourhood.ReferenceIndex.around` where that knows nothing but what stood before.
        """
        limit = self._known(unhexlify(verdict.event_id), verdict)
        target, candidate = (
            self._known(unhexlify(key), verdict) for key in (verdict.body.target, verdict.body.candidate)
        )
        reached = _closure({target}, self.referring, limit)
        resting_on = _closure(reached, self._below, limit)
        judged = {number for number in resting_on if self.is_entry(number)} | {target}
        speakers = {candidate, *self._candidates(target, limit)}
        for key in {self.detail(number) for number in (target, *speakers) if self.kinds[number] == OBSERVED}:
            assert isinstance(key, OriginKey), "an observation has a seal"
            for entry in self.observed_from(key):
                if entry < limit:
                    judged.add(entry)
                    judged.update(about for filed, about in self._testified.get(entry, ()) if filed < limit)
        wanted = resting_on | judged | speakers
        for entry in judged:
            wanted.update(self._candidates(entry, limit))
        wanted |= {self._pool[self._first[number]] for number in wanted if self.kinds[number] == OBSERVED}
        judgements = _closure(wanted, lambda number: self._about.get(number, ()), limit)
        return tuple(fetch(EventId(event_id)) for event_id in sorted(map(self.hex, wanted | judgements)))

    def _candidates(self, target: int, limit: int) -> list[int]:
        about = self._about.get(target, ())
        return [self._candidate[key] for key in about if key in self._candidate and key < limit]


def _closure(start: Iterable[int], edges: Callable[[int], Iterable[int]], limit: int) -> set[int]:
    """What ``edges`` lead to from ``start``, as far as it stood before ``limit``."""
    reached = set(start)
    frontier = list(reached)
    while frontier:
        fresh = [number for number in edges(frontier.pop()) if number not in reached and number < limit]
        reached.update(fresh)
        frontier.extend(fresh)
    return reached
