"""What an attacker does to texts they have: some rewrites are seen through, padding is not."""

from __future__ import annotations

import pytest

from evals.quorum_attack.pairs import attack_pairs
from evals.quorum_attack.rewrites import REWRITES, rewritten
from ledger_core.belief.policies import SEED_V4
from ledger_core.belief.similarity import readable, wording_of
from tests.evals.quorum_attack.toy import WordCounts, attack_set


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewrite_keeps_questions_and_their_number_of_texts(name):
    before, after = attack_set(), rewritten(attack_set(), name)
    assert [q.key for q in after.questions] == [q.key for q in before.questions]
    assert [len(q.texts) for q in after.questions] == [len(q.texts) for q in before.questions]
    assert len({text for q in after.questions for text in q.texts}) == 50


def test_as_written_is_as_written():
    assert rewritten(attack_set(), "as-written") == attack_set()


def test_a_disguise_is_seen_through():
    for before, after in zip(attack_set().questions, rewritten(attack_set(), "disguised").questions, strict=True):
        assert before.texts[1] != after.texts[1]
        assert [readable(text) for text in after.texts] == [readable(text) for text in before.texts]


def test_an_envelope_holds_the_whole_text():
    for before, after in zip(attack_set().questions, rewritten(attack_set(), "enveloped").questions, strict=True):
        for plain, record in zip(before.texts, after.texts, strict=True):
            assert readable(plain) in wording_of(record.encode()).text


@pytest.mark.parametrize(("name", "times"), [("padded", 1), ("padded-thrice", 3)])
def test_padding_comes_from_other_questions_and_differs_from_text_to_text(name, times):
    fillers = set()
    subjects = [q.question.split()[3] for q in attack_set().questions]
    for number, question in enumerate(rewritten(attack_set(), name).questions):
        for place, text in enumerate(question.texts):
            start = attack_set().questions[number].texts[place]
            assert text.startswith(f"{start} ")
            filler = text[len(start) + 1 :]
            assert sum(filler.count(f"the {subject} of") for subject in subjects) == times
            if times == 1:  # three for each of five texts come round to the question itself in a set of ten
                assert f"the {subjects[number]} of" not in filler
            fillers.add((number, filler))
    assert len(fillers) == 50


def test_padding_makes_copies_look_apart():
    plain = attack_pairs(attack_set(), WordCounts(), SEED_V4)
    padded = attack_pairs(rewritten(attack_set(), "padded"), WordCounts(), SEED_V4)
    assert max(p.jaccard_ppm for q in padded for p in q.pairs) < max(p.jaccard_ppm for q in plain for p in q.pairs)
