"""Imported transcripts under the project's own template: frames, units, windows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from attribution.errors import ContextWindowError
from attribution.trajectory import Claim, ContextItem, Generation, Trajectory, Wording, foreign_trajectory
from tests.attribution.trajectory.builders import CHAT, text_of, tokenize

CALL = json.dumps({"name": "look"})


def items() -> list[ContextItem]:
    """System, an older question, a call with its result, a claim, the question."""
    return [
        ContextItem("sys", "entry.given", "system", "Be brief.", None),
        ContextItem("q1", "entry.given", "user", "Which van?", 0),
        ContextItem("say", "entry.derived", "assistant", "I look. ", 1),
        ContextItem("call", "entry.derived", "assistant", CALL, 2),
        ContextItem("result", "entry.observed", "tool", "van 7 is red", 2),
        ContextItem("old", "entry.derived", "assistant", "Van 7.", 3),
        ContextItem("q2", "entry.given", "user", "Which colour?", None),
    ]


def generations(response: str = "Red. It is van 7.") -> list[Generation]:
    context = items()

    def generation(step: int, stop: int, said: str, claims: list[tuple[str, int, int]]) -> Generation:
        return Generation(
            event_id=f"g{step}",
            record="r",
            step=step,
            context=tuple(context[:stop]),
            response=said,
            claims=tuple(Claim(entry, begin, end, "sentence") for entry, begin, end in claims),
            prompt_ids=None,
            response_ids=None,
            weights_digest=None,
        )

    first = "I look. " + CALL
    cut = response.index(" ") + 1
    size = len(response.encode())
    return [
        generation(0, 2, first, [("say", 0, 8), ("call", 8, len(first))]),
        generation(1, 5, "Van 7.", [("old", 0, 6)]),
        generation(2, 7, response, [("new1", 0, cut), ("new2", cut, size)]),
    ]


def lay_out(given: list[Generation], *, wording: Wording | None = None, **sizes: int) -> Trajectory:
    return foreign_trajectory(
        given,
        wording or Wording({}, {}),
        tokenize=tokenize,
        chat=CHAT,
        context_window=sizes.pop("context_window", 999),
        **sizes,
    )


WHOLE = (
    "<system\nBe brief.>\n"
    "<user\nWhich van?>\n"
    f"<assistant\nI look. {CALL}>\n"
    "<tool\nvan 7 is red>\n"
    "<assistant\nVan 7.>\n"
    "<user\nWhich colour?>\n"
    "<assistant\nRed. It is van 7.>\n"
)


def test_messages_are_framed_and_an_assistants_parts_share_one_message():
    trajectory = lay_out(generations())
    assert text_of(trajectory.layout.ids) == WHOLE
    assert trajectory.key == "r"
    assert trajectory.fidelity == "proxy"


def test_system_prompt_and_question_belong_to_nobody_a_call_and_its_result_to_one_unit():
    trajectory = lay_out(generations())
    owned = [
        (text_of(trajectory.layout.ids[r.start : r.stop]), r.unit)
        for r in trajectory.layout.regions
        if r.unit is not None
    ]
    assert owned == [
        ("Which van?", 0),
        ("I look. ", 1),
        (CALL, 2),
        ("van 7 is red", 2),
        ("Van 7.", 3),
        ("Red. ", 4),
        ("It is van 7.", 5),
    ]
    assert [unit.named for unit in trajectory.units] == ["q1", "say", "result", "old", "new1", "new2"]
    assert trajectory.units[2].entries == ("call", "result")


def test_every_claim_of_every_step_is_a_target_behind_its_own_units():
    trajectory = lay_out(generations())
    found = {
        claim.entry: (
            text_of(trajectory.layout.ids[target.start : target.stop]),
            target.unit,
            claim.units,
            claim.generation,
            sorted(claim.context),
        )
        for claim, target in zip(trajectory.claims, trajectory.layout.targets, strict=True)
    }
    assert found == {
        "say": ("I look. ", 1, 1, "g0", ["q1"]),
        "call": (CALL, 2, 2, "g0", ["q1"]),
        "old": ("Van 7.", 3, 3, "g1", ["call", "q1", "result", "say"]),
        "new1": ("Red. ", 4, 4, "g2", ["call", "old", "q1", "result", "say"]),
        "new2": ("It is van 7.", 5, 5, "g2", ["call", "old", "q1", "result", "say"]),
    }


def test_an_earlier_claim_of_the_same_response_is_a_unit_but_no_context_entry():
    trajectory = lay_out(generations())
    last = trajectory.claims[-1]
    assert "new1" in trajectory.units[last.units - 1].entries
    assert "new1" not in last.context


def test_foils_and_swaps_are_of_the_text_itself():
    trajectory = lay_out(generations(), wording=Wording({"new2": ("It is van 8.",)}, {}))
    assert [claim.contrasted for claim in trajectory.claims] == [False, False, False, False, True]
    assert [text_of(swap) for swap in trajectory.layout.units[2].swap][1] == "van 0 is red"


def test_a_transcript_longer_than_the_model_sees_is_refused_with_both_sizes_and_the_way_out():
    size = len(lay_out(generations()).layout.ids)
    with pytest.raises(
        ContextWindowError, match=rf"r needs {size} tokens .* sees {size - 1}; give --window {size - 1}"
    ):
        lay_out(generations(), context_window=size - 1)
    assert len(lay_out(generations(), context_window=size).layout.ids) == size


def test_a_foil_longer_than_its_claim_counts_too():
    size = len(lay_out(generations()).layout.ids)
    wording = Wording({"new2": ("It is the van of 1874, or so.",)}, {})
    grown = size + len("It is the van of 1874, or so.") - len("It is van 7.")
    with pytest.raises(ContextWindowError, match=f"needs {grown} tokens"):
        lay_out(generations(), wording=wording, context_window=size)
    fitted = lay_out(generations(), wording=wording, context_window=size, window=size)
    assert fitted.dropped


def test_a_window_leaves_out_the_oldest_whole_units_and_names_them():
    size = len(lay_out(generations()).layout.ids)
    framed = len("Which van?") + 5
    trajectory = lay_out(generations(), window=size - 1)
    assert trajectory.dropped == ("q1",)
    assert text_of(trajectory.layout.ids) == WHOLE.replace("<user\nWhich van?>\n", "")
    assert lay_out(generations(), window=size - framed).dropped == ("q1",)
    assert lay_out(generations(), window=size - framed - 1).dropped == ("q1", "say")
    further = lay_out(generations(), window=size - framed - 9)
    assert further.dropped == ("q1", "say", "call", "result")
    assert [claim.entry for claim in further.claims] == ["old", "new1", "new2"]


def test_a_window_holds_exactly_what_it_says():
    for window in range(60, len(lay_out(generations()).layout.ids)):
        assert len(lay_out(generations(), window=window).layout.ids) <= window


def test_system_prompt_question_and_answer_stay_or_the_window_is_refused():
    kept = "<system\nBe brief.>\n<user\nWhich colour?>\n<assistant\nRed. It is van 7.>\n"
    least = len(kept) - len("systemuserassistant") + 3
    assert text_of(lay_out(generations(), window=least).layout.ids) == kept
    with pytest.raises(ContextWindowError, match=rf"alone have {least} tokens, over the window of {least - 1}"):
        lay_out(generations(), window=least - 1)


def test_a_window_wider_than_the_transcript_leaves_out_nothing():
    assert lay_out(generations(), window=998).dropped == ()


def test_a_claim_without_text_is_no_target():
    given = generations()
    empty = replace(
        given[-1], context=tuple(replace(item, text="") if item.entry == "old" else item for item in items())
    )
    trajectory = lay_out([*given[:2], empty])
    assert [claim.entry for claim in trajectory.claims] == ["say", "call", "new1", "new2"]
    assert len(trajectory.units) == 6
