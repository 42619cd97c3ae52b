"""Verdicts recomputed from the log alone by another implementation equal those of the report."""

from __future__ import annotations

import json
import random
import sqlite3
from dataclasses import replace

import pytest

from evals.criteria import load_criteria, load_full_criteria
from evals.kill_criteria import Observed, evaluate
from evals.preregistration import Registration, register
from evals.trials import TrialRecord
from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel import digests
from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import CriteriaRegistered, CriteriaRegisteredBody
from ledger_core.kernel.statements.evaluation import TrialRecorded, TrialRecordedBody
from ledger_core.kernel.statements.facts import successor_fact, trial_fact
from ledger_core.stores.ledger import Ledger, scope_folder
from tests.evals import second_opinion, test_further_criteria, test_kill_criteria
from tests.evals.byte_model import NOW
from tests.evals.trial_builder import BOTH_ORDERS, GENERATOR, MODEL, plan, play, scenarios

SCOPE = Scope.make(tenant_namespace="eval", project_namespace="run-of-a-test")


def registered(ledger: Ledger, registration: Registration) -> str:
    content = ledger.put_blob(registration.canonical_bytes(), JSON)
    body = CriteriaRegisteredBody.make(criteria=content, n=len(registration.plan.scenarios), name="preregistration")
    statement = Author(SCOPE, "tests", "1").write(CriteriaRegistered, successor_fact("tests", "criteria", None), body)
    ledger.append((statement,), role="operator")
    return statement.event_id


def logged(tmp_path, registration: Registration, records: list[TrialRecord]):
    """A ledger on disk with the registration and a `trial.recorded` for every record; returns its folder."""
    with Ledger.open(
        tmp_path, SCOPE, now=lambda: NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME
    ) as ledger:
        criteria = registered(ledger, registration)
        rows = ledger.put_blobs([(json.dumps(r.document(), sort_keys=True).encode(), JSON) for r in records])
        statements = []
        for record, row in zip(records, rows, strict=True):
            cell = f"{record.scenario_id}/{record.variant}/{record.premise_order}"
            scenario = digests.body_hex(cell.encode())
            body = TrialRecordedBody.make(
                agent="local",
                answer=None,
                arm=f"arm-{record.arm}",
                criteria=criteria,
                outcome=str(record.outcome),
                repeat=record.repeat,
                row=row,
                scenario=scenario,
            )
            fact = trial_fact("tests", scenario, f"arm-{record.arm}", "local", record.repeat)
            statements.append(Author(SCOPE, "tests", "1").write(TrialRecorded, fact, body))
        ledger.append(statements, role="evaluator")
    return scope_folder(tmp_path, SCOPE)


def of_the_product(registration: Registration, records) -> dict[str, tuple[str, list[str]]]:
    found = evaluate(
        registration,
        records,
        Observed(registered_digest=registration.digest, model_digest=MODEL, generator_version=GENERATOR),
    )
    return {
        result.registered.criterion.id: (result.verdict.value, [part.verdict.value for part in result.parts])
        for result in found.results
    }


def noisy(world, seed: int, rate: float):
    """The world with answers exchanged at random, some of them lost or unreadable, counts too."""
    generator = random.Random(seed)

    def answer(scenario, arm):
        found = world(scenario, arm)
        fields = found if isinstance(found, dict) else {"outcome": found}
        if generator.random() < rate and scenario.family != "competence":
            outcome = generator.choice(("asserts_false", "asserts_true", "third_value", "error", "unscored"))
            fields = fields | {"outcome": outcome}
            for part, whole in (("attacks_passed", "attacks"), ("claims_with_false_edge", "claims_measured")):
                if fields.get(whole) and generator.random() < 0.3:
                    fields = fields | {part: 1 - fields[part]}
        return fields

    return answer


