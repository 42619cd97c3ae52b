"""Contexts to compare attributions on: short guides of ten to sixteen sentences, a question, no answer."""

from __future__ import annotations

import random
from dataclasses import dataclass

SEED = 20_240_901
_PLACES = (
    "Lorrick",
    "Brenk",
    "Mellen",
    "Arden",
    "Corvo",
    "Tessin",
    "Oswick",
    "Hallam",
    "Varde",
    "Quill",
    "Senn",
    "Dunmore",
)
_PEOPLE = ("Dora Hale", "Ivo Marsh", "Ruth Kessel", "Anton Bray", "Mina Orr", "Felix Thorn")
_FACTS = (
    "The {p} museum opens at {h} in the morning.",
    "The ferry from {p} to {q} leaves from berth {n}.",
    "A single ticket for the ferry costs {n} crowns.",
    "The lighthouse of {p} was built in {y}.",
    "It was designed by {w}.",
    "The keeper of the lighthouse has {n} steps to climb.",
    "{p} has {n} inhabitants less than {q}.",
    "The market is held on {d} in front of the town hall.",
    "Fishermen sell herring and smoked eel there.",
    "The hostel has {n} beds and is closed in winter.",
    "Its kitchen serves soup until {h} in the evening.",
    "The road from {p} to {q} is closed after heavy rain.",
    "A bus runs every {n} minutes from the station to the harbour.",
    "The station was moved in {y} because of a flood.",
    "Dogs are not allowed on the northern beach.",
    "The northern beach is sandy and the southern one is stony.",
    "The botanical garden keeps {n} kinds of fern.",
    "{w} has been mayor of {p} since {y}.",
    "The bakery next to the church sells rye bread on {d}.",
    "The church tower can be seen from {q} on a clear day.",
    "A storm in {y} destroyed the old pier.",
    "The new pier is made of oak and is lit at night.",
)
_QUESTIONS = (
    "When does the museum open, and when was the lighthouse built?",
    "Write two sentences for visitors who arrive in {p} by ferry.",
    "What should somebody know who wants to eat well in {p}?",
    "Summarise the most important facts about {p}.",
    "What happened to the buildings of {p} over the years?",
)


@dataclass(frozen=True)
class Context:
    """Sources and a question about them."""

    number: int
    sentences: tuple[str, ...]
    query: str

    @property
    def text(self) -> str:
        """The sources as one text, a space between them."""
        return " ".join(self.sentences)


def context(number: int, *, least: int = 10, most: int = 16, seed: int = SEED) -> Context:
    """The context of that number; the same for the same seed."""
    draw = random.Random(seed + number)
    place, other = draw.sample(_PLACES, 2)
    chosen = sorted(draw.sample(range(len(_FACTS)), draw.randint(least, most)))
    sentences = tuple(
        _FACTS[fact].format(
            p=place,
            q=other,
            n=draw.randint(3, 98),
            h=draw.choice(("seven", "eight", "nine", "ten")),
            y=draw.randint(1781, 1969),
            d=draw.choice(("Tuesday", "Thursday", "Saturday")),
            w=draw.choice(_PEOPLE),
        )
        for fact in chosen
    )
    return Context(number, sentences, _QUESTIONS[number % len(_QUESTIONS)].format(p=place))
