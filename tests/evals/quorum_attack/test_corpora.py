"""Files of texts: known forms are read, everything else is refused by name; honest passages are cut to length."""

from __future__ import annotations

import json

import pytest

from evals.errors import CorpusError
from evals.quorum_attack.corpora import HonestQuestion, HonestSet, Passage, half_of, read_attack_set, read_honest_sets
from evals.quorum_attack.matching import matched
from tests.evals.quorum_attack.toy import attack_set, honest_set, write_attack, write_honest
from tests.shared import shared_path

LONG = (
    "It has been measured by three surveyors who worked apart from each other, and by a drone in the year after that."
)


def lines(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


class TestAttackSets:
    def test_a_file_in_the_form_of_poisonedrag(self, tmp_path):
        found = read_attack_set(write_attack(tmp_path / "lies.json"))
        assert found.questions == attack_set().questions
        assert found.name == "lies"
        assert len(found.digest) == 64

    def test_an_array_of_questions_is_as_good(self, tmp_path):
        rows = list(json.loads(write_attack(tmp_path / "lies.json").read_text()).values())
        (tmp_path / "array.json").write_text(json.dumps(rows))
        assert read_attack_set(tmp_path / "array.json").questions == attack_set().questions

    def test_lengths_are_those_of_all_texts(self):
        lengths = attack_set().lengths
        assert len(lengths) == 50
        assert list(lengths) == sorted(len(text) for q in attack_set().questions for text in q.texts)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "is no JSON"),
            ("[]", "holds no questions"),
            ("3", "holds no questions"),
            ('[{"id": 1}]', "adv_texts"),
            ('[{"id":1,"question":"q","correct answer":"a","incorrect answer":"b","adv_texts":["one"]}]', "needs two"),
            (
                '[{"id":1,"question":"q","correct answer":"a","incorrect answer":"b","adv_texts":["one", 2]}]',
                "'2' stands",
            ),
            (
                '[{"id":1,"question":" ","correct answer":"a","incorrect answer":"b","adv_texts":["one", "two"]}]',
                "stands",
            ),
        ],
    )
    def test_anything_else_is_refused(self, tmp_path, content, message):
        path = tmp_path / "set.json"
        path.write_text(content)
        with pytest.raises(CorpusError, match=message):
            read_attack_set(path)

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(CorpusError, match="cannot be read"):
            read_attack_set(tmp_path / "absent.json")

    @pytest.mark.parametrize("name", ["nq", "hotpotqa"])
    def test_the_published_sets(self, name):
        found = read_attack_set(shared_path(f"data/poisonedrag/{name}.json"))
        assert (found.name, len(found.questions)) == (name, 100)
        assert {len(question.texts) for question in found.questions} == {5}


