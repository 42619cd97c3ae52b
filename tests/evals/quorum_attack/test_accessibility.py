"""The page in a browser: no accessibility rule is broken, nothing is fetched, and it fits a phone."""

from __future__ import annotations

import json
import shutil

import pytest

from evals.quorum_attack.embeddings import KeptEmbeddings
from evals.quorum_attack.page import render_study
from evals.quorum_attack.study import study
from tests.evals.quorum_attack.toy import WordCounts, attack_set, honest_set


@pytest.mark.slow
@pytest.mark.browser
def test_no_accessibility_rule_is_broken(tmp_path):
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

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
    path = tmp_path / "index.html"
    # A few points of the sweep: the tables of the others hold nothing that these do not.
    path.write_text(render_study(data.model_copy(update={"curve": data.curve[::6]})), encoding="utf-8")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        requested = []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        rules = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
        results = Axe().run(page, options=rules)
        narrow = browser.new_page(viewport={"width": 400, "height": 900}, java_script_enabled=False)
        narrow.goto(path.as_uri())
        overflowing = narrow.locator("main").evaluate("main => main.scrollWidth - main.clientWidth")
        browser.close()
    assert requested == [path.as_uri()]
    assert overflowing <= 0
    broken = [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in results.response["violations"]]
    assert broken == [], json.dumps(broken, indent=1)
