"""Records scenarios in a ledger: the runner seals, the local model says, the oracle judges.

Claims are decoded at this boundary by the local model, constrained to the planted words, so the scorer is the generator and its
measurements may lower edges. What the model would have said freely is kept as a flag, not as text.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evals.prompts import TEMPLATE, AssembledPrompt, Line, assemble, context_segments
from evals.scenarios import GENERATOR_VERSION, JudgeStep, Scenario, ScenarioEntry
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.claims import SPLITTER, split_sentences
from ledger_core.kernel.content import JSON, TEXT, TOKENS
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import (
    ByteRange,
    ClaimBody,
    DeclaredParent,
    EntryDerived,
    EntryGiven,
    EntryGivenBody,
)
from ledger_core.kernel.statements.facts import call_fact, claim_fact, message_fact
from ledger_core.kernel.statements.generation import (
    ClaimRange,
    ContextRegion,
    GenerationRecorded,
    GenerationRecordedBody,
)
from ledger_core.kernel.statements.sealing import EntryObserved, EntryObservedBody, SealMinted, SealMintedBody
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
        self, scenario: Scenario, step: int, entry: ScenarioEntry, said: Sequence[Line], entry_ids: dict[str, str]
    ) -> tuple[list[Statement], list[RecordedPart]]:
        prompt = assemble(context_segments(said), self._model)
        response_ids = self._model.tokenize(entry.text)
        free = self._model.constrained(prompt.ids, response_ids).greedy_ids
        slot = slice(len(self._model.tokenize(entry.stem)), None)
        text = entry.text.encode()
        response, prompt_tokens, response_tokens = self._ledger.put_blobs(
            [(text, TEXT), (pack_tokens(prompt.ids), TOKENS), (pack_tokens(response_ids), TOKENS)]
        )
        generation = self._author.write(
            GenerationRecorded,
            message_fact(NAMESPACE, scenario.id, step),
            GenerationRecordedBody.make(
                attestation="boundary",
                claims=tuple(
                    ClaimRange.make(byte_start=start, byte_stop=stop, form="sentence")
                    for start, stop in split_sentences(entry.text)
                ),
                context=context_regions(prompt, entry_ids),
                decoding="constrained",
                model=self._model.files.name,
                policy=self._ledger.policy().digest(),
                prompt_tokens=prompt_tokens,
                renderer=TEMPLATE,
                response=response,
                response_tokens=response_tokens,
                splitter=SPLITTER,
                weights_digest=self._model.files.weights_digest,
            ),
        )
        parents = sorted((entry_ids[parent.key], parent.ppm) for parent in entry.declared)
        claim = self._author.write(
            EntryDerived,
            claim_fact(NAMESPACE, generation.event_id, 0, len(text)),
            ClaimBody.make(
                content=response,
                generation=generation.event_id,
                parents=tuple(DeclaredParent.make(entry=parent, ppm=ppm) for parent, ppm in parents),
                span=ByteRange.make(start=0, stop=len(text)),
            ),
        )
        return [generation, claim], [
            RecordedPart(
                f"generation/{entry.key}", generation.event_id, generation.kind, free[slot] != response_ids[slot]
            ),
            RecordedPart(f"entry/{entry.key}", claim.event_id, claim.kind),
        ]


def context_regions(prompt: AssembledPrompt, entry_ids: dict[str, str]) -> tuple[ContextRegion, ...]:
    """The regions of a prompt as the ledger records them; every entry's line is a unit of its own."""
    units: dict[str, int] = {}
    for region in prompt.regions:
        if region.key is not None:
            units.setdefault(region.key, len(units))
    return tuple(
        ContextRegion.make(
            entry=None if region.key is None else entry_ids[region.key],
            token_start=region.start,
            token_stop=region.stop,
            unit=None if region.key is None else units[region.key],
        )
        for region in prompt.regions
    )


def pack_tokens(ids: Sequence[int]) -> bytes:
    """Token ids as unsigned 32-bit little-endian integers."""
    return struct.pack(f"<{len(ids)}I", *ids)


def unpack_tokens(data: bytes) -> tuple[int, ...]:
    """Token ids from :func:`pack_tokens`."""
    return struct.unpack(f"<{len(data) // 4}I", data)
