"""Text and numbers as the report prints them."""

from __future__ import annotations

import sys
from collections.abc import Callable

_REPLACED = "\ufffd"
_PICTURES = 0x2400
"""Start of the block "Control Pictures": one visible sign a C0 control."""

_UNSAFE: dict[int, str] = {
    **{point: chr(_PICTURES + point) for point in range(0x20) if chr(point) not in "\n\t"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), _REPLACED),
    **dict.fromkeys(range(0x202A, 0x202F), _REPLACED),
    **dict.fromkeys(range(0x2066, 0x206A), _REPLACED),
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACED),
}
"""C0 and C1 controls, bidirectional embeddings, overrides and isolates, lone surrogates."""

_THIN = "\u202f"
_PLAIN_P = 0.001
"""Smaller p-values are written as a power of ten: their digits are what a correction for many tests multiplies."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_P = "<\u202f10⁻³⁰⁷"
"""What a float64 can no longer hold in full."""


def clean(text: str) -> str:
    """Text that every encoder accepts and that cannot disturb a page.

    A control character becomes its visible picture. A lone surrogate becomes U+FFFD, and so does a bidirectional
    override, which could reorder what stands beside it.
    """
    return text.replace("\r\n", "\n").translate(_UNSAFE)


def percent(value: float | None) -> str:
    """A share, such as ``12.5 %``."""
    return "–" if value is None else f"{100 * value:.1f}\u202f%"


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign, such as ``−12.5 pp``."""
    return "–" if value is None else f"{signed(100 * value, 1)}\u202fpp"


def span(low: float, high: float, show: Callable[[float], str]) -> str:
    """Two ends with one unit, such as ``−12.5 to +3.0 pp``."""
    return f"{show(low).split(_THIN)[0]} to {show(high)}"


def signed(value: float, decimals: int) -> str:
    """A number with a real minus sign and an explicit plus; zero has no sign."""
    rounded = round(value, decimals) + 0.0
    if rounded == 0:
        return f"{0:.{decimals}f}"
    return f"{'−' if rounded < 0 else '+'}{abs(rounded):.{decimals}f}"


def number(value: float | None, decimals: int = 2) -> str:
    """A plain number with a real minus sign, or a dash where there is none."""
    return "–" if value is None else f"{value:.{decimals}f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """A p-value to three decimals, a small one with two digits and a power of ten, such as ``3.1 × 10⁻⁷``."""
    if value is None:
        return "–"
    if value >= _PLAIN_P:
        return f"{value:.3f}"
    if value < sys.float_info.min:
        return _LEAST_P
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}\u202f×\u202f10{str(int(power)).translate(_RAISED)}"


def short(digest: str, length: int = 12) -> str:
    """The head of a digest or id for display; the whole stands in the data."""
    return digest if len(digest) <= length else f"{digest[:length]}…"


def count(value: float) -> str:
    """A count without a decimal point, a fractional sum with two."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"
