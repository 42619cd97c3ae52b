from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel.claims import SPLITTER, Cite, CiteKind, find_cites, split_sentences
from ledger_core.kernel.errors import CanonicalError
from tests.shared import shared_path

PIECES = st.lists(
    st.sampled_from(
        [
            *("a", "B", "é", "😀", ".", "!", "?", "1", " ", "\n", "\t", '"', "“", "|", "-", "`", "```", "~~~", "\n\n"),
            *("| a | b |\n", "|---|---|\n", ". ", "\r\n", "\u2028", "No", "Dr", "1."),
        ]
    ),
    max_size=40,
).map("".join)


def claims(text: str) -> list[str]:
    data = text.encode()
    return [data[start:stop].decode() for start, stop in split_sentences(text)]


def test_the_name_is_part_of_every_generation() -> None:
    assert SPLITTER == "sentences-v1"


@given(st.text(max_size=200) | PIECES)
def test_the_ranges_tile_every_text_on_character_boundaries(text: str) -> None:
    ranges = split_sentences(text)
    data = text.encode()
    assert b"".join(data[start:stop] for start, stop in ranges) == data
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges)][: len(ranges)]
    for start, stop in ranges:
        assert start < stop
        claim = data[start:stop].decode()  # fails inside a character
        assert claim.strip() or len(ranges) == 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_blank_line_separates_texts_without_fences_and_tables(one: str, other: str) -> None:
    if any(mark in one + other for mark in ("```", "~~~", "|")) or not one.strip() or not other.strip():
        return
    joined = f"{one}\n\n{other}"
    assert len(split_sentences(one + "\n\n")) + len(split_sentences(other)) == len(split_sentences(joined))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One.", ["One."]),
        (" \n\t\n", [" \n\t\n"]),
        ("One. Two! Three? 4 more.", ["One. ", "Two! ", "Three? ", "4 more."]),
        ("one. two", ["one. two"]),
        ("It is 3.5 or v1.2.Next", ["It is 3.5 or v1.2.Next"]),
        ("Wait... What?! No.", ["Wait... ", "What?! ", "No."]),
        ("Zürich. Éclair. Ωmega", ["Zürich. ", "Éclair. ", "Ωmega"]),
        ('He said "no." Then he left.', ['He said "no." ', "Then he left."]),
        ("He left. “Why?” she said.", ["He left. ", "“Why?” she said."]),
        ("(It is so.) Then (a.) B", ["(It is so.) ", "Then (a.) ", "B"]),
        ("Line one\nline two\r\nline three", ["Line one\n", "line two\r\n", "line three"]),
        ("\n\nA\n\n\nB\n\n", ["\n\nA\n\n\n", "B\n\n"]),
        ("  Lead. In.  ", ["  Lead. ", "In.  "]),
        ("Dr. Smith met Mrs. Jones vs. Mr. X.", ["Dr. Smith met Mrs. Jones vs. Mr. X."]),
        ("J. K. Rowling and the U.S. Senate.", ["J. K. Rowling and the U.S. Senate."]),
        ("So John F. Kennedy, Dr. A. Who.", ["So John F. Kennedy, Dr. A. Who."]),
        ('It was so\n"J. Smith" wrote.', ["It was so\n", '"J. Smith" wrote.']),
        ('so  "B. Then', ['so  "B. ', "Then"]),
        ("The answer is B. The rest is (C). Or A. No.", ["The answer is B. ", "The rest is (C). ", "Or A. No."]),
        ("See e.g. Smith, i.e. Ann (cf. Bob).", ["See e.g. Smith, i.e. Ann (cf. Bob)."]),
        ("See No. 5, Fig. 3, p. 7, Jan. 2.", ["See No. 5, Fig. 3, p. 7, Jan. 2."]),
        ("I said no. Then I sat. Sun rose.", ["I said no. ", "Then I sat. ", "Sun rose."]),
        ("Dr! Smith", ["Dr! ", "Smith"]),
        ("1. First item. More\n 2. Second\n(a. Third", ["1. First item. ", "More\n", " 2. Second\n", "(a. Third"]),
        ("- IV. Four\n> * 12. Twelve", ["- IV. Four\n", "> * 12. Twelve"]),
        ("It cost 5. Then 6.", ["It cost 5. ", "Then 6."]),
        ("It cost five. 12 came.", ["It cost five. ", "12 came."]),
        ("! Abc", ["! ", "Abc"]),
        ("An end. ǅep.", ["An end. ", "ǅep."]),
        ('He is a "Dr." Then he left.', ['He is a "Dr." ', "Then he left."]),
        ("The USA. Then it rained.", ["The USA. ", "Then it rained."]),
        ("See a B. The rest.", ["See a B. ", "The rest."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run:\n```py\nx = 1. \nY = 2. Z\n```\nDone.", ["Run:\n", "```py\nx = 1. \nY = 2. Z\n```\n", "Done."]),
        ("```\na. B\n", ["```\na. B\n"]),
        ("~~~~\nA. B\n~~~\n```\n~~~~~  \nC", ["~~~~\nA. B\n~~~\n```\n~~~~~  \n", "C"]),
        ("   ```\nA. B\n   ```", ["   ```\nA. B\n   ```"]),
        ("    ```\nSo. B", ["    ```\n", "So. ", "B"]),
        ("```A. B``` is code.\nC", ["```A. B``` is code.\n", "C"]),
        ("```\n```\nSo. B", ["```\n```\n", "So. ", "B"]),
        ("```\nA\n```\n\n```\nB\n```", ["```\nA\n```\n\n", "```\nB\n```"]),
        ("```\nA. B\n``` C. D\n```", ["```\nA. B\n``` C. D\n```"]),
        ("~~~ `py`\nA. B\n~~~", ["~~~ `py`\nA. B\n~~~"]),
    ],
)
def test_a_fence_is_one_claim(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T:\n| a | b |\n|---|:-:|\n| A. B | 2 |\n\nEnd", ["T:\n", "| a | b |\n|---|:-:|\n| A. B | 2 |\n\n", "End"]),
        ("a | b\n--|--\n1. C | 2\nEnd", ["a | b\n--|--\n1. C | 2\n", "End"]),
        ("a | b\nc | d", ["a | b\n", "c | d"]),
        ("| a |\n| - |", ["| a |\n| - |"]),
        ("a\n|---|", ["a\n", "|---|"]),
        ("a | b. C\n---\nd", ["a | b. ", "C\n", "---\n", "d"]),
        ("| a |\n|---|\n| b |\n| c |\n|---|\n| d |", ["| a |\n|---|\n| b |\n| c |\n|---|\n| d |"]),
    ],
)
def test_a_table_is_one_claim(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


def test_ranges_are_bytes() -> None:
    assert split_sentences("É. 😀 ok.\nZ") == ((0, 13), (13, 14))
    assert split_sentences("Éé. Ü") == ((0, 6), (6, 8))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a. " * 200_000 + "B", id="stops"),
        pytest.param("." * 600_000, id="dots"),
        pytest.param('."' * 300_000, id="quoted-stops"),
        pytest.param("\n" * 600_000 + "a", id="newlines"),
        pytest.param("a" + "\n" * 600_000, id="trailing-newlines"),
        pytest.param(" " * 300_000 + "|\n" + " " * 300_000 + "|x", id="table-spaces"),
        pytest.param("|-" * 300_000 + "\n" + "|-" * 300_000 + "x", id="table-cells"),
        pytest.param("`" * 600_000, id="backticks"),
        pytest.param("```a`\n" * 100_000, id="fences"),
        pytest.param("x. " + "A" * 600_000 + ". B", id="long-word"),
    ],
)
def test_hostile_messages_take_linear_time(text: str) -> None:
    started = time.process_time()
    split_sentences(text)
    assert time.process_time() - started < 3.0


