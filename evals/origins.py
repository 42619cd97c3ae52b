"""Origins that a replay audit can ask again: simulated tools that gave one text and now give another.

Their results are sealed as the tool boundary seals them, so that the ledger's own auditor finds what it finds. Only
`tampered` is filed by the oracle: bytes that are not those that were sealed would make the run's ledger fail to verify.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from evals.scenarios import AuditStep, Scenario, ScenarioEntry
from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import successor_fact
from ledger_core.kernel.statements.sealing import ReplayAudited, ReplayAuditedBody
from ledger_core.sealing.audit import ReplayAuditor
from ledger_core.sealing.minting import Executed, Place, Record, seal_statements
from ledger_core.sealing.registry import RegisteredTool, ToolRegistry, register
from ledger_core.sealing.results import Content, Returned
from ledger_core.stores.ledger import Ledger

SEALED_AT: Final = "2026-01-01T00:00:00.000000000Z"
MODIFIED_AT: Final = "2026-02-01T00:00:00.000000000Z"
"""When a stale source changed, by its own word."""
AUDITED_AT: Final = "2026-03-01T00:00:00.000000000Z"

_NOW_GIVES: Mapping[str, str | None] = MappingProxyType({"mismatch": None, "stale": MODIFIED_AT})
"""Outcome that only asking the origin can have -> since when, by its own word, it gives something else."""


class _Origins(ToolRegistry):
    """A registry that grows: each scenario brings its own origin."""

    def __init__(self) -> None:
        super().__init__(())
        self._by_digest: dict[str, RegisteredTool] = {}

    def add(self, tool: RegisteredTool) -> None:
        self._by_digest[tool.registration.digest()] = tool

    def by_digest(self, digest: str | None) -> RegisteredTool | None:
        return None if digest is None else self._by_digest.get(digest)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed result: statements to be appended, seal first, and the contents they cite."""

    statements: tuple[Statement, ...]
    contents: tuple[tuple[bytes, str], ...]


class SimulatedOrigins:
    """Seals what audited sources gave, and audits them."""

    def __init__(self, ledger: Ledger, namespace: str, version: str) -> None:
        """Over ``ledger``; seals are facts of ``namespace``."""
        self._ledger = ledger
        self._namespace = namespace
        self._author = Author(ledger.scope, namespace, version)
        self._registry = _Origins()
        self._auditor = ReplayAuditor(ledger, self._registry, clock=lambda: AUDITED_AT)

    def seal(self, scenario: Scenario, step: int, entry: ScenarioEntry, arguments: bytes) -> Sealed:
        """What the source of ``entry`` gave, sealed so that it can be fetched again."""
        result = Content(content_ref(entry.text.encode(), TEXT), entry.text.encode())
        args = Content(content_ref(arguments, "application/json"), arguments)
        executed = Executed(
            registration=_tool(entry, "mismatch").registration,
            outcome="ok",
            args=args,
            args_redacted=False,
            result=result,
            peer=None,
            has_answer=True,
            observed_at=SEALED_AT,
        )
        place = Place(self._namespace, scenario.id, step, entry.key)
        statements = seal_statements(self._ledger.scope, place, executed, (Record(None, result),))
        return Sealed(statements, ((arguments, "application/json"), (entry.text.encode(), TEXT)))

    def audit(self, entry: ScenarioEntry, step: AuditStep, seal: str) -> str:
        """Look at the source again and return the event id of the audit; again adds nothing."""
        if step.outcome in _NOW_GIVES:
            self._registry.add(_tool(entry, step.outcome))
            return self._auditor.audit(seal).filed[-1]
        body = ReplayAuditedBody.make(observed=None, outcome=step.outcome, predecessor=None, seal=seal)
        filed = self._author.write(
            ReplayAudited, successor_fact(self._namespace, seal, None), body, observed_at=AUDITED_AT
        )
        self._ledger.append((filed,), role="sealer")
        return filed.event_id


def _tool(entry: ScenarioEntry, outcome: str) -> RegisteredTool:
    """The source of ``entry`` as it is at the audit; what it is registered as does not depend on what it gives."""
    return register(
        entry.tool or "lookup",
        lambda about: Returned(entry.swap, modified_at=_NOW_GIVES[outcome]),  # noqa: ARG005 - the call's own argument
        effect="read_only",
        reach="external_read",
        determinism="deterministic",
        origin_host=entry.host,
        source_id=entry.host,
        runner="simulated",
    )
