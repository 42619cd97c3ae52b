"""The suite of `veritas evaluate`: one table of families, how many scenarios of each, and the arms that read them.

A family is read by the arms that can differ on it and by their controls: null claims by the arm that measures, retraction
alone cannot move a scenario in which nothing is retracted, compaction shows only where contexts are folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evals.arms import ARMS, arm
from evals.scenarios.attacks import SYBIL, SYNDICATED
from evals.scenarios.families import ASKED
from evals.scenarios.long import FOLDS
from ledger_core.belief.policies import SEED_V4, SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import ContractId, Count, Digest, ForeignName

POLICY_NAME = "seed-v4-stale-30d"
POLICY = SEED_V4.model_copy(update={"stale_after_seconds": 30 * 24 * 60 * 60})
"""The specification's numbers and whole independence rule; and a source that says it changed is out of service from thirty
days on, which the specification leaves open and `stale-source` needs."""

RUN_POLICIES: Mapping[str, Policy] = MappingProxyType({SEED_V4_CLUSTERS_NAME: SEED_V4_CLUSTERS, POLICY_NAME: POLICY})
"""Policies that a plan may name: the main job's, and the suite's."""

Effort = Literal["quick", "default", "full"]
"""`quick`: everything once, which decides nothing; `default`: what an hour on two cores holds, at least 25 wordings wherever
a criterion could be decided with so many; `full`: the n that the criteria were designed for."""

EFFORTS: tuple[Effort, ...] = ("quick", "default", "full")


class Reading(Record):
    """A population of generated scenarios and the arms that read it."""

    arms: tuple[ContractId, ...]
    """As in statements; none where claims are measured and nothing is asked."""
    family: ContractId
    scenarios: Count
    variant: ContractId | None
    """One variant, or None: spread over those that the family is spread over."""


class Population(Record):
    """A set of scenarios made from somebody else's file: a population of its own, never pooled with another."""

    arms: tuple[ContractId, ...]
    families: tuple[ContractId, ...]
    """Families of its scenarios, none of them a generated one."""
    format: ContractId
    records: Count | None
    """Records of the file that are planted at most; None: all."""
    scenarios_digest: Digest
    """Of the scenarios' digests, in order: another file or loader is another run."""
    source: ForeignName
    """Name of the file, without its folder."""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A row of the table: sizes by effort, arms by their short forms."""

    family: str
    variant: str | None
    quick: int
    default: int
    full: int
    arms: tuple[str, ...]

    def at(self, effort: Effort) -> Reading:
        """The row at a size."""
        return Reading.make(
            arms=tuple(arm(name).id for name in self.arms),
            family=self.family,
            scenarios={"quick": self.quick, "default": self.default, "full": self.full}[effort],
            variant=self.variant,
        )


_NO_FOLD = tuple(name for name, row in ARMS.items() if row.compaction not in {"drop-corrections", "summary"})
"""Every arm but the two that differ from arm 1 at a fold only."""

SUITE: tuple[SuiteRow, ...] = (
    SuiteRow("competence", None, 4, 26, 40, ("1",)),
    SuiteRow("planted-premise", None, 4, 40, 200, _NO_FOLD),
    SuiteRow("planted-premise", "corrections-leave", 2, 40, 200, ("1", "2")),
    SuiteRow("mixed-parents", None, 4, 148, 200, ("2", "2k", "2x", "3", "2s", "3s")),
    SuiteRow("redundant-support", None, 2, 40, 200, ("1", "2", "2k", "2x", "3", "3s")),
    SuiteRow("conjunctive-causes", None, 2, 40, 200, ("2", "3")),
    SuiteRow("true-premise-attacked", "used", 2, 40, 200, ("1", "2", "2k", "3")),
    SuiteRow("true-premise-attacked", "unused", 2, 14, 200, ("2", "2k", "2x", "3", "3s")),
    SuiteRow("laundered-guess", None, 2, 26, 200, ("1", "2", "2r", "2c")),
    *(SuiteRow("syndicated", variant, 1, 74, 200, ("2",)) for variant in SYNDICATED),
    *(SuiteRow("sybil", variant, 1, 74, 200, ("2",)) for variant in SYBIL),
    SuiteRow("poisoned-tool", None, 2, 26, 200, ("1", "2", "2k")),
    SuiteRow("stale-source", None, 2, 26, 200, ("1", "2", "2k")),
    *(SuiteRow("compaction", variant, 1, 10, 200, ("1", "1w", "1m", "2")) for variant in FOLDS[:-1]),
    SuiteRow("compaction", FOLDS[-1], 2, 26, 200, ("1", "1w", "1m", "2")),
    SuiteRow("reversal", None, 1, 26, 40, ("2", "2k")),
    SuiteRow("null", ASKED, 2, 40, 300, ("3",)),
)
"""In the order in which a run records them."""

POPULATION_ARMS = ("1", "1o", "1r", "1i", "2", "2k", "2d", "2m")
"""Arms that read other people's sets: their texts are longer than any floor was calibrated for, so nothing is measured."""

POPULATION_LIMITS: Mapping[Effort, int | None] = MappingProxyType({"quick": 1, "default": 13, "full": None})
"""Records of a file that are planted, each in both premise orders."""


def suite(effort: Effort) -> tuple[Reading, ...]:
    """The populations of a run of that size."""
    return tuple(row.at(effort) for row in SUITE)
