"""Checks entries by a rule instead of a model: for examples, scenarios with known answers, and structured facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ledger_core.belief.index import index_statements
from ledger_core.belief.quorum import may_testify_on
from ledger_core.harness.checking import Checked
from ledger_core.harness.verdicts import VerdictDesk, VerdictValue
from ledger_core.harness.view import LedgerView
from ledger_core.kernel.errors import UnknownReferenceError
from ledger_core.kernel.types import EventId

RECIPE: Final = "rule-v1"
Rule = Callable[[str, str], VerdictValue]
"""From the texts of target and candidate to what the candidate says about the target."""


@dataclass
class RuleChecker:
    """Files what ``rule`` says; a pair is asked about once under a recipe, as by any other checker."""

    view: LedgerView
    desk: VerdictDesk
    rule: Rule
    recipe: str = RECIPE
    """Another rule is another recipe."""

    def check(self, target: str, candidates: Iterable[str] | None = None) -> tuple[Checked, ...]:
        """As :meth:`~ledger_core.harness.checking.Checker.check`, without a screening."""
        _, statements, state, policy = self.view.look()
        index = index_statements(statements, policy)
        texts = self.view.texts(statements)
        about = EventId(target)
        for entry in (target, *(candidates or ())):
            if entry not in state.entries:
                raise UnknownReferenceError(f"{entry} is no entry of this ledger; check the id and the scope")
        done: list[Checked] = []
        for candidate in dict.fromkeys(map(EventId, index.origins if candidates is None else candidates)):
            if not may_testify_on(about, candidate, index):
                if candidates is not None:
                    done.append(Checked(candidate, "not_eligible"))
            elif (known := self.desk.answered(about, candidate, self.recipe)) is not None:
                done.append(Checked(candidate, "replayed", known))
            elif about not in texts or candidate not in texts:
                done.append(Checked(candidate, "unreadable"))
            else:
                verdict = self.rule(texts[about], texts[candidate])
                filed = self.desk.file(target=about, candidate=candidate, verdict=verdict, recipe=self.recipe)
                done.append(Checked(candidate, "filed", filed))
        return tuple(done)
