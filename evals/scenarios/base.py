"""A scenario: frozen, content-addressed data that says what is planted and what must happen.

Steps map one to one onto statements: `seal` -> `seal.minted` + `entry.observed`, `give` -> `entry.given`, `say` ->
`generation.recorded` + `entry.derived` (`entry.conjecture` for a guess), `judge` -> one `verdict.filed` for every
candidate, `reverse` -> one `verdict.reversed` for every verdict on its target, `audit` -> `replay.audited`. `compact`,
`fold` and `ask` leave no statement: the first takes named entries out of the context, at the second each arm compacts
its context in its own way, the third is the question an arm answers.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from evals.errors import ScenarioError
from evals.matcher import Expected, ValueKind
from evals.trials import PremiseOrder
from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.errors import LedgerError
from ledger_core.kernel.records import Record
from ledger_core.kernel.text import check_text
from ledger_core.kernel.types import ContractId, Count, ForeignName, Ppm

GENERATOR_VERSION = "g1"
"""Part of every scenario's id; a change of wording, pool or order needs another one (a test holds the digests)."""

EntryKind = Literal["seal", "given", "claim"]

Role = Literal[
    "premise",
    "support",
    "correction",
    "filler",
    "distractor",
    "dependent",
    "unrelated",
    "joint",
    "unsupported",
    "attacked",
    "attack",
    "guess",
]
"""Planted role. Of sealed and given entries: `premise` (false or withdrawn, and struck), `support` (true, used by a claim),
`correction`, `distractor` (names the claim's place, says nothing about its value), `filler`, `attacked` (true, and
contradicted by falsehoods), `attack` (one of those). Of claims: `dependent` (rests on the premise or on a guess),
`unrelated` (rests on what stands), `joint` (follows
only from all of its entries together), `unsupported` (rests on nothing), `guess` (as that, and recorded as a conjecture)."""

Text = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(check_text)]


class DeclaredParent(Record):
    """A parent that the agent says a claim rests on."""

    key: ContractId
    ppm: Ppm


class ScenarioEntry(Record):
    """One entry of the context, with the truth about it."""

    declared: tuple[DeclaredParent, ...]
    """Parents as declared, which may be more than were used; empty unless a claim."""
    foils: tuple[Text, ...]
    """The claim with its value exchanged; empty unless a claim."""
    host: ForeignName | None
    """Origin under `.example`, unique to the scenario, so that reputation never leaks between scenarios."""
    key: ContractId
    kind: EntryKind
    role: Role
    swap: Text
    """Matched text: same place, same words, another value that no claim, foil or correction states."""
    text: Text
    tool: ForeignName | None
    used: tuple[ContractId, ...]
    """Planted truth: entries that the claim follows from; of several any one suffices, for a `joint` claim none."""
    value: Text | None
    """The value the text states; null where it states none."""

    @model_validator(mode="after")
    def _states_its_value(self) -> ScenarioEntry:
        if self.value is not None and re.search(rf"(?<!\w){re.escape(self.value)}(?!\w)", self.text) is None:
            raise ValueError(f"the text of {self.key} does not state its value {self.value!r}")
        return self

    @property
    def cuts(self) -> frozenset[frozenset[str]]:
        """Planted truth: the smallest sets of entries without which nothing is left that the claim follows from."""
        if self.role == "joint":
            return frozenset(frozenset({key}) for key in self.used)
        return frozenset({frozenset(self.used)} if self.used else ())

    @property
    def stem(self) -> str:
        """The text before its value: what a constrained claim is continued from.

        Raises:
            ScenarioError: an entry that states no value.
        """
        if self.value is None:
            raise ScenarioError(f"{self.key} states no value, so it has no stem")
        *_, last = re.finditer(rf"(?<!\w){re.escape(self.value)}(?!\w)", self.text)
        return self.text[: last.start()].rstrip()


class SealStep(Record):
    """A tool returns an observation."""

    entry: ContractId
    step: Literal["seal"]


class GiveStep(Record):
    """A user says something."""

    entry: ContractId
    step: Literal["give"]


class SayStep(Record):
    """The agent says a claim with the context so far."""

    entry: ContractId
    step: Literal["say"]


class JudgeStep(Record):
    """The oracle finds that each candidate contradicts the target."""

    candidates: tuple[ContractId, ...]
    step: Literal["judge"]
    target: ContractId


