"""From scores to verdicts: the gates.

`cuts` is the default rule, `seed_v4` the specification's pipeline; both read the same game. `floor` holds what null
claims set. What does not belong here: models, tokens, the ledger; a caller turns a `ClaimDecision` into `edges.measured`.
"""

from attribution.decision.config import RuleConfig
from attribution.decision.cuts import decide, final_statistic
from attribution.decision.effects import plan_design_states
from attribution.decision.floor import FinalStatistic, Floor, Undefined, calibrate
from attribution.decision.floor_table import FloorTable
from attribution.decision.seed_v4 import decide_seed_v4
from attribution.decision.verdicts import ClaimDecision, UnitVerdict

__all__ = [
    "ClaimDecision",
    "FinalStatistic",
    "Floor",
    "FloorTable",
    "RuleConfig",
    "Undefined",
    "UnitVerdict",
    "calibrate",
    "decide",
    "decide_seed_v4",
    "final_statistic",
    "plan_design_states",
]