def test_a_lone_surrogate_has_no_bytes() -> None:
    for call in (split_sentences, find_cites):
        with pytest.raises(CanonicalError, match=r"lone surrogate U\+D800 at character 1"):
            call("a\ud800")


def test_real_messages_are_tiled() -> None:
    records = json.loads(shared_path("data/tau-bench/gpt-4o-airline-a.json").read_text())
    messages = [
        message["content"]
        for record in records
        for message in record["traj"]
        if message["role"] == "assistant" and message.get("content")
    ]
    assert len(messages) > 100
    for message in messages:
        assert "".join(claims(message)) == message


def test_cites_are_found_in_order_with_their_bytes() -> None:
    text = "É [1], [entry:0123abcd] and [22][3] from call_9fA2 or [c1]."
    assert find_cites(text, ["call_9fA2", "c1"]) == (
        Cite(CiteKind.NUMBER, "1", 3, 6),
        Cite(CiteKind.ENTRY, "0123abcd", 8, 24),
        Cite(CiteKind.NUMBER, "22", 29, 33),
        Cite(CiteKind.NUMBER, "3", 33, 36),
        Cite(CiteKind.CALL, "call_9fA2", 42, 51),
        Cite(CiteKind.CALL, "c1", 55, 59),
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "[a]", "[1.5]", "[-1]", "[12345]", "[1, 2]", "[ 1 ]", "[١]", "1"),
        *("[entry:0123abc]", "[entry:0123ABCD]", "entry:0123abcd", f"[entry:{'a' * 65}]"),
    ],
)
def test_what_is_no_cite(text: str) -> None:
    assert find_cites(text) == ()


def test_a_tool_call_id_counts_as_a_word_of_its_own_only() -> None:
    ids = ["call_1", "call_12", "7", "1234567", "ab"]
    assert [cite.value for cite in find_cites("call_12 call_1. xcall_1 call_1x my-call_1 call_1-b", ids)] == [
        "call_12",
        "call_1",
    ]
    assert find_cites("7 of 1234567 ab", ids) == ()
    assert [(cite.kind, cite.value) for cite in find_cites("[7] [1234567] [ab] [8]", ids)] == [
        (CiteKind.CALL, "7"),
        (CiteKind.CALL, "1234567"),
        (CiteKind.CALL, "ab"),
        (CiteKind.NUMBER, "8"),
    ]
    assert find_cites("[a.c] abc []", ["a.c", ""]) == (Cite(CiteKind.CALL, "a.c", 0, 5),)


def test_of_two_ids_that_fit_the_longer_one_is_cited() -> None:
    assert find_cites("see call_1.x", ["call_1", "call_1.x"]) == (Cite(CiteKind.CALL, "call_1.x", 4, 12),)


def test_an_entry_may_be_cited_by_its_whole_id() -> None:
    whole = "0123456789abcdef" * 4
    assert find_cites(f"[entry:{whole}]") == (Cite(CiteKind.ENTRY, whole, 0, 72),)
