"""What a trial record counts of a reading: its cascade, its edges, the quorum, and laundered guesses."""

from __future__ import annotations

from typing import Any

from evals.arms import Arm
from evals.scenario_log import ScenarioLog
from evals.scenarios.attacks import QUORUM_FAMILIES
from ledger_core.belief.state import BeliefState
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.types import EventId


def counts_of(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """Fields of a trial record; those that the family or the arm does not define are left out."""
    found: dict[str, Any] = {}
    for count in (_cascade_counts, _edge_counts, _quorum_counts, _guess_counts):
        found |= count(log, state, arm)
    return found


def _cascade_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """What the reading's cascade does to claims that should stand and to claims that should fall.

    Undefined for a reading without a cascade: nothing retracted, or by an oracle.
    """
    scenario = log.scenario
    if arm.retraction != "used" or not scenario.is_judged or not scenario.claims:
        return {}
    standing = {key for key in log.entry_ids if not state.entries[log.entry_ids[key]].invalidated}
    return {
        "true_claims": len(scenario.true_claims),
        "true_claims_invalidated": len(set(scenario.true_claims) - standing),
        "dependents": len(scenario.dependents),
        "dependents_left_standing": len(set(scenario.dependents) & standing),
    }


def _edge_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """How the arm's edges compare with the planted ones; of an arm that reads measured edges, what measuring found.

    A declared parent of which measuring could not say that it is none stays in the belief of such an arm. It was not
    found, and if it was not planted, it was not invented either: the cascade shows what keeping it costs.
    """
    scenario = log.scenario
    if not scenario.claims or arm.context == "flat":
        return {}
    planted = {(log.entry_ids[parent], log.entry_ids[claim]) for parent, claim in scenario.planted_edges}
    claims = {log.entry_ids[claim.key] for claim in scenario.claims}
    found = _measured(log, claims) if arm.edges == "measured" else _believed(state, claims)
    return {
        "planted_edges": len(planted),
        "planted_edges_found": len(planted & found),
        "claims_measured": len(claims),
        "claims_with_false_edge": len({claim for parent, claim in found - planted}),
    }


def _believed(state: BeliefState, claims: set[EventId]) -> set[tuple[EventId, EventId]]:
    """Parent and claim of every edge that a belief rests on."""
    return {(parent, claim) for claim in claims for edge in state.entries[claim].hyperedges for parent in edge.parents}


def _measured(log: ScenarioLog, claims: set[EventId]) -> set[tuple[EventId, EventId]]:
    """Parent and claim of every edge that was measured."""
    bodies = [statement.body for statement in log.statements if isinstance(statement, EdgesMeasured)]
    return {
        (EventId(entry.entry), EventId(body.claim))
        for body in bodies
        if body.claim in claims
        for entry in body.entries
        if entry.verdict == "edge"
    }


def _quorum_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """Whether the quorum let an attack through, or counted two honest witnesses as one."""
    scenario = log.scenario
    if arm.context == "flat" or scenario.family not in QUORUM_FAMILIES:
        return {}
    passed = all(log.entry_ids[target] in state.retractions for target in scenario.retracted)
    if scenario.is_attack:
        return {"attacks": 1, "attacks_passed": int(passed)}
    return {"honest_pairs": 1, "honest_pairs_merged": int(not passed)}


def _guess_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """Guesses, and claims that rest on one, against the least believed of the observations that the scenario seals."""
    scenario = log.scenario
    guesses = scenario.guesses
    if arm.context == "flat" or not guesses:
        return {}
    sealed = [state.entries[log.entry_ids[entry.key]].belief or 0 for entry in scenario.entries if entry.kind == "seal"]
    above = [key for key in guesses if (state.entries[log.entry_ids[key]].belief or 0) >= min(sealed)]
    return {"guesses": len(guesses), "guesses_laundered": len(above)}
