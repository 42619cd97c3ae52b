"""The example of the harness page is run, is short, and prints what the page says; the README shows the same one."""

from __future__ import annotations

import contextlib
import io
import re

from tests.tree import ROOT

LONGEST = 40
"""Lines, as the specification's trajectory is meant to fit a screen."""


def example(name, path="docs/harness.md"):
    page = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(
        rf"<!-- example: {name} -->\n```python\n(.*?)```\n<!-- prints -->\n```text\n(.*?)```\n<!-- end -->",
        page,
        re.DOTALL,
    )
    assert found is not None
    return found.groups()


def test_the_planted_premise_runs_as_printed():
    code, printed = example("planted premise")
    assert len(code.splitlines()) <= LONGEST
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/harness.md", "exec"), {"__name__": "example"})
    assert out.getvalue() == printed
    assert example("planted premise", "README.md") == (code, printed)
