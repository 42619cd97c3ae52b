"""Assets that run the arms and judge the criteria. `answer_attribution` and `weight_pairs` are leaves: never upserted."""

from __future__ import annotations

from pipelines.assets.tables import table_asset
from pipelines.stages import answers, judgement, trials, weights

GROUP = "evaluation"

trial_table = table_asset(trials.trials_rows, group=GROUP, deps=["scenarios", "edges_upsert"], partitioned=False)
answer_attribution = table_asset(
    answers.answer_attribution_rows, group=GROUP, deps=["trials", "scenarios"], partitioned=False
)
weight_pairs = table_asset(
    weights.weight_pairs_rows, group=GROUP, deps=["measured_edges", "scenarios"], partitioned=False
)
metrics = table_asset(judgement.metrics_rows, group=GROUP, deps=["trials", "measured_edges"], partitioned=False)
kill_report = table_asset(judgement.kill_report_rows, group=GROUP, deps=["metrics", "trials"], partitioned=False)

ASSETS = [trial_table, answer_attribution, weight_pairs, metrics, kill_report]
