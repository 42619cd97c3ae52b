"""Other people's records as scenarios: what is planted, that it is sound, and what is refused or left out."""

from __future__ import annotations

import json
import re
from collections import Counter
from hashlib import sha256

import pytest

from evals.agents.scripted import ScriptedAgent
from evals.arms import arm
from evals.errors import ScenarioError
from evals.matcher import match
from evals.mentions import ValueKind
from evals.recorder import ScenarioRecorder
from evals.scenarios import generate
from evals.scenarios.loaders import FORMATS, load, load_population
from evals.scenarios.loaders.planting import kind_of
from evals.trial_runner import ScenarioLog, run_trial
from evals.trials import Outcome
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from tests.evals.byte_model import byte_model, open_memory, shown
from tests.evals.scenarios.loaders import files
from tests.shared import shared_path

MADE = {"poisonedrag": files.attack_file, "conflictqa": files.conflict_file, "tau-bench": files.tau_file}
REAL = {
    "poisonedrag/nq.json": ("poisonedrag", 91, 91),
    "poisonedrag/hotpotqa.json": ("poisonedrag", 65, 65),
    "conflictqa/strategyqa-vicuna7b.jsonl": ("conflictqa", 537, 537),
    "tau-bench/gpt-4o-airline-a.json": ("tau-bench", 110, 30),
}
"""File -> format, records that are planted, clusters; counted once from these files."""


DIGESTS = {"poisonedrag": "d1b7e6d45fe6f40b", "conflictqa": "d95d214a4fd71c0b", "tau-bench": "387447858dd0dfc5"}
"""Of all scenarios of the small files; another value needs another LOADER_VERSION."""


def words(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)


@pytest.fixture(params=sorted(MADE))
def population(request, tmp_path):
    return load_population(request.param, MADE[request.param](tmp_path), seed=1)


def check_sound(scenario) -> None:
    """The planted values stand where they must and nowhere else."""
    question = scenario.question
    entries = {entry.key: entry for entry in scenario.entries}
    assert set(entries) == {"premise", "claim-1", "correction-a", "correction-b"}
    assert scenario.retracted == {"premise"}
    assert scenario.dependents == ("claim-1",)
    hosts = [entry.host for entry in scenario.entries if entry.host]
    assert len(set(hosts)) == 3
    assert all(host.endswith(".example") for host in hosts)
    claim = entries["claim-1"]
    assert claim.text == f"{claim.stem} {question.false}."
    assert f"{claim.stem} {question.true}." in claim.foils
    assert claim.text not in claim.foils
    assert match(question.expected, question.true) is Outcome.ASSERTS_TRUE
    assert match(question.expected, question.false) is Outcome.ASSERTS_FALSE
    for entry in scenario.entries:
        assert entry.swap != entry.text
        for third in question.third:
            assert words(third).search(entry.text) is None
    if question.kind is not ValueKind.YES_NO:
        assert words(question.false).search(entries["premise"].text)
        assert words(question.true).search(entries["premise"].text) is None
        for key in ("correction-a", "correction-b"):
            assert words(question.true).search(entries[key].text)
            assert words(question.false).search(entries[key].text) is None
            assert words(question.true).search(entries[key].swap) is None


