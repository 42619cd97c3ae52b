"""Small ledgers drawn at random: every kind that belief reads, wired in every way the references allow.

Choices inside a step come from a seeded generator and not from Hypothesis, which would spend nearly all of its time on
drawing; what Hypothesis varies and shrinks is the seed and the number of steps.
"""

from __future__ import annotations

import itertools
import random

from hypothesis import strategies as st

from tests.ledger_core.belief.book import OTHER_WEIGHTS, WEIGHTS, Book

PPM = (0, 1, 50_000, 333_333, 500_000, 526_315, 526_316, 999_999, 1_000_000)
HOSTS = ("a.example", "www.a.example", "b.example", "c.example", "d.example", "127.0.0.1", None)
SEALS = ({}, {}, {}, {}, {"reach": "local"}, {"attestation": "imported"})
RESULTS = ("independent", "independent", "independent", "dependent", "unknown", "structured")
STEPS = {
    "seal": 3,
    "given": 1,
    "claim": 5,
    "measure": 3,
    "verdict": 2,
    "quarrel": 4,
    "pair": 1,
    "reverse": 1,
    "audit": 1,
    "supersede": 1,
}


class Story:
    """A book and the handles that later steps need."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.book = Book()
        self.observed: list[str] = []
        self.entries: list[str] = []
        self.claims: list[tuple[str, str, list[str]]] = []
        self.verdicts: list[str] = []
        self.measured: dict[str, list[str]] = {}
        self.audits: dict[str, list[str]] = {}
        self.paired: set[tuple[str, str]] = set()

    @property
    def statements(self):
        return self.book.statements

    def some(self, population, most):
        return self.rng.sample(population, self.rng.randint(0, min(most, len(population))))

    def step(self):
        (name,) = self.rng.choices(list(STEPS), weights=list(STEPS.values()))
        getattr(self, name)()

    def seal(self):
        family = self.rng.choice(["*", "price"])
        key = self.book.seal(self.rng.choice(HOSTS), family=family, **self.rng.choice(SEALS))
        self.observed.append(key)
        self.entries.append(key)

    def given(self):
        self.entries.append(self.book.given(self.rng.choice(["system", "user"])))

    def claim(self):
        context = self.some(self.entries, 4)
        known = context if context and self.rng.random() < 0.7 else self.entries
        declared = {entry: self.rng.choice((*PPM, 1_000_000, 1_000_000)) for entry in self.some(known, 3)}
        kind = self.rng.choice(["exact", "exact", "exact", "exact", "imported", "none"])
        generation = None
        if kind != "none":
            exact = kind == "exact"
            generation = self.book.generation(context, attestation="boundary" if exact else "imported", exact=exact)
        key = self.book.claim(generation, declared, derived=self.rng.random() < 0.7)
        self.entries.append(key)
        if generation is not None:
            self.claims.append((key, generation, context))

    def measure(self, *, scorer=None, verdicts=("null", "null", "undetermined", "opposes", *PPM)):
        if not self.claims:
            return
        claim, generation, context = self.rng.choice(self.claims)
        listed = {entry: self.rng.choice(verdicts) for entry in context}
        edges = sorted(entry for entry, value in listed.items() if isinstance(value, int))
        members = tuple(sorted(self.some(edges, 3)))
        earlier = self.measured.setdefault(claim, [])
        key = self.book.measure(
            claim,
            generation,
            listed,
            cuts={members: self.rng.choice(PPM)} if members else None,
            scorer=scorer or self.rng.choice([WEIGHTS, WEIGHTS, OTHER_WEIGHTS]),
            flags=self.rng.choice([(), (), ("uncontrasted",), ("proxy-scored",)]),
            result=self.rng.choice(["grounded", "grounded", "ungrounded"]),
            predecessor=self.rng.choice([None, *earlier]) if scorer is None else None,
            null_high=self.rng.choice([100_000, 250_000, 250_001]),
        )
        earlier.append(key)

    def verdict(self):
        target = self.rng.choice(self.entries)
        candidates = [entry for entry in self.observed if entry != target]
        if candidates:
            value = self.rng.choice(["contradict", "contradict", "contradict", "contradict", "support", "undecided"])
            recipe = f"r{len(self.verdicts)}"
            self.verdicts.append(self.book.verdict(target, self.rng.choice(candidates), value, recipe=recipe))

    def quarrel(self):
        """Several observations contradict one entry, and most pairs of them are assessed."""
        target = self.rng.choice([*self.entries, *self.observed])
        members = self.some([entry for entry in self.observed if entry != target], 4)
        for member in members:
            self.verdicts.append(self.book.verdict(target, member, recipe=f"r{len(self.verdicts)}"))
        for one, other in itertools.combinations(members, 2):
            if self.rng.random() < 0.9:
                self.pair(one, other)

    def pair(self, *members):
        if len(self.observed) < 2:
            return
        one, other = members or self.rng.sample(self.observed, 2)
        pair = (min(one, other), max(one, other))
        if pair not in self.paired:
            self.paired.add(pair)
            if self.rng.random() < 0.05:
                self.book.assess(one, other, "echo", echoes=(one,))
            else:
                self.book.assess(one, other, self.rng.choice(RESULTS))

    def reverse(self):
        if self.verdicts:
            self.book.reverse(self.rng.choice(self.verdicts))

    def audit(self):
        if self.observed:
            entry = self.rng.choice(self.observed)
            earlier = self.audits.setdefault(entry, [])
            outcome = self.rng.choice(["tampered", "mismatch", "intact", "match", "match", "match", "unavailable"])
            earlier.append(self.book.audit(entry, outcome, predecessor=self.rng.choice([None, *earlier])))

    def supersede(self):
        """A judgement is replaced by another about the same fact, which may be replaced in turn."""
        changed = {
            "verdict.filed": {"verdict": self.rng.choice(["contradict", "undecided"])},
            "edges.measured": {"claim_result": "ungrounded"},
            "replay.audited": {"outcome": self.rng.choice(["match", "mismatch"])},
        }
        replaced = {s.representation.lineage.event_id for s in self.statements}
        free = [s for s in self.statements if s.kind in changed and s.event_id not in replaced]
        if free:
            statement = self.rng.choice(free)
            successor = self.book.superseding(statement, changed[statement.kind])
            if statement.kind == "verdict.filed":
                self.verdicts.append(successor.event_id)


def story_of(seed: int, steps: int) -> Story:
    """A finished story."""
    story = Story(seed)
    for _ in range(6):
        story.seal()
    for _ in range(steps):
        story.step()
    return story


def stories():
    """Stories of up to 40 steps."""
    return st.builds(story_of, st.integers(0, 2**32 - 1), st.integers(0, 40))
