"""An evaluation with verdicts: a second implementation finds them in its log alone, and its report is written again."""

from __future__ import annotations

import json
from collections import defaultdict

import pyarrow.parquet as pq
import pytest

from evals.agents.base import Answer, Fault
from evals.agents.scripted import ScriptedAgent
from evals.arms import arm
from evals.criteria import BreakEven, load_full_criteria
from evals.prompts import AssembledPrompt
from ledger_core.stores.ledger import scope_folder
from pipelines.agents import Chosen
from pipelines.cli import main
from pipelines.evaluation import open_evaluation
from pipelines.main_job import run_evaluation
from pipelines.stages.scenarios import stored_scenarios
from pipelines.suite import Reading
from pipelines.workspace import Workspace
from tests.evals import second_opinion
from tests.pipelines.tiny_run import NOW, floors_for, settings_in

pytestmark = pytest.mark.slow

DECIDED = ("k1", "k2", "k3", "k5", "k8")
"""The criteria of answers. The others count claims and edges, which takes a measurement of hundreds of claims."""
SIZES = {"compaction": 26, "competence": 4}


def readings() -> tuple[Reading, ...]:
    """What these criteria read and no more, at sizes that decide."""
    arms: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    arms["competence", None] = ["1"]
    for criterion in load_full_criteria().criteria:
        for part in criterion.parts if criterion.id in DECIDED else ():
            for sample in part.samples if isinstance(part, BreakEven) else (part,):
                variant = None if sample.variant == "base" else sample.variant
                arms[sample.family, variant] += [name for name in (sample.left, sample.right) if name]
    return tuple(
        Reading.make(
            arms=tuple(arm(name).id for name in dict.fromkeys(names)),
            family=family,
            scenarios=SIZES.get(family, 40),
            variant=variant,
        )
        for (family, variant), names in arms.items()
    )


class Believer(ScriptedAgent):
    """Says whichever planted value its notes name last, and sums them up as nothing."""

    def __init__(self) -> None:
        super().__init__(self._last_named)
        self.at: Workspace | None = None
        self._questions: dict[str, tuple[str, ...]] = {}

    def _last_named(self, prompt: AssembledPrompt) -> str:
        assert self.at is not None
        if not self._questions:
            asked = [s.question for s in stored_scenarios(self.at, self.at.run.plan.scope) if s.question is not None]
            self._questions = {each.text: tuple(filter(None, (each.true, each.false))) for each in asked}
        notes, _, question = (
            self.at.model().tokenizer.detokenize(prompt.ids).decode("utf-8", "replace").rpartition("Question: ")
        )
        values = next(found for text, found in self._questions.items() if question.startswith(text))
        named = {notes.rfind(value): value for value in values}
        return f" {named[max(named)]}." if max(named) >= 0 else " not known."

    def summarise(self, prompt: AssembledPrompt) -> Answer | Fault:  # noqa: ARG002 - it heeds no notes
        return Answer("Nothing of note.", ())


@pytest.fixture(scope="module")
def at(tiny_wide, tmp_path_factory) -> Workspace:
    """The evaluation, done."""
    agent = Believer()
    workspace = open_evaluation(
        settings_in(tmp_path_factory.mktemp("evaluation"), tiny_wide.files.path),
        effort="default",
        seed=3,
        now=NOW,
        chosen=Chosen(agent, tiny_wide, dict),
        readings=readings(),
    )
    workspace.floors = floors_for(tiny_wide.files.weights_digest)
    workspace._models["model"] = tiny_wide
    agent.at = workspace
    run_evaluation(workspace)
    return workspace


def test_a_second_implementation_finds_the_reports_verdicts_in_the_log_alone(at):
    plan = at.run.plan
    (written,) = at.settings.reports.glob("*/report.json")
    report = json.loads(written.read_text(encoding="utf-8"))
    told = {row["id"]: (row["verdict"], [part["verdict"] for part in row["parts"]]) for row in report["criteria"]}
    found = second_opinion.verdicts(
        scope_folder(at.settings.home, plan.scope), model=plan.weights_digest, generator=plan.generator_version
    )
    assert found == told
    assert tuple(told) == DECIDED
    assert {verdict for _, verdicts in told.values() for verdict in verdicts} == {"PASS", "INCONCLUSIVE"}


def test_a_report_over_a_table_of_an_earlier_version_names_the_table_and_the_command(at, monkeypatch, capsys):
    path = at.run_lake / "answer_attribution.parquet"
    whole = pq.read_table(path)
    older = whole.drop_columns(["label", "role"]).replace_schema_metadata(whole.schema.metadata)
    pq.write_table(older, path)
    home, model = at.settings.home, at.settings.model
    monkeypatch.setattr("sys.argv", ["veritas", "--home", str(home), "--model", model, "report"])
    with pytest.raises(SystemExit) as stop:
        main()
    pq.write_table(whole, path)
    said = capsys.readouterr()
    assert (stop.value.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert said.err.startswith(f"veritas: table answer_attribution in {path.parent} has no column label, role: ")
    assert "makes it again: `veritas --model wide evaluate --seed 3 --gate cuts-v1`" in said.err
