"""Small logs in the form of each program, written here: a run as numbers, so that a test states what it is about."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any


def sample(
    name: str | int, value: object = "C", *, epoch: int = 1, scorer: str = "match", **more: Any
) -> dict[str, Any]:
    """A sample with one score; ``value=None`` leaves it unscored."""
    return {
        "id": name,
        "epoch": epoch,
        "input": f"question {name}",
        "target": "yes",
        "scores": None if value is None else {scorer: {"value": value}},
        **more,
    }


def inspect_log(
    samples: list[dict[str, Any]],
    *,
    accuracy: object = None,
    stderr: object = None,
    status: str = "success",
    config: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    total: int | None = None,
    dataset: int | None = None,
    model: str = "mock/one",
    **more: Any,
) -> dict[str, Any]:
    """A log that reports ``accuracy`` and ``stderr`` where they are given."""
    metrics: dict[str, Any] = {}
    if accuracy is not None:
        metrics["accuracy"] = {"name": "accuracy", "value": accuracy, "params": {}}
    if stderr is not None:
        metrics["stderr"] = {"name": "stderr", "value": stderr, "params": options or {}}
    scores = [{"name": "match", "scorer": "match", "params": {}, "metrics": metrics}] if metrics else []
    planned = len(samples) if total is None else total
    return {
        "version": 2,
        "status": status,
        "eval": {
            "task": "towns",
            "model": model,
            "dataset": {"samples": len({str(s["id"]) for s in samples}) if dataset is None else dataset},
            "config": config or {},
        },
        "results": {"total_samples": planned, "completed_samples": planned, "scores": scores},
        "samples": samples,
        **more,
    }


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_zip(path: Path, log: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
        for each in log["samples"]:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


def lm_line(
    doc: int, metrics: dict[str, Any], *, used: str = "none", said: str = "Lisbon", **fields: Any
) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": f"question {doc}", **fields},
        "target": "Lisbon",
        "arguments": [[f"question {doc}", {"until": ["\n"]}]],
        "resps": [[said]],
        "filtered_resps": [said],
        "filter": used,
        "metrics": list(metrics),
        "doc_hash": f"d{doc}",
        "prompt_hash": f"p{doc}",
        "target_hash": "t",
        **metrics,
    }


def lm_samples(
    folder: Path, lines: list[Any], *, task: str = "towns", date: str = "2026-01-31T12-00-00.000000"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def lm_results(folder: Path, results: dict[str, Any], *, task: str = "towns", effective: int, original: int) -> Path:
    return write(
        folder / "results_2026-01-31T12-00-00.000000.json",
        {
            "results": {task: {"alias": task, **results}},
            "configs": {task: {}},
            "versions": {task: 1.0},
            "n-samples": {task: {"original": original, "effective": effective}},
            "model_name": "mock",
        },
    )


def trial(task: int, number: int, reward: float, **info: Any) -> dict[str, Any]:
    return {
        "task_id": task,
        "trial": number,
        "reward": reward,
        "info": info,
        "traj": [] if info else [{"role": "user", "content": "Hello"}],
    }
