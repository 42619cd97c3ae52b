"""The cascades that a report draws: a scenario's beliefs before and after its retraction, on declared and on measured edges."""

from __future__ import annotations

from collections.abc import Sequence

from evals.report import Cascade, CascadeEdge, CascadeNode
from evals.report.commands import why as why_command
from evals.trial_runner import ScenarioLog, belief_under
from ledger_core.belief.state import BeliefState, FoldOptions
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.types import EventId

_CASCADES = 6
"""The first of each family and variant."""
_LABEL = 90


def cascades(logs: Sequence[ScenarioLog], policy: Policy, ledger: str) -> tuple[Cascade, ...]:
    """The first scenario of each family and variant that retracts something, on declared and on measured edges.

    ``ledger`` is where they lie, as ``tenant/project``, for the command beside each.
    """
    drawn: dict[tuple[str, str], ScenarioLog] = {}
    for log in logs:
        if log.scenario.struck and log.scenario.claims and not log.unmeasured:
            drawn.setdefault((log.scenario.family, log.scenario.variant), log)
    found = []
    for (family, variant), log in list(drawn.items())[:_CASCADES]:
        found.append(_cascade(f"{family} ({variant}), declared edges", log, policy, "2", ledger))
        found.append(_cascade(f"{family} ({variant}), measured edges", log, policy, "3", ledger))
    return tuple(found)


def _cascade(title: str, log: ScenarioLog, policy: Policy, arm: str, ledger: str) -> Cascade:
    from ledger_core.belief.fold import fold

    measured = arm == "3"
    before = fold(log.statements, policy, FoldOptions(measured=measured, ignore_verdicts=True))
    after = belief_under(log, policy, "measured" if measured else "declared")
    texts = {log.entry_ids[entry.key]: entry.text for entry in log.scenario.entries}
    nodes = tuple(
        CascadeNode(
            entry_id=key,
            label=short(texts[key]),
            tier=after.entries[key].tier,
            belief_before=before.entries[key].belief or 0,
            belief_after=after.entries[key].belief or 0,
            retracted=after.entries[key].retracted,
            invalidated=after.entries[key].invalidated,
        )
        for key in texts
        if after.entries[key].belief is not None
    )
    return Cascade(
        title=title,
        scenario_id=log.scenario.id,
        arm=arm,
        nodes=nodes,
        edges=cascade_edges(log.statements, policy, after, {node.entry_id for node in nodes}, measured=measured),
        command=why_command(log.entry_ids[log.scenario.claims[0].key], ledger),
    )


def cascade_edges(
    statements: Sequence[Statement], policy: Policy, state: BeliefState, shown: set[str], *, measured: bool
) -> tuple[CascadeEdge, ...]:
    """Edges that touch the entries ``shown``, joint support as one of them.

    Measured are those whose weight a measurement gave, not all of a measured arm.
    """
    weighed = measured_weights(statements, policy, sorted(shown)) if measured else frozenset()
    return tuple(
        CascadeEdge(
            parents=edge.parents,
            child=child,
            ppm=edge.ppm,
            basis="measured" if (child, edge.parents, edge.ppm) in weighed else "declared",
        )
        for child in sorted(shown)
        for edge in state.entries[EventId(child)].hyperedges
        if not shown.isdisjoint(edge.parents)
    )


def measured_weights(
    statements: Sequence[Statement], policy: Policy, children: Sequence[str]
) -> frozenset[tuple[str, tuple[str, ...], int]]:
    """Child, parents and weight of every edge whose weight in force a measurement gave: an undetermined one gives none."""
    from ledger_core.harness.why import why

    return frozenset(
        (child, cause.parents, cause.ppm)
        for child in children
        for cause in why(statements, policy, EventId(child)).links[EventId(child)].causes
        if any(ground.basis == "measured" and ground.ppm == cause.ppm for ground in cause.grounds)
    )


def short(text: str) -> str:
    """``text`` on one line, cut at what a label holds."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LABEL else flat[: _LABEL - 1] + "…"
