"""The page in a browser: no accessibility rule is broken, nothing is fetched, and it fits a phone."""

from __future__ import annotations

import pytest

from evals.quorum_attack.embeddings import KeptEmbeddings
from evals.quorum_attack.page import render_study
from evals.quorum_attack.study import study
from tests.browser import accessible_page
from tests.evals.quorum_attack.toy import WordCounts, attack_set, honest_set


@pytest.mark.slow
@pytest.mark.browser
def test_no_accessibility_rule_is_broken(tmp_path):
    embedder = WordCounts()
    embedder.model = f"word-counts@{'0123456789abcdef' * 4}"
    data = study(
        [attack_set()],
        [attack_set("tales", count=6)],
        [honest_set()],
        KeptEmbeddings(embedder),
        command="veritas quorum-attack lies.json --check tales.json --honest truths.jsonl --sample 2",
        sample=2,
    )
    # A few points of the sweep: the tables of the others hold nothing that these do not.
    html = render_study(data.model_copy(update={"curve": data.curve[::6]}))
    assert accessible_page(html, tmp_path / "index.html").overflow <= 0
