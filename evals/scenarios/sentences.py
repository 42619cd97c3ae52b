"""Further sentences of the wordings, in ``sentences.toml``: apart from the first ones, whose bytes are fixed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from evals.errors import ScenarioError
from evals.scenarios.wordings import Topic, topics


@dataclass(frozen=True, slots=True)
class Sentences:
    """What else is said about a wording's fact, with the same slots."""

    second: str
    """Another source of the fact, as short as the premise."""
    guess: str
    """The agent supposes it."""
    paraphrase_a: str
    """Correction ``a`` in other words."""
    paraphrase_b: str
    withdrawal_a: str
    """Somebody says that the premise's source is not to be relied on; states no value. Shared by the kind of place."""
    withdrawal_b: str
    aside: str
    """A remark about the place as long as a withdrawal: its matched swap."""


@lru_cache(maxsize=1)
def _all() -> Mapping[str, Sentences]:
    text = (resources.files("evals.scenarios") / "sentences.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    try:
        found = {
            topic.id: Sentences(**document["topics"][topic.id], **document["groups"][topic.group.group])
            for topic in topics()
        }
    except (KeyError, TypeError) as error:
        raise ScenarioError(f"sentences.toml: a missing or unknown field ({error})") from error
    unknown = sorted(document["topics"].keys() - found.keys())
    if unknown:
        raise ScenarioError(f"sentences.toml: {', '.join(unknown)} is no wording")
    return MappingProxyType(found)


def sentences(topic: Topic) -> Sentences:
    """The further sentences of ``topic``.

    Raises:
        ScenarioError: the file has a missing or unknown field.
    """
    return _all()[topic.id]
