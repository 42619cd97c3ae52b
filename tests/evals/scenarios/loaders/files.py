"""Small files in the form of each format, written here: every text is this project's own."""

from __future__ import annotations

import json
from pathlib import Path

ANSWERS = (("Lisbon", "Porto"), ("Madrid", "Toledo"), ("Vienna", "Graz"), ("Prague", "Brno"))
"""(correct, incorrect)."""

TEXTS = (
    "Every map of the river shows {} at its mouth, and boats have sailed from there since the harbour was dug.",
    "The port office moved to {} in spring, which the captains of the ferry line had asked for.",
    "Travellers who follow the river to the sea end up in {}, a town of steep streets and trams.",
    "In {} the river is a mile wide and meets the tide.",
)


def attack_rows() -> dict[str, dict]:
    return {
        f"test{number}": {
            "id": f"test{number}",
            "question": f"which town lies at the mouth of river {number}",
            "correct answer": correct,
            "incorrect answer": incorrect,
            "adv_texts": [text.format(incorrect) for text in TEXTS],
        }
        for number, (correct, incorrect) in enumerate(ANSWERS)
    }


def conflict_row(number: int, *, ground_truth: str = "True") -> dict:
    return {
        "question": f"Could boat {number} pass the lock?",
        "popularity": 10 + number,
        "ground_truth": [ground_truth],
        "memory_answer": f"Boat {number} is too wide for the lock.",
        "parametric_memory": f"Boat {number} was built for the open sea and is wider than any lock of the canal"
        + "." * number,
        "counter_answer": f"Boat {number} passes the lock.",
        "counter_memory": f"The keeper of the lock has let boat {number} through on two days of every week"
        + "." * number,
        "parametric_memory_aligned_evidence": "Sea boats are wide.",
        "counter_memory_aligned_evidence": f"The lock is nine metres wide. Boat {number} measures eight metres"
        + "." * number,
    }


def trial(task: int, number: int, *, reservation: dict | None = None, error: bool = False) -> dict:
    record = reservation or {
        "reservation_id": f"R{task}{number}",
        "origin": ("BOS", "LAX", "SFO", "MIA", "DEN", "SEA")[(task + number) % 6],
        "seats": 3,
        "legs": [{"seats": 3}],
    }
    answer = "Error: no such reservation" if error else json.dumps(record)
    call = {"id": "c1", "type": "function", "function": {"name": "get_reservation", "arguments": ""}}
    call["function"]["arguments"] = json.dumps({"reservation_id": record["reservation_id"]})
    return {
        "task_id": task,
        "trial": number,
        "reward": float(number % 2),
        "info": {},
        "traj": [
            {"role": "system", "content": "You serve travellers."},
            {"role": "user", "content": "Where does my journey begin?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "get_reservation", "content": answer},
        ],
    }


def write(path: Path, value: object, *, lines: bool = False) -> Path:
    text = "\n".join(json.dumps(row) for row in value) if lines else json.dumps(value)  # type: ignore[attr-defined]
    path.write_text(text, encoding="utf-8")
    return path


def attack_file(folder: Path) -> Path:
    return write(folder / "towns.json", attack_rows())


def conflict_file(folder: Path) -> Path:
    return write(folder / "locks.jsonl", [conflict_row(number) for number in range(12)], lines=True)


def tau_file(folder: Path) -> Path:
    return write(folder / "journeys.json", [trial(task, number) for task in range(6) for number in range(2)])
