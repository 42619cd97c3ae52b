from __future__ import annotations

import re

import pytest

from attribution import attribute
from attribution.errors import InputError, UnsupportedModelError
from attribution.library.inputs import claim_ranges, messages_of_chat, messages_of_context
from attribution.library.placing import place
from attribution.models.in_memory import in_memory
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.attribution.library.floors import floors, layouts_seen

TEXT = "One is the.  Two is a!\nThree is.  "
PEER = "Context: {context}\n\nQuery: {query}"


def texts(messages):
    return [(message.role, [(part.unit, part.text) for part in message.parts]) for message in messages]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("sentence", ["One is the.", "Two is a!", "Three is."]),
        ("line", ["One is the.  Two is a!", "Three is."]),
        (lambda text: text.split("is"), ["One ", " the.  Two ", " a!\nThree ", ".  "]),
    ],
)
def test_a_text_is_taken_apart_as_asked(parts, expected):
    found = messages_of_context(TEXT, "", parts=parts)
    assert [message.parts[0].text for message in found] == expected


def test_words_stand_in_one_message():
    (message,) = messages_of_context("a bc  d", "why?", parts="word")
    assert [(part.unit, part.text) for part in message.parts] == [
        (None, "Context: "),
        (0, "a"),
        (1, " bc"),
        (2, "  d"),
        (None, "\n\nQuery: why?"),
    ]


def test_sources_in_place_read_as_the_text_itself(tiny):
    (message,) = messages_of_context(TEXT, "why?", prompt=PEER)
    assert "".join(part.text for part in message.parts) == f"Context: {TEXT}\n\nQuery: why?"
    placed, ids = place([message], tiny, tiny.chat_template_pieces)
    chat = tiny.chat_template_pieces
    whole = (*chat.opening("user"), *tiny.tokenize(f"Context: {TEXT}\n\nQuery: why?"), *chat.closing)
    assert ids == (*whole, *chat.opening("assistant"))
    assert placed[0].token_start == 0
    assert [item.token_stop for item in placed[:-1]] == [item.token_start for item in placed[1:]]
    assert placed[-1].token_stop == len(ids)


def test_a_list_in_one_message_has_a_line_a_source():
    (message,) = messages_of_context(["a", "", "c"], "", prompt="{context}")
    assert [part.text for part in message.parts if part.unit is not None] == ["a", "\n", "\nc"]


def test_each_part_of_a_content_is_a_source_and_the_last_one_of_the_question_none():
    def parts(*texts):
        return [{"type": "text", "text": text} for text in texts]

    chat = [
        {"role": "system", "content": parts("Be", " brief.")},
        {"role": "user", "content": parts("one. ", "two. ", "Why?")},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": {"at": 4}}}]},
        {"role": "tool", "tool_call_id": "c", "content": parts("three", "four")},
    ]
    assert texts(messages_of_chat(chat)) == [
        ("system", [(None, "Be"), (None, " brief.")]),
        ("user", [(0, "one. "), (1, "two. "), (None, "Why?")]),
        ("assistant", [(2, 'look({"at": 4})')]),
        ("tool", [(2, "three"), (2, "four")]),
    ]


def test_a_question_that_says_nothing_is_no_source():
    chat = [{"role": "assistant", "content": "one"}, {"role": "user", "content": None}]
    assert texts(messages_of_chat(chat)) == [("assistant", [(0, "one")])]


def test_spans_may_overlap_and_are_bytes():
    assert claim_ranges("é is", spans=[(0, 4), (1, 4), (0, 1)]) == [(0, 5), (2, 5), (0, 2)]


