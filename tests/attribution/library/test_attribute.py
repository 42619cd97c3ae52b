from __future__ import annotations

import re

import polars as pl
import pytest

from attribution import attribute
from attribution.errors import InputError
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.attribution.library.floors import floors

SOURCES = ["The Arden is an old ferry.", "It was steered by Dora in 1912.", "The gate closes at 17."]
RESPONSE = "It was steered in 1912. The gate closes at 17."


@pytest.fixture(scope="module")
def found(tiny):
    return attribute(SOURCES, "What is known?", RESPONSE, model=tiny, floors=floors(tiny))


def test_every_sentence_of_the_response_is_a_claim_with_a_verdict_on_every_source(found):
    assert [claim.text for claim in found.claims] == ["It was steered in 1912.", "The gate closes at 17."]
    assert [found.response[claim.start : claim.stop].strip() for claim in found.claims] == [
        c.text for c in found.claims
    ]
    assert [[v.source.text for v in claim.verdicts] for claim in found.claims] == [SOURCES, SOURCES]
    assert [claim.contrasted for claim in found.claims] == [True, True]
    assert [claim.reason for claim in found.claims] == [None, None]


def test_edges_are_the_verdicts_that_are_edges(found):
    expected = [
        (claim.text, verdict.source, verdict.weight)
        for claim in found.claims
        for verdict in claim.verdicts
        if verdict.verdict == "edge"
    ]
    assert [(edge.claim, edge.source, edge.weight) for edge in found.edges] == expected
    assert expected


def test_effects_are_the_differences_that_ablation_makes(tiny):
    """Over one source a cube has two masks, so the effect is the plain difference of the two scores."""
    one = attribute(SOURCES[2:], "When?", "The gate closes at 17.", model=tiny, floors=floors(tiny))
    none = attribute([], "When?", "The gate closes at 17.", model=tiny, floors=floors(tiny))
    (verdict,) = one.claims[0].verdicts
    assert verdict.effect_nats == pytest.approx(verdict.interval[0]) == pytest.approx(verdict.interval[1])
    assert one.claims[0].passes >= 2
    assert none.claims[0].verdicts == ()
    assert none.claims[0].reason == "no source stands before the claim"


def test_without_a_floor_effects_are_shown_and_nothing_is_decided(tiny, found):
    bare = attribute(SOURCES, "What is known?", RESPONSE, model=tiny)
    assert {claim.result for claim in bare.claims} == {"undetermined"}
    assert all("no floor" in claim.reason for claim in bare.claims)
    assert {v.verdict for claim in bare.claims for v in claim.verdicts} == {"undetermined"}
    assert [[v.effect_nats for v in claim.verdicts] for claim in bare.claims] == [
        [pytest.approx(v.effect_nats, abs=1e-4) for v in claim.verdicts] for claim in found.claims
    ]


def test_claims_without_a_floor_share_their_ablations(tiny, monkeypatch):
    """A cube over three sources has eight masks, however many claims there are."""
    scored = []
    score = TransformersScorer.score
    monkeypatch.setattr(
        TransformersScorer,
        "score",
        lambda self, layout, block: scored.append(len(block.states)) or score(self, layout, block),
    )
    assert len(attribute(SOURCES, "What is known?", RESPONSE, model=tiny).claims) == 2
    assert sum(scored) == 8


def test_the_table_has_a_row_for_every_claim_and_source(found):
    table = found.to_polars()
    assert table.shape == (6, 12)
    assert table["source_text"].to_list() == SOURCES * 2
    assert table.schema["effect_nats"] == pl.Float64
    assert table.filter(pl.col("verdict") == "edge").height == len(found.edges)


def test_an_empty_table_keeps_its_schema(tiny, found):
    empty = attribute([], "", "Fine.", model=tiny, floors=floors(tiny)).to_polars()
    assert empty.height == 0
    assert empty.schema == found.to_polars().schema


def test_a_text_is_split_into_its_sentences(tiny):
    assert [s.text for s in attribute(" ".join(SOURCES), "What?", RESPONSE, model=tiny).sources] == SOURCES