class TestEveryFormat:
    def test_scenarios_are_sound(self, population):
        for scenario in population.scenarios:
            check_sound(scenario)

    def test_each_record_gives_both_orders_of_the_same_texts(self, population):
        for first, second in zip(population.scenarios[::2], population.scenarios[1::2], strict=True):
            assert (first.order, second.order) == ("premise-first", "corrections-first")
            assert first.wording == second.wording
            assert first.question == second.question
            assert {entry.key: entry.text for entry in first.entries} == {e.key: e.text for e in second.entries}
            assert first.entries[0].key == "premise"
            assert second.entries[0].key == "correction-a"

    def test_hosts_are_unique_so_that_reputation_does_not_leak(self, population):
        hosts = [entry.host for scenario in population.scenarios for entry in scenario.entries if entry.host]
        assert len(set(hosts)) == len(hosts)

    def test_ids_name_the_population_and_the_version_and_are_distinct(self, population):
        ids = [scenario.id for scenario in population.scenarios]
        assert len(set(ids)) == len(ids)
        assert all(name.startswith(f"{population.format}.l1.") for name in ids)

    @pytest.mark.parametrize("name", sorted(MADE))
    def test_equal_arguments_give_equal_scenarios_and_a_larger_limit_begins_with_the_same(self, name, tmp_path):
        path = MADE[name](tmp_path)
        every = load(name, path, seed=3)
        assert load(name, path, seed=3) == every
        assert load(name, path, limit=2, seed=3) == every[:4]
        assert {s.id for s in load(name, path, seed=4)} != {s.id for s in every}

    @pytest.mark.parametrize("name", sorted(MADE))
    def test_what_is_made_of_a_record_stays_the_same_under_one_version(self, name, tmp_path):
        digests = "".join(scenario.digest for scenario in load(name, MADE[name](tmp_path)))
        assert sha256(digests.encode()).hexdigest()[:16] == DIGESTS[name]

    @pytest.mark.parametrize("name", sorted(MADE))
    def test_the_name_of_the_file_does_not_enter(self, name, tmp_path):
        path = MADE[name](tmp_path)
        before = load(name, path)
        assert load(name, path.rename(tmp_path / "renamed")) == before

    def test_it_runs_through_an_arm_and_the_retraction_takes_premise_and_claim(self, population, tmp_path):
        scenario = population.scenarios[0]
        ledger = open_memory()
        parts = ScenarioRecorder(ledger, byte_model(tmp_path)).record(scenario)
        keys = {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}
        log = ScenarioLog(scenario, tuple(event.statement for event in ledger.events()), keys)
        agent = ScriptedAgent(lambda _: scenario.question.false)
        trial = run_trial(log, arm("2"), agent, byte_model(tmp_path), SEED_V4_CLUSTERS)
        assert trial.record.outcome is Outcome.ASSERTS_FALSE
        assert (trial.record.dependents, trial.record.dependents_left_standing) == (1, 0)
        prompt = shown(trial.prompt.ids)
        assert scenario.entry("premise").text not in prompt
        assert scenario.entry("correction-a").text in prompt


class TestPoisonedRag:
    def test_corrections_are_two_other_texts_with_the_answer_exchanged(self, tmp_path):
        for scenario in load("poisonedrag", files.attack_file(tmp_path)):
            false, true = scenario.question.false, scenario.question.true
            originals = {text.format(false) for text in files.TEXTS}
            premise = scenario.entry("premise").text
            restored = {scenario.entry(f"correction-{side}").text.replace(true, false) for side in "ab"}
            assert premise in originals
            assert restored < originals - {premise}
            assert len(restored) == 2

    def test_texts_that_name_both_answers_are_not_used(self, tmp_path):
        rows = files.attack_rows()
        rows["test0"]["adv_texts"][0] = "It is not Lisbon but Porto."
        rows["test1"]["adv_texts"][:2] = ["Toledo, not Madrid.", "Rather Toledo than Madrid."]
        population = load_population("poisonedrag", files.write(tmp_path / "a.json", rows))
        assert not any("not Lisbon" in entry.text for s in population.scenarios for entry in s.entries)
        assert [(each.place, each.reason) for each in population.skipped] == [
            ("record 'test1'", "fewer than 3 of its texts state the incorrect answer and not the correct one")
        ]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"correct answer": "S", "incorrect answer": "O"}, "one letter"),
            ({"question": "is it Porto or Lisbon"}, "names one of the answers"),
            ({"correct answer": "7", "incorrect answer": "seven"}, "cannot be told apart"),
            ({"correct answer": "3 May", "incorrect answer": "4 June"}, "fewer than 3 other answers of its kind"),
        ],
    )
    def test_records_that_plant_nothing_sound_are_left_out_with_the_reason(self, tmp_path, change, reason):
        rows = files.attack_rows()
        rows["test0"] |= change
        rows["test0"]["adv_texts"] = [text.format(rows["test0"]["incorrect answer"]) for text in files.TEXTS]
        population = load_population("poisonedrag", files.write(tmp_path / "a.json", rows))
        assert len(population.scenarios) == 6
        assert [reason in each.reason for each in population.skipped] == [True]

    def test_a_question_asked_twice_counts_once(self, tmp_path):
        rows = [*files.attack_rows().values(), files.attack_rows()["test2"]]
        population = load_population("poisonedrag", files.write(tmp_path / "a.json", rows))
        assert len(population.scenarios) == 8
        assert [each.place for each in population.skipped] == ["record 4"]


