"""A scenario whose parts do not fit together does not exist."""

from __future__ import annotations

from typing import Any

import pytest

from evals.errors import ScenarioError
from evals.scenarios import JudgeStep, Scenario, decode_scenario, generate
from ledger_core.kernel.canonical import encode, parse

PLANTED = generate("planted-premise", 3, 2)[2]


def _with(change: dict[str, Any]) -> bytes:
    data = parse(PLANTED.canonical_bytes())
    assert isinstance(data, dict)
    return encode({**data, **change})


def _steps() -> list[dict[str, Any]]:
    return [step.model_dump() for step in PLANTED.steps]


def _entries() -> list[dict[str, Any]]:
    return [entry.model_dump(mode="json") for entry in PLANTED.entries]


def test_the_helper_round_trips() -> None:
    assert decode_scenario(_with({})) == PLANTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": _steps()[::-1]}, "another order"),
        ({"steps": _steps()[:-1]}, "come together"),
        ({"question": None}, "come together"),
        ({"entries": [*_entries(), _entries()[0]]}, "share a key"),
        ({"entries": [{**_entries()[0], "text": "no such value"}, *_entries()[1:]]}, "does not state its value"),
        ({"order": "sideways"}, "order"),
        ({"extra": 1}, "extra"),
        ({"steps": [{"step": "judge", "target": "nobody", "candidates": []}, *_steps()]}, "nobody before it is there"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        decode_scenario(_with(change))


def test_a_claim_cannot_rest_on_what_comes_later() -> None:
    entries, steps = _entries(), _steps()
    claim = next(i for i, entry in enumerate(entries) if entry["kind"] == "claim")
    moved = [entries[claim], *entries[:claim], *entries[claim + 1 :]]
    moved_steps = [steps[claim], *steps[:claim], *steps[claim + 1 :]]
    with pytest.raises(ScenarioError, match="not in its context"):
        decode_scenario(_with({"entries": moved, "steps": moved_steps}))


def test_a_claim_of_a_fallen_and_a_standing_parent_stands() -> None:
    two = next(s for s in generate("planted-premise", 8, 0) if len(s.claims) == 2)
    assert two.dependents == ("claim-1", "claim-2")
    other = two.model_copy(update={"steps": tuple(s for s in two.steps if not isinstance(s, JudgeStep))})
    assert Scenario.retracted.fget(other) == frozenset()
    assert other.dependents == ()
    assert other.true_claims == ("claim-1", "claim-2")


def test_the_stem_of_an_entry_without_a_value_is_refused() -> None:
    filler = next(e for s in generate("competence", 1, 0) for e in s.entries if e.value is None)
    with pytest.raises(ScenarioError, match="filler states no value"):
        _ = filler.stem
