"""The ledger as an agent author uses it: observe, claim, verify, and read a context that retractions have reached.

One object for one run. It holds the roles that a service keeps apart (sealer, recorder, agent, verifier), so what runs
in its process is trusted: it is a convenience and no security boundary.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypedDict

from ledger_core.belief.state import BeliefState, EntryState
from ledger_core.harness.checking import Checked
from ledger_core.harness.contexts import RenderedContext, known_renderer, render, rendering_of
from ledger_core.harness.contrast import contrast
from ledger_core.harness.logs import Log
from ledger_core.harness.rule_checker import Rule, RuleChecker
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.harness.view import LedgerView, entry_text
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import ClaimBody, EntryConjectured, EntryGiven, EntryGivenBody
from ledger_core.kernel.statements.facts import message_fact
from ledger_core.kernel.types import PPM, EventId
from ledger_core.providers.protocols import LlmProvider, Message
from ledger_core.redaction import POLICY, redact
from ledger_core.sealing.boundary import SealedCall, ToolBoundary, refuse_uninvited
from ledger_core.sealing.generations import (
    ContextSpan,
    GenerationRecorder,
    ModelCall,
    PlainCall,
    RecordedGeneration,
    claim_of,
    declared_parents,
)
from ledger_core.sealing.registry import ToolRegistry
from ledger_core.sealing.running import Outcome
from ledger_core.sealing.secrets import SecretSource, no_secrets
from ledger_core.stores.ledger import Ledger

NAMESPACE: Final = "veritas.agent"
_VERSION: Final = "1"

INSTRUCTION: Final = "Answer from the numbered entries below, and cite each entry that you use as [n]."
"""What :meth:`LedgerAgent.ask` tells a model."""


class _Place(TypedDict, total=False):
    step: int
    call_id: str


class Checks(Protocol):
    """Compares an entry with what was observed and files the verdicts, as :class:`~.checking.Checker` does."""

    def check(self, target: str, candidates: Iterable[str] | None = None) -> tuple[Checked, ...]:
        """What became of each candidate; every observation that could count, where none are named."""
        ...


@dataclass(frozen=True, slots=True)
class Said:
    """An entry and its text, as the ledger holds it: without secrets."""

    entry: EventId
    text: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What a tool gave, as it was sealed."""

    seal: EventId
    outcome: Outcome
    records: tuple[Said, ...]
    """The whole result, or each record that the tool's registration declares."""

    @property
    def entry(self) -> EventId:
        """The first of them."""
        return self.records[0].entry

    @property
    def text(self) -> str:
        """What the agent may read, records one below the other."""
        return "\n".join(record.text for record in self.records)


