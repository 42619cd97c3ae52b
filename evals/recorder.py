"""Records scenarios in a ledger: the runner seals, the local model says, a judge says what contradicts what.

Claims are decoded at this boundary by the local model, constrained to the planted words, so the scorer is the generator and its
measurements may lower edges. What the model would have said freely is kept as a flag, not as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evals.judging import ORACLE, Judge, OracleJudge
from evals.origins import SimulatedOrigins
from evals.prompts import TEMPLATE, AssembledPrompt, Line, assemble, context_segments
from evals.scenarios import GENERATOR_VERSION, AuditStep, JudgeStep, ReverseStep, Scenario, ScenarioEntry
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import JSON, TEXT, TOKENS
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.kernel.statements.facts import call_fact, message_fact
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.sealing import EntryObserved, EntryObservedBody, SealMinted, SealMintedBody
from ledger_core.kernel.tokens import pack_tokens
from ledger_core.kernel.types import EventId
from ledger_core.sealing.generations import ContextSpan, PlainCall, claim_of, generation_body
from ledger_core.stores.ledger import Ledger

if TYPE_CHECKING:
    from attribution.models import LanguageModel
    from ledger_core.providers import EmbeddingProvider

__all__ = ["NAMESPACE", "ORACLE", "PartKind", "RecordedPart", "ScenarioRecorder", "context_spans"]

NAMESPACE = "veritas.scenarios"
PartKind = Literal["seal", "entry", "generation", "verdict", "reversal", "audit"]


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """What a part of a scenario became."""

    part: str
    """``seal/KEY``, ``entry/KEY``, ``generation/KEY``, ``audit/KEY``, ``verdict/TARGET/CANDIDATE`` or
    ``reversal/TARGET/CANDIDATE``."""
    event_id: str
    kind: str
    free_continuation_differs: bool | None = None
    """For generations: whether the model, after the claim's own stem, would have said another value."""


