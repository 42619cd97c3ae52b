"""For every figure the command that computes it again. Tables are those of the lake; nothing here is executed."""

# ruff: noqa: S608  (the queries are printed for the reader; nothing is executed here)

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evals.metrics import ANSWER_METRICS, COUNTED, Metric
from evals.report.fields import GateName

_SCENARIO = "JOIN scenarios s USING (tenant, project, scenario)"
_GATES: Mapping[GateName, tuple[str, str]] = {
    "cuts-v1": ("cuts_v1_result", "cuts_v1_edges"),
    "seed-v4": ("CASE WHEN seed_v4_passes THEN 'measured' ELSE 'declared edges kept' END", "seed_v4_edges"),
}
"""Gate -> what it decided of a claim, and the edges it gives, in the stability report."""
BOTH = "both"
"""Premise order of a row that pools both orders."""


@dataclass(frozen=True, slots=True)
class Recompute:
    """The commands of one run's report.

    A home holds several runs, of which many draw the same scenarios, so every command names the one it is about.
    """

    run: str
    """Beginning of the run's project, as its report's folder is named."""
    evaluate: str
    """The command that judges the run again, with the options it was started with."""

    def trials(self) -> str:
        """Count all trials of the run by outcome."""
        return _sql(f"SELECT outcome, count(*) FROM trials {self._of_the_run()} GROUP BY 1 ORDER BY 1")

    def outcomes(self, where: Mapping[str, str], arm: str) -> str:
        """Count the outcomes of one arm on a population."""
        return _sql(
            f"SELECT t.outcome, count(*) FROM trials t {_SCENARIO} {self._of_the_run(where)} "
            f"AND t.arm = {_quoted(arm)} GROUP BY 1 ORDER BY 1"
        )

    def measurement(self, metric: Metric, where: Mapping[str, str], arm: str) -> str:
        """Compute the numerator and denominator of one metric of one arm."""
        if metric in ANSWER_METRICS:
            return self.outcomes(where, arm)
        names = [name for pair in _counted(metric) for name in pair]
        sums = ", ".join(f"sum((t.row->>'$.{name}')::BIGINT) AS {name}" for name in names)
        return _sql(f"SELECT {sums} FROM trials t {_SCENARIO} {self._of_the_run(where)} AND t.arm = {_quoted(arm)}")

    def pairs(self, where: Mapping[str, str], left: str, right: str) -> str:
        """Count the pairs of outcomes of two arms on the same scenarios."""
        return _sql(
            f'SELECT l.outcome AS "{left}", r.outcome AS "{right}", count(*) FROM trials l '
            f"JOIN trials r USING (tenant, project, scenario, repeat) {_SCENARIO} {self._of_the_run(where)} "
            f"AND l.arm = {_quoted(left)} AND r.arm = {_quoted(right)} GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def pairs_in(self, family: str, variants: Collection[str], left: str, right: str) -> str:
        """As :meth:`pairs`, on some variants of a family."""
        among = ", ".join(_quoted(variant) for variant in variants)
        return _sql(
            f'SELECT l.outcome AS "{left}", r.outcome AS "{right}", count(*) FROM trials l '
            "JOIN trials r USING (tenant, project, scenario, repeat) "
            f"{_SCENARIO} {self._of_the_run({'family': family})} AND s.variant IN ({among}) "
            f"AND l.arm = {_quoted(left)} AND r.arm = {_quoted(right)} GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def weighed(self, populations: Sequence[Mapping[str, str]], left: str, right: str) -> str:
        """Compute the difference in accuracy of two arms on several populations, each the mean over its wordings."""
        among = " OR ".join(f"({' AND '.join(_conditions(where))})" for where in populations)
        return _sql(
            "SELECT family, avg(d) AS difference, count(*) AS wordings FROM (SELECT s.family, s.wording, "
            "avg((l.outcome = 'asserts_true')::INT - (r.outcome = 'asserts_true')::INT) AS d FROM trials l "
            f"JOIN trials r USING (tenant, project, scenario, repeat) {_SCENARIO} {self._of_the_run()} AND ({among}) "
            f"AND l.arm = {_quoted(left)} AND r.arm = {_quoted(right)} GROUP BY 1, 2) GROUP BY 1 ORDER BY 1"
        )

    def survival(self, family: str, variants: Collection[str], arm: str) -> str:
        """Count the outcomes of one arm on variants of a family, and in how many a correction was still in the context."""
        among = ", ".join(_quoted(variant) for variant in variants)
        return _sql(
            "SELECT t.outcome, count(*), count_if((t.row->>'$.correction_in_context')::BOOLEAN) AS in_context "
            f"FROM trials t {_SCENARIO} {self._of_the_run({'family': family})} AND s.variant IN ({among}) "
            f"AND t.arm = {_quoted(arm)} GROUP BY 1 ORDER BY 1"
        )

    def weights(self) -> str:
        """Count the claims that were said again without a cut, or as a placebo without a unit of no effect."""
        return _sql(
            "SELECT placebo, lost, count(*), avg(margin) AS margin, avg(loss) AS loss FROM weight_pairs "
            f"{self._of_the_run()} GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def transcript(self, scenario_id: str) -> str:
        """Read what every arm answered to one scenario."""
        return _sql(
            f"SELECT arm, outcome, answer FROM trials {self._of_the_run()} "
            f"AND scenario = {_quoted(scenario_id)} ORDER BY arm, repeat"
        )

    def causes(self, scenario_id: str) -> str:
        """Read which entries the persisted falsehoods of one scenario rest on."""
        return _sql(
            f"SELECT arm, label, role, verdict, effect, low, high, reason FROM answer_attribution {self._of_the_run()} "
            f"AND scenario = {_quoted(scenario_id)} ORDER BY arm, label"
        )

    def causes_of(self, arm: str) -> str:
        """Count what the persisted falsehoods of one arm rest on; arms that showed one prompt share its measurement."""
        return _sql(
            "SELECT coalesce(c.role, 'no entry') AS cause, count(*) FROM trials t LEFT JOIN (SELECT tenant, project, "
            "scenario, m.prompt_digest, a.role FROM trials m JOIN answer_attribution a USING (tenant, project, scenario, "
            "arm) WHERE a.verdict = 'edge') c USING (tenant, project, scenario, prompt_digest) "
            f"{self._of_the_run()} AND t.outcome IN ('asserts_false', 'asserts_both') AND t.arm = {_quoted(arm)} "
            "GROUP BY 1 ORDER BY 1"
        )

    def _of_the_run(self, where: Mapping[str, str] | None = None) -> str:
        return f"WHERE {' AND '.join((_beginning(self.run), *_conditions(where or {})))}"


def gate(name: GateName, ledgers: Collection[str]) -> str:
    """Count what a gate decided over the claims of some ledgers (``tenant/project``); the last row is their total."""
    decision, edges = _GATES[name]
    places = [ledger.partition("/") for ledger in ledgers]
    among = " OR ".join(f"(tenant = {_quoted(tenant)} AND {_beginning(project)})" for tenant, _, project in places)
    return _sql(
        f"SELECT {decision} AS decision, count(*) AS claims, sum(len({edges})) AS edges, median(rho_seeds) AS rho, "
        f"sum(runs) AS passes FROM stability_report WHERE {among} GROUP BY ROLLUP (1) ORDER BY 1 NULLS LAST"
    )


def why(claim_id: str, ledger: str) -> str:
    """Go from a claim of a ledger (``tenant/project``) to the entries that caused it and back to their seals."""
    tenant, _, project = ledger.partition("/")
    return f"veritas why {claim_id} --tenant {tenant} --project {project}"


def _counted(metric: Metric) -> tuple[tuple[str, str], ...]:
    if metric is Metric.BALANCED_ACCURACY:
        return (COUNTED[Metric.COLLATERAL], COUNTED[Metric.MISSED_PROPAGATION])
    return (COUNTED[metric],)


def _conditions(where: Mapping[str, str]) -> list[str]:
    return [f"s.{name} = {_quoted(value)}" for name, value in where.items() if value not in ("any", BOTH)]


def _beginning(project: str) -> str:
    return f"starts_with(project, {_quoted(project)})"


def _quoted(value: str) -> str:
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def _sql(query: str) -> str:
    escaped = query.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return f'veritas sql "{escaped}"'
