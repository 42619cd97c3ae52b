"""Measures every claim of a scope: scores, both gates' figures, measured edges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from attribution.decision import ClaimDecision, Floor, Undefined, UnitVerdict
from attribution.decision.floor_table import FloorTable, shipped
from attribution.measurement import ClaimMeasurement, Gate, Measurer
from attribution.scorers.base import Scorer
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import Trajectory
from ledger_core.kernel import canonical, digests
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope
from pipelines.computing import side_by_side
from pipelines.lake import read_table
from pipelines.progress import track
from pipelines.stages.replay import Rows
from pipelines.stages.trajectories import TEMPLATES, trajectories
from pipelines.workspace import Workspace

MICRO = 1_000_000
ROUNDING = 1_000
"""Statements round micro-nats to this: key–value reuse moves a score by less."""


@lru_cache(maxsize=1)
def shipped_floors() -> FloorTable:
    """The floors that ship with the project."""
    return shipped()


def measurer(at: Workspace, trajectory: Trajectory, scorer: Scorer | None = None) -> Measurer:
    """A measurer for the trajectory's fidelity; without a ``scorer`` it scores in this process."""
    model = at.model()
    return Measurer(
        scorer or TransformersScorer(model),
        at.floors or shipped_floors(),
        weights_digest=model.files.weights_digest,
        template=TEMPLATES[trajectory.fidelity],
        cache=at.blocks,
    )


def measurements(at: Workspace, scope: Scope) -> Iterator[tuple[Trajectory, Measurer, ClaimMeasurement]]:
    """Every claim's measurement, in order, whichever executor computes; what was scored before is read from the block cache."""
    declared = _declared(at, scope)
    found = list(trajectories(at, scope))
    with at.computing.opened(at.model(), found) as scorer:

        def measured(trajectory: Trajectory) -> tuple[Measurer, list[ClaimMeasurement]]:
            by = measurer(at, trajectory, scorer)
            return by, list(by.measure(trajectory, _declared_units(trajectory, declared)))

        results = side_by_side(measured, found, workers=scorer.workers, abandon=scorer.close)
        for trajectory in track(found, f"Measuring claims ({scope.tenant_namespace})"):
            by, measurements_of_it = next(results)
            for measurement in measurements_of_it:
                yield trajectory, by, measurement


def _declared_units(trajectory: Trajectory, declared: Mapping[str, frozenset[str]]) -> dict[str, list[int]]:
    """Claim entry -> units before it that were declared as its parents."""
    return {
        claim.entry: [
            index
            for index, unit in enumerate(trajectory.units[: claim.units])
            if not declared.get(claim.entry, frozenset()).isdisjoint(unit.entries)
        ]
        for claim in trajectory.claims
    }


def _declared(at: Workspace, scope: Scope) -> dict[str, frozenset[str]]:
    parents: dict[str, set[str]] = {}
    for row in read_table(at.lake(scope), "edges"):
        parents.setdefault(row["claim"], set()).add(row["parent"])
    return {claim: frozenset(found) for claim, found in parents.items()}


def ablation_scores_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per claim and mask that was scored."""
    return [
        {"trajectory": trajectory.key, "claim": measured.claim.entry, "states": states, "value": value}
        for trajectory, _, measured in measurements(at, scope)
        for states, value in measured.scores.items()
    ]


def surrogate_weights_rows(at: Workspace, scope: Scope) -> Rows:
    """Surrogate weights of the specification's pipeline, one run per seed."""
    rows: Rows = []
    for trajectory, _, measured in measurements(at, scope):
        if measured.seed_v4 is None:
            continue
        for seed, weights in enumerate(measured.seed_v4.weights):
            rows.extend(
                {
                    "claim": measured.claim.entry,
                    "seed": seed,
                    "unit": trajectory.units[unit].named,
                    "weight": float(weight),
                }
                for unit, weight in enumerate(weights)
            )
    return rows


def loo_effects_rows(at: Workspace, scope: Scope) -> Rows:
    """Leave-one-out effects."""
    return [
        {"claim": measured.claim.entry, "unit": trajectory.units[unit].named, "effect": float(effect)}
        for trajectory, _, measured in measurements(at, scope)
        if measured.seed_v4 is not None
        for unit, effect in enumerate(measured.seed_v4.loo)
    ]


def stability_report_rows(at: Workspace, scope: Scope) -> Rows:
    """Both gates on the same scores, claim by claim."""
    rows: Rows = []
    for trajectory, _, measured in measurements(at, scope):
        seed = measured.seed_v4
        ours = _names(trajectory, measured.cuts)
        theirs = () if seed is None else _names(trajectory, seed.decision)
        rows.append(
            {
                "trajectory": trajectory.key,
                "claim": measured.claim.entry,
                "units": measured.claim.units,
                "runs": len(measured.scores),
                "rho_seeds": None if seed is None else seed.rho,
                "rho_loo": None if seed is None else seed.agreement,
                "seed_v4_passes": seed is not None and seed.passed,
                "seed_v4_edges": list(theirs),
                "cuts_v1_result": measured.cuts.result,
                "cuts_v1_edges": list(ours),
                "agree": ours == theirs,
            }
        )
    return rows


