"""An Inspect log as a run: `.json` or `.eval`, of every version that has `eval`.

Source: inspect_ai `log/_log.py` (`EvalLog`, `EvalSample`, `EvalResults`) and `scorer/_metrics` for what its figures are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evals.eval_audit.runs import EvalRun, Reported, Row, Score
from evals.eval_audit.values import as_list, as_mapping, count, digest_of, facts, number, text
from ledger_core.connectors.inspect_logs import open_log
from ledger_core.connectors.transcript import Reject

MEANS = ("accuracy", "mean")
ERRORS = ("stderr", "bootstrap_stderr", "bootstrap_std")
_SPREADS = frozenset({*ERRORS, "std", "var"})
_PLACEHOLDER = "88F74D2C"
"""How Inspect names a scorer in a sample before the results name it."""


def read_inspect_run(path: Path) -> EvalRun:
    """The run that the log at ``path`` is of.

    Raises:
        ConnectorError: no Inspect log, or one that is cut off.
    """
    log = open_log(path)
    header, results = log.header, as_mapping(log.header.get("results"))
    spec = as_mapping(header.get("eval"))
    config, dataset = as_mapping(spec.get("config")), as_mapping(spec.get("dataset"))
    reported = tuple(_reported(results))
    names = tuple(each.scorer for each in reported)
    rows: list[Row] = []
    unread: list[tuple[str, str]] = []
    for item in log.samples:
        if isinstance(item, Reject):
            unread.append((item.place, item.reason))
            continue
        place, value = item
        row = _row(as_mapping(value), names)
        if row is None:
            unread.append((place, "is no sample with an id"))
        else:
            rows.append(row)
    reduced = not log.total
    if reduced:
        rows = list(_reduced(header, results))
    epochs = count(config.get("epochs")) or 1
    task = text(spec.get("task")) or path.stem
    return EvalRun(
        path=str(path),
        format="inspect",
        task=task,
        population=task,
        model=text(spec.get("model")),
        rows=tuple(rows),
        reported=reported,
        status=text(header.get("status")),
        planned=_planned(results, dataset, epochs),
        dataset=count(dataset.get("samples")),
        epochs=max(epochs, max((row.epoch for row in rows), default=1)),
        reducers=tuple(str(name) for name in as_list(config.get("epochs_reducer"))) or ("mean",),
        reduced=reduced,
        unread=tuple(unread),
    )


def _planned(results: Mapping[str, object], dataset: Mapping[str, object], epochs: int) -> int | None:
    total = count(results.get("total_samples"))
    if total:
        return total
    named = len(as_list(dataset.get("sample_ids")))
    return named * epochs or None


def _reported(results: Mapping[str, object]) -> Iterator[Reported]:
    scores = as_list(results.get("scores")) or as_list(results.get("scorers"))
    if not scores and isinstance(results.get("scorer"), dict):
        scores = [{**as_mapping(results["scorer"]), "metrics": results.get("metrics")}]
    for item in scores:
        score = as_mapping(item)
        metrics = {name: as_mapping(metric) for name, metric in as_mapping(score.get("metrics")).items()}
        mean = next((name for name in (*MEANS, *metrics) if name in metrics and name not in _SPREADS), None)
        if mean is None:
            continue
        error = next((name for name in ERRORS if name in metrics), None)
        options = as_mapping(metrics[error].get("params") or metrics[error].get("options")) if error else {}
        yield Reported(
            scorer=text(score.get("name")) or text(score.get("scorer")) or "score",
            metric=mean,
            value=number(metrics[mean].get("value")),
            stderr=number(metrics[error].get("value")) if error else None,
            stderr_name=error,
            clustered_by=text(options.get("cluster")),
            reducer=text(score.get("reducer")),
        )


def _row(sample: Mapping[str, object], names: tuple[str, ...]) -> Row | None:
    if sample.get("id") is None:
        return None
    limit = as_mapping(sample.get("limit"))
    error = sample.get("error")
    return Row(
        sample=str(sample["id"]),
        epoch=count(sample.get("epoch")) or 1,
        scores=dict(_scores(sample, names)),
        error=None if error is None else text(as_mapping(error).get("message")) or str(error)[:200],
        limit=text(limit.get("type")) or text(sample.get("limit")),
        empty=_said_nothing(as_mapping(sample.get("output"))),
        retries=len(as_list(sample.get("error_retries"))),
        groups=dict(facts(as_mapping(sample.get("metadata")))),
        asked=None if sample.get("input") is None else digest_of([sample.get("input"), sample.get("choices")]),
    )


def _scores(sample: Mapping[str, object], names: tuple[str, ...]) -> Iterator[tuple[str, Score]]:
    scores = as_mapping(sample.get("scores"))
    if not scores and isinstance(sample.get("score"), dict):
        scores = {_PLACEHOLDER: sample["score"]}
    for name, item in scores.items():
        scorer = names[0] if name == _PLACEHOLDER and names else name
        value = as_mapping(item).get("value")
        if isinstance(value, dict):
            for part, each in value.items():
                yield part if part in names else f"{scorer}.{part}", Score.of(each)
        else:
            yield scorer, Score.of(value)


def _said_nothing(output: Mapping[str, object]) -> bool:
    """Whether the last answer of the model is there and has neither text nor a tool call."""
    choices = as_list(output.get("choices"))
    if not choices:
        return False
    message = as_mapping(as_mapping(choices[0]).get("message"))
    return "content" in message and not message.get("content") and not message.get("tool_calls")


def _reduced(header: Mapping[str, object], results: Mapping[str, object]) -> Iterator[Row]:
    """Rows of a log without samples, from the scores it keeps reduced over epochs; one row a sample."""
    scores: dict[str, dict[str, Score]] = {}
    for item in as_list(header.get("reductions")) or as_list(results.get("sample_reductions")):
        reduction = as_mapping(item)
        scorer = text(reduction.get("scorer")) or "score"
        for place, each in enumerate(as_list(reduction.get("samples"))):
            sample = as_mapping(each)
            name = str(sample.get("sample_id", place))
            scores.setdefault(name, {})[scorer] = Score.of(sample.get("value"))
    yield from (Row(sample=name, epoch=1, scores=found) for name, found in scores.items())
