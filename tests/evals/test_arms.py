"""The table of arms, and readings of it over hand-made entries."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from evals.arms import ARMS, DEFAULT_ARMS, Arm, arm
from evals.errors import ArmError
from evals.lexical import kept_parents, overlap_ppm, terms
from evals.prompts import Line
from evals.reading import Known, read
from evals.scenarios import generate
from ledger_core.harness.render import ContextEntry
from ledger_core.kernel.types import EventId, U


def _entry(key: str, order: int, **change: object) -> ContextEntry:
    made = ContextEntry(
        key=EventId(key),
        text=f"Text of {key}.",
        tier="sealed_unverified",
        belief=7 * U // 10,
        invalidated=False,
        retracted=False,
        corroborated=False,
        external=True,
        order=order,
        kind="entry.observed",
    )
    return replace(made, **change)  # type: ignore[arg-type]


PREMISE = _entry("premise", 0, retracted=True, invalidated=True, belief=U // 100)
CLAIM = _entry("claim", 1, tier="derived", invalidated=True, belief=U // 50, external=False, kind="entry.derived")
OTHER = _entry("other", 2, tier="derived", belief=U // 2, external=False, kind="entry.derived")
LEFT = _entry("left", 3, corroborated=True)
RIGHT = _entry("right", 4, corroborated=True)
ENTRIES = (PREMISE, CLAIM, OTHER, LEFT, RIGHT)
FALSEHOODS = frozenset({"premise", "claim"})


def _shown(name: str) -> list[str]:
    return [line.text for line in read(arm(name), ENTRIES, known=Known(falsehoods=FALSEHOODS))]


def test_the_arms_are_those_of_the_design_and_their_controls() -> None:
    flat = ["1", "1w", "1m", "1o", "1r", "1i", "1l"]
    ledger = ["2v1", "2b", "2", "2k", "2d", "2t", "2m", "2c", "2x", "3", "2s", "3s", "2r", "2kr"]
    assert list(ARMS) == [*flat, *ledger]
    assert {name for name, row in ARMS.items() if row.context == "flat"} == set(flat)


def test_names_in_statements_and_for_display() -> None:
    assert [ARMS[name].id for name in DEFAULT_ARMS] == [
        "arm-1",
        "arm-1o",
        "arm-2v1",
        "arm-2",
        "arm-2k",
        "arm-2m",
        "arm-2x",
        "arm-3",
    ]
    assert arm("arm-2x") is arm("2x") is ARMS["2x"]
    with pytest.raises(ArmError, match="no arm '4'; choose one of 1, 1w, 1m, 1o"):
        arm("4")


def test_arms_that_are_compared_differ_in_what_the_contrast_names() -> None:
    def differing(left: str, right: str) -> set[str]:
        return {
            field.name
            for field in fields(Arm)
            if field.name not in {"display", "question"}
            and getattr(ARMS[left], field.name) != getattr(ARMS[right], field.name)
        }

    assert differing("2", "2k") == {"retraction"}
    assert differing("2", "2m") == {"renderer"}
    assert differing("2", "2x") == differing("2", "3") == differing("2s", "3s") == {"edges"}
    assert differing("2", "2r") == differing("2k", "2kr") == differing("2r", "2c") == differing("1", "1r") == {"order"}
    assert differing("2", "2v1") == differing("2", "2d") == {"renderer"}
    assert differing("2", "2b") == differing("2k", "2t") == {"corroboration"}
    assert differing("2", "2s") == differing("3", "3s") == {"policy"}
    assert differing("1", "1o") == differing("1", "1l") == {"retraction"}
    assert differing("1", "1w") == differing("1", "1m") == {"compaction"}
    assert differing("1", "1i") == {"instruction"}
    assert all(ARMS[name].order == "log" for name in DEFAULT_ARMS)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("1", ["Text of premise.", "Text of claim.", "Text of other.", "Text of left.", "Text of right."]),
        ("1o", ["Text of other.", "Text of left.", "Text of right."]),
        (
            "2v1",
            [
                "[RETRACTED] [sealed_unverified 0.01] Text of premise.",
                "[derived 0.02] Text of claim.",
                "[derived 0.50] Text of other.",
                "[sealed_unverified 0.70] Text of left.",
                "[sealed_unverified 0.70] Text of right.",
            ],
        ),
        ("2", ["[derived] Text of other.", "[verified] Text of left.", "[verified] Text of right."]),
        ("2r", ["[verified] Text of left.", "[verified] Text of right.", "[derived] Text of other."]),
        (
            "2k",
            [
                "[uncorroborated] Text of premise.",
                "[derived] Text of claim.",
                "[derived] Text of other.",
                "[verified] Text of left.",
                "[verified] Text of right.",
            ],
        ),
        (
            "2m",
            [
                "[RETRACTED] [uncorroborated] Text of premise.",
                "[RETRACTED] [derived] Text of claim.",
                "[derived] Text of other.",
                "[verified] Text of left.",
                "[verified] Text of right.",
            ],
        ),
        ("2d", ["Text of other.", "Text of left.", "Text of right."]),
    ],
)
def test_what_each_arm_shows(name: str, lines: list[str]) -> None:
    assert _shown(name) == lines


@pytest.mark.parametrize("name", ["2x", "3"])
def test_arms_of_other_edges_render_like_arm_2(name: str) -> None:
    assert _shown(name) == _shown("2")


def test_the_flat_arm_shows_a_scenario_word_for_word() -> None:
    scenario = generate("planted-premise", 1, 0)[0]
    entries = [_entry(e.key, i, text=e.text, invalidated=bool(i % 2)) for i, e in enumerate(scenario.entries)]
    assert read(arm("1"), entries) == tuple(Line(entry.key, entry.text) for entry in scenario.entries)
    shown = read(arm("1o"), entries, known=Known(falsehoods=scenario.falsehoods))
    assert {line.key for line in shown} == {entry.key for entry in scenario.entries} - scenario.falsehoods


def test_a_reading_changes_nothing_it_is_given() -> None:
    before = tuple(replace(entry) for entry in ENTRIES)
    for name in ARMS:
        read(arm(name), ENTRIES, known=Known(falsehoods=FALSEHOODS))
    assert before == ENTRIES


def test_a_renderer_that_is_not_there_is_named() -> None:
    with pytest.raises(ArmError, match="arm 2 needs the renderer 'v2'; known: flat"):
        read(arm("2"), ENTRIES, renderers={"flat": lambda entries, order="log": ()})  # noqa: ARG005


def test_terms_are_content_words_and_numbers() -> None:
    assert terms("The Café at Arlen takes 1,200 of it, on 14 March.") == {
        "cafe",
        "arlen",
        "takes",
        "1200",
        "14",
        "march",
    }


def test_overlap_is_the_share_of_the_claims_terms() -> None:
    assert overlap_ppm("deposit Arlen hall 45", "The deposit at Arlen hall is 62.") == 750_000
    assert overlap_ppm("deposit Arlen hall", "hall") == 333_333
    assert overlap_ppm("it is", "it is") == 0


def test_a_parent_is_kept_from_the_threshold_on() -> None:
    parents = {"a": "deposit Arlen", "b": "Arlen", "c": "deposit Arlen hall 45"}
    assert kept_parents("deposit Arlen hall 45", parents) == ("a", "c")
    assert kept_parents("deposit Arlen hall 45", parents, threshold_ppm=500_001) == ("c",)
    assert kept_parents("deposit Arlen hall 45", parents.items(), threshold_ppm=250_000) == ("a", "b", "c")