def _names(trajectory: Trajectory, decision: ClaimDecision) -> tuple[str, ...]:
    return tuple(sorted(trajectory.units[unit].named for unit in decision.edges))


def measured_edges_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per claim: what `edges.measured` will say."""
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
    gate: Gate = "seed-v4" if at.gate == "seed-v4" else "cuts-v1"
    return [
        _measured_row(trajectory, by, measured, gate, policy) for trajectory, by, measured in measurements(at, scope)
    ]


def _measured_row(
    trajectory: Trajectory, by: Measurer, measured: ClaimMeasurement, gate: Gate, policy: Policy
) -> dict[str, Any]:
    claim = measured.claim
    decision = measured.cuts if gate == "cuts-v1" or measured.seed_v4 is None else measured.seed_v4.decision
    cap = MICRO if claim.contrasted else policy.uncontrasted_cap_ppm
    entries = [
        {"entry": entry, **_verdict(unit, cap)}
        for unit in decision.units
        for entry in trajectory.units[unit.unit].entries
        if entry in claim.context
    ]
    entries += [{"entry": entry, **_UNDETERMINED} for entry in trajectory.dropped if entry in claim.context]
    named = [frozenset(trajectory.units[unit].named for unit in cut.members) for cut in decision.cuts]
    cuts = [
        {"members": sorted(members), "ppm": min(cut.ppm, cap)}
        for cut, members in zip(decision.cuts, named, strict=True)
        if members <= claim.context
    ]
    flags = {*decision.flags}
    if trajectory.fidelity == "proxy":
        flags.add("proxy-scored")  # type: ignore[arg-type]
    if not claim.contrasted:
        flags.add("uncontrasted")  # type: ignore[arg-type]
    if trajectory.dropped:
        flags.add("windowed")  # type: ignore[arg-type]
    recipe = canonical.encode(by.recipe(trajectory, measured, gate))
    return {
        "trajectory": trajectory.key,
        "generation": claim.generation,
        "claim": claim.entry,
        "result": decision.result,
        "reason": reason_of(decision, measured.floor, shown=any(entry["verdict"] == "edge" for entry in entries)),
        "total_effect_micro_nats": None if decision.total_effect is None else micro_nats(decision.total_effect),
        "flags": sorted(flags),
        "gate": gate,
        "entries": json.dumps(sorted(entries, key=lambda entry: entry["entry"]), sort_keys=True),
        "cuts": json.dumps(sorted(cuts, key=lambda cut: cut["members"]), sort_keys=True),
        "recipe": recipe.decode(),
        "rows_digest": rows_digest(measured.scores),
    }


_UNDETERMINED: dict[str, Any] = {"verdict": "undetermined", "ppm": None, "interval": None, "labels": []}


def _verdict(unit: UnitVerdict, cap: int) -> dict[str, Any]:
    interval = None
    if unit.interval is not None and all(np.isfinite(unit.interval)):
        low, high = unit.interval
        interval = {"low": micro_nats(low), "high": micro_nats(high)}
    return {
        "verdict": unit.verdict,
        "ppm": None if unit.ppm is None else min(unit.ppm, cap),
        "interval": interval,
        "labels": sorted({label.name for label in unit.labels}),
    }


def reason_of(decision: ClaimDecision, floor: Floor | Undefined, *, shown: bool) -> str:
    """Why there is no edge, in words; empty where one is ``shown``."""
    if shown:
        return ""
    if decision.edges:
        return "what moves the claim is no entry of its context: an earlier claim of its answer, or its own question"
    if isinstance(floor, Undefined):
        return floor.reason
    return {
        "ungrounded": "no entry and no set of entries moves the claim beyond what null claims show",
        "diffuse": "the context as a whole carries the claim, no small set of entries does",
        "undetermined": "the stability gate was not passed, and no parent was declared",
        "grounded": "",
    }[decision.result]


def micro_nats(nats: float) -> int:
    """Micro-nats, rounded as statements round them."""
    return round(nats * MICRO / ROUNDING) * ROUNDING


def rows_digest(scores: Any) -> str:
    """Digest of a claim's score rows: masks in order, scores rounded as statements round them."""
    rows = [f"{states}:{micro_nats(value)}".encode() for states, value in sorted(scores.items())]
    return digests.framed_hex(Prefix.ROWS, rows)
