"""A small ledger that holds a statement of every kind, told once for kernel, store, verification and golden tests.

Three sources answer one question. `alpha` is wrong; an agent repeats it; `beta` and `gamma` contradict it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ledger_core.belief.policies import (
    SEED_V4_CLUSTERS,
    SEED_V4_CLUSTERS_NAME,
    STRICT_CLUSTERS,
    STRICT_CLUSTERS_NAME,
)
from ledger_core.kernel.content import JSON, TEXT, TOKENS, ContentRef, content_ref
from ledger_core.kernel.log import Role
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import Lineage, Scope, Statement, control, evaluation, facts, verdicts
from ledger_core.kernel.statements import entries as entry_kinds
from ledger_core.kernel.statements import generation as generations
from ledger_core.kernel.statements import measurement as measurements
from ledger_core.kernel.statements import sealing as seals
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.envelope import ErasureScope, SourceFact
from ledger_core.stores import Ledger
from ledger_core.stores.ledger import PRODUCER, PRODUCER_VERSION, genesis_statements

SCOPE = Scope.make(tenant_namespace="tests", project_namespace="story")
NOW = "2026-03-01T12:00:00.000000000Z"
NAMESPACE = "tests.story"

QUESTION = "Wie hoch ist der Turm — in Metern?"
RESPONSE = "The tower is 310 m high. It may be the tallest."
FIRST_CLAIM = (0, 24)
SECOND_CLAIM = (25, 47)
WEIGHTS = "5e" * 32

Put = Callable[[bytes, str], ContentRef]


@dataclass
class Batch:
    """Statements of one transaction and the role that appends them."""

    role: Role
    statements: tuple[Statement, ...]
    context_head: bool = False
    """Whether the generation among them was rendered from the head before it."""


@dataclass
class Story:
    """The batches in order, and every statement by a name of its own."""

    put: Put = content_ref
    batches: list[Batch] = field(default_factory=list)
    named: dict[str, Statement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._author = Author(SCOPE, "tests.story", "1.0")
        for chapter in (self._control, self._context, self._generation, self._measurement, self._quorum, self._after):
            chapter()

    def __iter__(self) -> Iterator[Statement]:
        for batch in self.batches:
            yield from batch.statements

    def id(self, name: str) -> str:
        return self.named[name].event_id

    def _tell(self, role: Role, *, context_head: bool = False, **statements: Statement) -> None:
        self.named.update(statements)
        self.batches.append(Batch(role, tuple(statements.values()), context_head))

    def _control(self) -> None:
        genesis, first = genesis_statements(SCOPE, SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME)
        self._tell("admin", genesis=genesis, policy=first)
        strict = control.PolicyActivatedBody.make(
            name=STRICT_CLUSTERS_NAME, policy=STRICT_CLUSTERS, predecessor=first.event_id
        )
        fact = facts.successor_fact(PRODUCER, "policy", first.event_id)
        activated = Author(SCOPE, PRODUCER, PRODUCER_VERSION).write(control.PolicyActivated, fact, strict)
        self._tell("operator", strict=activated)
        key = control.KeyBoundBody.make(
            algorithm="ed25519", key_id="checkpoint.1", public_key="8a" * 32, role="checkpoint"
        )
        criteria = control.CriteriaRegisteredBody.make(
            criteria=self.put(b'{"kill":"persistence"}', JSON), n=12, name="tests.criteria"
        )
        self._tell(
            "operator",
            key=self._author.write(control.KeyBound, _fact("key", "checkpoint.1"), key),
            criteria=self._author.write(control.CriteriaRegistered, _fact("criteria", "1"), criteria),
        )

    def _seal(self, source: str, answer: str, step: int, **changes: object) -> None:
        result = self.put(answer.encode(), JSON)
        values: dict[str, object] = {
            "args": self.put(b'{"q":"tower"}', JSON),
            "attestation": "boundary",
            "determinism": "deterministic",
            "effect": "read_only",
            "origin_host": f"www.{source}.example",
            "outcome": "ok",
            "reach": "external_read",
            "reacquisition": seals.Reacquisition.make(
                procedure="http_get", secret_refs=("env:TOKEN",), tool_digest="70" * 32
            ),
            "result": result,
            "runner": "simulated",
            "source_id": f"{source}-search",
            "tool": "search",
        }
        seal = self._author.write(
            seals.SealMinted,
            facts.call_fact(NAMESPACE, "run-1", step, f"call_{source}"),
            seals.SealMintedBody.make(**values | changes),
            observed_at="2026-03-01T11:59:58.123456000Z",
            erasure_scopes=(ErasureScope.make(kind="record", target_digest="e0" * 32),),
        )
        observed = self._author.write(
            seals.EntryObserved,
            facts.call_fact(NAMESPACE, "run-1", step, f"call_{source}", "/hits/0"),
            seals.EntryObservedBody.make(
                content=result, predicate_family="*", record_pointer="/hits/0", seal=seal.event_id
            ),
        )
        self._tell("sealer", **{f"seal_{source}": seal, f"observed_{source}": observed})

    def _given(self, name: str, step: int, text: str) -> Statement:
        body = entry_kinds.EntryGivenBody.make(content=self.put(text.encode(), TEXT), role=name)
        return self._author.write(entry_kinds.EntryGiven, facts.message_fact(NAMESPACE, "run-1", step), body)

    def _context(self) -> None:
        self._tell(
            "recorder",
            system=self._given("system", 0, "Answer from the search results."),
            user=self._given("user", 1, QUESTION),
        )
        self._seal("alpha", '{"hits":["The tower is 310 m high."]}', 2)
        self._seal("beta", '{"hits":["The tower is 330 m high."]}', 3)

    def _generation(self) -> None:
        prompt, response = _tokens(range(40)), _tokens(range(100, 115))
        regions = (
            _region("system", self, 0, 9, None),
            _region(None, self, 9, 11, None),
            _region("user", self, 11, 20, None),
            _region("observed_alpha", self, 20, 30, 0),
            _region("observed_beta", self, 30, 38, 1),
            _region(None, self, 38, 40, None),
        )
        body = generations.GenerationRecordedBody.make(
            attestation="boundary",
            claims=(
                generations.ClaimRange.make(byte_start=FIRST_CLAIM[0], byte_stop=FIRST_CLAIM[1], form="sentence"),
                generations.ClaimRange.make(byte_start=SECOND_CLAIM[0], byte_stop=SECOND_CLAIM[1], form="sentence"),
            ),
            context=regions,
            decoding="greedy",
            model="smol/tiny",
            policy=STRICT_CLUSTERS.digest(),
            prompt_tokens=self.put(prompt, TOKENS),
            renderer="v2",
            response=self.put(RESPONSE.encode(), TEXT),
            response_tokens=self.put(response, TOKENS),
            splitter="sentences-v1",
            weights_digest=WEIGHTS,
        )
        generation = self._author.write(generations.GenerationRecorded, facts.message_fact(NAMESPACE, "run-1", 4), body)
        derived = self._claim(entry_kinds.EntryDerived, generation, FIRST_CLAIM, (("observed_alpha", 900_000),))
        guessed = self._claim(entry_kinds.EntryConjectured, generation, SECOND_CLAIM, ())
        self._tell("recorder", context_head=True, generation=generation, derived=derived, conjectured=guessed)

    def _claim(
        self,
        kind: type[entry_kinds.EntryDerived | entry_kinds.EntryConjectured],
        generation: Statement,
        span: tuple[int, int],
        parents: tuple[tuple[str, int], ...],
    ) -> Statement:
        declared = [entry_kinds.DeclaredParent.make(entry=self.id(name), ppm=ppm) for name, ppm in parents]
        text = RESPONSE.encode()[span[0] : span[1]]
        body = entry_kinds.ClaimBody.make(
            content=self.put(text, TEXT),
            generation=generation.event_id,
            parents=tuple(declared),
            span=entry_kinds.ByteRange.make(start=span[0], stop=span[1]),
        )
        return self._author.write(kind, facts.claim_fact(NAMESPACE, generation.event_id, *span), body)

    def _measurement(self) -> None:
        recipe = self.put(b'{"design":"cube","floor":500000}', JSON)
        measured = (
            measurements.MeasuredEntry.make(
                entry=self.id("observed_alpha"),
                interval=measurements.Interval.make(high=9_300_000, low=9_100_000),
                labels=("necessary", "sufficient"),
                ppm=999_000,
                verdict="edge",
            ),
            measurements.MeasuredEntry.make(
                entry=self.id("observed_beta"),
                interval=measurements.Interval.make(high=40_000, low=-30_000),
                labels=(),
                ppm=None,
                verdict="null",
            ),
        )
        body = measurements.EdgesMeasuredBody.make(
            claim=self.id("derived"),
            claim_result="grounded",
            cuts=(measurements.MeasuredCut.make(members=(self.id("observed_alpha"),), ppm=999_000),),
            entries=tuple(sorted(measured, key=lambda one: one.entry)),
            flags=("provisional-floor", "uncalibrated"),
            gate="cuts-v1",
            generation=self.id("generation"),
            predecessor=None,
            recipe=recipe,
            rows_digest="40" * 32,
            scorer_weights_digest=WEIGHTS,
            total_effect=9_250_000,
        )
        fact = facts.measurement_fact(NAMESPACE, self.id("generation"), self.id("derived"), recipe.digest, "40" * 32)
        self._tell("attributor", measured=self._author.write(measurements.EdgesMeasured, fact, body))

    def _verdict(self, candidate: str) -> Statement:
        body = verdicts.VerdictFiledBody.make(
            candidate=self.id(candidate),
            recipe="oracle-v1",
            stage_a=self.put(b'{"cosine":"0.91"}', JSON),
            stage_b=None,
            target=self.id("observed_alpha"),
            verdict="contradict",
        )
        fact = facts.verdict_fact(NAMESPACE, self.id("observed_alpha"), self.id(candidate), "oracle-v1")
        return self._author.write(verdicts.VerdictFiled, fact, body)

    def _quorum(self) -> None:
        target = self.id("observed_alpha")
        first = self._verdict("observed_beta")
        refused = verdicts.CascadeRefusedBody.make(
            eligible=1, largest_independent=1, reason="too_few", target=target, verdict=first.event_id
        )
        self._tell(
            "verifier",
            verdict_beta=first,
            refused=self._receipt(verdicts.CascadeRefused, first, "refused", refused),
        )
        self._seal("gamma", '{"hits":["Height: 330 m"]}', 5)
        second = self._verdict("observed_gamma")
        pair = sorted((self.id("observed_beta"), self.id("observed_gamma")))
        independent = verdicts.IndependenceAssessedBody.make(
            cosine_ppm=None,
            echoes=(),
            first=pair[0],
            jaccard_ppm=None,
            recipe="cluster-v1",
            result="independent",
            second=pair[1],
        )
        left = {self.id("observed_alpha"): 50_000_000, self.id("derived"): 50_950_000}
        left[self.id("conjectured")] = 50_000_000  # presumed: the policy in force is strict
        fired = verdicts.CascadeFiredBody.make(
            attenuated=tuple(
                verdicts.AttenuatedEntry.make(attenuation=left[entry], entry=entry) for entry in sorted(left)
            ),
            members=tuple(pair),
            target=target,
            verdict=second.event_id,
        )
        self._tell(
            "verifier",
            verdict_gamma=second,
            independent=self._author.write(
                verdicts.IndependenceAssessed, facts.pair_fact(NAMESPACE, *pair), independent
            ),
            fired=self._receipt(verdicts.CascadeFired, second, "fired", fired),
            adjusted=self._adjusted(second, "alpha", 0, 1),
            adjusted_beta=self._adjusted(second, "beta", 1, 0),
            adjusted_gamma=self._adjusted(second, "gamma", 1, 0),
        )

    def _adjusted(self, verdict: Statement, source: str, successes: int, failures: int) -> Statement:
        body = verdicts.ReputationAdjustedBody.make(
            cluster=f"{source}.example",
            failures=failures,
            family="*",
            successes=successes,
            target=self.id("observed_alpha"),
        )
        return self._receipt(verdicts.ReputationAdjusted, verdict, f"{source}.example/*", body)

    def _receipt(self, kind: type[Statement], verdict: Statement, part: str, body: Record) -> Statement:
        return self._author.write(kind, _fact(verdict.event_id, part), body)

    def _after(self) -> None:
        reversal = verdicts.VerdictReversedBody.make(
            note=self.put("§ 4: die Quelle hat sich berichtigt.\n".encode(), TEXT),
            predecessor=None,
            reason="source_corrected",
            verdict=self.id("verdict_beta"),
        )
        audit = seals.ReplayAuditedBody.make(
            observed=None, outcome="intact", predecessor=None, seal=self.id("seal_alpha")
        )
        erased = control.BlobErasedBody.make(authority="tests.operator", content_digest="dd" * 32, reason="privacy")
        trial = evaluation.TrialRecordedBody.make(
            agent="local/smol",
            answer=self.put(b"330 m", TEXT),
            arm="2m",
            criteria=self.id("criteria"),
            outcome="asserts_true",
            repeat=0,
            row=self.put(b'{"outcome":"asserts_true"}', JSON),
            scenario="5c" * 32,
        )
        reversal_fact = facts.successor_fact(NAMESPACE, self.id("verdict_beta"), None)
        audit_fact = facts.successor_fact(NAMESPACE, self.id("seal_alpha"), None)
        self._tell("operator", reversed=self._author.write(verdicts.VerdictReversed, reversal_fact, reversal))
        self._tell("auditor", audited=self._author.write(seals.ReplayAudited, audit_fact, audit))
        self._tell("operator", erased=self._author.write(control.BlobErased, _fact("erasure", "1"), erased))
        trial_fact = facts.trial_fact(NAMESPACE, "5c" * 32, "2m", "local/smol", 0)
        self._tell("evaluator", trial=self._author.write(evaluation.TrialRecorded, trial_fact, trial))
        given = self.named["user"]
        again = Author(SCOPE, "tests.story", "1.1").write(
            entry_kinds.EntryGiven,
            given.source_fact,
            given.body,
            lineage=Lineage.make(event_id=given.event_id, relation="supersedes"),
        )
        self._tell("recorder", user_again=again)


def _fact(subject: str, key: str) -> SourceFact:
    return SourceFact.make(key=key, namespace=NAMESPACE, object=subject, revision="1")


def _tokens(ids: range) -> bytes:
    return b"".join(token.to_bytes(4, "little") for token in ids)


def _region(name: str | None, story: Story, start: int, stop: int, unit: int | None) -> generations.ContextRegion:
    entry = None if name is None else story.id(name)
    return generations.ContextRegion.make(entry=entry, token_start=start, token_stop=stop, unit=unit)


def tell(ledger: Ledger) -> Story:
    """Append the whole story to ``ledger``, which must be new and of :data:`SCOPE`."""
    story = Story(put=ledger.put_blob)
    for batch in story.batches:
        head = ledger.head() if batch.context_head else None
        ledger.append(batch.statements, role=batch.role, context_head=head)
    return story


def open_memory() -> Ledger:
    """A new ledger in memory, before its story."""
    return Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
