"""Who says that a scenario's corrections contradict its premise: the scenario itself, or the real verifier.

The oracle is right by construction, so with it an evaluation measures what follows from a retraction. With the verifier it
measures whether there is one, too: a false premise that the verifier fails to retract counts as persisted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from evals.arms import arm
from evals.scenarios import Scenario
from evals.trials import Outcome, TrialRecord
from ledger_core.harness.checking import Checker
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.errors import ProviderError
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from ledger_core.verification import Verifier

ORACLE = "oracle-v1"
"""Recipe of verdicts that the scenario itself gives."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict that stands in the ledger about one candidate."""

    candidate: EventId
    verdict: EventId
    value: str
    """`contradict`, `support` or `undecided`."""


class Judge(Protocol):
    """Files whether candidates contradict a target."""

    def judge(self, target: EventId, candidates: Sequence[EventId]) -> tuple[Judged, ...]:
        """The verdicts that stand after asking, in the order of ``candidates``; fewer where a candidate was not asked about."""
        ...


class OracleJudge:
    """Every candidate contradicts the target, because the scenario says so."""

    def __init__(self, desk: VerdictDesk) -> None:
        """File through ``desk``."""
        self._desk = desk

    def judge(self, target: EventId, candidates: Sequence[EventId]) -> tuple[Judged, ...]:
        """See :meth:`Judge.judge`."""
        filed = (
            (each, self._desk.file(target=target, candidate=each, verdict="contradict", recipe=ORACLE))
            for each in candidates
        )
        return tuple(Judged(each, verdict.verdict, verdict.value) for each, verdict in filed)


class VerifierJudge:
    """The two-stage verifier of the ledger, as an agent would use it."""

    def __init__(self, ledger: Ledger, verifier: Verifier, desk: VerdictDesk) -> None:
        """Ask ``verifier`` about entries of ``ledger`` and file through ``desk``, the one desk of that ledger."""
        self._checker = Checker(ledger, verifier, desk)
        self.recipe = verifier.recipe
        self.faults: dict[EventId, str] = {}
        """Target -> why the verifier did not serve; what it had filed before that stands, and is not asked again."""

    def judge(self, target: EventId, candidates: Sequence[EventId]) -> tuple[Judged, ...]:
        """See :meth:`Judge.judge`; a server that fails is noted, and the run goes on."""
        self.faults.pop(target, None)
        found: list[Judged] = []
        for candidate in candidates:
            try:
                (checked,) = self._checker.check(target, (candidate,))
            except ProviderError as error:
                self.faults[target] = f"{type(error).__name__}: {' '.join(str(error).split())}"
                break
            if checked.filed is not None:
                found.append(Judged(candidate, checked.filed.verdict, checked.filed.value))
        return tuple(found)


def wrongly_standing(scenario: Scenario, retracted: Iterable[str]) -> tuple[str, ...]:
    """Keys of the false premises that should have been retracted and are not among ``retracted``."""
    gone = set(retracted)
    return tuple(sorted(key for key in scenario.retracted if scenario.entry(key).role == "premise" and key not in gone))


def counted(
    records: Iterable[TrialRecord], standing: Mapping[str, Sequence[str]], faults: Mapping[str, str]
) -> tuple[TrialRecord, ...]:
    """Trials as persistence counts them where the real verifier ran; for counting only, the answers stay as they were given.

    Args:
        records: logged trials.
        standing: scenario id -> false premises that the verifier failed to retract.
        faults: scenario id -> why the verifier did not serve. Such a trial is an error: it stays in the denominator, as
            the worst and as the best it could have been.

    Only arms that use the retraction are concerned.
    """
    return tuple(_counted(record, standing, faults) for record in records)


def _counted(record: TrialRecord, standing: Mapping[str, Sequence[str]], faults: Mapping[str, str]) -> TrialRecord:
    if arm(record.arm).retraction != "used" or record.outcome is Outcome.ERROR:
        return record
    if record.scenario_id in faults:
        return replace(record, outcome=Outcome.ERROR, fault=f"no verdict: {faults[record.scenario_id]}")
    if standing.get(record.scenario_id):
        return replace(record, outcome=Outcome.ASSERTS_FALSE)
    return record