DEFAULT = register(
    plan(
        scenarios("competence", 12, ("1",)),
        scenarios("planted-premise", 40, ("1o", "2", "2k", "2m"), orders=BOTH_ORDERS),
        scenarios("planted-premise", 40, ("1", "2"), orders=BOTH_ORDERS, variants=("corrections-leave",)),
        scenarios("mixed-parents", 73, ("2", "2x", "3"), variants=("used-retracted",)),
        scenarios("mixed-parents", 73, ("2", "2x", "3"), variants=("unused-retracted",), start=73),
    ),
    load_criteria(),
)
"""K1 to K4, in the arms that they read."""
SUITE = register(test_further_criteria.suite(), load_full_criteria())
FAST = ("works", "a little noise")
WORLDS = {
    "works": (test_kill_criteria.ledger_works, test_further_criteria.works),
    "fails": (test_kill_criteria.ledger_fails, test_further_criteria.fails),
    "a little noise": tuple(noisy(w, 3, 0.03) for w in (test_kill_criteria.ledger_works, test_further_criteria.works)),
    "much noise": tuple(noisy(w, 5, 0.6) for w in (test_kill_criteria.ledger_works, test_further_criteria.works)),
    "noisy failure": tuple(noisy(w, 7, 0.1) for w in (test_kill_criteria.ledger_fails, test_further_criteria.fails)),
}


@pytest.mark.parametrize("name", [w if w in FAST else pytest.param(w, marks=pytest.mark.slow) for w in WORLDS])
def test_both_implementations_agree_on_every_part_of_every_criterion(tmp_path, name):
    for registration, world in zip((DEFAULT, SUITE), WORLDS[name], strict=True):
        records = play(registration.plan, world)
        folder = logged(tmp_path / registration.digest[:8], registration, records)
        found = second_opinion.verdicts(folder, model=MODEL, generator=GENERATOR)
        assert found == of_the_product(registration, records)
        assert len(found) == 4


def test_the_worlds_between_them_show_every_verdict():
    seen = {
        verdict
        for worlds in WORLDS.values()
        for registration, world in zip((DEFAULT, SUITE), worlds, strict=True)
        for verdict, _ in of_the_product(registration, play(registration.plan, world)).values()
    }
    assert seen == {"PASS", "KILL", "INCONCLUSIVE", "INVALID"}


@pytest.mark.parametrize("spoil", ["a trial is missing", "another model", "an incompetent model"])
def test_both_call_the_same_runs_invalid(tmp_path, spoil):
    records = play(DEFAULT.plan, test_kill_criteria.ledger_works)
    model = MODEL
    if spoil == "a trial is missing":
        records = [r for r in records if not (r.arm in ("2", "2x") and r.scenario_id.endswith("s007-0"))]
    elif spoil == "an incompetent model":
        records = [replace(r, outcome="third_value") if r.family == "competence" else r for r in records]
    else:
        model = "00" * 32
    found = second_opinion.verdicts(logged(tmp_path, DEFAULT, records), model=model, generator=GENERATOR)
    assert {verdict for verdict, _ in found.values()} == {"INVALID"}
    seen = evaluate(
        DEFAULT, records, Observed(registered_digest=DEFAULT.digest, model_digest=model, generator_version=GENERATOR)
    )
    assert {result.verdict.value for result in seen.results} == {"INVALID"}


def test_a_registration_that_was_changed_after_the_fact_is_not_the_registered_one(tmp_path):
    """The file of the registration is rewritten with a kinder threshold: its digest is not that of the event any more."""
    records = play(DEFAULT.plan, test_kill_criteria.ledger_works)
    folder = logged(tmp_path, DEFAULT, records)
    with sqlite3.connect(folder / "ledger.sqlite3") as log:
        (text,) = log.execute("SELECT statement FROM events WHERE kind = 'criteria.registered'").fetchone()
    digest = json.loads(text)["body"]["criteria"]["digest"]
    blob = folder / "blobs" / digest[:2] / digest
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes().replace(b'"threshold_ppm":-50000', b'"threshold_ppm":-90000'))
    found = second_opinion.verdicts(folder, model=MODEL, generator=GENERATOR)
    assert {verdict for verdict, _ in found.values()} == {"INVALID"}
