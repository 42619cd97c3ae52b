"""`veritas audit-eval`: the table, the document, and exit codes."""

from __future__ import annotations

import json

import pytest

from tests.evals.eval_audit import logs

TEN = [logs.sample(number, "C" if number < 8 else "I") for number in range(10)]


@pytest.fixture
def log(tmp_path):
    return logs.write(tmp_path / "log.json", logs.inspect_log(TEN, accuracy=0.8, stderr=0.0))


def test_the_corrected_figure_stands_beside_the_reported_one(veritas, log):
    done = veritas("audit-eval", log)
    assert (done.code, done.err) == (0, "")
    assert f"{log}\n  inspect run of towns by mock/one, 10 answers\n" in done.out
    assert "reported accuracy 0.800 ± 0.000; by its answers 0.800 [0.444, 0.975], Clopper–Pearson, n = 10" in done.out
    assert "wrong zero-error (match): the standard error is reported as 0" in done.out
    assert "corrected 0.800 [0.444, 0.975], Clopper–Pearson, n = 10" in done.out
    assert "by    " not in done.out, "the method stands beside the figure already"
    assert done.out.endswith("1 run read; findings: 1 wrong, 0 to check\n")


def test_two_runs_are_compared(veritas, log, tmp_path):
    other = [logs.sample(number, "C") for number in range(10)]
    second = logs.write(tmp_path / "other.json", logs.inspect_log(other, accuracy=1.0, stderr=0.0, model="mock/two"))
    done = veritas("audit-eval", log, second)
    assert f"{log}\n  against {second}\n" in done.out
    assert "10 pairs, right in one only: 0 and 2, exact McNemar p = 0.5" in done.out
    assert "; by pairs it is -0.200 [" in done.out


def test_json_holds_everything(veritas, log):
    done = veritas("audit-eval", log, "--json")
    (run,) = done.json["runs"]
    assert (run["format"], run["task"], run["model"], run["rows"], run["planned"]) == (
        "inspect",
        "towns",
        "mock/one",
        10,
        10,
    )
    (finding,) = run["findings"]
    assert (finding["check"], finding["weight"], finding["scorer"]) == ("zero-error", "wrong", "match")
    assert round(finding["corrected"]["low"], 3) == 0.444
    assert done.json["comparisons"] == done.json["failed"] == done.json["skipped"] == []


def test_an_undefined_figure_is_its_reason(veritas, tmp_path):
    path = logs.write(tmp_path / "log.json", logs.inspect_log([], accuracy=1.0, stderr=0.0, total=0))
    assert "undefined (nothing was scored)" in veritas("audit-eval", path).out
    (scorer,) = veritas("audit-eval", path, "--json").json["runs"][0]["scorers"]
    assert scorer["figure"] == {"reason": "nothing was scored"}


def test_clusters_that_the_user_names(veritas, tmp_path):
    samples = [logs.sample(n, "C" if n % 2 else "I", metadata={"passage": n // 4}) for n in range(40)]
    path = logs.write(tmp_path / "log.json", logs.inspect_log(samples))
    assert "clusters-ignored" not in veritas("audit-eval", path).out
    assert "40 answers share 10 values of `passage`" in veritas("audit-eval", path, "--cluster", "passage").out


def test_what_a_log_says_cannot_command_the_terminal(veritas, tmp_path):
    samples = [logs.sample("\x1b[31m1", None, error={"message": "\x1b]0;title\x07"}), *TEN]
    log = logs.inspect_log(samples, accuracy=0.8, stderr=0.1, model="\x1b[2J")
    assert veritas("audit-eval", logs.write(tmp_path / "log.json", log)).code == 0


def test_a_damaged_log_is_one_line(veritas, tmp_path):
    path = tmp_path / "cut.json"
    path.write_text('{"eval": {"task": ')
    assert str(path) in veritas("audit-eval", path).refused(1)
    assert "there is no such file or folder" in veritas("audit-eval", tmp_path / "none").refused(1)
    assert "Missing argument" in veritas("audit-eval").refused(2)


@pytest.mark.usefixtures("log")
def test_in_a_folder_the_rest_is_read_and_the_code_says_that_something_was_not(veritas, tmp_path):
    (tmp_path / "cut.json").write_text('{"eval": {"task": ')
    (tmp_path / "notes.txt").write_text("notes")
    done = veritas("audit-eval", tmp_path)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"veritas: {tmp_path / 'cut.json'}: ")
    assert "1 run read" in done.out
    assert f"{tmp_path / 'notes.txt'}: skipped, is neither JSON nor a zip" in done.out
    found = json.loads(veritas("audit-eval", tmp_path, "--json").out)
    assert [len(found[part]) for part in ("runs", "failed", "skipped")] == [1, 1, 1]
