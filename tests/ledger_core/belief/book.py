"""Writes small ledgers for tests: one call per thing that happens, ids back, statements collected in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ledger_core.kernel.content import TEXT, ContentRef, content_ref
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import ORIGIN, Author
from ledger_core.kernel.statements.entries import (
    ByteRange,
    ClaimBody,
    DeclaredParent,
    EntryConjectured,
    EntryDerived,
    EntryGiven,
    EntryGivenBody,
)
from ledger_core.kernel.statements.envelope import Lineage
from ledger_core.kernel.statements.facts import (
    call_fact,
    claim_fact,
    measurement_fact,
    message_fact,
    pair_fact,
    successor_fact,
    verdict_fact,
)
from ledger_core.kernel.statements.generation import ContextRegion, GenerationRecorded, GenerationRecordedBody
from ledger_core.kernel.statements.measurement import (
    EdgesMeasured,
    EdgesMeasuredBody,
    Interval,
    MeasuredCut,
    MeasuredEntry,
)
from ledger_core.kernel.statements.sealing import (
    EntryObserved,
    EntryObservedBody,
    ReplayAudited,
    ReplayAuditedBody,
    SealMinted,
    SealMintedBody,
)
from ledger_core.kernel.statements.verdicts import (
    IndependenceAssessed,
    IndependenceAssessedBody,
    VerdictFiled,
    VerdictFiledBody,
    VerdictReversed,
    VerdictReversedBody,
)
from ledger_core.kernel.types import EventId

SCOPE = Scope.make(project_namespace="test", tenant_namespace="unit")
NAMESPACE = "book"
WEIGHTS = "aa" * 32
OTHER_WEIGHTS = "bb" * 32
SEALED_AT = "2026-01-01T00:00:00.000000000Z"


def text_ref(text: str) -> ContentRef:
    return content_ref(text.encode(), TEXT)


class Book:
    """A ledger under construction; ``blobs`` holds the bytes that its statements refer to."""

    def __init__(self, scope: Scope = SCOPE) -> None:
        self.statements: list[Statement] = []
        self.blobs: dict[str, bytes] = {}
        self.author = Author(scope, "book", "1")
        self._count = 0
        self._pairs: set[tuple[EventId, EventId]] = set()

    def next_key(self) -> str:
        self._count += 1
        return f"r{self._count}"

    def ref(self, text: str) -> ContentRef:
        reference = text_ref(text)
        self.blobs[reference.digest] = text.encode()
        return reference

    def add(self, statement: Statement) -> EventId:
        self.statements.append(statement)
        return statement.event_id

    def seal(self, host: str | None, text: str | None = None, **fields: object) -> EventId:
        """A seal and its observation; returns the observation's id."""
        key = self.next_key()
        family = str(fields.pop("family", "*"))
        at = fields.pop("at", SEALED_AT)
        body: dict[str, object] = {
            "args": self.ref("{}"),
            "attestation": "boundary",
            "determinism": "deterministic",
            "effect": "read_only",
            "origin_host": host,
            "outcome": "ok",
            "reach": "external_read",
            "reacquisition": None,
            "result": self.ref(text or key),
            "runner": "simulated",
            "source_id": "source",
            "tool": "fetch",
        } | fields
        fact = call_fact(NAMESPACE, key, 0, "c")
        seal = self.add(self.author.write(SealMinted, fact, SealMintedBody.make(**body), observed_at=at))
        observed = EntryObservedBody.make(
            content=body["result"], predicate_family=family, record_pointer=None, seal=seal
        )
        return self.add(self.author.write(EntryObserved, fact, observed))

    def local(self, tool: str = "notes", **fields: object) -> EventId:
        return self.seal(None, reach="local", tool=tool, **fields)

    def seal_of(self, observation: EventId) -> EventId:
        for statement in self.statements:
            if isinstance(statement, EntryObserved) and statement.event_id == observation:
                return EventId(statement.body.seal)
        raise KeyError(observation)

    def given(self, role: str = "user", text: str | None = None) -> EventId:
        key = self.next_key()
        body = EntryGivenBody.make(content=self.ref(text or key), role=role)
        return self.add(self.author.write(EntryGiven, message_fact(NAMESPACE, key, 0), body))

    def generation(
        self,
        context: Iterable[EventId | None] = (),
        *,
        attestation: str = "boundary",
        exact: bool = True,
        weights: str | None = WEIGHTS,
    ) -> EventId:
        """A model call whose context is one token of each entry, or of the template where None stands.

        ``weights`` are known only where the model call is ``exact``, unless others are named.
        """
        key = self.next_key()
        entries = list(context)
        regions = tuple(
            ContextRegion.make(
                entry=entry,
                token_start=number if exact else None,
                token_stop=number + 1 if exact else None,
                unit=None if entry is None else number,
            )
            for number, entry in enumerate(entries)
        )
        tokens = self.ref("\0\0\0\0" * len(entries)) if exact else None
        body = GenerationRecordedBody.make(
            attestation=attestation,
            claims=(),
            context=regions,
            decoding="greedy",
            model="tiny",
            policy=None,
            prompt_tokens=tokens,
            renderer=None,
            response=self.ref(key),
            response_tokens=tokens,
            splitter="sentences-v1",
            weights_digest=weights if exact or weights != WEIGHTS else None,
        )
        return self.add(self.author.write(GenerationRecorded, message_fact(NAMESPACE, key, 1), body))

    def claim(
        self,
        generation: EventId | None,
        parents: Mapping[EventId, int] | Iterable[EventId] = (),
        *,
        derived: bool = True,
        text: str | None = None,
    ) -> EventId:
        """A claim with declared parents, of full weight unless a mapping says otherwise."""
        key = self.next_key()
        weights = dict(parents) if isinstance(parents, Mapping) else dict.fromkeys(parents, 1_000_000)
        self._count += 1
        span = None if generation is None else ByteRange.make(start=self._count, stop=self._count + 1)
        body = ClaimBody.make(
            content=self.ref(text or key),
            generation=generation,
            parents=tuple(DeclaredParent.make(entry=e, ppm=ppm) for e, ppm in sorted(weights.items())),
            span=span,
        )
        fact = claim_fact(NAMESPACE, generation or key, self._count, self._count + 1)
        return self.add(self.author.write(EntryDerived if derived else EntryConjectured, fact, body))

    def measure(
        self,
        claim: EventId,
        generation: EventId,
        entries: Mapping[EventId, int | str],
        *,
        cuts: Mapping[tuple[EventId, ...], int] | None = None,
        scorer: str = WEIGHTS,
        flags: tuple[str, ...] = (),
        result: str = "grounded",
        predecessor: EventId | None = None,
        null_high: int | None = 100_000,
        edge_high: int | None = None,
        rows: str = "cc" * 32,
    ) -> EventId:
        """A measurement: per entry a weight in ppm (an edge) or one of `null`, `undetermined`, `opposes`.

        ``null_high`` bounds the interval of a null on both sides; None for a null without an interval. So does
        ``edge_high`` that of an edge.
        """
        null, edge = (None if high is None else Interval.make(low=-high, high=high) for high in (null_high, edge_high))
        measured = tuple(
            MeasuredEntry.make(
                entry=entry,
                interval={"null": null}.get(str(value), edge if isinstance(value, int) else None),
                labels=(),
                ppm=value if isinstance(value, int) else None,
                verdict="edge" if isinstance(value, int) else value,
            )
            for entry, value in sorted(entries.items())
        )
        body = EdgesMeasuredBody.make(
            claim=claim,
            claim_result=result,
            cuts=tuple(
                MeasuredCut.make(members=tuple(sorted(members)), ppm=ppm)
                for members, ppm in sorted((cuts or {}).items())
            ),
            entries=measured,
            flags=flags,
            gate="cuts-v1",
            generation=generation,
            predecessor=predecessor,
            recipe=self.ref(f"recipe {self.next_key()}"),
            rows_digest=rows,
            scorer_weights_digest=scorer,
            total_effect=None,
        )
        fact = measurement_fact(NAMESPACE, generation, claim, f"recipe{self._count}", rows)
        return self.add(self.author.write(EdgesMeasured, fact, body))

    def verdict(
        self,
        target: EventId,
        candidate: EventId,
        verdict: str = "contradict",
        *,
        recipe: str = "oracle",
        supersedes: EventId | None = None,
    ) -> EventId:
        lineage = ORIGIN if supersedes is None else Lineage.make(event_id=supersedes, relation="supersedes")
        body = VerdictFiledBody.make(
            candidate=candidate, recipe=recipe, stage_a=None, stage_b=None, target=target, verdict=verdict
        )
        fact = verdict_fact(NAMESPACE, target, candidate, recipe)
        return self.add(self.author.write(VerdictFiled, fact, body, lineage=lineage))

    def assess(
        self, one: EventId, other: EventId, result: str = "independent", *, echoes: tuple[EventId, ...] = ()
    ) -> EventId:
        first, second = sorted((one, other))
        body = IndependenceAssessedBody.make(
            cosine_ppm=None,
            echoes=tuple(sorted(echoes)),
            first=first,
            jaccard_ppm=None,
            recipe="cluster-v1",
            result=result,
            second=second,
        )
        return self.add(self.author.write(IndependenceAssessed, pair_fact(NAMESPACE, first, second), body))

    def contradict(self, target: EventId, *members: EventId) -> list[EventId]:
        """A contradict-verdict of every member, and every pair of them assessed to be independent, once each."""
        verdicts = [self.verdict(target, member) for member in members]
        for number, one in enumerate(members):
            for other in members[number + 1 :]:
                pair = (min(one, other), max(one, other))
                if pair not in self._pairs:
                    self._pairs.add(pair)
                    self.assess(one, other)
        return verdicts

    def reverse(self, verdict: EventId, reason: str = "verifier_error") -> EventId:
        body = VerdictReversedBody.make(note=None, predecessor=None, reason=reason, verdict=verdict)
        return self.add(self.author.write(VerdictReversed, successor_fact(NAMESPACE, verdict, None), body))

    def audit(
        self, observation: EventId, outcome: str, *, predecessor: EventId | None = None, at: str | None = None
    ) -> EventId:
        """A replay audit of the seal behind ``observation``."""
        seal = self.seal_of(observation)
        body = ReplayAuditedBody.make(observed=None, outcome=outcome, predecessor=predecessor, seal=seal)
        fact = successor_fact(NAMESPACE, f"{seal}/{outcome}", predecessor)
        return self.add(self.author.write(ReplayAudited, fact, body, observed_at=at))

    def superseding(self, statement: Statement, changes: Mapping[str, object]) -> Statement:
        """Another representation of the same fact, which replaces ``statement``."""
        body = type(statement.body).make(**{**dict(statement.body), **changes})
        lineage = Lineage.make(event_id=statement.event_id, relation="supersedes")
        fact = statement.source_fact
        written = self.author.write(type(statement), fact, body, lineage=lineage, observed_at=statement.observed_at)
        self.add(written)
        return written
