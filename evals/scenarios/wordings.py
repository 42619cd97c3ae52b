"""The project's own sentences: twenty kinds of place with four facts each, one wording a fact; most families use the first forty.

A wording is a cluster of the statistics: two fillings of one wording are not independent. Each sentence has the slots
``{entity}`` (an invented place) and ``{value}`` (a member of the wording's pool).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from evals.errors import ScenarioError
from evals.scenarios.pools import POOLS, Pool

_SOURCES = ("premise", "correction_a", "correction_b", "filler")


@dataclass(frozen=True, slots=True)
class Group:
    """What the four wordings about one kind of place share."""

    group: str
    sources: Mapping[str, str]
    """Word for the host of a premise, of either correction and of a filler."""
    task: str
    """What a user asks for; an ablatable entry without a value."""
    task_swap: str
    filler: str
    """A sealed sentence without a value."""
    filler_swap: str
    long_tail: str
    """What makes a claim long after its value, for long null claims."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One wording: a fact about a place, said in every role it can play."""

    id: str
    pool: str
    premise: str
    correction_a: str
    correction_b: str
    claim: str
    dependent: str
    question: str
    answer: str
    """Stem of the answer: everything before the value."""
    group: Group

    @property
    def values(self) -> Pool:
        """The pool of the slot."""
        return POOLS[self.pool]

    @property
    def sibling(self) -> Topic:
        """Another fact about the same kind of place; its values are of another pool."""
        siblings = [topic for topic in all_topics() if topic.group == self.group]
        return siblings[(siblings.index(self) + 1) % len(siblings)]


def _read(name: str, data: dict[str, Any]) -> tuple[Topic, ...]:
    try:
        facts = data.pop("topics")
        group = Group(**data)
        read = tuple(Topic(**fact, group=group) for fact in facts)
    except (KeyError, TypeError) as error:
        raise ScenarioError(f"texts/{name}: a missing or unknown field ({error})") from error
    for topic in read:
        if topic.pool not in POOLS:
            raise ScenarioError(f"texts/{name}: {topic.id} names the pool {topic.pool!r}; known: {', '.join(POOLS)}")
    if set(group.sources) != set(_SOURCES):
        raise ScenarioError(f"texts/{name}: sources must name {', '.join(_SOURCES)}")
    return read


@lru_cache(maxsize=1)
def topics() -> tuple[Topic, ...]:
    """The first forty wordings, interleaved: neighbours differ in the kind of place and any prefix mixes the pools.

    Raises:
        ScenarioError: a wordings file with a missing or unknown field.
    """
    return _interleaved("evals.scenarios.texts")


@lru_cache(maxsize=1)
def all_topics() -> tuple[Topic, ...]:
    """The first forty wordings and forty further ones, for families whose criteria need more than forty clusters."""
    return (*topics(), *_interleaved("evals.scenarios.texts.further"))


def _interleaved(package: str) -> tuple[Topic, ...]:
    folder = resources.files(package)
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    groups = [_read(name, tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8"))) for name in names]
    size = len(groups[0])
    return tuple(group[(g + turn) % size] for turn in range(size) for g, group in enumerate(groups))