class TestConflictQa:
    def test_an_agent_that_always_says_yes_gains_nothing(self, tmp_path):
        rows = [files.conflict_row(number) for number in range(40)]
        made = load("conflictqa", files.write(tmp_path / "a.jsonl", rows, lines=True))
        truths = Counter(scenario.question.true for scenario in made)
        assert truths.keys() == {"yes", "no"}
        assert min(truths.values()) >= 20
        for scenario in made:
            wrong = "too wide" in scenario.question.text
            assert scenario.question.true == ("no" if wrong else "yes")
            assert scenario.variant == ("wrong-statement" if wrong else "right-statement")

    def test_passages_are_the_files_own_and_swaps_the_nearest_of_another_question(self, tmp_path):
        rows = {row["question"]: row for row in (files.conflict_row(number) for number in range(12))}
        for scenario in load("conflictqa", files.conflict_file(tmp_path)):
            number = int(re.search(r"Boat (\d+)", scenario.question.text)[1])
            row = rows[f"Could boat {number} pass the lock?"]
            for key, field in (
                ("premise", "parametric_memory"),
                ("correction-a", "counter_memory"),
                ("correction-b", "counter_memory_aligned_evidence"),
            ):
                entry = scenario.entry(key)
                assert entry.text == row[field]
                gaps = [abs(len(other[field]) - len(row[field])) for other in rows.values() if other is not row]
                assert abs(len(entry.swap) - len(entry.text)) == min(gaps)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"ground_truth": ["journalist", "writer"]}, "neither True nor False"),
            ({"memory_answer": "The claim cannot be made."}, "its own truth"),
            ({"memory_answer": "Boat 0 passes the lock"}, "say the same"),
            ({"parametric_memory": "  "}, "parametric_memory is empty"),
        ],
    )
    def test_records_that_plant_nothing_sound_are_left_out_with_the_reason(self, tmp_path, change, reason):
        rows = [files.conflict_row(0) | change, files.conflict_row(1), files.conflict_row(2)]
        population = load_population("conflictqa", files.write(tmp_path / "a.jsonl", rows, lines=True))
        assert len(population.scenarios) == 4
        assert [(each.place, reason in each.reason) for each in population.skipped] == [("line 1", True)]


class TestTauBench:
    def test_a_fact_is_planted_wrongly_in_the_tools_own_answer(self, tmp_path):
        answers = {
            row["traj"][-1]["content"] for row in json.loads(files.tau_file(tmp_path).read_text(encoding="utf-8"))
        }
        for scenario in load("tau-bench", files.tau_file(tmp_path)):
            false, true = scenario.question.false, scenario.question.true
            assert scenario.entry("correction-a").text in answers
            assert scenario.entry("premise").text.replace(false, true) == scenario.entry("correction-a").text
            assert scenario.question.text.startswith("What is the origin of R")
            assert scenario.entry("correction-b").text.endswith(f"is {true}.")

    def test_a_field_that_stands_twice_or_names_the_thing_is_no_fact(self, tmp_path):
        fields = {s.question.text.split(" of ")[0] for s in load("tau-bench", files.tau_file(tmp_path))}
        assert fields == {"What is the origin"}

    def test_clusters_are_tasks_whatever_the_trial(self, tmp_path):
        made = load("tau-bench", files.tau_file(tmp_path))
        assert set(Counter(scenario.wording for scenario in made).values()) == {4}
        assert len({scenario.wording for scenario in made}) == 6

    def test_a_trial_whose_tools_say_nothing_is_left_out_with_the_reason(self, tmp_path):
        rows = [files.trial(task, 0) for task in range(6)] + [files.trial(9, 0, error=True)]
        population = load_population("tau-bench", files.write(tmp_path / "a.json", rows))
        assert [(each.place, each.reason) for each in population.skipped] == [
            ("record 6", "no tool answers with a record of one thing")
        ]


