"""A whole study and its page: equal inputs give equal bytes, the page stands alone, every number has an anchor."""

from __future__ import annotations

import re

import pytest

from evals.errors import CorpusError, ReportError
from evals.quorum_attack.corpora import half_of
from evals.quorum_attack.document import QuorumAttackData
from evals.quorum_attack.embeddings import KeptEmbeddings
from evals.quorum_attack.page import DOCUMENT, PAGE, SECTIONS, headline, render_study, write_study
from evals.quorum_attack.rewrites import REWRITES
from evals.quorum_attack.shares import COSINES, JACCARDS
from evals.quorum_attack.study import study
from ledger_core.belief.policies import CALIBRATED, SEED_V4
from tests.evals.quorum_attack.toy import WordCounts, attack_set, honest_set
from tests.evals.report.test_report_page import Page

COMMAND = "veritas quorum-attack lies.json --check tales.json --honest truths.jsonl --sample 3"


def made(embedder=None, sample=3):
    return study(
        [attack_set()],
        [attack_set("tales", count=6)],
        [honest_set()],
        embedder or KeptEmbeddings(WordCounts()),
        command=COMMAND,
        sample=sample,
    )


@pytest.fixture(scope="module")
def data():
    return made()


@pytest.fixture(scope="module")
def page(data):
    return render_study(data)


def test_equal_inputs_give_equal_bytes(data, page):
    again = made()
    assert again.to_json() == data.to_json()
    assert render_study(again) == page


def test_the_document_is_read_as_it_was_written(data):
    assert QuorumAttackData.from_json(data.to_json().encode()) == data
    with pytest.raises(ReportError, match="no document"):
        QuorumAttackData.from_json(b"{}")


def test_the_named_points(data):
    points = {point.name: (point.cosine_ppm, point.jaccard_ppm) for point in data.points}
    assert points["seed-v4"] == (SEED_V4.cosine_ppm, SEED_V4.jaccard_ppm) == (920_000, 700_000)
    assert points["calibrated"] == (CALIBRATED.cosine_ppm, CALIBRATED.jaccard_ppm)
    assert set(points) == {"seed-v4", "calibrated", "fitted"}


def test_attacks_of_the_test_fail_at_the_fitted_point_and_witnesses_are_told_apart(data):
    for set_name, part, total in (("lies", "fit", 10), ("tales", "check", 6)):
        row = data.figure("fitted", set_name, "passing", part)
        assert (row.events, row.of) == (0, total)
    for part in ("fit", "check"):
        merged = data.figure("fitted", "truths", "merged", part)
        assert merged.share.estimate == 0
        assert merged.of == 3 * merged.share.n
        assert data.figure("fitted", "truths", "silenced", part).events == 0


def test_halves_of_the_honest_set_are_apart_and_whole(data):
    sizes = {part: data.figure("seed-v4", "truths", "silenced", part).of for part in ("fit", "check")}
    assert sum(sizes.values()) == 10
    assert sizes["check"] == sum(half_of(f"h{n}") for n in range(10))


def test_the_sweep_covers_both_thresholds_for_every_part(data):
    for axis, thresholds in (("cosine", COSINES), ("jaccard", JACCARDS)):
        rows = [row for row in data.curve if row.axis == axis]
        assert len(rows) == len(thresholds) * (2 + 2 * 2)
        field = f"{axis}_ppm"
        assert sorted({getattr(row, field) for row in rows}) == list(thresholds)


def test_witnesses_are_counted_for_every_question(data):
    assert data.most_witnesses() == 5
    for set_name, part, total in (("lies", "fit", 10), ("tales", "check", 6)):
        for point in ("seed-v4", "calibrated", "fitted"):
            counted = data.witnessed(point, set_name)
            assert (len(counted), sum(counted)) == (5, total)
            assert sum(counted[1:]) == data.figure(point, set_name, "passing", part).events
    assert data.witnessed("fitted", "lies") == (10, 0, 0, 0, 0)


def test_every_rewrite_is_tried_on_every_set_under_both_policies(data):
    assert {(row.rewrite, row.point, row.set_name) for row in data.rewrites} == {
        (name, point, set_name)
        for name in REWRITES
        for point in ("seed-v4", "calibrated")
        for set_name in ("lies", "tales")
    }
    passed = {(row.rewrite, row.point, row.set_name): row.passed for row in data.rewrites}
    for point in ("seed-v4", "calibrated"):
        for set_name in ("lies", "tales"):
            assert passed["disguised", point, set_name] == passed["as-written", point, set_name]


