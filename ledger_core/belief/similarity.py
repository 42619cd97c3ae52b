"""How alike two texts are: what near-duplicate detection compares, and the three exact measures it compares by.

A text is compared as a reader sees it, not as its bytes spell it: NFKC, case-folded, invisible characters and combining
marks dropped, look-alike letters inside a Latin word read as Latin, white space as one space. Of JSON only keys and
values are read, so that an envelope or an escape makes no copy a new text. Shingles are the distinct runs of five
characters of what is left.

Measures are in ppm and rounded towards the side on which a threshold in whole ppm decides exactly as the real number
would: a similarity that must be *exceeded* is rounded up, one that must be *reached* is rounded down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, sqrt
from typing import Final

import unicodedata2

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import BeliefError, JcsProfileError
from ledger_core.kernel.types import PPM

SHINGLE: Final = 5
"""Characters of a shingle."""

MAX_CHARACTERS: Final = 200_000
"""Texts beyond this are not compared: an origin must not decide how much memory a verdict takes."""

ECHO_WINDOW: Final = 2
"""An echo is looked for in stretches of so many lengths of the result. In a whole long message half of the shingles
of *any* text in its language occur somewhere; a message that repeats a result repeats it in one place."""

_IGNORABLE: Final = frozenset(
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0)
).union(range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Invisible characters outside the category Cf (format): fillers, blanks and variation selectors of Unicode 17."""

_LOOK_ALIKES: Final = {
    ord(pair[0]): pair[1]
    for pair in (
        "аa вb еe ѕs іi јj кk мm нh оo рp сc тt уy хx һh ԁd ԛq ԝw ӏl гr "  # Cyrillic
        "αa βb γy εe ζz ηn ιi κk μm νv οo ρp τt υu χx ωw "  # Greek
        "ոn սu օo ցg հh"  # Armenian
    ).split()
}
"""Letters that pass for Latin ones, after case folding (from Unicode TS 39)."""


@dataclass(frozen=True)
class Wording:
    """One content as it is compared."""

    text: str
    """As :func:`readable` gives it."""
    structure: bytes | None
    """RFC 8785 bytes where the content is a JSON object or array: equal values have equal bytes."""

    @cached_property
    def shingles(self) -> frozenset[str]:
        """The distinct shingles of ``text``."""
        return shingles(self.text)


def wording_of(content: bytes) -> Wording | None:
    """What ``content`` says; None where it is not UTF-8 text or longer than :data:`MAX_CHARACTERS`."""
    document = _json(content)
    text = _said(content, document)
    if text is None or len(text) > MAX_CHARACTERS:
        return None
    structured = document is not None and isinstance(document.value, dict | list)
    return Wording(text, document.canonical if document and structured else None)


def said_in(content: bytes) -> str | None:
    """The readable text of ``content``, however long: keys and values where it is JSON; None where it is not UTF-8."""
    return _said(content, _json(content))


def readable(text: str) -> str:
    """``text`` as a reader sees it; texts that look the same come out the same. Linear in its length."""
    if not text.isascii():
        # Marks go before normalisation: it sorts a run of them by insertion, quadratic in a hostile run.
        text = _without_marks(unicodedata2.normalize("NFKD", _without_marks(text)))
        text = unicodedata2.normalize("NFKC", text)
    words = text.casefold().translate(_CONTROLS).split()
    if text.isascii():
        return " ".join(words)
    mostly = 2 * sum("a" <= char <= "z" for word in words for char in word) > sum(map(str.isalpha, text))
    return " ".join(_in_latin(word, mostly=mostly) for word in words)


def shingles(text: str) -> frozenset[str]:
    """The distinct runs of :data:`SHINGLE` characters of a readable text; none where it is shorter."""
    return frozenset(text[start : start + SHINGLE] for start in range(len(text) - SHINGLE + 1))


def jaccard_ppm(first: AbstractSet[str], second: AbstractSet[str]) -> int:
    """Exact |A ∩ B| / |A ∪ B|, rounded up; 0 where both are empty."""
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return -(-shared * PPM // union) if union else 0


def containment_ppm(part: Wording, text: str) -> int:
    """Largest share of the shingles of ``part`` that one stretch of ``text`` holds, rounded down; 0 where it has none.

    A stretch is :data:`ECHO_WINDOW` lengths of ``part``. One pass over ``text``.
    """
    wanted = part.shingles
    if not wanted:
        return 0
    reach = ECHO_WINDOW * len(part.text)
    held: Counter[str] = Counter()
    best = 0
    for start in range(len(text) - SHINGLE + 1):
        shingle = text[start : start + SHINGLE]
        if shingle in wanted:
            held[shingle] += 1
        if start >= reach:
            leaving = text[start - reach : start - reach + SHINGLE]
            if leaving in wanted:
                held[leaving] -= 1
                if not held[leaving]:
                    del held[leaving]
        best = max(best, len(held))
    return best * PPM // len(wanted)


def cosine_ppm(first: Sequence[float], second: Sequence[float]) -> int:
    """Cosine of two vectors, rounded up; what points apart is 0, as much as what is merely unlike.

    Raises:
        BeliefError: vectors of different length, without length, or with a value that is not finite.
    """
    if len(first) != len(second):
        raise BeliefError(f"embeddings of {len(first)} and {len(second)} dimensions are not of one model")
    length = sqrt(sum(x * x for x in first)) * sqrt(sum(y * y for y in second))
    if not length or not isfinite(length):
        raise BeliefError("an embedding is zero or not finite; its cosine is undefined")
    product = sum(x * y for x, y in zip(first, second, strict=True))
    return min(PPM, max(0, ceil(product / length * PPM)))


_CONTROLS: Final = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


@dataclass(frozen=True, slots=True)
class _Document:
    """A JSON document of the guarded RFC 8785 profile."""

    value: jcs.Json
    canonical: bytes


def _json(content: bytes) -> _Document | None:
    """The document that ``content`` is; None for anything else, numbers without canonical bytes included."""
    try:
        value = jcs.parse(content)
        return _Document(value, jcs.encode(value))
    except JcsProfileError:
        return None


def _said(content: bytes, document: _Document | None) -> str | None:
    if document is not None:
        return readable("\n".join(_spoken(document.value)))
    try:
        return readable(content.decode())
    except UnicodeDecodeError:
        return None


def _without_marks(text: str) -> str:
    """Without combining marks and without what cannot be seen."""
    return text.translate({ord(char): None for char in set(text) if _is_dropped(char)})


def _is_dropped(char: str) -> bool:
    return unicodedata2.combining(char) != 0 or unicodedata2.category(char) == "Cf" or ord(char) in _IGNORABLE


def _in_latin(word: str, *, mostly: bool) -> str:
    """``word`` with look-alikes read as Latin: beside Latin letters, and alone where the text is ``mostly`` Latin."""
    if word.isascii():
        return word
    letters = [char for char in word if char.isalpha()]
    alone = mostly and all(ord(char) in _LOOK_ALIKES for char in letters)
    return word.translate(_LOOK_ALIKES) if alone or any("a" <= char <= "z" for char in letters) else word


def _spoken(value: jcs.Json) -> Iterator[str]:
    """Keys and scalars of a JSON value, in the order of its canonical form. The parser bounded the depth."""
    if isinstance(value, dict):
        for key in sorted(value, key=lambda name: name.encode("utf-16-be")):
            yield key
            yield from _spoken(value[key])
    elif isinstance(value, list):
        for item in value:
            yield from _spoken(item)
    else:
        yield value if isinstance(value, str) else jcs.encode(value).decode()