class TestHonestSets:
    def test_listed_passages(self, tmp_path):
        (found,) = read_honest_sets(write_honest(tmp_path / "truths.jsonl"))
        assert [q.passages for q in found.questions] == [q.passages for q in honest_set().questions]

    def test_pages_cited_by_expertqa_are_grouped_by_registrable_domain(self, tmp_path):
        evidence = [
            f"[1] https://www.one.example/a\n\n{LONG}",
            f"[2] https://blog.one.example/b {LONG}!",
            f"[3] https://two.example/c\n\n{LONG}?",
            "[4] https://three.example/only-an-address",
            f"[5] http://192.0.2.1/ {LONG}",
            f"[3] https://two.example/c\n\n{LONG} The same page again.",
        ]
        claims = [{"claim_string": "High.", "evidence": evidence[:2]}, {"claim_string": "Very.", "evidence": []}]
        more = [{"claim_string": "It is 3 m.", "evidence": evidence[1:]}]
        row = {"question": "How high?", "answers": {"x": {"claims": claims}, "y": {"claims": more}}}
        by_question, by_claim = read_honest_sets(lines(tmp_path / "x.jsonl", row))
        (question,) = by_question.questions
        assert [(p.origin, p.text) for p in question.passages] == [
            ("one.example", LONG),
            ("one.example", f"{LONG}!"),
            ("two.example", f"{LONG}?"),
        ]
        assert [(a.text[-1], b.text[-1]) for a, b in question.pairs()] == [(".", "?"), ("!", "?")]
        # Of the three claims only the last was cited to two domains.
        (claim,) = by_claim.questions
        assert (claim.key, claim.question) == ("0/2", "It is 3 m.")
        assert [p.origin for p in claim.passages] == ["one.example", "two.example"]
        assert (by_question.name, by_claim.name) == (f"{tmp_path.name}/x", f"{tmp_path.name}/x, one claim")

    def test_two_writers_of_conflictqa(self, tmp_path):
        row = {"question": "Q?", "counter_memory": f" {LONG}", "counter_memory_aligned_evidence": f"{LONG}!"}
        short = row | {"counter_memory_aligned_evidence": "Yes."}
        (found,) = read_honest_sets(lines(tmp_path / "x.jsonl", row, short))
        (question,) = found.questions
        assert [p.text for p in question.passages] == [LONG, f"{LONG}!"]

    def test_a_question_of_one_origin_is_left_out_and_a_file_of_none_is_refused(self, tmp_path):
        alone = {"question": "Q?", "passages": [{"origin": "a", "text": LONG}, {"origin": "a", "text": f"{LONG}!"}]}
        with pytest.raises(CorpusError, match=r"two origins.*ExpertQA.*ConflictQA.*passages"):
            read_honest_sets(lines(tmp_path / "x.jsonl", alone))
        with pytest.raises(CorpusError, match="known form"):
            read_honest_sets(lines(tmp_path / "x.jsonl", {"question": "Q?"}))

    def test_the_published_sets(self):
        pages, claims = read_honest_sets(shared_path("data/expertqa/lfqa-a.jsonl"))
        (writers,) = read_honest_sets(shared_path("data/conflictqa/strategyqa-vicuna7b.jsonl"))
        assert (pages.name, writers.name) == ("expertqa/lfqa-a", "conflictqa/strategyqa-vicuna7b")
        assert (len(pages.questions), sum(1 for q in pages.questions for _ in q.pairs())) == (78, 1127)
        assert (len(claims.questions), sum(1 for q in claims.questions for _ in q.pairs())) == (20, 43)
        assert len(writers.questions) == 506
        assert all(p.origin != "address" for q in pages.questions for p in q.passages)


HALVES = [0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1]


def test_the_split_is_the_same_for_ever_and_near_half():
    halves = [half_of(f"{n}") for n in range(1000)]
    assert halves[:12] == HALVES
    assert 450 < sum(halves) < 550
    assert all(half_of(f"{n}/3") == halves[n] for n in range(100))


class TestMatching:
    def cut(self, text, lengths, question="How high is the tower?"):
        passages = (Passage("a", text), Passage("b", "short"))
        found = matched(HonestSet("x", "cc" * 32, "who", (HonestQuestion("1", question, passages),)), lengths)
        return [passage.text for passage in found.questions[0].passages]

    def test_a_passage_gets_a_length_of_the_attacks_to_a_whole_word(self):
        text = " ".join(f"word{n}" for n in range(200))
        cut, short = self.cut(text, [50])
        assert short == "short"
        assert cut == "word0 word1 word2 word3 word4 word5 word6 word7"

    def test_the_stretch_that_names_most_of_the_question_is_taken(self):
        filler = "Nothing of it is here at all, not a single thing. " * 5
        cut, _ = self.cut(f"{filler}The tower rises high over the town. {filler}", [60])
        assert cut.startswith("The tower rises high over the town.")

    def test_lengths_are_drawn_from_all_of_them(self):
        honest = HonestSet(
            "x",
            "cc" * 32,
            "who",
            tuple(HonestQuestion(f"{n}", "Q?", (Passage("a", "x" * 500), Passage("b", "y" * 500))) for n in range(60)),
        )
        drawn = {len(p.text) for q in matched(honest, [100, 200, 300]).questions for p in q.passages}
        assert drawn == {100, 200, 300}

    def test_without_lengths_there_is_nothing_to_match(self):
        with pytest.raises(CorpusError, match="no attack text"):
            matched(honest_set(), [])
