"""`veritas quorum-attack`: the study as a command, on small sets and without a model."""

from __future__ import annotations

import json

import pytest

from tests.evals.quorum_attack.toy import WordCounts, write_attack, write_honest


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("attribution.models.load_embedder", lambda _: WordCounts())


@pytest.fixture
def files(tmp_path):
    return {
        "fit": write_attack(tmp_path / "lies.json"),
        "check": write_attack(tmp_path / "tales.json", count=6),
        "honest": write_honest(tmp_path / "truths.jsonl"),
    }


def test_it_prints_both_sides_at_every_point_and_writes_the_page(veritas, files, tmp_path):
    out = tmp_path / "out"
    done = veritas(
        "quorum-attack",
        files["fit"],
        "--check",
        files["check"],
        "--honest",
        files["honest"],
        "--sample",
        2,
        "--out",
        out,
    )
    assert done.code == 0
    for point in ("seed-v4 (cosine 0.92, Jaccard 0.70)", "calibrated", "fitted"):
        assert point in done.out
    assert "attacks that pass, tales (check)" in done.out
    assert "Through a ledger: 12 questions, all as computed" in done.out
    assert done.out.endswith(f"Report: {out / 'index.html'}\n")
    assert (out / "index.html").is_file()
    # Where the files lie stays out of what is published.
    assert str(tmp_path) not in (out / "index.html").read_text() + (out / "quorum-attack.json").read_text()


def test_json(veritas, files):
    done = veritas("quorum-attack", files["fit"], "--honest", files["honest"], "--sample", 0, "--json")
    assert done.json["report"].endswith("quorum-attack/index.html")
    assert [point["name"] for point in done.json["points"]] == ["seed-v4", "calibrated", "fitted"]
    assert {figure["measure"] for figure in done.json["points"][0]["figures"]} == {"passing", "merged", "silenced"}
    assert done.err == ""


def test_what_cannot_be_is_one_line(veritas, files, tmp_path):
    assert (
        "absent.json cannot be read"
        in veritas("quorum-attack", tmp_path / "absent.json", "--honest", files["honest"]).refused()
    )
    assert "--honest" in veritas("quorum-attack", files["fit"]).refused(2)
    (tmp_path / "bad.jsonl").write_text(json.dumps({"question": "Q?"}))
    assert "known form" in veritas("quorum-attack", files["fit"], "--honest", tmp_path / "bad.jsonl").refused()
