"""Two times: what had happened by one, what was known by the other."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.as_of import Recorded, as_of
from ledger_core.kernel.errors import BeliefError, StrictProfileError
from ledger_core.kernel.statements import references
from ledger_core.stores.ledger import _policy_statement as activation
from ledger_core.stores.ledger import genesis_statements
from tests.ledger_core.belief.book import SCOPE, Book
from tests.properties.ledgers import stories


def day(number):
    return f"2026-01-{number:02}T00:00:00.000000000Z"


OPENING = [Recorded(statement, day(1)) for statement in genesis_statements(SCOPE, SEED_V4_CLUSTERS, "first")]


class Diary:
    """A book that notes on which day each statement was recorded."""

    def __init__(self) -> None:
        self.book = Book()
        self.log: list[Recorded] = []

    def on(self, number, write):
        """Do ``write`` on that day; returns what it returns."""
        before = len(self.book.statements)
        done = write(self.book)
        self.log += [Recorded(statement, day(number)) for statement in self.book.statements[before:]]
        return done

    def state(self, effective=None, recorded=None):
        reading = as_of(
            self.log,
            OPENING,
            effective=None if effective is None else day(effective),
            recorded=None if recorded is None else day(recorded),
        )
        return fold(reading.statements, reading.policy)


@pytest.fixture
def story():
    """Seen on the 2nd, denied by what was seen on the 4th; the second denial came in only on the 10th; withdrawn on the 12th."""
    diary = Diary()
    target = diary.on(2, lambda book: book.seal("t.example", at=day(2)))
    claim = diary.on(3, lambda book: book.claim(book.generation([target]), [target]))
    first = diary.on(4, lambda book: book.seal("a.example", at=day(4)))
    second = diary.on(10, lambda book: book.seal("b.example", at=day(4)))
    verdicts = diary.on(11, lambda book: book.contradict(target, first, second))
    diary.on(12, lambda book: book.reverse(verdicts[1]))
    return diary, {"target": target, "claim": claim, "first": first, "second": second}


class TestRecorded:
    @pytest.mark.parametrize(
        ("recorded", "entries", "retracted"),
        [
            (1, set(), False),
            (2, {"target"}, False),
            (4, {"target", "claim", "first"}, False),
            (10, {"target", "claim", "first", "second"}, False),
            (11, {"target", "claim", "first", "second"}, True),
            (12, {"target", "claim", "first", "second"}, False),
            (None, {"target", "claim", "first", "second"}, False),
        ],
    )
    def test_what_was_known_by_then(self, story, recorded, entries, retracted):
        diary, ids = story
        state = diary.state(recorded=recorded)
        assert set(state.entries) == {ids[name] for name in entries}
        assert bool(state.retractions) is retracted
        if "claim" in entries:
            assert state.entries[ids["claim"]].attenuation == (50_000_000 if retracted else 10**9)

    def test_before_the_ledger_there_is_no_state(self, story):
        diary, _ = story
        with pytest.raises(BeliefError, match="nothing was recorded by 2025-12-31"):
            as_of(diary.log, OPENING, recorded="2025-12-31T00:00:00.000000000Z")

    def test_the_policy_is_the_one_that_was_in_force(self):
        later = activation(SCOPE, STRICT_CLUSTERS, "second", OPENING[1].statement.event_id)
        control = [*OPENING, Recorded(later, day(5))]
        assert as_of([], control, recorded=day(4)).policy == SEED_V4_CLUSTERS
        assert as_of([], control, recorded=day(5)).policy == STRICT_CLUSTERS
        assert as_of([], control).policy == STRICT_CLUSTERS
        assert as_of([], control, effective=day(1)).policy == STRICT_CLUSTERS


class TestEffective:
    @pytest.mark.parametrize(
        ("effective", "recorded", "entries", "retracted"),
        [
            (1, 11, set(), False),
            (2, 11, {"target", "claim"}, False),
            (3, 11, {"target", "claim"}, False),
            (4, 9, {"target", "claim", "first"}, False),
            (4, 11, {"target", "claim", "first", "second"}, True),
            (4, 12, {"target", "claim", "first", "second"}, False),
            (4, None, {"target", "claim", "first", "second"}, False),
        ],
    )
    def test_a_late_correction_reaches_back_and_no_further_than_its_evidence(
        self, story, effective, recorded, entries, retracted
    ):
        diary, ids = story
        state = diary.state(effective, recorded)
        assert set(state.entries) == {ids[name] for name in entries}
        assert bool(state.retractions) is retracted

    def test_an_audit_takes_effect_when_it_looked(self):
        diary = Diary()
        entry = diary.on(2, lambda book: book.seal("t.example", at=day(2)))
        diary.on(9, lambda book: book.audit(entry, "tampered", at=day(6)))
        assert not diary.state(effective=5).entries[entry].suspended
        assert diary.state(effective=6).entries[entry].suspended
        assert not diary.state(effective=6, recorded=8).entries[entry].suspended

    def test_occurrence_goes_before_observation(self):
        diary = Diary()
        entry = diary.on(9, lambda book: book.seal("t.example", at=day(8)))
        early = diary.book.statements[0].model_copy(update={"occurred_at": day(3)})
        log = [Recorded(early, day(9))]
        assert as_of(log, OPENING, effective=day(3)).statements == (early,)
        assert as_of(diary.log, OPENING, effective=day(7)).statements == ()
        assert entry in diary.state(effective=8).entries

    def test_what_has_no_time_is_there_from_the_beginning_and_is_counted(self):
        diary = Diary()
        timeless = diary.on(5, lambda book: book.seal("t.example", at=None))
        claim = diary.on(6, lambda book: book.claim(book.generation([timeless]), [timeless]))
        dated = diary.on(7, lambda book: book.seal("a.example", at=day(7)))
        reading = as_of(diary.log, OPENING, effective=day(1))
        assert set(fold(reading.statements, reading.policy).entries) == {timeless, claim}
        assert reading.undated == 2
        everything = as_of(diary.log, OPENING)
        assert dated in fold(everything.statements, everything.policy).entries
        assert everything.undated == 2

    def test_a_message_has_no_time_and_whoever_rests_on_it_alone_neither(self):
        diary = Diary()
        told = diary.on(5, lambda book: book.given())
        assert as_of(diary.log, OPENING).undated == 1
        diary.on(6, lambda book: book.claim(book.generation([told]), [told]))
        assert as_of(diary.log, OPENING).undated == 2

    def test_what_came_in_later_may_have_happened_before(self):
        diary = Diary()
        late, early = (diary.on(9, lambda book, n=n: book.seal(f"{n}.example", at=day(n))) for n in (7, 3))
        assert set(diary.state(effective=3).entries) == {early}
        assert set(diary.state(effective=7).entries) == {early, late}

    def test_a_claim_is_not_there_before_what_stood_in_its_context(self):
        diary = Diary()
        early, late = (diary.on(9, lambda book, n=n: book.seal(f"{n}.example", at=day(n))) for n in (2, 5))
        claim = diary.on(9, lambda book: book.claim(book.generation([early, late]), [early]))
        assert claim not in diary.state(effective=4).entries
        assert claim in diary.state(effective=5).entries


@pytest.mark.parametrize("limit", ["effective", "recorded"])
@pytest.mark.parametrize("time", ["2026-01-01", "2026-01-01T00:00:00Z", "yesterday", ""])
def test_a_time_that_is_none_is_refused(limit, time):
    with pytest.raises(StrictProfileError):
        as_of([], OPENING, **{limit: time})


@pytest.mark.invariant("§2.4", "§2.6")
@settings(max_examples=60, deadline=None)
@given(stories(), st.integers(0, 2**32 - 1))
def test_the_past_does_not_change(story, seed):
    """Whatever is recorded later, and whatever is left out, what was known by a time is the fold of that much of the log."""
    draw = random.Random(seed)
    days = sorted(draw.choices(range(2, 20), k=len(story.statements)))
    log = [Recorded(statement, day(number)) for statement, number in zip(story.statements, days, strict=True)]
    cut = draw.randint(1, 20)
    known = [event for event in log if event.recorded_at <= day(cut)]
    reading = as_of(log, OPENING, recorded=day(cut))
    assert reading == as_of(known, OPENING)
    assert list(reading.statements) == [event.statement for event in known]
    assert as_of(log, OPENING, effective=day(31), recorded=day(cut)).statements == reading.statements


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_time_only_adds_and_nothing_refers_to_what_is_left_out(seed):
    draw, book = random.Random(seed), Book()
    entries = [book.seal("a.example", at=day(5)), book.seal("b.example", at=None)]
    for _ in range(12):
        match draw.choice(["seal", "claim", "verdict", "audit"]):
            case "seal":
                entries.append(book.seal("c.example", at=draw.choice([None, day(draw.randint(1, 9))])))
            case "claim":
                context = draw.sample(entries, 2)
                entries.append(book.claim(book.generation(context), context[:1]))
            case "verdict":
                target, candidate = draw.sample(entries, 2)
                verdict = book.verdict(target, candidate, recipe=book.next_key())
                if draw.random() < 0.3:
                    book.reverse(verdict)
            case "audit":
                book.audit(entries[0], "match", at=day(draw.randint(1, 9)))
    log = [Recorded(statement, day(10)) for statement in book.statements]
    before: set[str] = set()
    for number in range(1, 10):
        kept = as_of(log, OPENING, effective=day(number)).statements
        known = {statement.event_id for statement in kept}
        assert before <= known
        assert all(reference.event_id in known for statement in kept for reference in references(statement))
        before = known
    assert before == {statement.event_id for statement in book.statements}