def test_the_ledger_says_what_the_pairs_say(data):
    assert len(data.ledger) == 2 * 3
    assert all((row.staged, row.agree) == (3, 3) for row in data.ledger)
    assert made(sample=0).ledger[0].staged == 0


def test_sets_are_described(data):
    rows = {row.name: row for row in data.sets}
    assert (rows["lies"].questions, rows["lies"].texts, rows["lies"].pairs, rows["lies"].part) == (10, 50, 100, "fit")
    assert (rows["truths"].questions, rows["truths"].texts, rows["truths"].pairs) == (10, 30, 30)
    assert rows["truths"].part == "split"
    # Two questions that differ in one word have nearly the same texts.
    assert rows["lies"].alike > 0


@pytest.mark.parametrize(("fit", "honest"), [([], [honest_set()]), ([attack_set()], [])])
def test_a_study_needs_both_sides(fit, honest):
    with pytest.raises(CorpusError, match="needs an attack set and an honest set"):
        study(fit, [], honest, WordCounts(), command="", sample=0)


def test_two_sets_of_one_name_are_refused():
    with pytest.raises(CorpusError, match="'lies'"):
        study([attack_set()], [attack_set()], [honest_set()], WordCounts(), command="", sample=0)


class TestPage:
    def test_every_reference_stays_on_the_page_or_in_its_folder(self, page):
        found = Page(page)
        assert set(found.outside) == {DOCUMENT}
        assert {reference[1:] for reference in found.local} <= set(found.ids)
        assert not re.search(r"(?:https?:)?//[a-z0-9]", page)
        for forbidden in ("<script", "url(", "@import"):
            assert forbidden not in page

    def test_markup_is_balanced_and_every_id_is_unique(self, page):
        found = Page(page)
        assert found.unbalanced == []
        assert len(found.ids) == len(set(found.ids))

    def test_every_number_has_an_anchor(self, page):
        numbers = Page(page).numbers
        assert len(numbers) > 380
        assert all(cell.get("id") for cell in numbers)

    def test_every_picture_has_a_name_and_a_description(self, page):
        pictures = Page(page).pictures
        assert len(pictures) == 3
        assert all(picture["role"] == "img" and picture["aria-labelledby"] for picture in pictures)

    def test_sections_and_command_stand_on_it(self, page):
        for key, title in SECTIONS:
            assert f'id="{key}"' in page
            assert title in page
        assert COMMAND in page

    def test_the_headline_states_both_sides_of_both_policies(self, data, page):
        said = headline(data)
        assert "seed-v4 lets attacks pass" in said
        assert "calibrated lets attacks pass" in said
        assert said.count("merges honest pairs") == 2
        assert "an attacker who rewrites" in said
        assert said in page

    def test_markup_in_a_name_stays_text(self, data):
        sets = tuple(row.model_copy(update={"who": "<b>bold</b>"}) for row in data.sets)
        assert "<b>bold</b>" not in render_study(data.model_copy(update={"sets": sets}))


def test_writing_gives_page_and_document(tmp_path, data):
    where = write_study(tmp_path / "out", data)
    assert where == tmp_path / "out" / PAGE
    assert sorted(file.name for file in where.parent.iterdir()) == sorted([PAGE, DOCUMENT])
    assert QuorumAttackData.from_json((where.parent / DOCUMENT).read_bytes()) == data
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot be written"):
        write_study(tmp_path / "file" / "below", data)


class TestKeptEmbeddings:
    def test_a_text_is_embedded_once_in_all(self, tmp_path):
        for _ in range(2):
            inner = WordCounts()
            kept = KeptEmbeddings(inner, tmp_path)
            rows = kept.embed(["one text", "another", "one text"])
            assert (rows[0] == rows[2]).all()
            assert not (rows[0] == rows[1]).all()
        assert inner.asked == []
        assert kept.model == inner.model

    def test_another_model_has_vectors_of_its_own(self, tmp_path):
        KeptEmbeddings(WordCounts(), tmp_path).embed(["one text"])
        other = WordCounts()
        other.model = "another"
        KeptEmbeddings(other, tmp_path).embed(["one text"])
        assert other.asked == ["one text"]

    def test_a_broken_cache_is_named(self, tmp_path):
        KeptEmbeddings(WordCounts(), tmp_path).embed(["one text"])
        (file,) = tmp_path.iterdir()
        file.write_bytes(b"broken")
        with pytest.raises(CorpusError, match="delete it"):
            KeptEmbeddings(WordCounts(), tmp_path)