class TestOwnRecords:
    def test_generated_scenarios_come_back_whole(self, tmp_path):
        made = generate("planted-premise", 3, 0)
        path = tmp_path / "mine.jsonl"
        path.write_bytes(b"\n".join(scenario.canonical_bytes() for scenario in made))
        assert sorted(s.id for s in load("scenarios", path)) == sorted(s.id for s in made)

    def test_an_unknown_field_is_refused_by_name(self, tmp_path):
        value = json.loads(generate("planted-premise", 1, 0)[0].canonical_bytes()) | {"mood": "bad"}
        with pytest.raises(ScenarioError, match=r"record 0.*mood"):
            load("scenarios", files.write(tmp_path / "mine.json", [value]))


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "row"),
        [
            ("poisonedrag", files.attack_rows()["test0"]),
            ("conflictqa", files.conflict_row(0)),
            ("tau-bench", files.trial(0, 0)),
        ],
    )
    def test_an_unknown_field_is_refused_by_name_and_a_missing_one_too(self, name, row, tmp_path):
        with pytest.raises(
            ScenarioError, match=r"bad, record 1: `mood` is a field this format does not have; a record has"
        ):
            load(name, files.write(tmp_path / "bad.json", [row, row | {"mood": "bad"}]))
        for field in row:
            if field == "popularity":
                continue
            less = {key: value for key, value in row.items() if key != field}
            with pytest.raises(ScenarioError, match=f"`{field}` is missing"):
                load(name, files.write(tmp_path / "bad.json", [less, less]))
            with pytest.raises(ScenarioError, match=f"record 0: `{field}`"):
                load(name, files.write(tmp_path / "bad.json", [row | {field: {"a": [1]} if field != "info" else 1}]))

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "is empty"),
            (b"[]", "holds no records"),
            (b"{", "no JSON"),
            (b'{"a": 1}\n{"a": \n', "line 2"),
            (b"[1, 2]", "record 0"),
            (b"\x1f\x8b\x08", "gunzip"),
            (b"\xff\xfe\x00", "UTF-16"),
        ],
    )
    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_a_file_that_is_none_is_refused_in_one_line(self, name, data, words, tmp_path):
        path = tmp_path / "bad"
        path.write_bytes(data)
        with pytest.raises(ScenarioError, match=words) as caught:
            load(name, path)
        assert "\n" not in str(caught.value)

    def test_a_missing_file_an_unknown_format_and_impossible_numbers(self, tmp_path):
        with pytest.raises(ScenarioError, match="cannot be read"):
            load("poisonedrag", tmp_path / "none.json")
        with pytest.raises(ScenarioError, match="no scenario format 'squad'; choose one of poisonedrag"):
            load("squad", files.attack_file(tmp_path))
        with pytest.raises(ScenarioError, match="limit = 0"):
            load("poisonedrag", files.attack_file(tmp_path), limit=0)
        with pytest.raises(ScenarioError, match="seed = -1"):
            load("poisonedrag", files.attack_file(tmp_path), seed=-1)

    def test_a_file_that_plants_nothing_says_why(self, tmp_path):
        row = files.conflict_row(0) | {"ground_truth": ["a journalist"]}
        with pytest.raises(ScenarioError, match="only yes-or-no questions are read"):
            load("conflictqa", files.write(tmp_path / "a.json", [row]))

    def test_text_that_no_context_can_hold_is_left_out_with_the_reason(self, tmp_path):
        rows = files.attack_rows()
        rows["test0"]["adv_texts"] = [text.format("Porto") + "\ue000" for text in files.TEXTS]
        population = load_population("poisonedrag", files.write(tmp_path / "a.json", rows))
        assert len(population.scenarios) == 6
        assert ["private-use" in each.reason for each in population.skipped] == [True]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("24 hours", "48 hours"), ValueKind.NUMBER),
        (("four years", "2"), ValueKind.NUMBER),
        (("March 23, 2018", "20 April"), ValueKind.DATE),
        (("1926", "1935"), ValueKind.NUMBER),
        (("May", "June"), ValueKind.MONTH),
        (("Elvis Presley", "Frank Sinatra"), ValueKind.NAME),
        (("30 years after Return of the Jedi", "100 years"), ValueKind.TERM),
        (("midpiece", "Head"), ValueKind.TERM),
        (("Sea of Japan", "Rome"), ValueKind.NAME),
    ],
)
def test_the_narrowest_kind_that_both_values_have(values, kind):
    assert kind_of(values) is kind


@pytest.mark.parametrize("relative", REAL)
def test_real_files_give_sound_scenarios(relative):
    path = shared_path(f"data/{relative}")
    name, records, clusters = REAL[relative]
    population = load_population(name, path)
    assert len(population.scenarios) == 2 * records
    assert len({scenario.wording for scenario in population.scenarios}) == clusters
    for scenario in population.scenarios:
        check_sound(scenario)
