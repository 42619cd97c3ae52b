"""The samples of an lm-evaluation-harness task as a run, with what its results file reports of them.

One line a sample and filter: `doc_id`, `doc`, `target`, `arguments`, `resps`, `filtered_resps`, `filter`, `metrics`, hashes, and
each metric under its own name. `samples_TASK_DATE.jsonl` lies beside `results_DATE.json`, whose figures are called
`METRIC,FILTER` and `METRIC_stderr,FILTER`.

Source: EleutherAI/lm-evaluation-harness, `lm_eval/evaluator.py` and `loggers/evaluation_tracker.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evals.eval_audit.runs import EvalRun, Reported, Row, Score
from evals.eval_audit.values import as_list, as_mapping, count, digest_of, facts, number, text
from ledger_core.connectors.reading import load, load_json
from ledger_core.kernel.errors import ConnectorError

_FIELDS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+))?$")
_NO_FILTER = "none"


def is_sample(value: object) -> bool:
    """Whether a JSON value is a line of such a file."""
    return isinstance(value, dict) and "doc_id" in value and ("resps" in value or "filtered_resps" in value)


def lm_eval_run(path: Path, lines: Sequence[tuple[str, object]], unread: Sequence[tuple[str, str]]) -> EvalRun:
    """The run of the file's lines.

    Args:
        path: the file.
        lines: (place, value) of each.
        unread: (place, why) of lines that are no JSON.
    """
    named = _NAME.fullmatch(path.stem)
    task = named["task"] if named else path.stem
    results = _results(path, named["date"] if named else None)
    reported = tuple(_reported(as_mapping(as_mapping(results.get("results")).get(task))))
    samples = as_mapping(as_mapping(results.get("n-samples")).get(task))
    return EvalRun(
        path=str(path),
        format="lm-eval",
        task=task,
        population=task,
        model=text(results.get("model_name")),
        rows=tuple(_rows(value for _, value in lines if isinstance(value, dict))),
        reported=reported,
        planned=count(samples.get("effective")),
        dataset=count(samples.get("original")),
        unread=(*unread, *((place, "is no object") for place, value in lines if not isinstance(value, dict))),
    )


def _rows(lines: Iterator[Mapping[str, object]]) -> Iterator[Row]:
    """One row a sample: the lines of its filters together; a filter's second line of a sample begins another row."""
    rows: dict[tuple[str, int], dict[str, Score]] = {}
    firsts: dict[tuple[str, int], Mapping[str, object]] = {}
    seen: dict[tuple[str, str], int] = {}
    for line in lines:
        sample, used = str(line.get("doc_id")), text(line.get("filter")) or _NO_FILTER
        turn = seen[sample, used] = seen.get((sample, used), -1) + 1
        firsts.setdefault((sample, turn), line)
        scores = rows.setdefault((sample, turn), {})
        for metric in _metrics(line):
            scores[f"{metric},{used}"] = Score.of(line.get(metric))
    for (sample, turn), scores in rows.items():
        line = firsts[sample, turn]
        doc = as_mapping(line.get("doc"))
        yield Row(
            sample=sample,
            epoch=1,
            scores=scores,
            empty=_said_nothing(line.get("resps")),
            groups=dict(facts(doc)),
            asked=text(line.get("prompt_hash")) or text(line.get("doc_hash")) or (digest_of(doc) if doc else None),
        )


def _metrics(line: Mapping[str, object]) -> list[str]:
    named = [name for name in as_list(line.get("metrics")) if isinstance(name, str)]
    return named or [
        name for name, value in line.items() if name not in _FIELDS and isinstance(value, bool | int | float)
    ]


def _said_nothing(resps: object) -> bool:
    """Whether every generated text is empty; answers that are log-likelihoods are no texts."""
    texts = [each for group in as_list(resps) for each in (group if isinstance(group, list) else [group])]
    return bool(texts) and all(isinstance(each, str) and not each.strip() for each in texts)


def _results(path: Path, date: str | None) -> Mapping[str, object]:
    """The results file of the same date in the same folder; empty where there is none that can be read."""
    beside = path.parent / f"results_{date}.json"
    if date is None or not beside.is_file():
        return {}
    try:
        return as_mapping(load_json(beside, load(beside)))
    except ConnectorError:
        return {}


def _reported(task: Mapping[str, object]) -> Iterator[Reported]:
    for name, value in task.items():
        metric, _, used = name.partition(",")
        if metric.endswith("_stderr") or metric == "alias":
            continue
        error = task.get(f"{metric}_stderr,{used}" if used else f"{metric}_stderr")
        yield Reported(
            scorer=f"{metric},{used or _NO_FILTER}",
            metric=metric,
            value=number(value),
            stderr=number(error),
            stderr_name=None if number(error) is None else f"{metric}_stderr",
        )
