"""Each check on a log made to have exactly its fault: what it says, which answers it names, what should stand there."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from evals.eval_audit import audit
from evals.eval_audit.findings import Check
from tests.evals.eval_audit import logs
from tests.tree import ROOT


@pytest.fixture
def audited(tmp_path):
    def read(*values, cluster=None):
        paths = [logs.write(tmp_path / f"log-{number}.json", value) for number, value in enumerate(values)]
        return audit(paths, cluster=cluster)

    return read


def only(report, check):
    """The one finding of a kind; every test that uses it proves that the kind occurs."""
    found = [finding for finding in report.findings if finding.check == check]
    assert len(found) == 1, [finding.check for finding in report.findings]
    return found[0]


def checks(report) -> list[str]:
    return sorted(finding.check for finding in report.findings)


RIGHT_ERROR = math.sqrt(0.8 * 0.2 * 10 / 9 / 10)
"""Of eight right in ten: √(Σ(x − 0.8)²/9/10)."""


def ten(right: int = 8, **more):
    return [logs.sample(number, "C" if number < right else "I", **more) for number in range(10)]


class TestSound:
    def test_a_log_whose_figures_are_what_they_say_has_no_finding(self, audited):
        samples = [logs.sample(number, "C" if number < 60 else "I") for number in range(100)]
        error = math.sqrt(0.6 * 0.4 / 99)
        report = audited(logs.inspect_log(samples, accuracy=0.6, stderr=error))
        assert checks(report) == []
        (scorer,) = report.runs[0].scorers
        assert (scorer.answers, scorer.samples, scorer.reported) == (100, 100, "accuracy 0.600 ± 0.049")
        # Clopper-Pearson for 60 of 100, from a table.
        assert (round(scorer.figure.low, 4), round(scorer.figure.high, 4)) == (0.4972, 0.6967)

    @pytest.mark.parametrize(
        ("value", "number"), [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (True, 1), ("0.25", 0.25), ("yes", 1)]
    )
    def test_grades_are_read_as_the_program_reads_them(self, audited, value, number):
        report = audited(logs.inspect_log([logs.sample(1, value), logs.sample(2, "C")]))
        assert report.runs[0].scorers[0].figure.estimate == (number + 1) / 2


class TestAnswers:
    def test_errors_that_left_the_denominator(self, audited):
        samples = [*ten()[:8], *(logs.sample(n, None, error={"message": "boom\nat line 3"}) for n in (8, 9))]
        report = audited(logs.inspect_log(samples, accuracy=1.0, stderr=0.0))
        found = only(report, "errors-left-out")
        assert found.weight == "wrong"
        assert "2 of 10 answers failed" in found.says
        assert found.reported == "accuracy 1.000 ± 0.000"
        assert found.answers.first == ("8: boom", "9: boom")
        # 8 of 10 at worst (low end 0.444), 10 of 10 at best.
        assert (round(found.corrected.low, 3), found.corrected.high, found.corrected.n) == (0.444, 1.0, 10)

    def test_an_answer_that_failed_and_was_scored_all_the_same_counts(self, audited):
        samples = [*ten()[:9], logs.sample(9, "I", error={"message": "boom"})]
        assert "errors-left-out" not in checks(audited(logs.inspect_log(samples, accuracy=0.8, stderr=RIGHT_ERROR)))

    def test_answers_without_a_score(self, audited):
        samples = [*ten()[:8], logs.sample(8, None), logs.sample(9, None)]
        found = only(audited(logs.inspect_log(samples, accuracy=1.0, stderr=0.01)), "unscored-left-out")
        assert found.answers.first == ("8", "9")
        assert found.says == "2 of 10 answers have no score and are not in the denominator"
        assert round(found.corrected.low, 3) == 0.444

    @pytest.mark.parametrize("value", [math.nan, "NaN", math.inf])
    def test_scores_that_are_no_number(self, audited, value):
        samples = [*ten()[:9], logs.sample(9, value)]
        found = only(audited(logs.inspect_log(samples, accuracy=8 / 9, stderr=0.1111)), "not-a-number")
        assert found.answers.count == 1
        assert found.answers.first[0].startswith("9: ")

    @pytest.mark.parametrize("value", ["perhaps", ["C"], None])
    def test_scores_that_cannot_be_read(self, audited, value):
        samples = [*ten()[:9], logs.sample(9) | {"scores": {"match": {"value": value}}}]
        found = only(audited(logs.inspect_log(samples, accuracy=8 / 9, stderr=0.1111)), "unreadable-score")
        assert found.answers.first == (f"9: {value}",)

    def test_answers_that_are_counted_and_not_there(self, audited):
        log = logs.inspect_log(ten(), accuracy=0.8, stderr=RIGHT_ERROR, total=12, dataset=12)
        found = only(audited(log), "answers-missing")
        assert found.says == "12 answers are counted and 10 are in the log: 2 cannot be checked"
        assert found.corrected.n == 12

    def test_answers_that_are_not_there_are_no_more_samples_than_the_data_set_has(self, audited):
        """Of a data set of one sample, four answers are four epochs: a unit, not four."""
        log = logs.inspect_log([logs.sample(1, None, epoch=4)], accuracy=1.0, stderr=0.0, total=4, dataset=1)
        report = audited(log)
        figure = only(report, "answers-missing").corrected
        assert (figure.low, figure.high, figure.n) == (0.0, 1.0, 1)
        assert only(report, "unscored-left-out").says == (
            "1 of 1 answers have no score and may count as anything in the reported figure"
        )
        found = only(report, "zero-error")
        assert found.says.endswith("; if it holds of 1 sample, this is what stands there")
        assert (round(found.corrected.low, 3), found.corrected.high, found.corrected.n) == (0.025, 1.0, 1)

    def test_doubled_answers(self, audited):
        samples = [*ten(), logs.sample(0, "C"), logs.sample(1, "I"), logs.sample(1, "I")]
        report = audited(logs.inspect_log(samples, accuracy=9 / 13, stderr=0.13))
        found = only(report, "duplicated")
        assert "2 answers are logged more than once (3 rows too many), 1 of them with different scores" in found.says
        assert found.answers.first == ("0 epoch 1 × 2", "1 epoch 1 × 3")
        assert "other-mean" not in checks(report)
        assert report.runs[0].scorers[0].figure.estimate == 0.8

    def test_retries_of_errors_alone(self, audited):
        samples = [*ten()[:9], logs.sample(9, "I", error_retries=[{"message": "x"}, {"message": "y"}])]
        found = only(audited(logs.inspect_log(samples, accuracy=0.8, stderr=RIGHT_ERROR)), "retried")
        assert found.answers.first == ("9 (3 tries)",)

    def test_limits(self, audited):
        samples = [
            *ten()[:7],
            *(
                logs.sample(n, v, limit={"type": t, "limit": 9})
                for n, v, t in ((7, "C", "token"), (8, "I", "token"), (9, "I", "message"))
            ),
        ]
        found = only(audited(logs.inspect_log(samples, accuracy=0.8, stderr=RIGHT_ERROR)), "limits-hit")
        assert "a limit ended 3 of 10 answers (message: 1, token: 2); they scored 1 in all" in found.says
        # 7 of 10 at worst, 10 of 10 at best.
        assert (round(found.corrected.low, 4), found.corrected.high) == (0.3475, 1.0)

    def test_empty_answers(self, audited):
        empty = {"output": {"choices": [{"message": {"role": "assistant", "content": ""}}]}}
        called = {
            "output": {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}}]}
        }
        samples = [*ten()[:8], logs.sample(8, "I", **empty), logs.sample(9, "I", **called)]
        found = only(audited(logs.inspect_log(samples, accuracy=0.8, stderr=RIGHT_ERROR)), "empty-answers")
        assert found.answers.first == ("8",)

    def test_a_run_that_did_not_finish(self, audited):
        found = only(
            audited(logs.inspect_log(ten(), accuracy=0.8, stderr=RIGHT_ERROR, status="error")), "stopped-early"
        )
        assert "“error”" in found.says

    def test_a_part_of_the_data_set(self, audited):
        found = only(audited(logs.inspect_log(ten(), accuracy=0.8, stderr=RIGHT_ERROR, dataset=500)), "subset")
        assert "10 of the data set's 500 samples" in found.says

    def test_a_log_without_samples(self, audited):
        report = audited(logs.inspect_log([], accuracy=0.0, stderr=0, total=1))
        assert "holds no answers" in only(report, "no-samples").says
        # Nothing of 1: upper end 1 − 0.025.
        assert only(report, "zero-error").corrected.high == pytest.approx(0.975)

    def test_a_log_with_reduced_scores_alone(self, audited):
        reductions = [{"scorer": "match", "samples": [{"sample_id": n, "value": float(n < 8)} for n in range(10)]}]
        log = logs.inspect_log([], accuracy=0.8, stderr=RIGHT_ERROR, total=10, reductions=reductions)
        report = audited(log)
        assert only(report, "no-samples").weight == "check"
        assert report.runs[0].scorers[0].figure.estimate == 0.8

    def test_answers_without_any_score(self, audited):
        found = only(audited(logs.inspect_log([logs.sample(n, None) for n in range(3)])), "no-scores")
        assert "none of 3 answers has a score" in found.says

    def test_rows_that_cannot_be_read(self, audited):
        found = only(
            audited(logs.inspect_log([*ten(), {"epoch": 1, "id": None}], accuracy=0.8, stderr=RIGHT_ERROR)),
            "unread-rows",
        )
        assert found.answers.first == ("sample 10",)


class TestFigures:
    def test_a_mean_that_the_answers_do_not_give(self, audited):
        found = only(audited(logs.inspect_log(ten(), accuracy=0.9, stderr=RIGHT_ERROR)), "other-mean")
        assert "give 0.8" in found.says
        assert found.corrected.estimate == 0.8

    def test_a_mean_that_counts_missing_answers_as_0_is_explained(self, audited):
        samples = [*ten()[:8], logs.sample(8, None), logs.sample(9, None)]
        report = audited(logs.inspect_log(samples, accuracy=0.8, stderr=0.1))
        assert "other-mean" not in checks(report)
        assert (
            only(report, "unscored-left-out").says
            == "2 of 10 answers have no score and count as 0 in the reported figure"
        )

    def test_of_several_reductions_the_mean_is_no_fault(self, audited):
        samples = [logs.sample(n, "C" if e == 1 and n < 8 else "I", epoch=e) for n in range(10) for e in (1, 2)]
        log = logs.inspect_log(
            samples, accuracy=0.4, stderr=RIGHT_ERROR / 2, config={"epochs": 2, "epochs_reducer": ["mean", "max"]}
        )
        (plain,) = log["results"]["scores"]
        best = plain | {"reducer": "max", "metrics": {"accuracy": {"name": "accuracy", "value": 0.8}}}
        log["results"]["scores"] = [best, plain | {"reducer": "mean"}]
        report = audited(log)
        found = [(finding.weight, finding.reported) for finding in report.findings if finding.check == "epochs-reduced"]
        assert found == [("wrong", "accuracy 0.800"), ("check", "accuracy 0.400 ± 0.067")]
        assert "other-mean" not in checks(report)

    @pytest.mark.parametrize("value", ["NaN", math.nan])
    def test_a_mean_that_is_no_number(self, audited, value):
        found = only(audited(logs.inspect_log(ten(), accuracy=value, stderr=RIGHT_ERROR)), "other-mean")
        assert found.says == "the reported accuracy is no number"

    def test_no_error(self, audited):
        found = only(audited(logs.inspect_log(ten(), accuracy=0.8)), "no-error")
        assert (round(found.corrected.low, 4), round(found.corrected.high, 4)) == (0.4439, 0.9748)

    @pytest.mark.parametrize(("right", "low", "high"), [(10, 0.6915, 1.0), (0, 0.0, 0.3085), (8, 0.4439, 0.9748)])
    def test_an_error_of_zero(self, audited, right, low, high):
        found = only(audited(logs.inspect_log(ten(right), accuracy=right / 10, stderr=0.0)), "zero-error")
        assert (round(found.corrected.low, 4), round(found.corrected.high, 4)) == (low, high)
        assert found.corrected.method == "Clopper–Pearson"

    def test_an_error_that_the_answers_do_not_give(self, audited):
        found = only(audited(logs.inspect_log(ten(), accuracy=0.8, stderr=0.05)), "other-error")
        assert "0.1333, not the reported 0.0500" in found.says

    def test_an_error_that_promises_more_than_all(self, audited):
        found = only(audited(logs.inspect_log(ten(), accuracy=0.8, stderr=RIGHT_ERROR)), "outside-range")
        assert "[0.539, 1.061]" in found.says

    def test_epochs_averaged(self, audited):
        samples = [logs.sample(n, "C" if (n + e) % 3 else "I", epoch=e) for n in range(12) for e in (1, 2, 3)]
        log = logs.inspect_log(samples, accuracy=2 / 3, stderr=0.0, config={"epochs": 3, "epochs_reducer": ["mean"]})
        found = only(audited(log), "epochs-reduced")
        assert found.weight == "check"
        assert "36 answers in 3 epochs become 12 scores by mean" in found.says
        assert found.corrected.n == 12

    def test_epochs_reduced_to_the_best(self, audited):
        samples = [logs.sample(n, "C" if e == 1 and n < 8 else "I", epoch=e) for n in range(10) for e in (1, 2)]
        log = logs.inspect_log(
            samples, accuracy=0.8, stderr=RIGHT_ERROR, config={"epochs": 2, "epochs_reducer": ["max"]}
        )
        report = audited(log)
        found = only(report, "epochs-reduced")
        assert found.weight == "wrong"
        assert found.corrected.estimate == 0.4
        assert "other-mean" not in checks(report)

    def test_an_error_over_all_answers_of_several_epochs(self, audited):
        samples = [logs.sample(n, "C" if n < 6 else "I", epoch=e) for n in range(10) for e in (1, 2, 3, 4)]
        error = math.sqrt(0.6 * 0.4 / 39)
        report = audited(logs.inspect_log(samples, accuracy=0.6, stderr=error, config={"epochs": 4}))
        found = only(report, "clusters-ignored")
        # Each sample answers alike four times: the clustered error is that of ten answers, √(10/9 · 10 · 16 · 0.24) / 40.
        assert f"{math.sqrt(10 / 9 * 10 * 16 * 0.24) / 40:.4f}" in found.says

    @staticmethod
    def by_passage():
        """Twenty passages of five questions; all of a passage are right or wrong together."""
        return [
            logs.sample(
                n, "C" if (n // 5) % 2 else "I", metadata={"passage": f"p{n // 5}", "number": n, "kind": "fixed"}
            )
            for n in range(100)
        ]

    def test_samples_that_share_a_passage(self, audited):
        naive = math.sqrt(0.25 * 100 / 99 / 100)
        found = only(audited(logs.inspect_log(self.by_passage(), accuracy=0.5, stderr=naive)), "clusters-ignored")
        clustered = math.sqrt(20 / 19 * 20 * 2.5**2) / 100
        assert found.weight == "check"
        assert f"100 answers share 20 values of `passage`: the error is {clustered:.4f}" in found.says
        assert f"{clustered / naive:.2f} times as large" in found.says
        assert found.corrected.n == 20
        assert found.answers.first[0] == "p0 × 5"

    def test_a_cluster_that_the_user_names_is_no_guess(self, audited):
        samples = [logs.sample(n, "C" if n % 2 else "I", metadata={"passage": f"p{n // 5}"}) for n in range(100)]
        naive = math.sqrt(0.25 * 100 / 99 / 100)
        log = logs.inspect_log(samples, accuracy=0.5, stderr=naive)
        assert checks(audited(log)) == []
        assert only(audited(log, cluster="passage"), "clusters-ignored").weight == "wrong"

    def test_an_error_clustered_by_the_passage_is_right(self, audited):
        clustered = math.sqrt(20 / 19 * 20 * 2.5**2) / 100
        log = logs.inspect_log(self.by_passage(), accuracy=0.5, stderr=clustered, options={"cluster": "passage"})
        assert checks(audited(log)) == []

    def test_scores_outside_the_unit_interval_have_a_t_interval(self, audited):
        samples = [logs.sample(n, float(n)) for n in range(5)]
        report = audited(logs.inspect_log(samples, accuracy=2.0, stderr=math.sqrt(0.5)))
        figure = report.runs[0].scorers[0].figure
        # 2 ± 2.776 · √(2.5/5)
        assert (figure.method, round(figure.low, 3), round(figure.high, 3)) == ("t", 0.037, 3.963)
        assert checks(report) == []


class TestPairs:
    def runs(self):
        """Ninety-four samples answered alike, six that only the second run gets right."""
        ours = [logs.sample(n, "C" if n < 50 else "I") for n in range(100)]
        theirs = [logs.sample(n, "C" if n < 56 else "I") for n in range(100)]
        return (
            logs.inspect_log(ours, accuracy=0.5, stderr=math.sqrt(0.25 / 99)),
            logs.inspect_log(theirs, accuracy=0.56, stderr=math.sqrt(0.56 * 0.44 / 99), model="mock/two"),
        )

    def test_a_difference_is_told_by_pairs(self, audited):
        report = audited(*self.runs())
        found = only(report, "unpaired")
        (comparison,) = report.comparisons
        assert (comparison.pairs, comparison.discordant) == (100, (0, 6))
        assert comparison.mcnemar.value == pytest.approx(2 / 2**6)
        assert comparison.unpaired.estimate == pytest.approx(-0.06)
        assert comparison.unpaired.low < -0.19 < 0.07 < comparison.unpaired.high
        # Side by side it may be nothing; by pairs it is not.
        assert comparison.paired.high < 0
        assert found.corrected == comparison.paired

    def test_equal_ids_with_other_inputs_are_no_pairs(self, audited):
        ours, theirs = self.runs()
        theirs["samples"][3]["input"] = "another question"
        assert only(audited(ours, theirs), "other-inputs").answers.first == ("3",)

    def test_other_samples_and_other_tasks_are_not_compared(self, audited):
        ours, theirs = self.runs()
        for each in theirs["samples"]:
            each["id"] += 1000
        assert audited(ours, theirs).comparisons == ()
        _, theirs = self.runs()
        theirs["eval"]["task"] = "rivers"
        assert audited(ours, theirs).comparisons == ()


class TestLmEval:
    def test_samples_with_their_results(self, tmp_path):
        lines = [logs.lm_line(n, {"exact_match": float(n < 6), "f1": n / 10}) for n in range(10)]
        path = logs.lm_samples(tmp_path, lines)
        error = math.sqrt(0.24 * 10 / 9 / 10)
        logs.lm_results(
            tmp_path, {"exact_match,none": 0.6, "exact_match_stderr,none": error, "f1,none": 0.45, "f1_stderr,none": "N/A"},
            effective=10, original=50,
        )  # fmt: skip
        report = audit([path])
        run = report.runs[0].run
        assert (run.format, run.task, run.model, run.scorers) == (
            "lm-eval",
            "towns",
            "mock",
            ("exact_match,none", "f1,none"),
        )
        assert checks(report) == ["no-error", "subset"]
        assert only(report, "no-error").scorer == "f1,none"
        assert "10 of the data set's 50" in only(report, "subset").says

    def test_filters_of_one_sample_are_one_answer_and_a_second_line_of_one_is_a_double(self, tmp_path):
        lines = [
            logs.lm_line(n, {"exact_match": float(used == "loose")}, used=used)
            for n in range(5)
            for used in ("strict", "loose")
        ]
        report = audit([logs.lm_samples(tmp_path, lines)])
        assert [(s.scorer, s.figure.estimate) for s in report.runs[0].scorers] == [
            ("exact_match,strict", 0.0),
            ("exact_match,loose", 1.0),
        ]
        assert "duplicated" not in checks(report)
        doubled = audit([logs.lm_samples(tmp_path / "again", [*lines, lines[0]])])
        assert only(doubled, "duplicated").answers.first == ("0 epoch 1 × 2",)

    def test_questions_about_one_text_belong_together(self, tmp_path):
        passage = {n: f"A long passage about town {n}. " * 8 for n in range(10)}
        lines = [logs.lm_line(n, {"acc": (n // 6) % 2}, passage=passage[n // 6]) for n in range(60)]
        found = only(audit([logs.lm_samples(tmp_path, lines)]), "clusters-ignored")
        assert "60 answers share 10 values of `passage`" in found.says
        assert found.answers.first[0].startswith("a text of ")

    def test_lines_that_are_cut_off_are_counted_and_the_rest_is_read(self, tmp_path):
        lines = [logs.lm_line(0, {"acc": 1}), '{"doc_id": 1, "resps": [[', logs.lm_line(2, {"acc": 0}), "7"]
        report = audit([logs.lm_samples(tmp_path, lines)])
        found = only(report, "unread-rows")
        assert found.answers.first == ("line 2", "line 4")
        assert report.runs[0].scorers[0].figure.estimate == 0.5

    def test_empty_generations_are_pointed_at_and_likelihoods_are_none(self, tmp_path):
        lines = [logs.lm_line(0, {"acc": 1}), logs.lm_line(1, {"acc": 0}, said=" "), logs.lm_line(2, {"acc": 0})]
        lines[2]["resps"] = [[[-1.5, False]], [[-2.5, False]]]
        assert only(audit([logs.lm_samples(tmp_path, lines)]), "empty-answers").answers.first == ("1",)

    def test_metrics_of_old_files_are_the_fields_that_are_no_others(self, tmp_path):
        line = {
            "doc_id": 3,
            "doc": {},
            "target": "x",
            "resps": [["a"]],
            "filtered_resps": ["a"],
            "acc": 1.0,
            "note": "n",
        }
        path = logs.write(tmp_path / "samples_towns.json", [line])
        assert audit([path]).runs[0].run.scorers == ("acc,none",)


class TestTauBench:
    def test_trials_of_one_task_are_no_independent_answers(self, tmp_path):
        trials = [logs.trial(task, number, float(task % 2)) for task in range(20) for number in range(4)]
        report = audit([logs.write(tmp_path / "airline.json", trials)])
        naive, clustered = math.sqrt(0.25 / 79), math.sqrt(20 / 19 * 20 * 4) / 80
        found = only(report, "clusters-ignored")
        assert f"80 answers share 20 tasks: the error is {clustered:.4f} clustered by it and {naive:.4f}" in found.says
        assert f"{clustered / naive:.2f} times as large" in found.says
        assert only(report, "no-error").corrected.n == 20

    def test_a_trial_that_an_exception_ended_is_a_failure_that_counts_as_wrong(self, tmp_path):
        trials = [logs.trial(task, 0, 1.0) for task in range(9)] + [logs.trial(9, 0, 0.0, error="rate limit\n…")]
        found = only(audit([logs.write(tmp_path / "airline.json", trials)]), "errors-as-failures")
        assert "1 of 10 answers failed and are written as a score of 0" in found.says
        assert found.answers.first == ("task 9: rate limit",)
        # 9 of 10 at worst, 10 of 10 at best.
        assert (round(found.corrected.low, 3), found.corrected.high) == (0.555, 1.0)

    def test_two_files_of_one_environment_are_compared_whatever_they_are_called(self, tmp_path):
        def trials(right: int, policy: str = "You serve travellers.") -> list[dict]:
            made = [logs.trial(task, 0, float(task < right)) for task in range(10)]
            for each in made:
                each["traj"].insert(0, {"role": "system", "content": policy})
            return made

        one = logs.write(tmp_path / "model-one.json", trials(5))
        two = logs.write(tmp_path / "model-two.json", trials(7))
        shop = logs.write(tmp_path / "shop.json", trials(7, policy="You sell shoes."))
        (comparison,) = audit([one, two, shop]).comparisons
        assert (comparison.left, comparison.right, comparison.discordant) == (str(one), str(two), (0, 2))


def test_every_kind_of_finding_is_documented_and_tested():
    page = (ROOT / "docs/eval-audit.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests/evals/eval_audit/test_checks.py").read_text(encoding="utf-8")
    for check in get_args(Check):
        assert f"| `{check}` |" in page
        assert f'"{check}"' in tests
