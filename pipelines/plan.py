"""What a run will do, in one canonical record: equal plans are one run, so a second start resumes the first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel import digests, timestamps
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.errors import LedgerBusyError
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.types import ContractId, Count, Digest, ForeignName, Timestamp
from ledger_core.stores.files import FileLock, write_whole
from pipelines.errors import PlanError, UsageError
from pipelines.suite import Effort, Population, Reading

EVALUATION_TENANT = "eval"
CORRECTIONS_LEAVE = "corrections-leave"
_LEAVING_ARMS = ("arm-1", "arm-2")
"""Arms of the main job that read the variant in which the corrections have left the context."""


def scope_of(digest: str) -> Scope:
    """The ledger scope of a run: tenant `eval`, project ``run-`` + digest."""
    return Scope(project_namespace=f"run-{digest}", tenant_namespace=EVALUATION_TENANT)


def arms_for(readings: tuple[Reading, ...], family: str, variant: str) -> tuple[str, ...]:
    """Arms (short forms) that read a family's variant: those of its own row, else of the row it is spread in."""
    rows = [row for row in readings if row.family == family and row.variant in (variant, None)]
    rows.sort(key=lambda row: row.variant is None)
    return tuple(arm.removeprefix("arm-") for arm in rows[0].arms) if rows else ()


class _Planned(Record):
    """What every plan has: an identity, and a ledger scope of its own."""

    @property
    def digest(self) -> str:
        """Identity of the run."""
        return digests.domain_hex(Prefix.RUN, self.canonical_bytes())

    @property
    def scope(self) -> Scope:
        """The ledger scope of the run."""
        return scope_of(self.digest)


class JobPlan(_Planned):
    """Everything that decides a run's numbers."""

    agent: ForeignName
    answers_measured: Count
    """Persisted answers that are attributed, at most."""
    arms: tuple[ContractId, ...]
    competence: Count
    corrections_leave: Count
    """Planted-premise scenarios whose corrections leave the context after the verdict."""
    gate: ContractId
    generator_version: ForeignName
    mixed_parents: Count
    model: ForeignName
    null: Count
    planted_premise: Count
    policy_digest: Digest
    quick: bool
    seed: Count
    weights_digest: Digest

    @property
    def policy(self) -> str:
        """Name of the policy in force."""
        return SEED_V4_CLUSTERS_NAME

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Populations and the arms that read them, in the order in which they are recorded."""
        rows = [
            Reading.make(arms=self.arms, family=family, scenarios=size, variant=None)
            for family, size in self.sizes.items()
        ]
        leaving = tuple(arm for arm in self.arms if arm in _LEAVING_ARMS)
        left = self.corrections_leave
        rows.append(Reading.make(arms=leaving, family="planted-premise", scenarios=left, variant=CORRECTIONS_LEAVE))
        return tuple(rows)

    @property
    def populations(self) -> tuple[Population, ...]:
        """The main job reads nobody else's set."""
        return ()

    @property
    def sizes(self) -> dict[str, int]:
        """Scenarios per family."""
        return {
            "planted-premise": self.planted_premise,
            "mixed-parents": self.mixed_parents,
            "null": self.null,
            "competence": self.competence,
        }


class _SuitePlanned(_Planned):
    """What plans of `veritas evaluate` share; the fields after these are their own, for a record's fields stand in order."""

    agent: ForeignName
    answers_measured: Count
    """Persisted answers that are attributed, at most."""
    effort: Effort
    gate: ContractId
    generator_version: ForeignName
    model: ForeignName
    policy: ForeignName
    policy_digest: Digest
    populations: tuple[Population, ...]
    readings: tuple[Reading, ...]
    seed: Count

    @property
    def quick(self) -> bool:
        """Whether the run shows everything and decides nothing."""
        return self.effort == "quick"


class EvaluationPlan(_SuitePlanned):
    """Everything that decides the numbers of `veritas evaluate`: every family, through the arms that make sense."""

    weights_digest: Digest


