"""From scores to verdicts: the gates.

`cuts` is the default rule, `seed_v4` the specification's pipeline; both read the same game. `floor` holds what null
claims set. What does not belong here: models, tokens, the ledger; a caller turns a `ClaimDecision` into `edges.measured`.
"""

from attribution.decision.config import RuleConfig
from attribution.decision.cuts import decide, final_statistic
from attribution.decision.effects import plan_design_states
from attribution.decision.floor import FinalStatistic, Floor, Undefined, calibrate
from attribution.decision.verdicts import ClaimDecision, Cut, Label, UnitVerdict

__all__ = [
    "ClaimDecision",
    "Cut",
    "FinalStatistic",
    "Floor",
    "Label",
    "RuleConfig",
    "Undefined",
    "UnitVerdict",
    "calibrate",
    "decide",
    "final_statistic",
    "plan_design_states",
]
