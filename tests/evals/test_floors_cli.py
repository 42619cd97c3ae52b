from __future__ import annotations

from attribution.blocks import BlockCache
from attribution.decision import calibrate
from attribution.decision.floor_table import FloorTable
from attribution.scorers.transformers_scorer import TransformersScorer
from evals import floors_cli
from evals.null_floors import BINS, null_statistics


def test_the_table_holds_what_the_null_claims_of_each_bin_show(tiny_files, tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(floors_cli, "BINS", BINS[:1])
    arguments = ["--model", str(tiny_files.path), "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)]
    assert floors_cli.main([*arguments, "--threads", "1", "--claims", "38"]) == 0
    path = tmp_path / f"{tiny_files.name}.json"
    printed = capsys.readouterr()
    assert printed.out == f"{path}\n"
    assert printed.err.splitlines() == [
        "bin 1 of 1 (notes-v1): 20 of 38 claims",
        "bin 1 of 1 (notes-v1): 38 of 38 claims",
    ]
    (row,) = FloorTable.decode(path.read_bytes().rstrip(b"\n")).rows
    assert (row.n, row.status, row.template, row.dtype) == (38, "provisional", "notes-v1", "float32")
    assert row.weights_digest == tiny.files.weights_digest
    wanted = floors_cli.replace(BINS[0], n=38)
    scorer = TransformersScorer(tiny)
    kept = BlockCache(tmp_path / "cache" / "blocks")
    families = [list(null_statistics(tiny, scorer, kept, wanted, one)) for one in (wanted.plain, wanted.same_entity)]
    expected = calibrate(*families)
    assert 0 <= row.floor().tau - expected.tau < 0.001
    assert 0 <= row.floor().tau_total - expected.tau_total < 0.001


def test_too_few_claims_write_no_table(tiny_files, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(floors_cli, "BINS", BINS[:1])
    arguments = ["--model", str(tiny_files.path), "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)]
    assert floors_cli.main([*arguments, "--threads", "1", "--claims", "4"]) == 1
    assert "no bin had enough null claims" in capsys.readouterr().err
    assert list(tmp_path.glob("*.json")) == []


def test_an_unknown_model_is_one_line(tmp_path, capsys):
    assert floors_cli.main(["--model", "no-such-model", "--cache", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("floors: no model 'no-such-model'")