class VerifiedPlan(_SuitePlanned):
    """An evaluation in which a verifier says what contradicts what, in place of the scenarios."""

    verifier: ForeignName
    """Its model and server."""
    weights_digest: Digest


Plan = JobPlan | EvaluationPlan | VerifiedPlan


class RunState(Record):
    """A started run: its plan and the `now` of its first start, reused whenever it resumes."""

    now: Timestamp
    plan: Plan


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk."""

    state: RunState
    folder: Path
    resumed: bool

    @property
    def plan(self) -> Plan:
        """What the run does."""
        return self.state.plan


def start(home: Path, plan: Plan, now: str | None) -> Run:
    """Start the run of ``plan`` below ``home``, or resume it where it was started before.

    Args:
        home: the state folder.
        plan: what to do.
        now: clock value for a first start (strict timestamp); None takes the wall clock once.

    Raises:
        PlanError: the run was started with another ``now``, or its state file is damaged.
    """
    folder = home / "runs" / plan.digest
    path = folder / "run-state.json"
    if path.exists():
        state = read_state(path)
        if now is not None and now != state.now:
            raise PlanError(
                f"run {plan.digest[:12]} was started with --now {state.now}, not {now}; "
                f"leave --now out to resume it, or use another --home",
            )
        _point_at(home, plan.digest)
        return Run(state, folder, resumed=True)
    state = RunState.make(now=now or timestamps.from_datetime(datetime.now(UTC)), plan=plan)
    write_whole(path, state.canonical_bytes())
    _point_at(home, plan.digest)
    return Run(state, folder, resumed=False)


def _point_at(home: Path, digest: str) -> None:
    """Make the run called ``digest`` the latest: one that was killed right after its start, too, once it resumes."""
    pointer, data = home / "runs" / "latest.json", json.dumps({"run": digest}).encode()
    if not pointer.exists() or pointer.read_bytes() != data:
        write_whole(pointer, data)


@contextmanager
def only_job(home: Path) -> Iterator[None]:
    """Hold the home for one main job while the block runs.

    Raises:
        PlanError: another process holds it.
    """
    folder = home / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(folder / "job.lock", wait_seconds=0).held())
        except LedgerBusyError as error:
            raise PlanError(
                f"another `veritas run` is at work below {home}; wait for it to finish, or use another --home"
            ) from error
        yield


def read_state(path: Path) -> RunState:
    """The state file of a started run."""
    try:
        return RunState.decode(path.read_bytes())
    except Exception as error:
        raise PlanError(
            f"{path}: not a run state of this version ({error}); remove the folder to start anew"
        ) from error


def latest(home: Path) -> Run | None:
    """The run that was started or resumed last below ``home``, if any.

    Raises:
        PlanError: the pointer to it or its state file is damaged.
    """
    pointer = home / "runs" / "latest.json"
    if not pointer.exists():
        return None
    try:
        folder = home / "runs" / json.loads(pointer.read_bytes())["run"]
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"{pointer} names no run ({error}); `veritas run` writes it anew") from error
    return Run(read_state(folder / "run-state.json"), folder, resumed=True)


def find(home: Path, beginning: str | None) -> Run:
    """The run whose digest begins with ``beginning``; None: the latest.

    Raises:
        UsageError: there are several.
        PlanError: there is none.
    """
    if beginning is None:
        found = latest(home)
        if found is None:
            raise PlanError(f"no run below {home} yet; `veritas run` starts one")
        return found
    folders = sorted(path.parent for path in (home / "runs").glob(f"{beginning}*/run-state.json"))
    if len(folders) > 1:
        named = ", ".join(folder.name[:16] for folder in folders)
        raise UsageError(f"{beginning!r} is the beginning of {len(folders)} runs ({named}); give more of the digest")
    if not folders:
        known = sorted(path.parent.name[:12] for path in (home / "runs").glob("*/run-state.json"))
        way_out = f"there are {', '.join(known)}" if known else "`veritas run` starts one"
        raise PlanError(f"no run below {home} begins with {beginning!r}; {way_out}")
    return Run(read_state(folders[0] / "run-state.json"), folders[0], resumed=True)
