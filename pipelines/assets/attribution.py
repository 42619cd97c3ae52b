"""Assets that measure which context entries each claim rests on."""

from __future__ import annotations

from pipelines.assets.tables import table_asset
from pipelines.stages import attribution

GROUP = "attribution"

ablation_scores = table_asset(
    attribution.ablation_scores_rows, group=GROUP, deps=["entries", "edges", "generations", "scenarios"]
)
surrogate_weights = table_asset(attribution.surrogate_weights_rows, group=GROUP, deps=["ablation_scores"])
loo_effects = table_asset(attribution.loo_effects_rows, group=GROUP, deps=["ablation_scores"])
stability_report = table_asset(
    attribution.stability_report_rows, group=GROUP, deps=["ablation_scores", "surrogate_weights", "loo_effects"]
)
measured_edges = table_asset(
    attribution.measured_edges_rows, group=GROUP, deps=["ablation_scores", "stability_report", "edges"]
)

ASSETS = [ablation_scores, surrogate_weights, loo_effects, stability_report, measured_edges]
