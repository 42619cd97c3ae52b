"""The comparison with `context-cite`, at a size that shows that it works and measures nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attribution.designs import cube
from attribution.models import LanguageModel, load_language_model, resolve_model
from tests.attribution.tiny import make_tiny_model
from tests.bench.__main__ import main
from tests.bench.peer_contextcite import Peer, mean_interval
from tests.bench.peer_contextcite_contexts import context
from tests.bench.peer_contextcite_quality import findings


@pytest.fixture(scope="module")
def wide(tmp_path_factory) -> LanguageModel:
    """A tiny model that sees enough tokens for a trajectory of bytes."""
    folder = make_tiny_model(tmp_path_factory.mktemp("wide") / "wide", context_window=8192)
    return load_language_model(resolve_model(str(folder), folder), threads=1)


def test_a_context_is_the_same_for_the_same_number_and_another_for_another():
    one = context(3)
    assert one == context(3)
    assert one.sentences != context(4).sentences
    assert 10 <= len(one.sentences) <= 16
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in one.sentences)


def test_an_interval_of_paired_differences():
    mean, low, high = mean_interval([0.0, 0.1, 0.2])
    assert (mean, low, high) == (
        pytest.approx(0.1),
        pytest.approx(0.1 - 0.2484, abs=1e-3),
        pytest.approx(0.3484, abs=1e-3),
    )
    assert np.isnan(mean_interval([1.0])[1])


def document(lead, **changes):
    names = [f"{s}, {scale}" for scale in ("logit", "log p") for s in ("Lasso", "LassoCV", "RidgeCV", "OLS")]
    lds = {"fold-over, log p": 0.8 + lead, "fold-over, logit": 0.8 + lead} | dict.fromkeys(names, 0.8)
    drop = {name: [1.0, 2.0, 3.0] for name in lds}
    made = {
        "compared": True,
        "same_function_nats": 1e-4,
        "other_ids": 1,
        "held_out": 48,
        "passes": 32,
        "peer_passes": 64,
    }
    return made | {"batch": 4, "peer_seconds": 30.0, "ours_seconds": 5.0, "lds": lds, "drop": drop} | changes


def test_the_lines_say_who_wins_and_what_was_left_out():
    worse = [document(-0.1 - n / 100) for n in range(4)]
    lines = [one.line() for one in findings([*worse, {"compared": False}], 24)]
    assert "4 of 24 contexts reached" in lines[0]
    assert "1 left out because" in lines[0]
    assert "6.0 x (6.0–6.0), median 30.0 s against 5.0 s a response, n = 4" in lines[1]
    lead = "0.685 against 0.800 at 0.50 of its passes; lead -0.115 [-0.136, -0.094], n = 4 contexts"
    assert f"{lead}; the peer wins" in lines[2]
    assert not list(findings(worse, 4))[2].goals[0].met
    better = list(findings([document(0.1 + n / 100) for n in range(4)], 4))
    assert "ours wins" in better[2].line()
    assert better[2].goals[0].met
    undefined = document(0.1)
    undefined["lds"]["Lasso, log p"] = None
    assert "n = 3 contexts (1 without: a constant prediction)" in list(findings([*worse[:3], undefined], 4))[2].line()
    assert "no context of 1 could be compared" in next(iter(findings([{"compared": False}], 1))).line()


@pytest.mark.slow
def test_both_tools_score_the_same_function_of_the_same_tokens(wide):
    peer = Peer(wide, context(0, least=4, most=4), wide.tokenize("It is the museum."))
    assert peer.same_ids
    masks = cube(4).states
    # A tokenizer that keeps the space apart leaves two of them where the first source is gone; the package renders one.
    assert peer.differing(masks[masks[:, 0] == 1]) == 0
    assert peer.differing(masks[masks[:, 0] == 0]) > 0
    citer, _ = peer.peer_passes(2, 16)
    drawn = citer._masks.astype(np.uint8)
    same = np.flatnonzero(drawn[:, 0])
    assert len(same) > 2
    ours = peer.log_p(drawn[same])
    assert ours == pytest.approx(peer.peer_scores(citer, "log_prob")[same], abs=1e-2)
    one_by_one, _ = peer.peer_passes(1, 16)
    assert one_by_one._logit_probs == pytest.approx(citer._logit_probs, abs=1e-3)


@pytest.mark.slow
def test_every_section_runs_and_says_its_lines(wide, tmp_path):
    sections = ["contextcite-quality", "contextcite-speed", "contextcite-growth", "trajectory-checks"]
    arguments = ["--model", str(wide.files.path), "--cache", str(tmp_path), "--threads", "1", "--sections", *sections]
    assert main(["attribution", "--small", "--out", str(tmp_path), *arguments]) == 0
    names = [one["name"] for one in json.loads((tmp_path / "attribution.json").read_text())["comparisons"]]
    for expected in (
        "wall time of one attribution, context-cite / ours",
        "exact leave-one-out against the naive loop",
        "peak memory of one attribution, above the loaded model",
        "share of the GEMM peak, bfloat16",
        "a trajectory of 3 steps, context-cite / ours (0)",
        "growth with claims",
        "LDS, fold-over, log p against Lasso, log p",
        "LDS, fold-over, logit against Lasso, logit",
        "top-1 drop, fold-over, log p against Lasso, logit",
        "order placebo: same verdict, edge or none",
        "total effects",
    ):
        assert expected in names
    kept = sorted(path.name for path in (tmp_path / "attribution" / "small" / "contextcite").iterdir())
    assert "quality-00.json" in kept
    assert main(["attribution", "--small", "--out", str(tmp_path), *arguments]) == 0
    again = [one["name"] for one in json.loads((tmp_path / "attribution.json").read_text())["comparisons"]]
    assert again == names
