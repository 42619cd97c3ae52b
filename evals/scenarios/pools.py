"""Values that a wording's slot may take, and invented names of places.

Within a pool every value has the same number of tokens in the packaged model's vocabulary, so that a claim, its foils
and an entry's matched swap have one length. Values drawn for one scenario never clash: two numbers differ in their
first digit, two dates in day and month.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from evals.matcher import ValueKind


def _equal(left: str, right: str) -> bool:
    return left == right


def _same_first(left: str, right: str) -> bool:
    return left[0] == right[0]


def _shares_a_part(left: str, right: str) -> bool:
    return not set(left.split()).isdisjoint(right.split())


@dataclass(frozen=True, slots=True)
class Pool:
    """The values of one slot."""

    kind: ValueKind
    values: tuple[str, ...]
    clash: Callable[[str, str], bool] = _equal

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All values where they form a closed list that the matcher needs to see a third value; else empty."""
        return self.values if self.kind in {ValueKind.NAME, ValueKind.PLACE, ValueKind.TERM} else ()


_MONTHS = tuple("January February March April May June July August September October November December".split())

_WORDS: dict[str, tuple[ValueKind, str]] = {
    "given-name": (
        ValueKind.NAME,
        (
            "Peter Maria David Laura Simon Helen Frank Clara Martin Julia Oscar Alice Anna Paul Emma Lucas Sarah Thomas"
            " Robert James Daniel Rachel Victor Walter Ruth Edward Susan Karen Philip Albert Arthur Henry Louis Eric"
        ),
    ),
    "city": (
        ValueKind.PLACE,
        (
            "Dublin Lisbon Naples Athens Oslo Hamburg Rome Paris Vienna Berlin Madrid Prague Venice Munich Warsaw Geneva"
            " Milan Florence Glasgow Bristol Boston Chicago Montreal Moscow Delhi Tokyo Kyoto Shanghai Cairo Lima Havana"
            " Brussels Amsterdam Copenhagen Stockholm Helsinki"
        ),
    ),
    "weekday": (ValueKind.WEEKDAY, "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    "month": (ValueKind.MONTH, "January February March April June July August September October November December"),
    "colour": (ValueKind.TERM, "red green blue yellow white black grey brown orange purple pink"),
    "metal": (ValueKind.TERM, "copper iron silver gold zinc nickel tin aluminum cobalt titanium lithium"),
    "crop": (
        ValueKind.TERM,
        "apples pears cherries onions carrots potatoes tomatoes beans peas oats barley wheat corn garlic grapes cabbage",
    ),
    "wood": (ValueKind.TERM, "oak pine birch cedar maple ash spruce elm willow"),
}

POOLS: MappingProxyType[str, Pool] = MappingProxyType(
    {
        **{name: Pool(kind, tuple(words.split())) for name, (kind, words) in _WORDS.items()},
        "number": Pool(ValueKind.NUMBER, tuple(str(n) for n in range(21, 99) if n % 10 and n % 11), clash=_same_first),
        "date": Pool(
            ValueKind.DATE,
            tuple(f"{day} {month}" for day in range(11, 29) for month in _MONTHS),
            clash=_shares_a_part,
        ),
    }
)
"""Pool name, as a wording states it -> pool."""

_STARTS = "Bro Tes Vel Nor Har Dor Mel Sal Quin Fen Gar Kel Lor Mar Ost Pal Rav Tor Ulm Win Zel Cal Bran Dun".split()
_ENDS = "vik len mar dale stow by ton rick ham ford wick mere".split()

PLACES: tuple[str, ...] = tuple(start + end for start in _STARTS for end in _ENDS)
"""Invented names of places: no model knows anything about them."""
