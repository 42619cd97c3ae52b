"""What a check found: the fault, what was reported, what should stand there, and how to check it by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evals.eval_audit.figures import Figure

Check = Literal[
    "unread-rows",
    "stopped-early",
    "answers-missing",
    "errors-left-out",
    "errors-as-failures",
    "unscored-left-out",
    "not-a-number",
    "unreadable-score",
    "duplicated",
    "retried",
    "limits-hit",
    "subset",
    "empty-answers",
    "no-samples",
    "no-scores",
    "other-mean",
    "no-error",
    "zero-error",
    "other-error",
    "outside-range",
    "clusters-ignored",
    "epochs-reduced",
    "unpaired",
    "other-inputs",
]
"""Every kind of finding; docs/eval-audit.md says what each means."""

Weight = Literal["wrong", "check"]
"""`wrong`: the reported figure, or its error, is not what it says. `check`: it may be, and the log cannot tell."""

_MOST_NAMED = 12

__all__ = ["Beside", "Check", "Figure", "Finding", "Names", "Weight"]


@dataclass(frozen=True, slots=True)
class Names:
    """Which answers a finding is about: the first few by name, and how many there are."""

    first: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """The names, cut to what a line holds."""
        every = list(names)
        return cls(tuple(every[:_MOST_NAMED]), len(every))

    def __str__(self) -> str:
        """The names, and how many more."""
        more = f" and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        return f"{', '.join(self.first)}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or may be."""

    check: Check
    weight: Weight
    says: str
    """One sentence with the counts."""
    scorer: str | None = None
    """None: it concerns the run."""
    reported: str | None = None
    corrected: Figure | None = None
    """None where the fault has no figure of its own, or the log does not determine one."""
    formula: str | None = None
    """How the corrected figure or error comes about."""
    answers: Names | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """Findings about one reported figure, each with the same corrected one beside it."""

    scorer: str
    reported: str | None
    corrected: Figure | None
    formula: str | None

    def finding(
        self, weight: Weight, check: Check, says: str, *, formula: str | None = None, names: Iterable[str] | None = None
    ) -> Finding:
        """One of them; with a ``formula`` of its own where the figure's does not say what it is about."""
        return Finding(
            check=check,
            weight=weight,
            says=says,
            scorer=self.scorer,
            reported=self.reported,
            corrected=self.corrected,
            formula=formula or self.formula,
            answers=None if names is None else Names.of(names),
        )
