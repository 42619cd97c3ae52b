"""tau-bench results as a run: one row a trial, the reward its only score.

A trial that an exception ended is written with a reward of 0 and the exception in `info`. The file reports no mean; the
program prints the mean reward without an error.

Source: github.com/sierra-research/tau-bench, `run.py` and `EnvRunResult`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.eval_audit.runs import EvalRun, Row, Score
from evals.eval_audit.values import as_list, as_mapping, count, digest_of, text

SCORER = "reward"


def is_trial(value: object) -> bool:
    """Whether a JSON value is a record of such a file."""
    return isinstance(value, dict) and "task_id" in value and "reward" in value


def tau_bench_run(path: Path, trials: Sequence[object]) -> EvalRun:
    """The run of the file's records."""
    unread = tuple((f"record {place}", "is no trial") for place, trial in enumerate(trials) if not is_trial(trial))
    rows = tuple(_row(as_mapping(trial)) for trial in trials if is_trial(trial))
    return EvalRun(
        path=str(path),
        format="tau-bench",
        task=path.stem,
        population=_environment(trials),
        model=None,
        rows=rows,
        reported=(),
        epochs=max((row.epoch for row in rows), default=1),
        errors_score_zero=True,
        unread=unread,
    )


def _environment(trials: Sequence[object]) -> str:
    """The digest of the policy that all trials of an environment begin with; empty where no trial has one.

    Task numbers of two environments mean different tasks, and nothing else in the file names the environment.
    """
    for trial in trials:
        first = as_mapping(next(iter(as_list(as_mapping(trial).get("traj"))), None))
        policy = text(first.get("content")) if first.get("role") == "system" else None
        if policy is not None:
            return digest_of(policy)
    return ""


def _row(trial: Mapping[str, object]) -> Row:
    info = as_mapping(trial.get("info"))
    task = text(as_mapping(info.get("task")).get("instruction"))
    return Row(
        sample=f"task {trial['task_id']}",
        epoch=(count(trial.get("trial")) or 0) + 1,
        scores={SCORER: Score.of(trial["reward"])},
        error=text(info.get("error")),
        asked=None if task is None else digest_of(task),
        empty="traj" in trial and not as_list(trial["traj"]) and not info.get("error"),
    )
