"""A scenario with the statements it became, and what they make one believe under an arm's edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evals.arms import EdgeSource
from evals.lexical import kept_parents
from evals.scenarios import Scenario
from ledger_core.belief.fold import fold
from ledger_core.belief.state import BeliefState, FoldOptions, Hyperedge
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import CLAIM_KINDS, Statement
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.types import EventId


@dataclass(frozen=True, slots=True)
class ScenarioLog:
    """A scenario with the statements it became."""

    scenario: Scenario
    statements: tuple[Statement, ...]
    """As logged; measurements among them count only where an arm reads them."""
    entry_ids: Mapping[str, EventId]
    """Scenario key -> entry."""

    @property
    def texts(self) -> dict[EventId, str]:
        """Texts of the entries still in the context when the question is put."""
        return {self.entry_ids[key]: self.scenario.entry(key).text for key in self.scenario.in_context}

    @property
    def unmeasured(self) -> tuple[EventId, ...]:
        """Claims about which no measurement is in the log."""
        measured = {statement.body.claim for statement in self.statements if isinstance(statement, EdgesMeasured)}
        return tuple(
            statement.event_id
            for statement in self.statements
            if statement.kind in CLAIM_KINDS and statement.event_id not in measured
        )


def belief_under(log: ScenarioLog, policy: Policy, edges: EdgeSource) -> BeliefState:
    """The fold of the scenario's statements over an arm's edges."""
    return fold(log.statements, policy, _options(log, edges))


def _options(log: ScenarioLog, edges: EdgeSource) -> FoldOptions:
    if edges == "declared-and-lexical":
        return FoldOptions(measured=False, hyperedges=_lexical_edges(log))
    return FoldOptions(measured=edges == "measured")


def _lexical_edges(log: ScenarioLog) -> dict[EventId, tuple[Hyperedge, ...]]:
    texts = {log.entry_ids[entry.key]: entry.text for entry in log.scenario.entries}
    edges: dict[EventId, tuple[Hyperedge, ...]] = {}
    for statement in log.statements:
        if statement.kind not in CLAIM_KINDS:
            continue
        weights = {EventId(parent.entry): parent.ppm for parent in statement.body.parents}  # type: ignore[union-attr]
        kept = kept_parents(texts[statement.event_id], [(str(key), texts[key]) for key in weights])
        edges[statement.event_id] = tuple(
            Hyperedge((EventId(key),), weights[EventId(key)]) for key in kept if weights[EventId(key)]
        )
    return edges
