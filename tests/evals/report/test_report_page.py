"""The page: self-contained, anchored, accessible, and the same bytes for the same document."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pyarrow.parquet as pq
import pytest

from evals.criteria import load_criteria
from evals.errors import ReportError
from evals.kill_criteria import evaluate
from evals.preregistration import register
from evals.report import build_report, read_report, render_html, write_report
from evals.report.anchors import Anchors, slug
from evals.report.tables import TABLES
from evals.report.text import points
from evals.report.view import power_of
from tests.browser import accessible_page, chromium
from tests.evals.report.sample import EMPTY_INPUTS, RUN, full_inputs, judged, suite_inputs, suite_judged
from tests.evals.trial_builder import default_plan, observed, plan

VOID = {"meta", "link", "br", "rect", "line", "circle", "path", "polygon", "polyline", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects ids, references, number cells, rows and unbalanced tags."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.local: list[str] = []
        self.outside: list[str] = []
        self.numbers: list[dict[str, str]] = []
        self.bare_rows = 0
        self.pictures: list[dict[str, str]] = []
        self.unbalanced: list[str] = []
        self._open: list[str] = []
        self._row: dict[str, int] = {}
        self.feed(text)
        self.close()
        self.unbalanced += self._open

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        if tag not in VOID:
            self._open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "src", "xlink:href", "srcset", "data"):
            if name in given:
                (self.local if given[name].startswith("#") else self.outside).append(given[name])
        self.local += [f"#{name}" for key in ("aria-labelledby",) for name in given.get(key, "").split()]
        if tag == "svg":
            self.pictures.append(given)
        if tag == "tr":
            self._row = {"numbers": 0, "commands": 0}
        if tag == "td" and "num" in given.get("class", "").split() and "heat" not in given["class"]:
            self.numbers.append(given)
            self._row["numbers"] += 1
        if tag == "code" and given.get("class") == "command" and self._row:
            self._row["commands"] += 1

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)
        if tag == "tr" and self._row.get("numbers") and not self._row["commands"]:
            self.bare_rows += 1


@pytest.fixture(scope="module")
def documents():
    evaluation, records = judged()
    full = build_report(evaluation, records, full_inputs(records))
    quick = register(default_plan(planted=3, mixed=3, competence=3), load_criteria())
    nothing = register(plan(), load_criteria())
    idle = register(default_plan(), load_criteria())
    suite = suite_judged()
    return {
        "full": full,
        "bare": build_report(evaluation, records, EMPTY_INPUTS),
        "quick": build_report(evaluate(quick, [], observed(quick)), [], EMPTY_INPUTS),
        "nothing": build_report(evaluate(nothing, [], observed(nothing)), [], EMPTY_INPUTS),
        "no trial": build_report(evaluate(idle, [], observed(idle)), [], EMPTY_INPUTS),
        "suite": build_report(*suite, suite_inputs(suite[1])),
    }


@pytest.fixture(scope="module")
def pages(documents):
    return {name: render_html(data) for name, data in documents.items()}


def picture_called(page: str, beginning: str) -> str:
    (found,) = [each for each in re.findall(r"<svg .*?</svg>", page, re.DOTALL) if f'id="{beginning}' in each]
    return found


NAMES = ("full", "bare", "quick", "nothing", "no trial", "suite")


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_stays_on_the_page_or_in_its_folder(pages, name):
    page = Page(pages[name])
    assert set(page.outside) == {"report.json", "run.json"} | {f"{table}.parquet" for table in TABLES}
    assert {reference[1:] for reference in page.local} <= set(page.ids)
    assert not re.search(r"(?:https?:)?//[a-z0-9]", pages[name].replace("http://www.w3.org/2000/svg", ""))
    assert "<script" not in pages[name]
    assert "url(" not in pages[name]
    assert "@import" not in pages[name]


@pytest.mark.parametrize("name", NAMES)
def test_markup_is_balanced_and_every_id_is_unique(pages, name):
    page = Page(pages[name])
    assert page.unbalanced == []
    assert len(page.ids) == len(set(page.ids))


def test_every_number_has_an_anchor_and_its_row_a_command(pages):
    page = Page(pages["full"])
    assert len(page.numbers) > 1_000
    assert all(cell.get("id") for cell in page.numbers)
    assert page.bare_rows == 0


def test_a_command_about_a_claim_names_the_ledger_it_is_in(documents, pages):
    found = set(re.findall(r"veritas why ([0-9a-f]{64}) --tenant (\S+) --project ([^<\s]+)<", pages["full"]))
    assert len(re.findall("veritas why ", pages["full"])) == len(documents["full"].stability)
    assert {(claim, f"{tenant}/{project}") for claim, tenant, project in found} == {
        (row.claim_id, row.ledger) for row in documents["full"].stability
    }
    assert {(tenant, project) for _, tenant, project in found} == {
        ("eval", "run-37fe3ee911d0"),
        ("samples", "planted-chat"),
    }


def test_every_query_names_the_run(pages):
    queries = re.findall(r"veritas sql [^<]+", pages["full"])
    assert len(queries) > 200
    assert all("starts_with(project, &#39;run-37fe3ee911d0&#39;)" in query for query in queries)


def test_the_command_that_judges_again_has_the_options_of_the_run(documents, pages):
    command = documents["full"].identity.evaluate
    assert "--quick" in command
    assert pages["full"].count(f"<code>{command}</code>") == len(documents["full"].criteria) + 1
    assert re.findall(r"veritas evaluate(?! --quick)", pages["full"]) == []


def test_joint_support_is_one_edge_that_says_so(documents, pages):
    (cascade,) = documents["full"].cascades
    (joint,) = (edge for edge in cascade.edges if len(edge.parents) > 1)
    first, second = (parent[:8] for parent in joint.parents)
    cell = (
        f'<span class="mono">{first}…</span> + <span class="mono">{second}…</span> only together, 87.0\u202f% measured'
    )
    assert pages["full"].count(cell) == 1
    picture = picture_called(pages["full"], "cascade-0-")
    spoken = "There is stock to move rests on Depot bulletin: 4,100 crates and Roster: two shifts only together"
    assert spoken in picture
    assert picture.count("87 %") == 2, "the weight stands once beside the edge and once in its title"
    assert "measured edge, weight 87 %, 2 entries only together" in picture
    # Two curves lead to the dot and one leads on; each of the five single edges has one.
    assert (picture.count("<circle"), picture.count("<path")) == (1, 5 + 3)


def test_a_power_that_nothing_is_known_of_is_no_zero(documents):
    data = documents["full"]
    known, unknown = (
        data.criteria[0].model_copy(update={"power_at_least": least, "parts": data.criteria[0].parts[:2]})
        for least in (0.16, 0.0)
    )
    least = min(part.power_at_least for part in known.parts)
    assert power_of(known).startswith(f"between 16.0\u202f% and {100 * least:.1f}\u202f% at the smallest effect")
    assert power_of(unknown).startswith(f"at most {100 * least:.1f}\u202f% at the smallest effect")
    assert "no lower limit is known" in power_of(unknown)
    page = render_html(data.model_copy(update={"criteria": (unknown,)}))
    assert f"at least {100 * least:.1f}\u202f%" in page
    assert "≥ 0.0" not in page


def test_survival_is_drawn_an_arm_a_panel(documents, pages):
    picture = picture_called(pages["full"], "chart-survival-curves-planted-premise-")
    arms = list(dict.fromkeys(row.arm for row in documents["full"].survival))
    assert re.findall(r">arm ([0-9a-z]+)</text>", picture) == arms == ["1", "1o", "2v1", "2", "2k", "2m", "2x", "3"]
    # Each panel: a band, a solid and a dashed line, two points on either; the legend has one of each.
    assert (picture.count("<polygon"), picture.count("<polyline")) == (8, 16)
    assert picture.count("<circle") == picture.count("<rect") == 8 * 2 + 1
    assert "arm 2: after 0 folds a correction decides the answer" in picture
    assert "No scenario has a correction" in pages["bare"]


def test_wrong_retractions_stand_beside_right_ones_on_one_axis(pages):
    picture = picture_called(pages["suite"], "chart-retractions-title")
    labels = re.findall(r">((?:right|wrong) · [^<]*)</text>", picture)
    assert labels == ["right · Planted premise", "wrong · True premise attacked: used"]
    for order in ("both orders", "premise first", "corrections first"):
        assert f">{order}</text>" in picture
    for side in ("right-planted-premise-base", "wrong-true-premise-attacked-used"):
        assert f'id="retractions-{side}-2-minus-2k-both-wordings"' in pages["suite"]
    assert "what one costs is not known from it" in pages["full"]
    assert "what one costs is not known from it" not in pages["suite"]


def test_what_a_sceptic_asks_first_stands_before_the_verdicts_reasons_in_every_order(documents, pages):
    page = pages["suite"]
    assert page.index('id="verdicts"') < page.index('id="controls"') < page.index('id="criteria"')
    asked = re.findall(r'<tr id="control-([^"]+)">', page)
    assert [each.removeprefix("contrast-") for each in asked] == [
        *(
            f"planted-premise-base-persistence-{pair}"
            for pair in ("2-minus-1", "2-minus-2k", "2-minus-2d", "2-minus-2t")
        ),
        "planted-premise-base-persistence-2m-minus-2",
        *(f"planted-premise-base-accuracy-{pair}" for pair in ("2-minus-1o", "2-minus-2k")),
        "true-premise-attacked-used-accuracy-2-minus-2k",
    ]
    for order in ("premise-first", "corrections-first", "both"):
        (row,) = (
            r
            for r in documents["suite"].contrasts
            if (r.family, r.variant, r.metric) == ("planted-premise", "base", "persistence")
            and (r.left, r.right, r.premise_order) == ("2", "2t", order)
        )
        cell = f'id="control-contrast-planted-premise-base-persistence-2-minus-2t-{order}">{points(row.clustered.estimate)}<'
        assert cell in page
    assert 'It was right in <a href="#competence-check">100.0\u202f%</a>' in page
    assert "below 80.0\u202f% nothing would be judged" in page
    assert "No two arms that would answer it" in pages["quick"]


def test_a_card_says_what_was_observed_of_the_bounds_that_decided(documents, pages):
    cards = re.findall(r'<li class="card [A-Z]+">.*?</a></li>', pages["suite"], re.DOTALL)
    for criterion, card in zip(documents["suite"].criteria, cards, strict=True):
        deciding = [part for part in criterion.parts if part.verdict == criterion.verdict] or criterion.parts
        assert re.findall(r"<li>([^:]*): <strong>", card) == [part.name for part in deciding]
    (k7,) = (card for card in cards if 'href="#k7"' in card)
    assert re.search(
        r"false pass, dial 3: <strong>89\.2.%</strong> \[79\.8 to 95\.2.%\]; upper bound must be below 5\.0.%", k7
    )


def test_what_arm_2_is_made_of_stands_beside_it_in_both_orders(documents, pages):
    pairs = {(r.left, r.right, r.premise_order) for r in documents["suite"].contrasts if r.family == "planted-premise"}
    for rival in ("2k", "2d", "2t", "2b", "1r", "1i", "1l"):
        assert {("2", rival, order) for order in ("both", "premise-first", "corrections-first")} <= pairs
    assert ("2r", "2kr", "premise-first") in pairs
    picture = picture_called(pages["suite"], "chart-contrast-planted-premise-base-accuracy-title")
    lines = len({pair[:2] for pair in pairs})
    assert (picture.count("<circle"), picture.count("<polygon")) == (lines + 1, lines + 1)


def test_the_curve_over_folds_has_a_line_a_fold_and_a_band(documents, pages):
    rows = [row for row in documents["suite"].folds if (row.left, row.right) == ("2", "1m")]
    assert [row.folds for row in rows] == [1, 2, 3, 4, 5]
    assert all(row.band.level == 0.99 for row in rows)
    picture = picture_called(pages["suite"], "chart-folds-compaction-2-minus-1m-title")
    assert re.findall(r">(\d folds?)</text>", picture) == ["1 fold", "2 folds", "3 folds", "4 folds", "5 folds"]


def test_a_break_even_share_shows_what_it_is_made_of(documents, pages):
    (k8,) = [row for row in documents["suite"].criteria if row.id == "k8"]
    loss, gain = k8.parts[0].components
    assert (loss.left, loss.right, gain.left, gain.right) == ("2k", "2", "2", "2k")
    share = loss.clustered.estimate / (loss.clustered.estimate + gain.clustered.estimate)
    assert k8.parts[0].interval.estimate == pytest.approx(share, abs=1e-5)
    assert 'id="k8-break-even-share-of-right-retractions-loss-wordings"' in pages["suite"]
    assert "avg((l.outcome = &#39;asserts_true&#39;)::INT" in pages["suite"]


def test_the_arms_that_were_read_are_listed_with_their_questions(pages):
    listed = re.findall(r'<tr id="reading-([0-9a-z]+)">', pages["suite"])
    assert listed == ["1", "1m", "1o", "1r", "1i", "1l", "2b", "2", "2k", "2d", "2t", "2m", "2r", "2kr"]
    assert "What does deletion alone do" in pages["suite"]
    assert "What does deletion alone do" not in pages["full"]


def test_every_picture_has_a_name_and_a_description(pages):
    page = Page(pages["full"])
    assert len(page.pictures) > 20
    for picture in page.pictures:
        assert picture["role"] == "img"
        assert len(picture["aria-labelledby"].split()) == 2


def test_the_same_document_gives_the_same_bytes(documents, pages):
    assert render_html(documents["full"]) == pages["full"]


def test_verdicts_come_first_and_too_small_is_said_in_the_head(pages):
    full = pages["full"]
    places = [full.index(f'id="{key}"') for key in ("verdicts", "criteria", "provenance", "arms", "transcripts")]
    assert places == sorted(places)
    assert '<p class="headline"><strong>too small for a verdict</strong></p>' in pages["quick"]
    assert "so none was registered" in pages["nothing"]
    assert "73 wordings would do" in full


def test_a_verdict_against_its_title_says_which_bound_went_wrong(documents):
    data = documents["full"]
    first = data.criteria[0]
    good, bad = (first.parts[0].model_copy(update={"name": n, "verdict": v}) for n, v in (("g", "PASS"), ("b", "KILL")))

    def page(verdict, *parts):
        changed = first.model_copy(update={"verdict": verdict, "parts": parts})
        return render_html(data.model_copy(update={"criteria": (changed,)}))

    assert page("KILL", good, bad).count(">KILL by b<") == 1
    assert re.findall(r"<li>([gb]): <strong>", page("KILL", good, bad)) == ["b"]
    assert " by b<" not in page("KILL", bad)
    assert " by g" not in page("PASS", good, good)


def test_the_weights_are_named(pages):
    for words in ("SmolLM2-135M-Instruct.Q8_0.gguf", "Q8_0, float32", "ab" * 32):
        assert words in pages["full"]


def test_time_host_and_run_ids_stand_only_in_the_runs_own_file(documents, tmp_path):
    write_report(tmp_path, documents["full"], RUN)
    for path in tmp_path.iterdir():
        found = [secret in path.read_bytes() for secret in (b"build-host", b"run-9c1e", b"2026-01-02", b"0f0f0f0f")]
        assert all(found) if path.name == "run.json" else not any(found), path.name


def test_a_written_report_reads_back_and_writes_the_same_bytes(documents, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write_report(first, documents["full"], RUN)
    write_report(second, read_report(first), RUN)
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(["index.html", "report.json", "run.json", *(f"{table}.parquet" for table in TABLES)])
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_tables_have_the_same_columns_full_and_empty(documents, tmp_path):
    write_report(tmp_path / "full", documents["full"], RUN)
    write_report(tmp_path / "empty", documents["nothing"], RUN)
    for table in TABLES:
        full, empty = (pq.read_table(tmp_path / kind / f"{table}.parquet") for kind in ("full", "empty"))
        assert full.schema == empty.schema, table
        assert full.num_rows > 0, table
    arms = pq.read_table(tmp_path / "full" / "arms.parquet").to_pylist()
    rows = documents["full"].arms
    assert [a["clustered_low"] for a in arms] == [r.clustered.low for r in rows]
    assert pq.read_table(tmp_path / "full" / "arms.parquet").schema.field("events").type == "double"


def test_a_folder_that_cannot_be_written_is_a_typed_error(documents, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ReportError, match="file"):
        write_report(blocked / "inside", documents["nothing"], RUN)
    with pytest.raises(ReportError, match=r"no report at .*report\.json"):
        read_report(tmp_path / "absent")
    (tmp_path / "report.json").write_text('{"schema": "veritas-report-v2"}')
    with pytest.raises(ReportError, match=r"^.*/report\.json: not a veritas-report-v3 document: schema: "):
        read_report(tmp_path)


def test_text_from_trials_cannot_become_markup(documents):
    data = documents["full"]
    evil = '"><img src=x onerror=alert(1)>'
    changed = data.model_copy(
        update={
            "identity": data.identity.model_copy(update={"title": evil}),
            "transcripts": (data.transcripts[0].model_copy(update={"question": evil}),),
            "cascades": (data.cascades[0].model_copy(update={"title": evil}),),
        }
    )
    page = render_html(changed)
    assert "<img" not in page
    assert Page(page).unbalanced == []


def test_anchors_are_readable_and_never_repeat():
    anchors = Anchors()
    assert anchors("arms", "2 − 2k", "low") == "arms-2-minus-2k-low"
    assert anchors("arms", "2 − 2k", "low") == "arms-2-minus-2k-low.2"
    assert slug("«»") == "item"
    clash = Anchors()
    assert [clash("a.2"), clash("a")] == ["a.2", "a"]
    with pytest.raises(ReportError, match="collide"):
        clash("a")


def shortened(data):
    """A few rows of every table: the rules are about kinds of rows, and contrast is checked cell by cell."""
    kept = {
        "arms": 14,
        "outcomes": 6,
        "contrasts": 4,
        "changes": 2,
        "transcripts": 2,
        "persisted": 4,
        "stability": 4,
        "survival": 6,
    }
    return data.model_copy(update={name: getattr(data, name)[:rows] for name, rows in kept.items()})


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["full", "quick", "no trial", "suite"])
def test_no_accessibility_rule_is_broken(documents, tmp_path, name):
    """Axe over WCAG 2 A and AA with every fold open; and the page needs no script of its own."""
    seen = accessible_page(render_html(shortened(documents[name])), tmp_path / "index.html")
    assert seen.heading
    assert seen.width <= 1280


PAPER = {"width": 703, "height": 1032}
"""Pixels of an A4 page between the margins of the style sheet."""
CUT = """() => [...document.querySelectorAll('table')].filter(t => t.getClientRects().length)
  .map(t => [t.parentElement.getAttribute('aria-label'), Math.ceil(t.getBoundingClientRect().right)])
  .filter(([, right]) => right > document.documentElement.clientWidth)"""


@pytest.mark.slow
@pytest.mark.browser
def test_on_paper_no_table_is_cut_and_no_script_is_needed(documents, tmp_path):
    """As it is folded, and with everything open: then the widest tables are there."""
    path = tmp_path / "index.html"
    path.write_text(render_html(shortened(documents["full"])), encoding="utf-8")
    with chromium() as browser:
        page = browser.new_page(viewport=PAPER)
        page.emulate_media(media="print")
        page.goto(path.as_uri())
        assert not page.locator("nav").is_visible()
        assert page.locator("section[aria-labelledby=criteria] td.tools").first.is_hidden()
        assert page.evaluate(CUT) == []
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.locator("section[aria-labelledby=changes] table").first.is_visible()
        assert page.evaluate(CUT) == []
        scriptless = browser.new_page(java_script_enabled=False)
        scriptless.goto(path.as_uri())
        assert scriptless.locator(".card").count() == len(documents["full"].criteria) + len(documents["full"].refused)
        fold = scriptless.locator("details.more").first
        fold.locator("summary").first.click()
        assert fold.locator("table").first.is_visible()
        assert page.pdf().startswith(b"%PDF")
