"""`make floors`: calibrates the floors of a model and writes the table that ships with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import attribution.decision
from attribution.errors import AttributionError
from evals.errors import EvalError
from evals.null_floors import BINS, FloorBin, calibrate_floors
from ledger_core.stores.files import write_whole

FLOORS = Path(attribution.decision.__file__).parent / "floors"


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate and write; returns the exit code."""
    options = _options(arguments)
    try:
        path = calibrate_and_write(
            options.model, cache=options.cache, out=options.out, threads=options.threads, claims=options.claims
        )
    except (AttributionError, EvalError, OSError) as error:
        sys.stderr.write(f"floors: {error}\n")
        return 1
    sys.stdout.write(f"{path}\n")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    from attribution.models.files import DEFAULT_MODEL

    parser = argparse.ArgumentParser(prog="python -m evals.floors_cli", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="packaged name or model folder (default: %(default)s)")
    parser.add_argument(
        "--cache", type=Path, default=Path("data/cache"), help="converted models and scores of earlier tries"
    )
    parser.add_argument("--out", type=Path, default=FLOORS, help="folder of the table (default: the package's own)")
    parser.add_argument("--threads", type=int, default=2, help="torch threads (default: %(default)s)")
    parser.add_argument("--claims", type=int, help="null claims a bin, instead of what each bin asks for")
    return parser.parse_args(arguments)


def calibrate_and_write(model: str, *, cache: Path, out: Path, threads: int, claims: int | None = None) -> Path:
    """Write ``out/<model>.json`` and return its path. What was scored before is read from ``cache``.

    Raises:
        AttributionError: no such model.
        EvalError: no bin with enough null claims.
        OSError: the table cannot be written.
    """
    from attribution.blocks import BlockCache
    from attribution.models import load_language_model, resolve_model
    from attribution.scorers.transformers_scorer import TransformersScorer

    language = load_language_model(resolve_model(model, cache / "models"), threads=threads)
    bins = BINS if claims is None else tuple(replace(one, n=claims) for one in BINS)
    table = calibrate_floors(
        language, TransformersScorer(language), BlockCache(cache / "blocks"), bins, scored=_Progress(bins)
    )
    if not table.rows:
        raise EvalError("no bin had enough null claims for a floor; give more with --claims (38 at least)")
    path = out / f"{language.files.name}.json"
    write_whole(path, table.canonical_bytes() + b"\n")
    return path


class _Progress:
    """One line a bin and a line every twenty claims, on stderr: this takes an hour, often without a terminal."""

    def __init__(self, bins: Sequence[FloorBin]) -> None:
        self._bins = list(bins)
        self._counts = dict.fromkeys(bins, 0)

    def __call__(self, wanted: FloorBin) -> None:
        self._counts[wanted] += 1
        count = self._counts[wanted]
        if count % 20 == 0 or count == wanted.n:
            number = self._bins.index(wanted) + 1
            sys.stderr.write(f"bin {number} of {len(self._bins)} ({wanted.template}): {count} of {wanted.n} claims\n")


if __name__ == "__main__":
    sys.exit(main())