class ScenarioRecorder:
    """Records scenarios into one ledger; recording again adds nothing."""

    def __init__(
        self,
        ledger: Ledger,
        model: LanguageModel,
        embedder: EmbeddingProvider | None = None,
        judge: Judge | None = None,
        desk: VerdictDesk | None = None,
    ) -> None:
        """Record into ``ledger``.

        Args:
            ledger: where to.
            model: says the claims.
            embedder: needed where the ledger's policy tells two witnesses apart by their texts.
            judge: who says that corrections contradict a premise; the scenario itself where None.
            desk: the one desk of the ledger, where the judge files through it; a new one with the embedder where None.
        """
        self._ledger = ledger
        self._model = model
        self._author = Author(ledger.scope, NAMESPACE, GENERATOR_VERSION)
        self._desk = desk or VerdictDesk(ledger, embedder)
        self._judge = judge or OracleJudge(self._desk)
        self._origins = SimulatedOrigins(ledger, NAMESPACE, GENERATOR_VERSION)

    def record(self, scenario: Scenario) -> tuple[RecordedPart, ...]:
        """Append everything the scenario plants, then what is filed about it: verdicts, reversals, audits."""
        statements, parts = self._statements(scenario)
        self._ledger.append(statements, role="recorder")
        seals = [part.event_id for part in parts if part.part.startswith("seal/")]
        if seals:
            self._desk.begin_run(seals[0])
        return (*parts, *self._filed(scenario, {part.part: part.event_id for part in parts}))

    def _filed(self, scenario: Scenario, events: dict[str, str]) -> Iterator[RecordedPart]:
        verdicts: dict[tuple[str, str], str] = {}
        for step in scenario.steps:
            if isinstance(step, JudgeStep):
                named = {EventId(events[f"entry/{key}"]): key for key in step.candidates}
                for judged in self._judge.judge(EventId(events[f"entry/{step.target}"]), tuple(named)):
                    candidate = named[judged.candidate]
                    verdicts[step.target, candidate] = judged.verdict
                    yield RecordedPart(f"verdict/{step.target}/{candidate}", judged.verdict, "verdict.filed")
            elif isinstance(step, ReverseStep):
                for (target, candidate), verdict in verdicts.items():
                    if target == step.target:
                        reversed_by = self._desk.reverse(verdict, "operator_decision")
                        yield RecordedPart(f"reversal/{target}/{candidate}", reversed_by, "verdict.reversed")
            elif isinstance(step, AuditStep):
                audited = self._origins.audit(scenario.entry(step.target), step, events[f"seal/{step.target}"])
                yield RecordedPart(f"audit/{step.target}", audited, "replay.audited")

    def _statements(self, scenario: Scenario) -> tuple[list[Statement], list[RecordedPart]]:
        statements: list[Statement] = []
        parts: list[RecordedPart] = []
        entry_ids: dict[str, str] = {}
        said: list[Line] = []
        audited = {step.target for step in scenario.steps if isinstance(step, AuditStep)}
        for step, entry in enumerate(scenario.entries):
            if entry.key in audited:
                made, new = self._seal_again(scenario, step, entry)
            elif entry.kind == "seal":
                made, new = self._seal(scenario, step, entry)
            elif entry.kind == "given":
                made, new = self._give(scenario, step, entry)
            else:
                made, new = self._say(scenario, step, entry, said, entry_ids)
            statements.extend(made)
            parts.extend(new)
            entry_ids[entry.key] = made[-1].event_id
            said.append(Line(entry.key, entry.text))
        return statements, parts

    def _seal(self, scenario: Scenario, step: int, entry: ScenarioEntry) -> tuple[list[Statement], list[RecordedPart]]:
        tool = entry.tool or "lookup"
        host = entry.host or f"{scenario.id}.example"
        arguments = _arguments(entry)
        args, result = self._ledger.put_blobs([(arguments, JSON), (entry.text.encode(), TEXT)])
        fact = call_fact(NAMESPACE, scenario.id, step, entry.key)
        seal = self._author.write(
            SealMinted,
            fact,
            SealMintedBody.make(
                args=args,
                attestation="boundary",
                determinism="deterministic",
                effect="read_only",
                origin_host=host,
                outcome="ok",
                reach="external_read",
                reacquisition=None,
                result=result,
                runner="simulated",
                source_id=host,
                tool=tool,
            ),
        )
        observed = self._author.write(
            EntryObserved,
            fact,
            EntryObservedBody.make(content=result, predicate_family="*", record_pointer=None, seal=seal.event_id),
        )
        return [seal, observed], [
            RecordedPart(f"seal/{entry.key}", seal.event_id, seal.kind),
            RecordedPart(f"entry/{entry.key}", observed.event_id, observed.kind),
        ]

    def _seal_again(
        self, scenario: Scenario, step: int, entry: ScenarioEntry
    ) -> tuple[list[Statement], list[RecordedPart]]:
        """A result that can be fetched again, as a later audit will."""
        sealed = self._origins.seal(scenario, step, entry, _arguments(entry))
        self._ledger.put_blobs(sealed.contents)
        seal, observed = sealed.statements
        return [seal, observed], [
            RecordedPart(f"seal/{entry.key}", seal.event_id, seal.kind),
            RecordedPart(f"entry/{entry.key}", observed.event_id, observed.kind),
        ]

    def _give(self, scenario: Scenario, step: int, entry: ScenarioEntry) -> tuple[list[Statement], list[RecordedPart]]:
        content = self._ledger.put_blob(entry.text.encode(), TEXT)
        given = self._author.write(
            EntryGiven, message_fact(NAMESPACE, scenario.id, step), EntryGivenBody.make(content=content, role="user")
        )
        return [given], [RecordedPart(f"entry/{entry.key}", given.event_id, given.kind)]

    def _say(
        self, scenario: Scenario, step: int, entry: ScenarioEntry, shown: Sequence[Line], entry_ids: dict[str, str]
    ) -> tuple[list[Statement], list[RecordedPart]]:
        prompt = assemble(context_segments(shown), self._model)
        response_ids = self._model.tokenize(entry.text)
        free = self._model.constrained(prompt.ids, response_ids).greedy_ids
        slot = slice(len(self._model.tokenize(entry.stem)), None)
        said = PlainCall(
            model=self._model.files.name,
            response=entry.text,
            context=context_spans(prompt, entry_ids),
            decoding="constrained",
            weights_digest=self._model.files.weights_digest,
            prompt_ids=prompt.ids,
            response_ids=response_ids,
        )
        text = entry.text.encode()
        response, prompt_tokens, response_tokens = self._ledger.put_blobs(
            [(text, TEXT), (pack_tokens(prompt.ids), TOKENS), (pack_tokens(response_ids), TOKENS)]
        )
        generation = self._author.write(
            GenerationRecorded,
            message_fact(NAMESPACE, scenario.id, step),
            generation_body(
                said,
                response=response,
                prompt_tokens=prompt_tokens,
                response_tokens=response_tokens,
                policy=self._ledger.policy().digest(),
                renderer=TEMPLATE,
            ),
        )
        claim = claim_of(
            self._author,
            generation.event_id,
            response,
            (0, len(text)),
            {entry_ids[parent.key]: parent.ppm for parent in entry.declared},
            derived=entry.role != "guess",
        )
        return [generation, claim], [
            RecordedPart(
                f"generation/{entry.key}", generation.event_id, generation.kind, free[slot] != response_ids[slot]
            ),
            RecordedPart(f"entry/{entry.key}", claim.event_id, claim.kind),
        ]


def _arguments(entry: ScenarioEntry) -> bytes:
    return json.dumps({"about": entry.key}, separators=(",", ":")).encode()


def context_spans(prompt: AssembledPrompt, entry_ids: dict[str, str]) -> tuple[ContextSpan, ...]:
    """The regions of a prompt as a model call states them; every entry's line is ablated alone."""
    return tuple(
        ContextSpan(None if region.key is None else entry_ids[region.key], region.start, region.stop)
        for region in prompt.regions
    )
