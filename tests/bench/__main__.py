"""`python -m tests.bench SUITE`: measures, prints a line per comparison and writes ``reports/bench/SUITE.json``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.measuring import Comparison, machine

REPORTS = Path("reports/bench")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--out", type=Path, default=REPORTS, help="folder of the JSON file (default: %(default)s)")
    parser.add_argument("--model", default="smollm2-135m", help="model of the attribution suite")
    parser.add_argument("--cache", type=Path, default=Path("data/cache/models"), help="converted models")
    parser.add_argument("--threads", type=int, default=2, help="torch threads (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="a few seconds: shows that it works, measures nothing")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    before = machine()
    found = SUITES[options.suite](options)
    for comparison in found:
        sys.stdout.write(comparison.line() + "\n")
    path = options.out / f"{options.suite}.json"
    document = {
        "suite": options.suite,
        "small": options.small,
        "machine": before,
        "comparisons": [comparison.document() for comparison in found],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{path}\n")
    return 0


def _ledger(options: argparse.Namespace) -> list[Comparison]:
    from tests.bench import ledger_suite

    sizes = {"appends": 20, "events": 60, "rounds": 2} if options.small else {}
    return ledger_suite.run(options.out, **sizes)


def _attribution(options: argparse.Namespace) -> list[Comparison]:
    from attribution.models import load_language_model, resolve_model
    from tests.bench import attribution_suite

    language = load_language_model(resolve_model(options.model, options.cache), threads=options.threads)
    sizes = {"masks": 4, "rounds": 1} if options.small else {}
    return attribution_suite.run(language, **sizes)


SUITES = {"attribution": _attribution, "ledger": _ledger}

if __name__ == "__main__":
    sys.exit(main())
