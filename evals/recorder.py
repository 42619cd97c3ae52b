"""Records scenarios in a ledger: the runner seals, the local model says, the oracle judges.

Claims are decoded at this boundary by the local model, constrained to the planted words, so the scorer is the generator and its
measurements may lower edges. What the model would have said freely is kept as a flag, not as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evals.prompts import TEMPLATE, AssembledPrompt, Line, assemble, context_segments
from evals.scenarios import GENERATOR_VERSION, JudgeStep, Scenario, ScenarioEntry
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import JSON, TEXT, TOKENS
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.kernel.statements.facts import call_fact, message_fact
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.sealing import EntryObserved, EntryObservedBody, SealMinted, SealMintedBody
from ledger_core.kernel.tokens import pack_tokens
from ledger_core.sealing.generations import ContextSpan, PlainCall, claim_of, generation_body
from ledger_core.stores.ledger import Ledger

if TYPE_CHECKING:
    from attribution.models import LanguageModel

NAMESPACE = "veritas.scenarios"
ORACLE = "oracle-v1"
"""Recipe of verdicts that the scenario itself gives."""

PartKind = Literal["seal", "entry", "generation", "verdict"]


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """What a part of a scenario became."""

    part: str
    """``seal/KEY``, ``entry/KEY``, ``generation/KEY`` or ``verdict/TARGET/CANDIDATE``."""
    event_id: str
    kind: str
    free_continuation_differs: bool | None = None
    """For generations: whether the model, after the claim's own stem, would have said another value."""


class ScenarioRecorder:
    """Records scenarios into one ledger; recording again adds nothing."""

    def __init__(self, ledger: Ledger, model: LanguageModel) -> None:
        self._ledger = ledger
        self._model = model
        self._author = Author(ledger.scope, NAMESPACE, GENERATOR_VERSION)
        self._desk = VerdictDesk(ledger)

    def record(self, scenario: Scenario) -> tuple[RecordedPart, ...]:
        """Append everything the scenario plants, then its oracle's verdicts."""
        statements, parts = self._statements(scenario)
        self._ledger.append(statements, role="recorder")
        entry_ids = {
            part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")
        }
        return (*parts, *self._judge(scenario, entry_ids))

    def _judge(self, scenario: Scenario, entry_ids: dict[str, str]) -> Iterator[RecordedPart]:
        for step in scenario.steps:
            if not isinstance(step, JudgeStep):
                continue
            for candidate in step.candidates:
                filed = self._desk.file(
                    target=entry_ids[step.target], candidate=entry_ids[candidate], verdict="contradict", recipe=ORACLE
                )
                yield RecordedPart(f"verdict/{step.target}/{candidate}", filed.verdict, "verdict.filed")

    def _statements(self, scenario: Scenario) -> tuple[list[Statement], list[RecordedPart]]:
        statements: list[Statement] = []
        parts: list[RecordedPart] = []
        entry_ids: dict[str, str] = {}
        said: list[Line] = []
        for step, entry in enumerate(scenario.entries):
            if entry.kind == "seal":
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
        arguments = json.dumps({"about": entry.key}, separators=(",", ":")).encode()
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
            derived=True,
        )
        return [generation, claim], [
            RecordedPart(
                f"generation/{entry.key}", generation.event_id, generation.kind, free[slot] != response_ids[slot]
            ),
            RecordedPart(f"entry/{entry.key}", claim.event_id, claim.kind),
        ]


def context_spans(prompt: AssembledPrompt, entry_ids: dict[str, str]) -> tuple[ContextSpan, ...]:
    """The regions of a prompt as a model call states them; every entry's line is ablated alone."""
    return tuple(
        ContextSpan(None if region.key is None else entry_ids[region.key], region.start, region.stop)
        for region in prompt.regions
    )
