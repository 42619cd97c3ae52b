"""A scenario recorded in a ledger of its own, as a trial reads it."""

from __future__ import annotations

from evals.recorder import ScenarioRecorder
from evals.scenario_log import ScenarioLog
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.stores.ledger import Ledger
from tests.evals.byte_model import NOW, SCOPE


def logged(scenario, model, policy=SEED_V4_CLUSTERS, embedder=None) -> ScenarioLog:
    """The scenario with every statement it became; a policy that compares texts gets an embedder that hashes them."""
    with Ledger.in_memory(SCOPE, now=NOW, policy=policy, policy_name="under-test") as ledger:
        parts = ScenarioRecorder(ledger, model, embedder or FakeEmbedder()).record(scenario)
        keys = {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}
        return ScenarioLog(scenario, tuple(event.statement for event in ledger.events()), keys)