Parent = EventId | str | Said | Observed


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking an entry came to."""

    entry: EventId
    checked: tuple[Checked, ...]
    state: EntryState
    """Of the entry, now."""

    @property
    def is_retracted(self) -> bool:
        """Whether a quorum stands against it."""
        return self.state.retracted


class LedgerAgent:
    """The facade for one run of an agent over one ledger."""

    def __init__(
        self,
        ledger: Ledger,
        tools: ToolRegistry,
        *,
        run: str,
        checks: Callable[[VerdictDesk], Checks] | None = None,
        rule: Rule | None = None,
        desk: VerdictDesk | None = None,
        decode: Callable[[Any], str] | None = None,
        secrets: SecretSource = no_secrets,
        transcript: Log | None = None,
        contrastive: Log | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """``run`` is the run's own id: a second run needs another one.

        Entries are checked by ``checks``, made over the one desk of the ledger, or by ``rule``. A policy that compares texts
        by their embeddings needs a ``desk`` that has an embedder; one that is not given has none. ``decode`` spells the
        model's token ids (see :class:`GenerationRecorder`). ``environ`` may ask for a renderer by ``RENDERING``.
        """
        self.ledger = ledger
        self.boundary = ToolBoundary(ledger, tools, run, ledger.now, secrets)
        self._run = run
        self._desk = desk or VerdictDesk(ledger)
        self._view = LedgerView(ledger)
        self._checks = self._checker(checks, rule)
        self._recorder = GenerationRecorder(ledger, run, decode=decode)
        self._author = Author(ledger.scope, NAMESPACE, _VERSION, redaction_policy=POLICY)
        self._steps = itertools.count()
        self._called: dict[str, int] = {}
        self._transcript = transcript
        self._contrastive = contrastive
        self._last_pair: tuple[str, str] | None = None
        self._renderer = rendering_of(environ)

    def _checker(self, checks: Callable[[VerdictDesk], Checks] | None, rule: Rule | None) -> Checks | None:
        if checks is not None and rule is not None:
            raise BeliefError("entries are checked by `checks` or by a `rule`; give one of them")
        if checks is not None:
            return checks(self._desk)
        return None if rule is None else RuleChecker(self._view, self._desk, rule)

    def tell(self, text: str, role: Literal["system", "user"] = "user") -> Said:
        """Record a message that somebody gave: it is context, and has no belief."""
        content, clean = self._put(text)
        body = EntryGivenBody.make(content=content, role=role)
        given = self._author.write(EntryGiven, message_fact(NAMESPACE, self._run, next(self._steps)), body)
        self._append(given, "recorder")
        return self._said("tell", given.event_id, clean)

    def observe(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, call_id: str | None = None, **uninvited: object
    ) -> Observed:
        """Call ``tool`` at the boundary; what comes back is sealed before it is seen.

        ``call_id`` is the model's own id of the call: the same again gives the same observation and does not run the
        tool again, also where the first could not be stored.

        Raises:
            TrustFieldError: the request states trust or origin; names the field.
            SealError, StoreError: see :meth:`ToolBoundary.call`.
        """
        refuse_uninvited(uninvited)
        return self._observed(tool, self.boundary.call(tool, arguments or {}, **self._place(call_id)))

    async def aobserve(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, call_id: str | None = None, **uninvited: object
    ) -> Observed:
        """As :meth:`observe`, from async code."""
        refuse_uninvited(uninvited)
        return self._observed(tool, await self.boundary.acall(tool, arguments or {}, **self._place(call_id)))

    def generated(
        self,
        call: ModelCall,
        context: RenderedContext | None = None,
        parents: Iterable[Parent] | Mapping[str, int] = (),
        *,
        claims: bool = True,
    ) -> RecordedGeneration:
        """Record a model call with the claims of its response, which are derived where they cite or declare parents.

        ``context`` is what it was shown, if it was rendered here. Without ``claims`` none is recorded: commit those that
        matter by :meth:`commit_claim`.

        Raises:
            StatementError, UnknownReferenceError: see :meth:`GenerationRecorder.record`.
        """
        recorded = self._recorder.record(
            call,
            step=next(self._steps),
            renderer=None if context is None else context.renderer,
            context_head=None if context is None else context.head,
            parents=_weights(parents),
            claims=claims,
        )
        said = [claim.entry for claim in recorded.claims]
        self._log("generate", entries=said, generation=recorded.generation)
        return recorded

    def ask(self, llm: LlmProvider, question: str, *, max_tokens: int = 512) -> RecordedGeneration:
        """Put ``question`` to a language model together with the present context, and record what it says.

        The context is numbered, and each sentence rests on the entries that it cites. What is sent is what is recorded:
        the question without secrets.

        Raises:
            ProviderError: there is no answer; the question stands as asked.
        """
        shown = self.context()
        asked = self.tell(question)
        completion = llm.complete(
            [Message("system", INSTRUCTION), Message("user", f"{shown.numbered}\n\n{asked.text}".lstrip())],
            max_tokens=max_tokens,
        )
        context = (*shown.spans, ContextSpan(asked.entry, is_ablatable=False))
        return self.generated(PlainCall(completion.model, completion.text, context), shown)

    def commit_claim(
        self,
        text: str,
        parents: Iterable[Parent] | Mapping[str, int] = (),
        generation: RecordedGeneration | None = None,
        **uninvited: object,
    ) -> Said:
        """Commit a claim with the entries that it rests on (a mapping gives their weight in ppm, else it is whole).

        It is derived if ``generation`` says it word for word and it declares parents, else a conjecture, whatever is
        asked for. Lineage only ever lowers a belief: to declare less buys nothing where the policy presumes the context.

        Raises:
            TrustFieldError: the request states trust or origin; names the field.
            BeliefError: ``generation`` does not say ``text``.
            UnknownReferenceError: a parent is no entry of this ledger.
        """
        refuse_uninvited(uninvited)
        content, clean = self._put(text)
        weights = _weights(parents)
        if generation is None:
            body = ClaimBody.make(content=content, generation=None, parents=declared_parents(weights), span=None)
            fact = message_fact(NAMESPACE, self._run, next(self._steps))
            claim: Statement = self._author.write(EntryConjectured, fact, body)
        else:
            span = _span(clean, generation)
            claim = claim_of(self._author, generation.generation, content, span, weights, derived=bool(weights))
        self._append(claim, "agent")
        return self._said("claim", claim.event_id, clean)

    def verify_conjecture(self, entry: Parent, candidates: Iterable[Parent] | None = None) -> Verification:
        """Check an entry against what was observed, file the verdicts, and say what is believed of it now.

        Nothing promotes a claim: support is recorded, and a quorum of independent origins retracts.

        Raises:
            BeliefError: nothing checks entries here; give the agent `checks` or a `rule`.
            UnknownReferenceError: no such entry.
            ProviderError: a model does not serve.
        """
        if self._checks is None:
            raise BeliefError("nothing checks entries here: give the agent `checks` or a `rule`")
        key = _entry(entry)
        named = None if candidates is None else [_entry(each) for each in candidates]
        checked = self._checks.check(key, named)
        self._log(
            "verify",
            entries=[key],
            verdicts=[each.filed.verdict for each in checked if each.filed is not None],
            outcomes=[each.outcome for each in checked],
        )
        return Verification(key, checked, self.state.entries[key])

    def context(self, renderer: str | None = None) -> RenderedContext:
        """What a model should be shown now; by default as the environment's ``RENDERING`` asks, else ``v2``.

        Raises:
            BeliefError: no such renderer.
        """
        head, statements, state, policy = self._view.look()
        texts = self._view.texts(statements)
        name = self._renderer if renderer is None else known_renderer(renderer)
        context = render(state, statements, texts, head=head, policy=policy, renderer=name)
        self._log("context", entries=list(context.entries), digest=context.digest, policy=context.policy, renderer=name)
        self._contrast(context)
        return context

    @property
    def state(self) -> BeliefState:
        """What is believed now."""
        return self._view.look()[2]

    def _contrast(self, context: RenderedContext) -> None:
        """Log what retractions changed, once for each pair of readings."""
        pair = None if self._contrastive is None else contrast(context, self._view)
        if self._contrastive is None or pair is None:
            return
        digests = (pair.chosen.digest, pair.rejected.digest)
        if digests != self._last_pair:
            self._contrastive.write(pair.line())
            self._last_pair = digests

    def _place(self, call_id: str | None) -> _Place:
        """Which call of the run this is: one that has an id keeps its step when it is made again."""
        if call_id is None:
            return {}
        if call_id not in self._called:
            self._called[call_id] = self.boundary.reserve_step()
        return {"step": self._called[call_id], "call_id": call_id}

    def _observed(self, tool: str, call: SealedCall) -> Observed:
        records = tuple(Said(each.entry, entry_text(self.ledger, each.content) or "") for each in call.observations)
        entries = [record.entry for record in records]
        self._log("observe", entries=entries, outcome=call.outcome, seal=call.seal, tool=tool)
        return Observed(call.seal, call.outcome, records)

    def _put(self, text: str) -> tuple[Any, str]:
        clean = redact(text).text
        return self.ledger.put_blob(clean.encode(), TEXT), clean

    def _append(self, statement: Statement, role: Literal["recorder", "agent"]) -> None:
        self.ledger.append((statement,), role=role)

    def _said(self, act: str, entry: EventId, text: str) -> Said:
        self._log(act, entries=[entry])
        return Said(entry, text)

    def _log(self, act: str, **what: Any) -> None:
        if self._transcript is not None:
            self._transcript.write(
                {"act": act, "at": self.ledger.now(), "head": self.ledger.head(), "run": self._run, **what}
            )


def _entry(parent: Parent) -> EventId:
    return EventId(parent) if isinstance(parent, str) else parent.entry


def _weights(parents: Iterable[Parent] | Mapping[str, int]) -> dict[str, int]:
    if isinstance(parents, Mapping):
        return dict(parents)
    entries: list[EventId] = []
    for parent in parents:
        entries.extend(
            [record.entry for record in parent.records] if isinstance(parent, Observed) else [_entry(parent)]
        )
    return dict.fromkeys(entries, PPM)


def _span(text: str, generation: RecordedGeneration) -> tuple[int, int]:
    start = generation.response.encode().find(text.encode())
    if start < 0 or not text:
        raise BeliefError(
            f"generation {generation.generation} does not say {text[:60]!r}; commit its own words, or no generation"
        )
    return start, start + len(text.encode())
