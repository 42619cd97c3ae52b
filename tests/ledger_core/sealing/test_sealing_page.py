"""The sealing page against the code: its example registers a tool, and every test of an attack is listed."""

from __future__ import annotations

import ast
import re

from ledger_core.sealing import register
from tests.tree import ROOT

PAGE = (ROOT / "docs/sealing.md").read_text(encoding="utf-8")
FOLDER = ROOT / "tests/ledger_core/sealing"


def defined(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_the_example_registers_a_tool():
    (code,) = re.findall(r"```python\n(register\(.*?)```", PAGE, re.DOTALL)
    tool = eval(code, {"register": register, "search": dict})
    assert (tool.registration.origin, tool.registration.source_id) == ("fixed", "search")


def test_every_attack_test_is_listed():
    """That what is listed exists is a test of all pages."""
    page = (ROOT / "docs/attacks.md").read_text(encoding="utf-8")
    assert defined(FOLDER / "test_sealing_attacks.py") <= set(
        re.findall(r"test_sealing_attacks\.py::(test_\w+)`", page)
    )
