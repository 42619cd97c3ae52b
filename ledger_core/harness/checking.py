"""Checks an entry against what was observed: the verifier's two stages, each answer filed at the desk with its receipts.

A pair is asked about once under a recipe. What was answered before is looked up and not asked again, and a second verifier
that was faster stands: asking until the answer suits is of no use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ledger_core.belief.index import Entry, LedgerIndex, origin_of
from ledger_core.belief.quorum import may_testify_on
from ledger_core.harness.verdicts import FiledVerdict, VerdictDesk
from ledger_core.kernel.content import JSON
from ledger_core.kernel.errors import BlobError, CollisionError, UnknownReferenceError
from ledger_core.kernel.statements.sealing import EntryObserved, SealMinted
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from ledger_core.verification import Screening, Text, Verifier

Outcome = Literal["filed", "replayed", "screened_out", "not_asked", "unreadable", "not_eligible"]
"""What became of a candidate: a new verdict; one that stood already; not about the target; beyond the number that is asked
about in one check; no text, or its content is gone; or never to count on this target, so that asking would be of no use."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One candidate of a check."""

    candidate: EventId
    outcome: Outcome
    filed: FiledVerdict | None = None
    """The verdict, where there is one."""
    screening: Screening | None = None
    """What stage A measured, where it was reached."""


class Checker:
    """Checks entries of one ledger with one verifier, reading only what was appended since the last check."""

    def __init__(self, ledger: Ledger, verifier: Verifier, desk: VerdictDesk) -> None:
        """File through ``desk``, the one desk of ``ledger``."""
        self._ledger = ledger
        self._verifier = verifier
        self._desk = desk
        self._index = LedgerIndex()
        self._read_to = 0

    def check(self, target: str, candidates: Iterable[str] | None = None) -> tuple[Checked, ...]:
        """Ask whether ``candidates`` contradict or support ``target``, and file what is found.

        By default every observation is a candidate that could count: sealed at the boundary from outside, of another origin.
        The candidates that were asked about come first, the nearest before the others.

        Raises:
            UnknownReferenceError: target or candidate is no entry of this ledger.
            BlobError: the target's content is gone or is no text.
            ProviderError: a model does not serve; verdicts that were filed before that stand.
        """
        self._catch_up()
        about = self._entry(target)
        given = self._index.origins if candidates is None else map(self._entry, candidates)
        done: dict[EventId, Checked] = {}
        texts: list[Text] = []
        for candidate in dict.fromkeys(given):
            if not may_testify_on(about, candidate, self._index):
                if candidates is not None:
                    done[candidate] = Checked(candidate, "not_eligible")
            elif (known := self._desk.answered(about, candidate, self._verifier.recipe)) is not None:
                done[candidate] = Checked(candidate, "replayed", known)
            elif (text := self._text(candidate)) is None:
                done[candidate] = Checked(candidate, "unreadable")
            else:
                texts.append(text)
        return (*(self._ask_about(about, texts) if texts else ()), *done.values())

    def _ask_about(self, target: EventId, texts: list[Text]) -> tuple[Checked, ...]:
        text = self._text(target)
        if text is None:
            raise BlobError(f"the content of {target} is gone or is no text; there is nothing to compare with")
        found: list[Checked] = []
        asked = 0
        for screening in self._verifier.screen(text, texts):
            if not screening.passes:
                found.append(Checked(screening.candidate.entry, "screened_out", None, screening))
            elif asked == self._verifier.settings.most_asked:
                found.append(Checked(screening.candidate.entry, "not_asked", None, screening))
            else:
                asked += 1
                found.append(self._judge(screening))
        return tuple(found)

    def _judge(self, screening: Screening) -> Checked:
        finding = self._verifier.judge(screening)
        target, candidate, recipe = screening.target.entry, screening.candidate.entry, self._verifier.recipe
        stage_a, stage_b = self._ledger.put_blobs([(finding.stage_a, JSON), (finding.stage_b, JSON)])
        try:
            filed = self._desk.file(
                target=target,
                candidate=candidate,
                verdict=finding.verdict,
                recipe=recipe,
                stage_a=stage_a,
                stage_b=stage_b,
            )
        except CollisionError:
            stands = self._desk.answered(target, candidate, recipe)
            if stands is None:
                raise
            return Checked(candidate, "replayed", stands, screening)
        return Checked(candidate, "replayed" if filed.replayed else "filed", filed, screening)

    def _entry(self, entry: str) -> EventId:
        if entry not in self._index.entries:
            raise UnknownReferenceError(f"{entry} is no entry of this ledger; check the id and the scope")
        return EventId(entry)

    def _text(self, entry: EventId) -> Text | None:
        """What ``entry`` says; None where its content is gone or is no text."""
        content = self._index.entries[entry].body.content
        try:
            text = self._ledger.read_blob(content).decode()
        except (BlobError, UnicodeDecodeError):
            return None
        read = text[: self._verifier.settings.read_characters]
        return Text(entry, content.digest, read) if read.strip() else None

    def _catch_up(self) -> None:
        policy = self._ledger.policy()
        for event in self._ledger.events(after=self._read_to):
            self._read_to = event.offset
            statement = event.statement
            if isinstance(statement, SealMinted):
                self._index.seals[statement.event_id] = statement
            elif isinstance(statement, Entry):
                self._index.entries[statement.event_id] = statement
                seal = (
                    self._index.seals.get(EventId(statement.body.seal))
                    if isinstance(statement, EntryObserved)
                    else None
                )
                if isinstance(statement, EntryObserved) and seal is not None:
                    self._index.origins[statement.event_id] = origin_of(statement, seal, policy)
