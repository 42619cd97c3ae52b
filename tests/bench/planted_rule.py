"""`cuts-v1` on planted claims: what it finds, what it finds that is not there, how often its intervals hold the truth."""

from __future__ import annotations

from attribution.decision import ClaimDecision, Floor, RuleConfig, Undefined, calibrate, decide, final_statistic
from attribution.games.planted import PlantedGame
from tests.attribution.decision.simulation import bounds
from tests.bench.planted_claims import CALIBRATION, NULLS, claim, strata_over, true_effects
from tests.bench.sections import Document


def floor_of(units: int, background: str, family: int) -> Floor:
    """The floor of a context size and background, from ``family`` null claims of each family."""
    found = calibrate(
        *(
            [
                final_statistic(claim(null, units, CALIBRATION + i, background), config=RuleConfig(seed=i))
                for i in range(family)
            ]
            for null in NULLS
        )
    )
    assert not isinstance(found, Undefined)
    return found


def measure(units: int, background: str, n: int, nulls: int, family: int) -> Document:
    """Tallies of every stratum over ``units`` units: ``n`` claims each, of null strata ``nulls``."""
    floor = floor_of(units, background, family)
    return {
        "units": units,
        "background": background,
        "floor": {"tau": floor.tau, "tau_total": floor.tau_total, "n": floor.n},
        "seeds": f"claims 0 to {max(n, nulls) - 1}, floor {CALIBRATION} to {CALIBRATION + family - 1}",
        "strata": {
            name: tally(name, units, background, nulls if name in NULLS else n, floor) for name in strata_over(units)
        },
    }


def tally(stratum: str, units: int, background: str, n: int, floor: Floor) -> Document:
    """Counts over ``n`` claims of a stratum."""
    counts = dict.fromkeys(
        ("complete", "false", "cuts", "wrong_nulls", "under_floor", "runs", "intervals", "covered"), 0
    )
    edges = found_edges = 0
    width = 0.0
    for index in range(n):
        game = claim(stratum, units, index, background)
        found = decide(game, floor, RuleConfig(seed=index))
        truth = game.truth
        complete = truth.edges <= found.edges
        edges += len(truth.edges)
        found_edges += len(truth.edges & found.edges)
        counts["complete"] += complete
        counts["under_floor"] += not complete and game.strength < floor.tau_total
        counts["false"] += bool(found.edges - truth.edges)
        counts["cuts"] += {frozenset(cut.members) for cut in found.cuts} == {c for c in truth.cuts if len(c) > 1}
        counts["wrong_nulls"] += any(unit.verdict == "null" and unit.unit in truth.edges for unit in found.units)
        counts["runs"] += found.runs
        held, measured, wide = _intervals(found, game)
        counts["covered"] += held
        counts["intervals"] += measured
        width += wide
    intervals = counts["intervals"]
    return {
        "n": n,
        **counts,
        "runs": counts["runs"] / n,
        "edge_recall": found_edges / edges if edges else None,
        "complete_95": bounds(counts["complete"], n),
        "false_95": bounds(counts["false"], n),
        "width": width / intervals if intervals else None,
    }


def _intervals(found: ClaimDecision, game: PlantedGame) -> tuple[int, int, float]:
    """Intervals that hold the true effect, all intervals, and their widths together; a cube's are points."""
    if found.statistics.exactness == "exact":
        return 0, 0, 0.0
    shown = {unit.unit: unit.interval for unit in found.units if unit.interval is not None}
    truth = true_effects(game, sorted(shown))
    held = sum(low - 1e-9 <= truth[unit] <= high + 1e-9 for unit, (low, high) in shown.items())
    return held, len(shown), sum(high - low for low, high in shown.values())
