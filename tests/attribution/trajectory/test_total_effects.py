"""A chain: note a says red, claim c repeats it, claim e repeats c. Deleting a costs e everything although no edge says so."""

from __future__ import annotations

import pytest

from attribution.decision.verdicts import ClaimDecision, Cut, Statistics, UnitVerdict
from attribution.errors import LayoutError
from attribution.shares import share
from attribution.trajectory.regeneration import Regeneration
from attribution.trajectory.total_effects import Checked, Predicted, check_total_effects, predict, summarise
from tests.attribution.trajectory.builders import exact_generation, lay_out, text_of


def chain():
    """Units a, b, the claim c, note d; targets c (unit 2) and the leaf e."""
    first = exact_generation("r", 0, [(None, "N:"), ("a", "van is red."), ("b", "hi.")], "red.", [("c", 0, 4)])
    second = exact_generation(
        "r",
        1,
        [(None, "N:"), ("a", "van is red."), ("b", "hi."), ("c", "red."), ("d", "so?")],
        "yes red.",
        [("e", 0, 8)],
    )
    (trajectory,) = lay_out(first, second)
    return trajectory


def generate(prompt):
    """Says what the last words of the prompt say: the first answer copies the note, the second copies the first."""
    text = text_of(prompt)
    red = "red" in (text.rsplit(".", 2)[-2] if text.endswith("so?") else text)
    word = "red." if red else "no."
    return tuple((f"yes {word}" if text.endswith("so?") else word).encode())


def asserts(_, ids):
    return "red" in text_of(ids)


def decision(*ppm, cuts=()):
    units = tuple(UnitVerdict(n, "edge" if one else "null", 1.0, None, (), one or None) for n, one in enumerate(ppm))
    return ClaimDecision("grounded", units, cuts, 1.0, (), 1, Statistics(None, None, None, None))


DECISIONS = {"c": decision(900_000, 0), "e": decision(0, 0, 800_000, 0)}


def test_answers_are_generated_over_the_tokens_that_are_left():
    trajectory = chain()
    seen = []
    again = Regeneration(trajectory, lambda prompt: seen.append(text_of(prompt)) or generate(prompt))
    assert text_of(again.answer("r-g1", [0])) == "yes red."
    assert {g: text_of(ids) for g, ids in again.later([0]).items()} == {"r-g0": "no.", "r-g1": "yes no."}
    assert seen == ["N:hi.red.so?", "N:hi.", "N:hi.no.so?"]
    assert {g: text_of(ids) for g, ids in again.later([]).items()} == {"r-g0": "red.", "r-g1": "yes red."}


def test_a_deleted_response_is_not_generated_and_what_precedes_a_deletion_stands():
    again = Regeneration(chain(), generate)
    assert list(again.later([2])) == ["r-g1"]
    assert list(again.later([3])) == ["r-g1"]
    assert text_of(again.later([2])["r-g1"]) == "yes no."
    with pytest.raises(LayoutError, match="no response of generation x"):
        again.answer("x", [])


def test_the_fold_carries_a_loss_through_the_claim_between():
    assert predict(chain(), DECISIONS, 0) == {
        "c": Predicted(pytest.approx(0.9), pytest.approx(0.9)),
        "e": Predicted(0.0, pytest.approx(0.72)),
    }
    assert predict(chain(), DECISIONS, 2) == {"e": Predicted(pytest.approx(0.8), pytest.approx(0.8))}
    assert predict(chain(), DECISIONS, 3) == {"e": Predicted(0.0, 0.0)}


def test_a_group_falls_only_together():
    both = decision(0, 0, cuts=(Cut((0, 1), 5.0, -1.0, 700_000),))
    assert predict(chain(), {"c": both}, 0)["c"] == Predicted(0.0, 0.0)
    copied = {"c": decision(1_000_000, 0), "e": decision(0, 0, 0, 0, cuts=(Cut((0, 2), 5.0, -1.0, 700_000),))}
    assert predict(chain(), copied, 0)["e"] == Predicted(0.0, pytest.approx(0.7))


def test_predictions_are_checked_by_generating_every_later_step():
    checked, unstable = check_total_effects(chain(), DECISIONS, [0, 1, 2, 3], generate, asserts)
    assert unstable == 0
    assert [(one.unit, one.claim, one.lost) for one in checked] == [
        (0, "c", True),
        (0, "e", True),
        (1, "c", False),
        (1, "e", False),
        (2, "e", True),
        (3, "e", False),
    ]
    found = summarise(checked, unstable)
    assert (found.total, found.direct) == (share(6, 6), share(5, 6))
    assert (found.fallen_found, found.standing_found) == (share(3, 3), share(3, 3))
    assert found.brier == pytest.approx((0.1**2 + 0.28**2 + 0.2**2) / 6)
    assert "right for 1.000 [0.610, 1.000], n = 6; direct effects alone 0.833" in found.line()


def test_a_claim_that_is_not_said_again_is_left_out_and_counted():
    checked, unstable = check_total_effects(chain(), DECISIONS, [0], lambda _: tuple(b"no."), asserts)
    assert (checked, unstable) == ((), 2)
    assert summarise(checked, unstable).total is None
    assert "no pair to check (2 claims" in summarise(checked, unstable).line()


def test_wrong_predictions_count_as_wrong():
    wrong = [Checked(0, "c", Predicted(0.0, 0.0), lost=True), Checked(1, "c", Predicted(0.9, 0.9), lost=False)]
    found = summarise(wrong, 0)
    assert (found.total, found.fallen_found, found.standing_found) == (share(0, 2), share(0, 1), share(0, 1))
