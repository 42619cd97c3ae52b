"""Estimators: from masks and scores to effects in nats. Pure; no thresholds, no verdicts (those are `decision`)."""

from attribution.estimators.contextcite import Surrogate, contextcite, log_odds
from attribution.estimators.exact import banzhaf, banzhaf_interactions, shapley, shapley_interactions
from attribution.estimators.leave_one_out import leave_one_out_effects
from attribution.estimators.main_effects import PairedEffects, main_effects, paired_effects

__all__ = [
    "PairedEffects",
    "Surrogate",
    "banzhaf",
    "banzhaf_interactions",
    "contextcite",
    "leave_one_out_effects",
    "log_odds",
    "main_effects",
    "paired_effects",
    "shapley",
    "shapley_interactions",
]
