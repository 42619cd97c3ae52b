"""Files: what is read, what is refused in one line, folders, and the real logs."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.errors import EvalLogError
from evals.eval_audit import audit
from evals.eval_audit.standard_errors import clustered_error, naive_error
from evals.statistics import Undefined
from tests.evals.eval_audit import logs
from tests.shared import SHARED, shared_path

LOG = logs.inspect_log([logs.sample(n, "C" if n < 2 else "I") for n in range(4)], accuracy=0.5, stderr=0.28867513459)


def real_files(relative: str) -> list[Path]:
    return sorted(path for path in (SHARED / relative).rglob("*") if path.is_file())


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "data", "words"),
        [
            ("a.json", b"", "is empty"),
            ("a.json", b'{"version": 2, "status": "succ', "cut off"),
            ("a.json", b"{}", "is JSON of another form; pass an Inspect log"),
            ("a.json", b"[1, 2]", "is a list of something else"),
            ("a.json", b'{"eval": 1}', "is JSON of another form"),
            ("a.json", b'{"results": {}, "configs": {}}', "read beside its samples"),
            ("a.json", b"plain text", "is neither JSON nor a zip"),
            ("a.json", b"\x1f\x8b\x08", "gunzip"),
            ("a.json", b'{"a": "\xff"}', "not UTF-8"),
            ("a.eval", b"PK\x03\x04 and no more", "is a broken zip"),
        ],
    )
    def test_what_is_no_log_is_one_line(self, tmp_path, name, data, words):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(EvalLogError, match=words) as caught:
            audit([path])
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)

    def test_what_is_not_there(self, tmp_path):
        with pytest.raises(EvalLogError, match="there is no such file or folder"):
            audit([tmp_path / "none"])

    def test_a_zip_that_is_no_log(self, tmp_path):
        path = tmp_path / "a.eval"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
        with pytest.raises(EvalLogError, match=r"is a zip without header\.json"):
            audit([path])


class TestFolders:
    def test_a_folder_is_walked_and_what_is_damaged_is_listed_while_the_rest_is_read(self, tmp_path):
        logs.write(tmp_path / "runs/a.json", LOG)
        logs.write_zip(tmp_path / "runs/b.eval", LOG)
        logs.write(tmp_path / ".hidden/c.json", LOG)
        (tmp_path / "runs/README.md").write_text("# Runs")
        (tmp_path / "runs/cut.json").write_text('{"eval": ')
        report = audit([tmp_path])
        assert [Path(each.run.path).name for each in report.runs] == ["a.json", "b.eval"]
        assert [Path(path).name for path, _ in report.skipped] == ["README.md"]
        assert [Path(path).name for path, _ in report.failed] == ["cut.json"]
        assert len(report.comparisons) == 1

    def test_a_zip_and_a_document_of_one_log_say_the_same(self, tmp_path):
        plain = audit([logs.write(tmp_path / "a.json", LOG)]).runs[0]
        packed = audit([logs.write_zip(tmp_path / "a.eval", LOG)]).runs[0]
        assert plain.findings == packed.findings
        assert plain.scorers == packed.scorers

    def test_an_entry_that_cannot_be_unpacked_is_a_row_that_is_not_read(self, tmp_path):
        path = logs.write_zip(tmp_path / "a.eval", LOG)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("samples/9_epoch_1.json", "{")
        (found,) = [each for each in audit([path]).findings if each.check == "unread-rows"]
        assert found.answers.first == ("samples/9_epoch_1.json",)


def test_old_results_and_an_old_sample_are_read(tmp_path):
    log = logs.inspect_log([logs.sample(1, None, score={"value": "C"}), logs.sample(2, None, score={"value": "I"})])
    log["results"] = {
        "scorer": {"name": "match", "params": {}},
        "metrics": {
            "accuracy": {"name": "accuracy", "value": 0.5},
            "bootstrap_std": {"name": "bootstrap_std", "value": 0.33},
        },
    }
    (run,) = audit([logs.write(tmp_path / "a.json", log)]).runs
    assert [(each.scorer, each.reported, each.answers) for each in run.scorers] == [
        ("match", "accuracy 0.500 ± 0.330", 2)
    ]
    assert {finding.check for finding in run.findings} == {"other-error", "outside-range"}


def test_a_score_of_several_values_is_several_scorers(tmp_path):
    log = logs.inspect_log([logs.sample(n, {"tone": 1, "fact": n % 2}) for n in range(4)])
    (run,) = audit([logs.write(tmp_path / "a.json", log)]).runs
    assert [(each.scorer, each.figure.estimate) for each in run.scorers] == [("match.tone", 1.0), ("match.fact", 0.5)]


class TestRealFiles:
    @pytest.mark.parametrize("path", real_files("data/inspect-logs"), ids=lambda path: path.name)
    def test_every_inspect_log_is_read(self, path):
        (run,) = audit([path]).runs
        assert run.run.format == "inspect"
        assert run.findings

    def test_all_of_them_in_one_folder(self):
        report = audit([shared_path("data/inspect-logs")])
        assert len(report.runs) == len(real_files("data/inspect-logs")) == 14
        assert report.failed == report.skipped == ()

    def test_the_errors_of_tau_bench_are_half_again_as_large_by_task(self):
        (run,) = audit([shared_path("data/tau-bench/gpt-4o-airline-a.json")]).runs
        (reward,) = run.scorers
        assert (reward.answers, reward.samples) == (120, 30)
        assert reward.figure.estimate == pytest.approx(58 / 120)
        (found,) = [each for each in run.findings if each.check == "clusters-ignored"]
        assert (
            "the error is 0.0698 clustered by it and 0.0458 as if all were independent, 1.52 times as large"
            in found.says
        )


SCRAPS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["", "C", "NaN", "1e400", "success", "\ud800", "x" * 200]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "value", "epoch"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value, path=()):
    """The path of every part of a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(value, path, scrap):
    if not path:
        return scrap
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], scrap)
    return copy


