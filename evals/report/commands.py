"""For every figure the command that computes it again. Tables are those of the lake; nothing here is executed."""

# ruff: noqa: S608  (the queries are printed for the reader; nothing is executed here)

from __future__ import annotations

from collections.abc import Mapping

from evals.metrics import ANSWER_METRICS, Metric

_COUNTS = {
    Metric.COLLATERAL: ("true_claims_invalidated", "true_claims"),
    Metric.MISSED_PROPAGATION: ("dependents_left_standing", "dependents"),
    Metric.EDGE_RECALL: ("planted_edges_found", "planted_edges"),
    Metric.FALSE_EDGE: ("claims_with_false_edge", "claims_measured"),
}

EVALUATE = "veritas evaluate"
_OF_THE_RUN = "--tenant eval --project run-"
"""The ledger of a home's run, whose project may be cut short: a page names no run."""
_RUN = "left({}.project, 16) AS run"
"""The name of a run's report folder. A home holds several runs, of which many draw the same scenarios: no count may mix them."""
_SCENARIO = "JOIN scenarios s USING (tenant, project, scenario)"
BOTH = "both"
"""Premise order of a row that pools both orders."""


def outcomes(where: Mapping[str, str], arm: str) -> str:
    """Count the outcomes of one arm on a population."""
    return _sql(
        f"SELECT {_RUN.format('t')}, t.outcome, count(*) FROM trials t {_SCENARIO} {_where(where)} "
        f"AND t.arm = {_quoted(arm)} GROUP BY 1, 2 ORDER BY 1, 2"
    )


def measurement(metric: Metric, where: Mapping[str, str], arm: str) -> str:
    """Compute the numerator and denominator of one metric of one arm."""
    if metric in ANSWER_METRICS:
        return outcomes(where, arm)
    names = [name for pair in _counted(metric) for name in pair]
    sums = ", ".join(f"sum((t.row->>'$.{name}')::BIGINT) AS {name}" for name in names)
    return _sql(
        f"SELECT {_RUN.format('t')}, {sums} FROM trials t {_SCENARIO} {_where(where)} AND t.arm = {_quoted(arm)} "
        f"GROUP BY 1 ORDER BY 1"
    )


def pairs(where: Mapping[str, str], left: str, right: str) -> str:
    """Count the pairs of outcomes of two arms on the same scenarios."""
    return _sql(
        f'SELECT {_RUN.format("l")}, l.outcome AS "{left}", r.outcome AS "{right}", count(*) FROM trials l '
        f"JOIN trials r USING (tenant, project, scenario, repeat) {_SCENARIO} {_where(where)} "
        f"AND l.arm = {_quoted(left)} AND r.arm = {_quoted(right)} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )


def transcript(scenario_id: str) -> str:
    """Read what every arm answered to one scenario."""
    return _sql(
        f"SELECT {_RUN.format('t')}, arm, outcome, answer FROM trials t "
        f"WHERE scenario = {_quoted(scenario_id)} ORDER BY run, arm, repeat"
    )


def causes(scenario_id: str) -> str:
    """Read which entries the persisted falsehoods of one scenario rest on."""
    return _sql(
        f"SELECT {_RUN.format('a')}, arm, label, role, verdict, effect, low, high FROM answer_attribution a "
        f"WHERE scenario = {_quoted(scenario_id)} ORDER BY run, arm, label"
    )


def why(claim_id: str) -> str:
    """Go from a claim of the run to the entries that caused it and back to their seals."""
    return f"veritas why {claim_id} {_OF_THE_RUN}"


def _counted(metric: Metric) -> tuple[tuple[str, str], ...]:
    if metric is Metric.BALANCED_ACCURACY:
        return (_COUNTS[Metric.COLLATERAL], _COUNTS[Metric.MISSED_PROPAGATION])
    return (_COUNTS[metric],)


def _where(where: Mapping[str, str]) -> str:
    given = [f"s.{name} = {_quoted(value)}" for name, value in where.items() if value not in ("any", BOTH)]
    return f"WHERE {' AND '.join(given)}" if given else "WHERE true"


def _quoted(value: str) -> str:
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def _sql(query: str) -> str:
    escaped = query.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return f'veritas sql "{escaped}"'
