"""What stage A lets through of the generator's pairs, with MiniLM: the figures of docs/verification.md."""

from __future__ import annotations

from itertools import product

import pytest

from attribution.models import load_embedder
from evals.scenarios.generate import generate
from ledger_core.verification import Settings
from ledger_core.verification.screening import Screener
from ledger_core.verification.texts import Text

pytestmark = pytest.mark.slow

SCENARIOS = generate("planted-premise", 40, 7)


def kind(scenario):
    """What the scenario's place is: a farm, a ferry, a hall."""
    return scenario.wording.partition("-")[0]


def correction(premise, corrections, letter="a"):
    return premise.entry("premise").text, corrections.entry(f"correction-{letter}").text


def pairs(*, alike):
    """A premise with a correction of another scenario, whose place is of the same kind or of another one."""
    return [
        correction(first, second)
        for (i, first), (j, second) in product(enumerate(SCENARIOS), repeat=2)
        if (kind(first) == kind(second) and i != j if alike else kind(first) != kind(second) and (i + j) % 10 == 3)
    ]


@pytest.fixture(scope="module")
def screener(tmp_path_factory):
    return Screener(load_embedder(tmp_path_factory.mktemp("models")), Settings())


@pytest.mark.parametrize(
    ("texts", "count", "near", "worded", "passing"),
    [
        pytest.param([correction(s, s, letter) for s in SCENARIOS for letter in "ab"], 80, 76, 80, 80, id="contradict"),
        pytest.param(pairs(alike=True), 120, 7, 6, 13, id="another-place-of-its-kind"),
        pytest.param(pairs(alike=False), 160, 0, 0, 0, id="another-kind-of-place"),
    ],
)
def test_corrections_come_through_and_what_is_about_other_places_hardly(screener, texts, count, near, worded, passing):
    found = []
    for target, candidate in texts:
        (one,) = screener.screen(Text("a" * 64, "0" * 64, target), [Text("b" * 64, "0" * 64, candidate)])
        found.append(one)
    assert len(found) == count
    assert sum(one.cosine_ppm >= 450_000 for one in found) == near
    assert sum(one.overlap_ppm >= 250_000 for one in found) == worded
    assert sum(one.passes for one in found) == passing