WHOLE = {
    "inspect": logs.inspect_log(
        [
            logs.sample(
                n, "C", metadata={"passage": n}, limit={"type": "token"}, error_retries=[], output={"choices": []}
            )
            for n in range(3)
        ],
        accuracy=1.0,
        stderr=0.0,
        config={"epochs": 1, "epochs_reducer": ["mean"]},
    ),
    "tau-bench": [logs.trial(task, number, 1.0) for task in range(2) for number in range(2)],
    "lm-eval": [logs.lm_line(n, {"acc": 1.0}, passage="p") for n in range(3)],
}


def outcome_of(file):
    """The report, or the message of the one error that is meant for it; any other error is the test's."""
    try:
        return audit([file]), None
    except EvalLogError as error:
        return None, str(error)


class TestHostileLogs:
    @pytest.mark.parametrize("form", sorted(WHOLE))
    @given(data=st.data())
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_whatever_stands_in_any_place_is_read_or_refused_and_never_a_traceback(self, form, data, tmp_path):
        path = data.draw(st.sampled_from(list(places(WHOLE[form]))))
        log = replaced(WHOLE[form], path, data.draw(SCRAPS))
        file = logs.write(tmp_path / "log.json", log)
        read, refused = outcome_of(file)
        if read is None:
            assert refused
            assert "\n" not in refused
            return
        assert len(read.runs) == 1
        for finding in read.findings:
            assert finding.corrected is None or finding.corrected.low <= finding.corrected.high


class TestStandardErrors:
    @given(values=st.lists(st.floats(-5, 5), min_size=2, max_size=30))
    @settings(max_examples=60)
    def test_clusters_of_one_give_the_naive_error(self, values):
        naive = naive_error(values)
        clustered = clustered_error({str(place): [value] for place, value in enumerate(values)})
        assert clustered == pytest.approx(naive, abs=1e-9)

    @given(values=st.lists(st.booleans(), min_size=2, max_size=12), copies=st.integers(1, 6))
    @settings(max_examples=60)
    def test_copies_of_every_value_leave_the_clustered_error_as_it_was(self, values, copies):
        once = clustered_error({str(place): [float(value)] for place, value in enumerate(values)})
        often = clustered_error({str(place): [float(value)] * copies for place, value in enumerate(values)})
        assert often == pytest.approx(once, abs=1e-12)

    def test_by_hand(self):
        assert naive_error([1.0, 0.0, 0.0, 1.0]) == pytest.approx(math.sqrt((4 * 0.25 / 3) / 4))
        # Two clusters whose deviations sum to +1 and −1: √(2/1 · 2) / 4.
        assert clustered_error({"a": [1.0, 1.0], "b": [0.0, 0.0]}) == pytest.approx(math.sqrt(4) / 4)

    def test_too_few_have_no_error(self):
        assert naive_error([1.0]) == Undefined("1 of the two values that a spread needs")
        assert isinstance(clustered_error({"a": [1.0, 0.0]}), Undefined)
