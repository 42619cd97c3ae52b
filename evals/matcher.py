"""What an answer asserts: the retracted value, the true one, both, a third one, or nothing.

The matcher is typed: numbers are compared as numbers, dates as days, names as words. A value that the answer denies
("not 45", "45 is wrong", "rather than 45") is not asserted. What cannot be read is `unscored`, neither right nor wrong.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from evals.errors import ScenarioError
from evals.mentions import READERS, Mention, ValueKind, proper_nouns
from evals.trials import Outcome

__all__ = ["Expected", "Reading", "ValueKind", "match", "read_answer"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What the answer is compared with.

    Raises:
        ScenarioError: a value that does not read as its kind, or a false value equal to the true one.
    """

    kind: ValueKind
    true: str
    false: str | None = None
    """The retracted value; None where the scenario plants none."""
    vocabulary: tuple[str, ...] = ()
    """Further values of the kind: how a third value is seen among names, places and terms."""
    ignored: tuple[str, ...] = ()
    """Proper nouns of the question, which an answer may repeat without asserting them."""

    def __post_init__(self) -> None:
        """Read the values once, so that a malformed one never turns into a wrong answer."""
        true = self.canonical(self.true)
        if self.false is not None and self.canonical(self.false) == true:
            raise ScenarioError(f"the false value {self.false!r} and the true value {self.true!r} are the same")

    @property
    def known(self) -> tuple[str, ...]:
        """Every value that counts as one of the kind, the expected ones first."""
        named = (self.true,) if self.false is None else (self.true, self.false)
        return (*named, *(value for value in self.vocabulary if value not in named))

    def canonical(self, value: str) -> str:
        """The canonical spelling of ``value``.

        Raises:
            ScenarioError: it does not read as a value of the kind.
        """
        found = READERS[self.kind](value, (value,))
        if len(found) != 1:
            raise ScenarioError(f"{value!r} does not read as one {self.kind}; a question needs values of its kind")
        return found[0].value


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, read."""

    text: str
    """The answer in NFC; places of mentions are places in it."""
    outcome: Outcome
    asserted: tuple[Mention, ...]
    """Values asserted, in order of appearance."""
    denied: tuple[Mention, ...]

    @property
    def own_stem(self) -> str:
        """What the model itself said before the first value it asserts; empty where it asserts none."""
        return self.text[: self.asserted[0].start].rstrip() if self.asserted else ""


_BOUNDARY = re.compile(
    r"[,;:.!?—–()\n](?=\s|$)|[()]|\b(?:but|and|while|whereas|although|though|because|so)\b", re.IGNORECASE
)
_DENIES_BEFORE = re.compile(
    r"\b(?:not(?!\s+(?:only|just|merely))|never|no\s+longer|neither|nor|cannot|rather\s+than|instead\s+of|unlike"
    r"|other\s+than|anything\s+but|formerly|previously|used\s+to\s+be)\b|n['’]t\b",
    re.IGNORECASE,
)
_DENIES_AFTER = re.compile(
    r"^(?:\s+[\w'’-]+){0,2}?\s+(?:is|was|are|were|has\s+been|would\s+be|can)?\s*"
    r"(?:not(?!\s+(?:only|just|merely))\b|(?:is|was|are|were)n['’]t\b|cannot\b|no\s+longer\b|(?:is|was|are|were)\s+"
    r"(?:wrong|incorrect|false|outdated|obsolete|mistaken|an?\s+(?:error|mistake))\b)",
    re.IGNORECASE,
)
_ABSTAINS = re.compile(
    r"\b(?:unknown|unclear|undetermined|unspecified|n/a|no\s+(?:information|answer|data|mention|record|details?)"
    r"|not\s+(?:\w+\s+)?(?:known|stated|given|specified|mentioned|listed|available|provided|clear|sure|certain|named"
    r"|determined|recorded|disclosed|included|possible\s+to)|(?:do|does|did|is|are|was|were|has|have)n['’]t\s+(?:\w+\s+)?"
    r"(?:known?|say|state[ds]?|mention(?:ed)?|specif(?:y|ied)|have|give[n]?|provided?|listed?|sure|certain|clear|tell)"
    r"|(?:do|does|did)\s+not\s+(?:know|say|state|mention|specify|have|give|provide|list|tell)"
    r"|(?:cannot|can['’]t|could\s+not|couldn['’]t|can\s+not)\s+(?:\w+\s+)?(?:say|tell|determine|answer|find|know|provide)"
    r"|unable\s+to|sorry)\b",
    re.IGNORECASE,
)


def match(expected: Expected, answer: str) -> Outcome:
    """The outcome of ``answer``; see :func:`read_answer`."""
    return read_answer(expected, answer).outcome


def read_answer(expected: Expected, answer: str) -> Reading:
    """Read ``answer``: a generated text, or the continuation of a fixed stem.

    An asserted expected value decides; then an abstention; then any other asserted value of the kind. A denial with
    nothing asserted is an abstention: the answer commits to no value.
    """
    text = unicodedata.normalize("NFC", answer)
    mentions = READERS[expected.kind](text, expected.known)
    denied = tuple(m for m in mentions if expected.kind is not ValueKind.YES_NO and _is_denied(text, m))
    asserted = tuple(m for m in mentions if m not in denied)
    return Reading(text, _outcome(expected, text, asserted, denied), asserted, denied)


def _outcome(expected: Expected, answer: str, asserted: tuple[Mention, ...], denied: tuple[Mention, ...]) -> Outcome:
    true = any(_same(expected, expected.true, mention) for mention in asserted)
    false = expected.false is not None and any(_same(expected, expected.false, mention) for mention in asserted)
    if true or false:
        return _COMMITTED[true, false]
    if _ABSTAINS.search(answer):
        return Outcome.ABSTAINS
    if asserted or _names_another(expected, answer, denied):
        return Outcome.THIRD_VALUE
    return Outcome.ABSTAINS if denied else Outcome.UNSCORED


_COMMITTED = {
    (True, True): Outcome.ASSERTS_BOTH,
    (True, False): Outcome.ASSERTS_TRUE,
    (False, True): Outcome.ASSERTS_FALSE,
}

_OPEN_KINDS = frozenset({ValueKind.NAME, ValueKind.PLACE})


def _names_another(expected: Expected, answer: str, denied: tuple[Mention, ...]) -> bool:
    """Whether an answer about a name or a place asserts a proper noun outside the vocabulary."""
    if expected.kind not in _OPEN_KINDS:
        return False
    return any(
        not _is_denied(answer, mention) and all(mention.stop <= d.start or mention.start >= d.stop for d in denied)
        for mention in proper_nouns(answer, expected.ignored)
    )


def _same(expected: Expected, value: str, mention: Mention) -> bool:
    wanted = expected.canonical(value)
    if expected.kind is not ValueKind.DATE:
        return wanted == mention.value
    return wanted[-5:] == mention.value[-5:] and ("--" in {wanted[:2], mention.value[:2]} or wanted == mention.value)


def _is_denied(text: str, mention: Mention) -> bool:
    """Whether the clause around ``mention`` denies it."""
    start = max((b.end() for b in _BOUNDARY.finditer(text) if b.end() <= mention.start), default=0)
    stop = min((b.start() for b in _BOUNDARY.finditer(text) if b.start() >= mention.stop), default=len(text))
    before, after = text[start : mention.start], text[mention.stop : stop]
    return bool(_DENIES_BEFORE.search(before) or _DENIES_AFTER.search(after))
