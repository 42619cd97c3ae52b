"""What each renderer shows, line by line."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.harness.render import RENDERERS, ContextEntry, context_entries
from ledger_core.kernel.errors import BeliefError
from tests.ledger_core.belief.book import Book


def entry(key, tier, belief, order, **fields):
    values = {
        "invalidated": False,
        "retracted": False,
        "corroborated": False,
        "external": False,
        "kind": "entry.derived",
    }
    return ContextEntry(key=key, text=f"text {key}", tier=tier, belief=belief, order=order, **(values | fields))


OBSERVED = {"kind": "entry.observed", "external": True}
ENTRIES = (
    entry("u", "given", None, 0, kind="entry.given"),
    entry("x", "sealed_unverified", 30_434_782, 1, **OBSERVED, retracted=True, invalidated=True),
    entry("y", "sealed_unverified", 600_000_000, 2, **OBSERVED),
    entry("z", "sealed_unverified", 700_000_000, 3, **OBSERVED),
    entry("d", "derived", 25_000_000, 4, invalidated=True),
    entry("e", "derived", 400_000_000, 5),
    entry("f", "derived", 500_000_000, 6),
    entry("c", "conjecture", 250_000_000, 7, kind="entry.conjectured"),
    entry("l", "sealed_unverified", 700_000_000, 8, kind="entry.observed"),
    entry("k", "sealed_unverified", 777_777_777, 9, **OBSERVED, corroborated=True),
    entry("v", "sealed_verified", 950_000_000, 10, **OBSERVED),
    entry("w", "given", None, 11, kind="entry.given"),
)
V2 = {
    "u": "text u",
    "w": "text w",
    "v": "[verified] text v",
    "k": "[verified] text k",
    "l": "[observed] text l",
    "f": "[derived] text f",
    "e": "[derived] text e",
    "c": "[conjecture] text c",
    "z": "[uncorroborated] text z",
    "y": "[uncorroborated] text y",
}


def shown(renderer, entries=ENTRIES, **fields):
    return {line.key: line.text for line in RENDERERS[renderer](entries, **fields)}


def keys(renderer, entries=ENTRIES, **fields):
    return "".join(line.key for line in RENDERERS[renderer](entries, **fields))


def test_flat_shows_every_text_as_logged():
    assert keys("flat") == "uxyzdefclkvw"
    assert shown("flat")["x"] == "text x"


def test_v1_shows_tier_belief_and_the_marker_in_log_order():
    assert keys("v1") == "uxyzdefclkvw"
    lines = shown("v1")
    assert lines["u"] == "[given] text u"
    assert lines["x"] == "[RETRACTED] [sealed_unverified 0.03] text x"
    assert lines["d"] == "[derived 0.02] text d"
    assert lines["v"] == "[sealed_verified 0.95] text v"
    assert lines["k"] == "[sealed_unverified 0.77] text k"


def test_v2_is_a_working_set_in_blocks():
    assert keys("v2") == "uwvklfeczy"
    assert shown("v2") == V2


def test_v2_shows_no_trace_of_what_is_invalidated():
    kept = tuple(e for e in ENTRIES if not e.invalidated)
    assert RENDERERS["v2"](ENTRIES) == RENDERERS["v2"](kept)


def test_v2_shows_no_number():
    assert not any(character.isdigit() for text in shown("v2").values() for character in text)


def test_v2_in_log_order_differs_in_order_only():
    assert keys("v2", order="log") == "uyzefclkvw"
    assert shown("v2", order="log") == V2


def test_v2_marked_differs_from_v2_by_the_marked_entries_only():
    lines = shown("v2-marked")
    assert lines["x"] == "[RETRACTED] [uncorroborated] text x"
    assert lines["d"] == "[RETRACTED] [derived] text d"
    assert {key: text for key, text in lines.items() if key not in "xd"} == V2
    assert keys("v2-marked") == "uwvklfedczyx"
    assert keys("v2-marked", order="log") == "uxyzdefclkvw"


def test_equal_beliefs_stay_as_logged():
    twins = tuple(entry(key, "derived", 5, order) for key, order in (("b", 1), ("a", 2), ("c", 0)))
    assert keys("v2", twins) == "cba"


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("order", ["renderer", "log"])
def test_lines_do_not_depend_on_the_order_of_the_entries_given(renderer, order):
    assert RENDERERS[renderer](ENTRIES[::-1], order=order) == RENDERERS[renderer](ENTRIES, order=order)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_an_empty_context_has_no_lines(renderer):
    assert RENDERERS[renderer](()) == ()


class TestContextEntries:
    def build(self):
        book = Book()
        question = book.given("user")
        premise, one, two = (book.seal(f"{name}.example") for name in "pab")
        claim = book.claim(book.generation([premise]), [premise])
        book.contradict(premise, one, two)
        return book, question, premise, one, claim

    def test_they_carry_state_and_log_order(self):
        book, question, premise, one, claim = self.build()
        state = fold(reversed(book.statements), SEED_V4_CLUSTERS)
        texts = {key: key[:4] for key in (claim, question, premise, one)}
        entries = context_entries(state, [*book.statements, *book.statements], texts)
        assert [e.key for e in entries] == [question, premise, one, claim]
        assert [e.order for e in entries] == sorted(e.order for e in entries)
        by_key = {e.key: e for e in entries}
        assert (by_key[premise].retracted, by_key[claim].retracted, by_key[claim].invalidated) == (True, False, True)
        assert (by_key[one].corroborated, by_key[one].external, by_key[one].belief) == (True, True, 777_777_777)
        assert (by_key[question].tier, by_key[question].belief) == ("given", None)
        assert [line.key for line in RENDERERS["v2"](entries)] == [question, one]

    def test_a_state_of_other_statements_is_refused(self):
        book, question, *_ = self.build()
        with pytest.raises(BeliefError, match=question):
            context_entries(fold([], SEED_V4_CLUSTERS), book.statements, {question: "?"})
