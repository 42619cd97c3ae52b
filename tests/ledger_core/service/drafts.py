"""Requests as JSON, the way any program would write them."""

from __future__ import annotations

from typing import Any

import httpx


def maker() -> dict[str, Any]:
    return {"producer": "tests.service", "producer_version": "1"}


def put(http: httpx.Client, data: bytes, media_type: str = "text/plain; charset=utf-8") -> dict[str, Any]:
    answer = http.put("/blob", content=data, headers={"Content-Type": media_type})
    assert answer.status_code == 201, answer.text
    return answer.json()


def fact(subject: str, key: str) -> dict[str, str]:
    return {"key": key, "namespace": "tests.service", "object": subject, "revision": "1"}


def seal(
    args: dict[str, Any], result: dict[str, Any], *, step: int = 1, host: str = "alpha.example", **body: Any
) -> Any:
    """`POST /seal` of an external read; ``args`` and ``result`` are content references."""
    values = {
        "args": args,
        "attestation": "boundary",
        "determinism": "deterministic",
        "effect": "read_only",
        "origin_host": host,
        "outcome": "ok",
        "reach": "external_read",
        "reacquisition": {"procedure": "http_get", "secret_refs": [], "tool_digest": "70" * 32},
        "result": result,
        "runner": "simulated",
        "source_id": "search",
        "tool": "search",
    }
    return {
        "seal": {
            "body": values | body,
            "observed_at": "2026-03-01T11:59:00.000000000Z",
            "representation": maker(),
            "source_fact": fact("run-1", f"{step}/call"),
        }
    }


def entry(content: dict[str, Any], *, key: str = "1", kind: str = "entry.conjectured", **body: Any) -> Any:
    """`POST /entry` of a claim that names no generation."""
    values = {"content": dict(content), "generation": None, "parents": [], "span": None}
    return {"body": values | body, "kind": kind, "representation": maker(), "source_fact": fact("notes", key)}


def verdict(target: str, candidate: str, answer: str = "contradict", recipe: str = "oracle-v1") -> Any:
    return {"candidate": candidate, "recipe": recipe, "target": target, "verdict": answer}


def generation_of(response: dict[str, Any]) -> Any:
    """`POST /generation` of a model that shows text only."""
    body = {
        "attestation": "boundary",
        "claims": [],
        "context": [],
        "decoding": "unknown",
        "model": "m",
        "policy": None,
        "prompt_tokens": None,
        "renderer": None,
        "response": response,
        "response_tokens": None,
        "splitter": "sentences-v1",
        "weights_digest": None,
    }
    return {"generation": {"body": body, "representation": maker(), "source_fact": fact("run-1", "1")}}


def sealed(http: httpx.Client, text: str, **options: Any) -> str:
    """Seal ``text`` as a sealer and give the event id of its observation."""
    args, result = put(http, b'{"q":"tower"}', "application/json"), put(http, text.encode())
    answer = http.post("/seal", json=seal(args, result, **options))
    assert answer.status_code == 201, answer.text
    return answer.json()["events"][1]["event_id"]
