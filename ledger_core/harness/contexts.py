"""The context that an agent is shown: a function of a head, a policy and a renderer, and so reproducible from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ledger_core.belief.fold import PLAIN, fold
from ledger_core.belief.state import BeliefState, FoldOptions
from ledger_core.harness.render import RENDERERS, RenderedLine, context_entries
from ledger_core.harness.view import LedgerView
from ledger_core.kernel import digests, log
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.control import PolicyActivated
from ledger_core.kernel.types import EventId
from ledger_core.sealing.generations import ContextSpan
from ledger_core.stores.ledger import Ledger

VARIABLE: Final = "RENDERING"
DEFAULT: Final = "v2"


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """Lines for a model, with what they were made from."""

    lines: tuple[RenderedLine, ...]
    head: str
    """Evidence head that was read."""
    policy: DigestHex
    renderer: str

    @property
    def text(self) -> str:
        """The entries, one below the other; what continues an entry is indented, so that none can pass for another."""
        return "\n".join(_indented(line.text) for line in self.lines)

    @property
    def numbered(self) -> str:
        """As :attr:`text`, with the numbers by which a model may cite them: ``[1] …``."""
        return "\n".join(f"[{number}] {_indented(line.text)}" for number, line in enumerate(self.lines, 1))

    @property
    def entries(self) -> tuple[EventId, ...]:
        """What is shown, in order."""
        return tuple(line.key for line in self.lines)

    @property
    def spans(self) -> tuple[ContextSpan, ...]:
        """What is shown, as a model call of unknown tokens states it."""
        return tuple(ContextSpan(line.key) for line in self.lines)

    @property
    def digest(self) -> DigestHex:
        """Body digest of :attr:`text`: equal digests mean that a model was shown the same."""
        return digests.body_hex(self.text.encode("utf-8", "surrogatepass"))


def _indented(text: str) -> str:
    return "\n    ".join(text.splitlines())


def rendering_of(environ: Mapping[str, str]) -> str:
    """The renderer that the environment asks for by ``RENDERING``, ``v2`` where it asks for none."""
    return known_renderer(environ.get(VARIABLE) or DEFAULT)


def known_renderer(name: str) -> str:
    """``name`` itself; raises :class:`BeliefError` listing the renderers there are."""
    if name not in RENDERERS:
        raise BeliefError(f"no renderer is called {name!r}; known: {', '.join(sorted(RENDERERS))}")
    return name


def render(
    state: BeliefState,
    statements: Sequence[Statement],
    texts: Mapping[EventId, str],
    *,
    head: str,
    policy: Policy,
    renderer: str,
) -> RenderedContext:
    """The entries of ``texts`` as ``renderer`` shows them."""
    lines = RENDERERS[known_renderer(renderer)](context_entries(state, statements, texts))
    return RenderedContext(lines, head, policy.digest(), renderer)


def context_at(
    ledger: Ledger, *, head: str, policy: str, renderer: str, options: FoldOptions = PLAIN
) -> RenderedContext:
    """The context that was rendered from ``head`` under the policy of that digest, made again.

    Content that was erased since is missing from it.

    Raises:
        BeliefError: no such head, policy or renderer in this ledger.
    """
    statements = _until(ledger, head)
    numbers = _policy(ledger, policy)
    state = fold(statements, numbers, options)
    texts = LedgerView(ledger).texts(statements)
    return render(state, statements, texts, head=head, policy=numbers, renderer=renderer)


def _until(ledger: Ledger, head: str) -> list[Statement]:
    genesis = next(ledger.events("control"))
    position = genesis.position
    if head == log.genesis_chain(genesis.event_id, position.epoch_id, "evidence", position.shard):
        return []
    statements: list[Statement] = []
    for event in ledger.events():
        statements.append(event.statement)
        if event.chain == head:
            return statements
    raise BeliefError(f"{head} is no evidence head of this ledger, now or earlier; check the scope")


def _policy(ledger: Ledger, digest: str) -> Policy:
    policies: Iterable[Policy] = (
        event.statement.body.policy
        for event in ledger.events("control")
        if isinstance(event.statement, PolicyActivated)
    )
    found = next((policy for policy in policies if policy.digest() == digest), None)
    if found is None:
        raise BeliefError(f"no policy of digest {digest} was ever in force in this ledger")
    return found
