"""Evidence about a pair of entries: their texts, whether they echo, and their embeddings, read from the ledger.

Agent text, which is looked through for an echo, is everything the agent wrote before the entry was sealed: responses of
recorded generations, claims, and the arguments of every earlier call (a text posted to a pastebin is an argument long
before it is a result).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ledger_core.belief.similarity import Wording, containment_ppm, cosine_ppm, said_in, wording_of
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.sealing import EntryObserved, SealMinted
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus

if TYPE_CHECKING:
    from ledger_core.providers import EmbeddingProvider

NO_EMBEDDER: Final = (
    "the policy in force tells two origins apart by the cosine of their embeddings, and nothing here can embed: give the "
    "verdict desk an `embedder`, or activate a policy whose cosine_ppm is 1000000"
)

_KEPT_TEXTS: Final = 32
_KEPT_VECTORS: Final = 1024
_LEAST_MASKED: Final = 20
"""Characters from which a target's text is taken out of agent text; a shorter one could only tear it apart."""


class EvidenceReader:
    """The texts of one ledger, as far as its log was shown to :meth:`take_in`."""

    def __init__(self, ledger: Ledger, embedder: EmbeddingProvider | None) -> None:
        """Over the blobs of ``ledger``; without ``embedder`` a recipe that needs a cosine is refused when it asks."""
        self._ledger = ledger
        self._embedder = embedder
        self._content: dict[EventId, ContentRef] = {}
        self._seal_of: dict[EventId, EventId] = {}
        self._seal_place: dict[EventId, int] = {}
        """Seal -> its arguments' place in ``_written``."""
        self._written: list[ContentRef] = []
        """What the agent wrote, in log order."""
        self.first_seal: EventId | None = None
        """The seal that begins the run of the agent whose text is looked through; None: all that is in the log."""
        self._wording = lru_cache(_KEPT_TEXTS)(self._read_wording)
        self._text = lru_cache(_KEPT_TEXTS)(self._read_text)
        self.vector = lru_cache(_KEPT_VECTORS)(self._vector)

    def take_in(self, statement: Statement) -> None:
        """Remember where the texts of ``statement`` lie; statements come in log order."""
        key = statement.event_id
        match statement:
            case SealMinted():
                self._seal_place[key] = len(self._written)
                self._written.append(statement.body.args)
            case EntryObserved():
                self._content[key] = statement.body.content
                self._seal_of[key] = EventId(statement.body.seal)
            case GenerationRecorded():
                self._written.append(statement.body.response)
            case EntryDerived() | EntryConjectured():
                self._content[key] = statement.body.content
                self._written.append(statement.body.content)
            case EntryGiven():
                self._content[key] = statement.body.content
            case _:
                pass

    def about(self, target: EventId, policy: Policy) -> PairEvidence:
        """The evidence for a verdict on ``target``."""
        return PairEvidence(self, target, policy)

    def wording(self, entry: EventId) -> Wording | None:
        """What ``entry`` says; raises :class:`BlobError` where its content is missing or damaged."""
        return self._wording(self._content[entry])

    def written_until(self, entry: EventId) -> Iterator[str]:
        """What the agent wrote up to the call that ``entry`` was sealed from, that call's arguments first.

        Of any length: what comes back may be a part of it.
        """
        last = self._seal_place[self._seal_of[entry]]
        first = 0 if self.first_seal is None else self._seal_place.get(self.first_seal, 0)
        for place in range(last, first - 1, -1):
            text = self._text(self._written[place])
            if text:
                yield text

    def _read_wording(self, content: ContentRef) -> Wording | None:
        data = self._bytes(content)
        return None if data is None else wording_of(data)

    def _read_text(self, content: ContentRef) -> str | None:
        data = self._bytes(content)
        return None if data is None else said_in(data)

    def _bytes(self, content: ContentRef) -> bytes | None:
        """None where the content was erased; raises :class:`BlobError` where it is missing or damaged."""
        if self._ledger.blob_status(content) is BlobStatus.ERASED:
            return None
        return self._ledger.read_blob(content)

    def _vector(self, text: str) -> tuple[float, ...]:
        if self._embedder is None:
            raise PolicyError(NO_EMBEDDER)
        (vector,) = self._embedder.embed([text])
        return tuple(float(value) for value in vector)


class PairEvidence:
    """What a recipe may ask while a verdict on one target is filed: :class:`ledger_core.belief.independence.Evidence`.

    Where the agent repeats the target word for word, that is not looked at: a source that denies a claim in the claim's
    own words is a witness and not its echo.
    """

    def __init__(self, reader: EvidenceReader, target: EventId, policy: Policy) -> None:
        """Made by :meth:`EvidenceReader.about`."""
        self._reader = reader
        self._target = target
        self._policy = policy
        self._known: dict[EventId, bool] = {}

    def wording(self, entry: EventId) -> Wording | None:
        """What the entry says; None where it is no text, is erased, or is too long to compare."""
        return self._reader.wording(entry)

    def is_echo(self, entry: EventId) -> bool:
        """Whether one stretch of one agent text holds as much of the entry as the policy calls an echo.

        An entry of fewer shingles than the policy compares is none: a date stands in many messages.
        """
        if entry not in self._known:
            self._known[entry] = self._find_echo(entry)
        return self._known[entry]

    def cosine_ppm(self, first: Wording, second: Wording) -> int:
        """Cosine of the embeddings of two texts; raises :class:`PolicyError` where nothing can embed."""
        return cosine_ppm(self._reader.vector(first.text), self._reader.vector(second.text))

    def _find_echo(self, entry: EventId) -> bool:
        said = self._reader.wording(entry)
        if said is None or len(said.shingles) < self._policy.minimum_shingles:
            return False
        target = self._reader.wording(self._target)
        masked = target.text if target is not None and len(target.text) >= _LEAST_MASKED else None
        for written in self._reader.written_until(entry):
            # A break that no readable text holds, so that no shingle spans it.
            text = written if masked is None else written.replace(masked, "\n")
            if containment_ppm(said, text) >= self._policy.echo_containment_ppm:
                return True
        return False
