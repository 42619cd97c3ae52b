"""A headless Chromium for tests, and what every page of ours must hold in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; where there is none the test is skipped, which continuous integration forbids."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True)
class Seen:
    """What a page looked like."""

    width: int
    """Pixels it takes in a window of 1,280."""
    heading: str
    """Its first heading, in a window of 400 pixels and without scripts."""
    overflow: int
    """Pixels by which its main part is too wide there."""


def accessible_page(html: str, path: Path) -> Seen:
    """Open ``html`` from ``path``: axe finds nothing with every fold open, and nothing else is asked for."""
    from axe_playwright_python.sync_playwright import Axe

    path.write_text(html, encoding="utf-8")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        violations = Axe().run(page, options=RULES).response["violations"]
        width = page.evaluate("document.documentElement.scrollWidth")
        narrow = browser.new_page(viewport={"width": 400, "height": 900}, java_script_enabled=False)
        narrow.goto(path.as_uri())
        heading = narrow.locator("h1").inner_text()
        overflow = narrow.locator("main").evaluate("main => main.scrollWidth - main.clientWidth")
    assert requested == [path.as_uri()]
    broken = [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in violations]
    assert broken == [], json.dumps(broken, indent=1)
    return Seen(width, heading, overflow)
