"""`python -m tests.bench SUITE`: measures, prints a line a comparison, writes ``reports/bench/SUITE.json`` and ``SUITE.md``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.measuring import Finding, machine, table

REPORTS = Path("reports/bench")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--out", type=Path, default=REPORTS, help="folder of the JSON file (default: %(default)s)")
    parser.add_argument("--model", default="smollm2-135m", help="model of the attribution suite")
    parser.add_argument("--cache", type=Path, default=Path("data/cache/models"), help="converted models")
    parser.add_argument("--threads", type=int, default=2, help="torch threads (default: %(default)s)")
    parser.add_argument("--sections", nargs="*", default=[], help="sections of the attribution suite (default: all)")
    parser.add_argument("--small", action="store_true", help="a few seconds: shows that it works, measures nothing")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    before = machine()
    found: list[Finding] = []
    for finding in SUITES[options.suite](options):
        found.append(finding)
        sys.stdout.write(
            finding.line() + "".join(f"\n  {goal.target}: {goal.verdict}" for goal in finding.goals) + "\n"
        )
        sys.stdout.flush()
    document = {
        "suite": options.suite,
        "small": options.small,
        "machine": before,
        "comparisons": [finding.document() for finding in found],
    }
    path = options.out / f"{options.suite}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(f"{_heading(options.suite, before)}\n\n{table(found)}", encoding="utf-8")
    sys.stdout.write(f"{path.with_suffix('.md')}\n")
    return 0


def _heading(suite: str, found: dict[str, object]) -> str:
    load = ", ".join(f"{one:.1f}" for one in found["load"])  # type: ignore[attr-defined]
    return (
        f"Suite `{suite}` on {found['cores']} cores, {found['machine']}, {found['system']}, Python {found['python']}; "
        f"load before it began: {load}. Medians over rounds; both sides took turns."
    )


def _ledger(options: argparse.Namespace) -> Iterator[Finding]:
    from tests.bench import ledger_suite, sizes

    yield from ledger_suite.run(options.out, sizes.SMALL if options.small else sizes.chosen())


def _attribution(options: argparse.Namespace) -> Iterator[Finding]:
    from tests.bench.attribution_suite import SECTIONS
    from tests.bench.sections import Bench

    bench = Bench(options)
    unknown = set(options.sections) - {section.name for section in SECTIONS}
    if unknown:
        raise SystemExit(f"no section {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in SECTIONS)}")
    for section in SECTIONS:
        if not options.sections or section.name in options.sections:
            yield from section.run(bench)


SUITES = {"attribution": _attribution, "ledger": _ledger}

if __name__ == "__main__":
    sys.exit(main())
