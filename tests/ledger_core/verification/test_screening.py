"""Stage A: near by meaning or by words comes through, the nearest first, and long texts are read to their end."""

from __future__ import annotations

import numpy as np
import pytest

from ledger_core.providers.fake import FakeEmbedder
from ledger_core.verification import Settings
from ledger_core.verification.screening import Screener
from tests.ledger_core.verification.fakes import text

TARGET = text("The lamp costs 400 euros.")


class Angles:
    """Embeds by table: text -> angle in degrees."""

    model = "angles"

    def __init__(self, **angles):
        self.angles = angles

    def embed(self, texts):
        radians = np.radians([self.angles[text] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def screened(target, *others, embedder=None, **numbers):
    candidates = [text(other, f"{number:02x}") for number, other in enumerate(others)]
    return Screener(embedder or FakeEmbedder(), Settings(**numbers)).screen(target, candidates)


def test_what_speaks_of_the_same_comes_through_and_what_does_not_stays():
    near, far = screened(TARGET, "At the shop the lamp costs 350 euros", "Rain is expected tomorrow in Bergen")
    assert (near.candidate.text[:7], near.passes) == ("At the ", True)
    assert near.overlap_ppm == 750_000  # lamp, costs, euros of lamp, costs, 400, euros
    assert (far.overlap_ppm, far.passes) == (0, False)


@pytest.mark.parametrize(("angle", "passes"), [(63.2, True), (63.3, False)])
def test_meaning_alone_is_enough_from_the_minimum_on(angle, passes):
    """cos 63.2° = 0.4509, cos 63.3° = 0.4493."""
    (found,) = screened(text("one"), "uno", embedder=Angles(one=0, uno=angle))
    assert (found.overlap_ppm, found.passes) == (0, passes)
    assert found.cosine_ppm == pytest.approx(1e6 * np.cos(np.radians(angle)), abs=2)
    for minimum, enough in ((found.cosine_ppm, True), (found.cosine_ppm + 1, False)):
        (again,) = screened(text("one"), "uno", embedder=Angles(one=0, uno=angle), minimum_cosine_ppm=minimum)
        assert again.passes is enough


@pytest.mark.parametrize(("other", "passes"), [("red boat house sea", True), ("black boat house sea", False)])
def test_words_alone_are_enough_from_the_minimum_on(other, passes):
    target = "red blue green white"
    (found,) = screened(text(target), other, embedder=Angles(**{target: 0, other: 90}))
    assert (found.overlap_ppm, found.passes) == (250_000 if passes else 0, passes)
    (found,) = screened(text(target), other, embedder=Angles(**{target: 0, other: 90}), minimum_overlap_ppm=250_001)
    assert not found.passes


def test_an_opposite_direction_is_no_negative_similarity():
    (found,) = screened(text("one"), "uno", embedder=Angles(one=0, uno=180))
    assert found.cosine_ppm == 0


def test_the_nearest_comes_first_and_ties_go_by_id():
    angles = Angles(one=0, uno=40, due=20, tre=40)
    found = screened(text("one"), "uno", "due", "tre", embedder=angles)
    assert [each.candidate.text for each in found] == ["due", "uno", "tre"]


def test_what_stands_at_the_end_of_a_long_text_is_found():
    padding = "Nothing of note was reported from the harbour that day.\n" * 60
    (found,) = screened(TARGET, f"{padding}The lamp costs 350 euros, says the shop.", passages_embedded=2)
    assert found.passes
    ours, theirs = found.shown
    assert [passage.text for passage in ours] == [TARGET.text]
    assert "350 euros" in theirs[-1].text
    assert [passage.start for passage in theirs] == sorted(passage.start for passage in theirs)
    assert len(theirs) == 2


def test_one_call_embeds_every_passage_once():
    embedder = FakeEmbedder()
    screened(TARGET, "The lamp costs 350 euros", "The lamp costs 350 euros", "A lamp", embedder=embedder)
    assert sorted(embedder.embedded) == sorted({TARGET.text, "The lamp costs 350 euros", "A lamp"})


def test_what_was_embedded_is_not_embedded_again(monkeypatch):
    embedder = FakeEmbedder()
    screener = Screener(embedder, Settings())
    first = screener.screen(TARGET, [text("The lamp costs 350 euros")])
    assert screener.screen(TARGET, [text("The lamp costs 350 euros")]) == first
    assert len(embedder.embedded) == 2
    monkeypatch.setattr("ledger_core.verification.screening._KEPT_VECTORS", 1)
    screener.screen(TARGET, [text("A lamp")])
    screener.screen(TARGET, [text("A lamp")])
    assert len(embedder.embedded) == 4


def test_of_too_many_only_those_that_share_most_words_are_embedded():
    embedder = FakeEmbedder()
    found = screened(
        TARGET, "It rains.", "The lamp costs 350 euros", "A lamp of 400 watts", embedder=embedder, most_embedded=2
    )
    assert "It rains." not in embedder.embedded
    assert [(each.cosine_ppm > 0, each.passes) for each in found] == [(True, True), (True, True), (False, False)]


def test_no_candidates_embed_nothing():
    embedder = FakeEmbedder()
    assert screened(TARGET, embedder=embedder) == ()
    assert embedder.embedded == []