def given(pieces):
    """A split that answers ``pieces``, whatever the text."""
    return lambda _: pieces


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"context": "x", "parts": "paragraph"}, "parts is 'paragraph'; choose sentence, line, word"),
        ({"context": "x y", "parts": given(["x", "z"])}, "part 1 of the context, 'z', is no piece"),
        ({"context": "x y", "parts": given(["y", "x"])}, "part 1 of the context, 'x', is no piece"),
        ({"context": "x y", "parts": given([3])}, "part 0 of the context is int"),
        ({"context": "x", "prompt": "Query: {query}"}, "needs {context} once"),
        ({"context": "x", "prompt": "{context} {context}"}, "needs {context} once"),
        ({"context": "x", "prompt": "{context} {query} {query}"}, "{query} at most once"),
        ({"context": "a the b", "parts": given(["a t", "he b"]), "prompt": "{context}"}, None),
        ({"context": "the", "parts": given(["t", "he"]), "prompt": "{context}"}, "'t' lies inside one token"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content is int"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "content[0] is of type 'image_url'"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "content[0] is of type 'str'"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 3}]}]}, "content[0].text is int"),
        ({"messages": [{"role": "user", "content": "x"}], "prompt": "{context}"}, "not both"),
        ({"context": "x", "spans": []}, "spans is empty"),
        ({"context": "x", "spans": [(0, 1)], "start": 0}, "not both"),
        ({"context": "x", "spans": [(0, 1), (1, 99)]}, "the span [1, 99)"),
        ({"context": "x", "model": 3}, "model is int"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(tiny, arguments, says):
    call = {"response": "the the", "model": tiny} | arguments
    if says is None:
        assert [source.text for source in attribute(**call).sources] == ["a t", "he b"]
    else:
        with pytest.raises(InputError, match=re.escape(says)):
            attribute(**call)


def test_sources_in_one_message_have_effects_and_floors_of_their_own(tiny):
    plain = attribute(TEXT, "why?", "the the the", prompt=PEER, model=tiny)
    assert [source.text.strip() for source in plain.sources] == ["One is the.", "Two is a!", "Three is."]
    assert "template chatml-in-place-v1" in plain.claims[0].reason
    assert all(verdict.effect_nats for verdict in plain.claims[0].verdicts)
    decided = attribute(TEXT, "why?", "the the the", prompt=PEER, model=tiny, floors=floors(tiny))
    assert decided.claims[0].reason is None


def test_spans_share_their_ablations(tiny):
    spans = [(0, 3), (4, 7), (0, 11)]
    with layouts_seen() as seen:
        found = attribute(["one", "two"], "", "the the the", spans=spans, model=tiny)
    assert [(claim.start, claim.stop) for claim in found.claims] == spans
    assert len(seen) == 1
    alone = [attribute(["one", "two"], "", "the the the", start=a, stop=b, model=tiny).claims[0] for a, b in spans]
    for together, single in zip(found.claims, alone, strict=True):
        for one, other in zip(together.verdicts, single.verdicts, strict=True):
            assert one.effect_nats == pytest.approx(other.effect_nats, abs=1e-3)


def test_what_was_scored_is_kept_and_read_again(tiny, tmp_path, monkeypatch):
    first = attribute(["one", "two"], "", "the the", model=tiny, scores=tmp_path)
    assert list(tmp_path.rglob("*.npy"))
    monkeypatch.setattr(TransformersScorer, "score", lambda *_: pytest.fail("scored again"))
    assert attribute(["one", "two"], "", "the the", model=tiny, scores=tmp_path).claims == first.claims


def test_the_strongest_sources_come_first(tiny):
    found = attribute(["one", "two is", "the"], "", "the the the", model=tiny)
    (claim,) = found.claims
    ranked = claim.ranked()
    assert sorted(v.source.key for v in ranked) == [v.source.key for v in claim.verdicts]
    assert [v.effect_nats for v in ranked] == sorted((v.effect_nats for v in ranked), reverse=True)
    assert claim.ranked(2) == ranked[:2]
    table = found.to_polars(top_k=2)
    assert table["source"].to_list() == [v.source.key for v in ranked[:2]]


def test_a_model_in_memory_scores_as_the_one_on_disk(tiny, tiny_files):
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_files.path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_files.path)
    found = attribute(["one", "two"], "why?", "the the", model=(model, tokenizer))
    known = attribute(["one", "two"], "why?", "the the", model=tiny)
    assert [v.effect_nats for v in found.claims[0].verdicts] == [v.effect_nats for v in known.claims[0].verdicts]
    same, other = (in_memory(model, tokenizer).files.weights_digest for _ in range(2))
    assert same == other
    model.lm_head.weight.data[0, 0] += 1
    assert in_memory(model, tokenizer).files.weights_digest != same


def test_a_model_in_memory_that_is_not_exact_is_refused(tiny_files):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_files.path)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_files.path)
    with pytest.raises(UnsupportedModelError, match=r"training mode.*model\.eval"):
        attribute("x", "", "the", model=(model.train(), tokenizer))
    with pytest.raises(UnsupportedModelError, match="float16; load it"):
        attribute("x", "", "the", model=(model.eval().half(), tokenizer))
    with pytest.raises(UnsupportedModelError, match="object is no fast tokenizer"):
        attribute("x", "", "the", model=(model.float(), object()))


def test_the_model_answers_in_as_many_tokens_as_asked(tiny, monkeypatch):
    asked = []
    said = tiny.tokenize("the the")
    monkeypatch.setattr(tiny, "generate", lambda _, longest, **__: asked.append(longest) or said)
    found = attribute(["one"], "why?", model=tiny, max_new_tokens=7)
    assert (asked, found.response, found.generated) == ([7], "the the", True)
