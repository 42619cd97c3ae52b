"""Further sentences of the wordings, in ``sentences.toml`` and ``further_sentences.toml``, apart from their first ones."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from evals.errors import ScenarioError
from evals.scenarios.wordings import Topic, all_topics


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


_FILES = ("sentences.toml", "further_sentences.toml")


@lru_cache(maxsize=1)
def _all() -> Mapping[str, Sentences]:
    folder = resources.files("evals.scenarios")
    documents = [tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in _FILES]
    try:
        said, shared = (
            {key: each for document in documents for key, each in document[part].items()} for part in _PARTS
        )
        found = {topic.id: Sentences(**said[topic.id], **shared[topic.group.group]) for topic in all_topics()}
    except (KeyError, TypeError) as error:
        raise ScenarioError(f"{' or '.join(_FILES)}: a missing or unknown field ({error})") from error
    unknown = sorted(said.keys() - found.keys())
    if unknown:
        raise ScenarioError(f"{' or '.join(_FILES)}: {', '.join(unknown)} is no wording")
    return MappingProxyType(found)


_PARTS = ("topics", "groups")


def sentences(topic: Topic) -> Sentences:
    """The further sentences of ``topic``.

    Raises:
        ScenarioError: the file has a missing or unknown field.
    """
    return _all()[topic.id]
