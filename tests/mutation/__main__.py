"""`python -m tests.mutation`: samples mutants, runs tests against them, prints what was killed and what was not."""

from __future__ import annotations

import argparse
import random
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from statsmodels.stats.proportion import proportion_confint

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.running import SUITES, Record, Result, judge
from tests.tree import ROOT

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
Equivalent = dict[tuple[str, str, str, str], str]
"""(module, line of it, before, after) -> why no test can tell."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--modules", nargs="*", default=list(SUITES), help="files, or folders with all their files")
    parser.add_argument("--tests", nargs="*", help="files with tests to run instead of those of the package")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="at most N mutants a module (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="mutants tested at once (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("reports/mutation/results.jsonl"), help="what is remembered")
    parser.add_argument("--again", action="store_true", help="try what survived once more, as after a new test")
    options = parser.parse_args(arguments)
    chosen = sampled(options.modules, options.sample, options.seed)
    record = Record(options.out)
    if options.again:
        record.forget_survivors()
    results: list[Result] = []
    for result in judge(chosen, record, options.workers, tuple(options.tests or ()) or None):
        results.append(result)
        sys.stdout.write(
            f"{len(results)}/{len(chosen)} {result.outcome} {result.seconds} s {describe(result)} {result.test}\n"
        )
        sys.stdout.flush()
    sys.stdout.write("\n".join(["", *summary(results, known_equivalent())]) + "\n")
    return 0


def sampled(modules: Iterable[str], size: int, seed: int) -> list[Mutant]:
    """The mutants of ``modules``, at most ``size`` each unless 0: the same for the same seed and text, more for a larger size."""
    chosen: list[Mutant] = []
    for name in modules:
        place = ROOT / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            module = path.relative_to(ROOT).as_posix()
            found = mutants_of(path, module)
            if size and len(found) > size:
                random.Random(f"{seed} {module}").shuffle(found)
                found = found[:size]
            chosen.extend(sorted(found, key=lambda mutant: mutant.number))
    return chosen


def known_equivalent() -> Equivalent:
    """What `equivalent.toml` explains."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["module"], one["source"], one["before"], one["after"]): one["why"] for one in listed}


def summary(results: Sequence[Result], equivalent: Equivalent) -> list[str]:
    """A line a module and one for all, then every survivor; explained ones are counted apart."""
    by_module: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_module[result.module].append(result)
    lines = [_line(name, found, equivalent) for name, found in sorted(by_module.items())]
    lines.append(_line("all", results, equivalent))
    left = [one for one in results if not one.is_killed]
    lines += [f"{one.outcome.upper()} {describe(one)}" for one in left if _reason(one, equivalent) is None]
    lines += [f"equivalent {describe(one)}: {why}" for one in left if (why := _reason(one, equivalent)) is not None]
    return lines


def describe(result: Result) -> str:
    return f"{result.module}:{result.line} {result.operator}: {result.before} -> {result.after}"


def _reason(result: Result, equivalent: Equivalent) -> str | None:
    return equivalent.get((result.module, result.source, result.before, result.after))


def _line(name: str, results: Sequence[Result], equivalent: Equivalent) -> str:
    explained = sum(not one.is_killed and _reason(one, equivalent) is not None for one in results)
    count = len(results) - explained
    if count == 0:
        return f"{name}: no mutant that a test could kill"
    killed = sum(one.is_killed for one in results)
    low, high = proportion_confint(killed, count, method="beta")
    return f"{name}: {killed} of {count} killed, {killed / count:.1%} [{low:.1%}, {high:.1%}]; {explained} equivalent"


if __name__ == "__main__":
    sys.exit(main())