class CompactStep(Record):
    """A compaction boundary: these entries leave the context, and stay in the ledger."""

    drops: tuple[ContractId, ...]
    step: Literal["compact"]


class ReverseStep(Record):
    """Every verdict on the target is withdrawn."""

    step: Literal["reverse"]
    target: ContractId


class AuditStep(Record):
    """A later look at the origin of a sealed entry, and what it shows."""

    outcome: Literal["mismatch", "stale", "tampered"]
    step: Literal["audit"]
    target: ContractId


class FoldStep(Record):
    """A compaction boundary: the context has grown too long, and each arm shortens it in its own way."""

    step: Literal["fold"]


class AskStep(Record):
    """The question is put; always last."""

    step: Literal["ask"]


Step = Annotated[
    SealStep | GiveStep | SayStep | JudgeStep | CompactStep | ReverseStep | AuditStep | FoldStep | AskStep,
    Field(discriminator="step"),
]

_INTRODUCES: dict[str, EntryKind] = {"seal": "seal", "give": "given", "say": "claim"}


class Question(Record):
    """The question, the fixed stem of its answer, and the values an answer is compared with."""

    false: Text | None
    """The retracted value; null where the scenario retracts no value of this question."""
    ignored: tuple[Text, ...]
    """Proper nouns of the question, which an answer may repeat."""
    kind: ValueKind = Field(strict=False)
    stem: Text
    text: Text
    third: tuple[Text, ...]
    """Values that nothing in the scenario states, for forced choice."""
    true: Text
    vocabulary: tuple[Text, ...]

    @property
    def expected(self) -> Expected:
        """What the matcher compares an answer with."""
        return Expected(
            kind=self.kind, true=self.true, false=self.false, vocabulary=self.vocabulary, ignored=self.ignored
        )


