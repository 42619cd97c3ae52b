"""The formats by name, and what is loaded of a file: scenarios, and every record of which none could be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from evals.errors import ScenarioError
from evals.scenarios.base import Scenario, decode_scenario
from evals.scenarios.draw import Draw
from evals.scenarios.loaders import conflictqa, poisonedrag, tau_bench
from evals.scenarios.loaders.planting import LOADER_VERSION, Planted
from evals.scenarios.loaders.source import RowT, Source, Unusable, as_row, read_source
from ledger_core.connectors.transcript import RecordError
from ledger_core.kernel import jcs
from ledger_core.kernel.errors import LedgerError

_Rest = TypeVar("_Rest")
"""What a format takes of the whole file to plant one record: further values, matched passages."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record of which no scenario was made."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Population:
    """What a file holds for the evaluation: a population of its own, never mixed with the generated ones."""

    format: str
    name: str
    """The file's, without its suffix."""
    digest: str
    """SHA-256 of the file."""
    scenarios: tuple[Scenario, ...]
    """Both premise orders of each planted record, one after the other."""
    skipped: tuple[Skipped, ...]
    """Records that are sound and give no scenario, whatever the limit."""


def load(format: str, path: Path, *, limit: int | None = None, seed: int = 7) -> list[Scenario]:  # noqa: A002 - the word
    """The scenarios of :func:`load_population`."""
    return list(load_population(format, path, limit=limit, seed=seed).scenarios)


def load_population(
    format: str,  # noqa: A002 - the word that users read
    path: Path,
    *,
    limit: int | None = None,
    seed: int = 7,
) -> Population:
    """The population of a file.

    Args:
        format: one of :data:`FORMATS`.
        path: the file.
        limit: most records that are planted, each of which gives both premise orders; None for all of them. Which ones, is
            drawn by seed; a larger limit begins with the same ones.
        seed: decides what is drawn.

    Raises:
        ScenarioError: an unknown format, a file that cannot be read, a record with a field the format does not have or
            without one that it has, or a file of which no scenario can be made.
    """
    made = FORMATS.get(format)
    if made is None:
        raise ScenarioError(f"no scenario format {format!r}; choose one of {', '.join(FORMATS)}")
    if seed < 0 or (limit is not None and limit < 1):
        raise ScenarioError(f"limit = {limit} must be at least 1 and seed = {seed} not negative")
    source = read_source(path)
    groups, skipped = made(source, seed)
    scenarios: list[Scenario] = []
    planted = 0
    for place, group in _shuffled(groups, format, seed):
        try:
            new = group(planted, seed)
        except Unusable as reason:
            skipped.append(Skipped(place, str(reason)))
            continue
        planted += 1
        if limit is None or planted <= limit:
            scenarios += new
    if not scenarios:
        reasons = "; ".join(dict.fromkeys(each.reason for each in skipped)) or "it plants nothing"
        raise ScenarioError(f"{path}: no scenario can be made of it: {reasons}")
    return Population(format, source.name, source.digest, tuple(scenarios), tuple(skipped))


Group = Callable[[int, int], tuple[Scenario, ...]]
"""(place in the population, seed) -> the scenarios of one record; raises :class:`Unusable`."""

Groups = tuple[list[tuple[str, Group]], list[Skipped]]
"""(place in the file, what it gives), and what gives nothing."""


def _group(population: str, planted: Planted) -> Group:
    return lambda place, seed: planted.scenarios(population, place=place, seed=seed)


def _questions(
    population: str,
    form: type[RowT],
    prepare: Callable[[Sequence[RowT]], _Rest],
    plant: Callable[[_Rest, RowT, int], Planted],
) -> Callable[[Source, int], Groups]:
    """A format whose records are questions, of which the first of two equal ones counts."""

    def made(source: Source, seed: int) -> Groups:
        placed = [(place, as_row(form, source, place, value)) for place, value in source.rows]
        rest = prepare([row for _, row in placed])
        groups: list[tuple[str, Group]] = []
        skipped: list[Skipped] = []
        wordings: set[str] = set()
        for place, row in placed:
            try:
                planted = plant(rest, row, seed)
            except Unusable as reason:
                skipped.append(Skipped(place, str(reason)))
                continue
            if planted.wording in wordings:
                skipped.append(Skipped(place, "its question is an earlier record's too"))
                continue
            wordings.add(planted.wording)
            groups.append((place, _group(population, planted)))
        return groups, skipped

    return made


def _tau_bench(source: Source, seed: int) -> Groups:
    rows = []
    for place, value in source.rows:
        row = as_row(tau_bench.TauBenchRow, source, place, value)
        try:
            rows.append((place, tuple(tau_bench.facts_of(row))))
        except RecordError as error:
            raise ScenarioError(f"{source.name}, {place}: {error}") from error
    chosen, pools = tau_bench.choose([fact for _, found in rows for fact in found], seed)
    groups: list[tuple[str, Group]] = []
    skipped = [Skipped(place, "no tool answers with a record of one thing") for place, found in rows if not found]
    for fact in chosen:
        try:
            groups.append((fact.place, _group("tau-bench", tau_bench.plant(fact, pools, seed))))
        except Unusable as reason:
            skipped.append(Skipped(fact.place, str(reason)))
    return groups, skipped


def _own(source: Source, seed: int) -> Groups:
    del seed  # what is planted was drawn when the records were written
    groups: list[tuple[str, Group]] = []
    for place, value in source.rows:
        try:
            scenario = decode_scenario(jcs.encode(value))
        except (ScenarioError, LedgerError) as error:
            raise ScenarioError(f"{source.name}, {place}: {error}") from error
        groups.append((place, _kept(scenario)))
    return groups, []


def _kept(scenario: Scenario) -> Group:
    return lambda _place, _seed: (scenario,)


def _shuffled(groups: list[tuple[str, Group]], population: str, seed: int) -> list[tuple[str, Group]]:
    """The groups in an order that the seed decides (Fisher and Yates)."""
    draw = Draw(LOADER_VERSION, "population", population, seed)
    left = list(groups)
    for last in range(len(left) - 1, 0, -1):
        other = draw.below(last + 1)
        left[last], left[other] = left[other], left[last]
    return left


FORMATS: Mapping[str, Callable[[Source, int], Groups]] = MappingProxyType(
    {
        "poisonedrag": _questions("poisonedrag", poisonedrag.PoisonedRagRow, poisonedrag.pool_of, poisonedrag.plant),
        "conflictqa": _questions("conflictqa", conflictqa.ConflictQaRow, conflictqa.Likes, conflictqa.plant),
        "tau-bench": _tau_bench,
        "scenarios": _own,
    }
)
"""Name of a format -> how a file of it is read; `scenarios` are this project's own records."""