def test_a_span_is_the_one_claim(tiny):
    start = RESPONSE.index("1912")
    spanned = attribute(SOURCES, "", RESPONSE, start=start, stop=start + 4, model=tiny)
    assert [(claim.text, claim.start, claim.stop) for claim in spanned.claims] == [("1912", start, start + 4)]


def test_an_answer_that_is_no_text_is_refused(tiny):
    """The random model writes bytes that are no UTF-8."""
    with pytest.raises(InputError, match="answers with no text"):
        attribute(SOURCES, "What is known?", model=tiny)


def test_a_call_and_its_result_are_one_source_and_the_last_question_none(tiny):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Good day."},
        {"role": "user", "content": "When does it close?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "hours", "arguments": '{"gate": 4}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"closes": 17}'},
    ]
    found = attribute(messages=messages, response="At 17.", model=tiny)
    assert [source.text for source in found.sources] == ["Hello", "Good day.", 'hours({"gate": 4})\n{"closes": 17}']


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"context": ["x"], "response": ""}, "the response is empty"),
        ({"context": ["x"], "response": " \n"}, "the response is empty"),
        ({"context": ["x"], "response": "yes", "start": 1}, "stop is missing"),
        ({"context": ["x"], "response": "yes", "stop": 1}, "start is missing"),
        ({"context": ["x"], "response": "yes", "start": 2, "stop": 9}, "[2, 9) is not within a response of 3"),
        ({"context": ["x"], "response": "yes", "start": 1, "stop": 1}, "[1, 1)"),
        ({"context": ["x", 3], "response": "yes"}, "context[1] is int"),
        ({"context": ["\ud800"], "response": "yes"}, "context[0] holds a lone surrogate"),
        ({"response": "yes"}, "give a context"),
        ({"context": ["x"], "messages": [], "response": "yes"}, "not both"),
        ({"messages": [], "response": "yes"}, "messages is empty"),
        ({"messages": [{"role": "robot", "content": "x"}], "response": "yes"}, "'robot'"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "q"}], "response": "yes"}, "'q'"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}], "response": "yes"}, "messages[0].tool_calls[0]"),
    ],
)
def test_what_cannot_be_attributed_is_refused_by_name(tiny, arguments, says):
    with pytest.raises(InputError, match=re.escape(says)):
        attribute(model=tiny, **arguments)


def test_the_page_escapes_what_it_quotes_and_loads_nothing(tiny):
    page = attribute(["<script>alert(1)</script> 4"], "", "It is <b>17</b>.", model=tiny).to_html()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 4" in page
    assert "It is &lt;b&gt;17&lt;/b&gt;." in page
    assert "http" not in page


def test_the_terminal_shows_every_source_of_every_claim(found, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    found.show()
    printed = capsys.readouterr().out
    for claim in found.claims:
        assert claim.text in printed
    assert all(printed.count(source) == len(found.claims) for source in SOURCES[:2])
    assert "the response was given" in printed


def test_importing_the_package_imports_no_model_library():
    import subprocess
    import sys

    code = "import sys, attribution; assert not {'torch', 'numpy', 'polars'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_the_packaged_model_rests_on_the_sentence_that_says_it(smollm2):
    found = attribute(
        ["The museum opens at nine.", "The ferry to Lorrick leaves from berth 32.", "The garden has two ponds."],
        "Where does the ferry to Lorrick leave from?",
        "The ferry to Lorrick leaves from berth 32.",
        model=smollm2,
    )
    (claim,) = found.claims
    assert claim.result == "grounded"
    assert [edge.source.text for edge in found.edges] == ["The ferry to Lorrick leaves from berth 32."]


@pytest.mark.slow
def test_a_response_that_the_model_writes_is_marked_so(smollm2):
    context = ["The ferry to Lorrick leaves from berth 32."]
    written = attribute(context, "Which berth does the ferry to Lorrick leave from?", model=smollm2)
    assert written.generated
    assert "32" in written.response
    assert not attribute(context, "Which berth?", written.response, model=smollm2).generated