class Scenario(Record):
    """Entries, steps and ground truth of one trajectory.

    Raises:
        ScenarioError: (from :func:`make_scenario` and :func:`decode_scenario`) parts that do not fit together.
    """

    entries: tuple[ScenarioEntry, ...]
    """In log order."""
    family: ContractId
    generator: ContractId
    index: Count
    order: PremiseOrder
    question: Question | None
    seed: Count
    steps: tuple[Step, ...]
    variant: ContractId
    wording: ContractId
    """The cluster."""

    @model_validator(mode="after")
    def _parts_fit(self) -> Scenario:
        kinds = {entry.key: entry.kind for entry in self.entries}
        if len(kinds) != len(self.entries):
            raise ValueError("two entries share a key")
        introduced = [step.entry for step in self.steps if isinstance(step, SealStep | GiveStep | SayStep)]
        if introduced != list(kinds):
            raise ValueError("the steps introduce other entries, or in another order, than the entries are listed in")
        seen: set[str] = set()
        for step in self.steps:
            if isinstance(step, SealStep | GiveStep | SayStep):
                if _INTRODUCES[step.step] != kinds[step.entry]:
                    raise ValueError(f"{step.entry} is a {kinds[step.entry]} and cannot be introduced by {step.step}")
                self._check_parents(step.entry, seen)
                seen.add(step.entry)
                continue
            named = self._named_by(step)
            if not named <= seen:
                raise ValueError(f"a {step.step} step names {', '.join(sorted(named - seen))} before it is there")
        if (self.question is not None) != any(isinstance(step, AskStep) for step in self.steps):
            raise ValueError("a question and an ask step come together")
        return self

    def _check_parents(self, key: str, seen: set[str]) -> None:
        entry = self.entry(key)
        parents = {parent.key for parent in entry.declared} | set(entry.used)
        if not parents <= seen:
            raise ValueError(f"{key} rests on {', '.join(sorted(parents - seen))}, which is not in its context")

    @staticmethod
    def _named_by(step: JudgeStep | CompactStep | ReverseStep | AuditStep | FoldStep | AskStep) -> set[str]:
        if isinstance(step, JudgeStep):
            return {step.target, *step.candidates}
        if isinstance(step, ReverseStep | AuditStep):
            return {step.target}
        return set(step.drops) if isinstance(step, CompactStep) else set()

    @cached_property
    def digest(self) -> DigestHex:
        """Identity: the digest of the canonical record."""
        return digests.domain_hex(Prefix.SCENARIO, self.canonical_bytes())

    @property
    def id(self) -> str:
        """Family, generator version and the head of the digest."""
        return f"{self.family}.{self.generator}.{self.digest[:16]}"

    def entry(self, key: str) -> ScenarioEntry:
        """The entry called ``key``.

        Raises:
            ScenarioError: there is none.
        """
        for entry in self.entries:
            if entry.key == key:
                return entry
        raise ScenarioError(f"scenario {self.family} {self.index} has no entry {key!r}")

    @property
    def claims(self) -> tuple[ScenarioEntry, ...]:
        """What the agent says, in order."""
        return tuple(entry for entry in self.entries if entry.kind == "claim")

    @property
    def in_context(self) -> tuple[str, ...]:
        """Keys of the entries still in the context when the question is put, in log order."""
        dropped = {key for step in self.steps if isinstance(step, CompactStep) for key in step.drops}
        return tuple(entry.key for entry in self.entries if entry.key not in dropped)

    @property
    def retracted(self) -> frozenset[str]:
        """Targets of the oracle's verdicts that nobody withdrew."""
        judged = {step.target for step in self.steps if isinstance(step, JudgeStep)}
        return frozenset(judged - {step.target for step in self.steps if isinstance(step, ReverseStep)})

    @property
    def struck(self) -> frozenset[str]:
        """Entries against which something was filed that stands: verdicts, or a replay audit."""
        return self.retracted | {step.target for step in self.steps if isinstance(step, AuditStep)}

    @property
    def is_judged(self) -> bool:
        """Whether anything was ever filed against an entry, withdrawn or not."""
        return any(isinstance(step, JudgeStep | AuditStep) for step in self.steps)

    @property
    def folds(self) -> int:
        """Compaction boundaries before the question."""
        return sum(isinstance(step, FoldStep) for step in self.steps)

    @property
    def is_attack(self) -> bool:
        """Whether what was filed is wrong: a true entry is contradicted, and ought to stand."""
        return any(entry.role == "attacked" for entry in self.entries)

    @property
    def dependents(self) -> tuple[str, ...]:
        """Claims that in truth rest on an entry that ought to go, directly or through another claim."""
        fallen = self._resting_on(self._rightly_struck)
        return tuple(claim.key for claim in self.claims if claim.key in fallen)

    @property
    def _rightly_struck(self) -> frozenset[str]:
        return frozenset(key for key in self.struck if self.entry(key).role != "attacked")

    def _resting_on(self, roots: frozenset[str]) -> frozenset[str]:
        """Claims one of whose cuts lies in ``roots`` and the claims found before."""
        fallen = set(roots)
        for claim in self.claims:
            if any(cut <= fallen for cut in claim.cuts):
                fallen.add(claim.key)
        return frozenset(claim.key for claim in self.claims if claim.key in fallen)

    @property
    def true_claims(self) -> tuple[str, ...]:
        """Claims whose planted support ought to stand."""
        return tuple(claim.key for claim in self.claims if claim.used and claim.key not in self.falsehoods)

    @property
    def falsehoods(self) -> frozenset[str]:
        """What an oracle deletes: what ought to go with the claims that rest on it, attacks, and laundered guesses."""
        attacks = frozenset(entry.key for entry in self.entries if entry.role == "attack")
        return self._rightly_struck | set(self.dependents) | attacks | set(self.guesses)

    @property
    def guesses(self) -> tuple[str, ...]:
        """Claims that the agent made up, and those that rest on them."""
        made_up = frozenset(claim.key for claim in self.claims if claim.role == "guess")
        resting = made_up | self._resting_on(made_up)
        return tuple(claim.key for claim in self.claims if claim.key in resting)

    @property
    def planted_edges(self) -> frozenset[tuple[str, str]]:
        """True (parent, claim) pairs."""
        return frozenset((parent, claim.key) for claim in self.claims for parent in claim.used)

    @property
    def corrections(self) -> frozenset[str]:
        """Keys of the corrections."""
        return frozenset(entry.key for entry in self.entries if entry.role == "correction")


def decode_scenario(data: bytes) -> Scenario:
    """The scenario in canonical bytes.

    Raises:
        ScenarioError: not a scenario, or not its canonical encoding.
    """
    try:
        return Scenario.decode(data)
    except LedgerError as error:
        raise ScenarioError(f"a scenario that does not decode: {error}") from error
