"""`python -m tests.bench.pages`: puts the tables that benches wrote under ``reports/bench`` into docs/benchmarks.md.

A line ``<!-- measured: NAME -->`` is followed by the whole of ``NAME.md``, up to ``<!-- end -->``; what was not written stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.bench.__main__ import REPORTS
from tests.tree import ROOT

PAGE = ROOT / "docs/benchmarks.md"
_PLACE = re.compile(r"(<!-- measured: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, reports: Path) -> str:
    """``page`` with every table that ``reports`` holds."""

    def table(place: re.Match[str]) -> str:
        path = reports / f"{place[2]}.md"
        return f"{place[1]}\n{path.read_text(encoding='utf-8')}\n{place[3]}" if path.exists() else place[0]

    return _PLACE.sub(table, page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), ROOT / REPORTS), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")
