"""The few SVG marks that the charts are made of; coordinates are user units, numbers have one decimal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from markupsafe import Markup


def _attributes(given: dict[str, str | float]) -> str:
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"' for name, value in given.items())


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.1f}".rstrip("0").rstrip(".")


def mark(name: str, **attributes: str | float) -> str:
    """An empty element."""
    return f"<{name}{_attributes(attributes)}/>"


def words(content: str, **attributes: str | float) -> str:
    """A line of text."""
    return f"<text{_attributes(attributes)}>{escape(content)}</text>"


def group(marks: Iterable[str], **attributes: str | float) -> str:
    """Marks that share attributes."""
    return f"<g{_attributes(attributes)}>{''.join(marks)}</g>"


def titled(content: str, title: str) -> str:
    """Marks with a tooltip that also reads aloud."""
    return f"<g><title>{escape(title)}</title>{content}</g>"


def picture(marks: Sequence[str], *, width: float, height: float, identity: str, title: str, text: str) -> Markup:
    """A whole image with its name and its description for those who do not see it."""
    names = f"{identity}-title {identity}-text"
    opening = (
        f'<svg class="chart" role="img" aria-labelledby="{escape(names)}" viewBox="0 0 {_value(width)} {_value(height)}" '
        f'style="max-width:{_value(width)}px">'
    )
    head = f'<title id="{escape(identity)}-title">{escape(title)}</title>'
    description = f'<desc id="{escape(identity)}-text">{escape(text)}</desc>'
    return Markup(f"{opening}{head}{description}{''.join(marks)}</svg>")  # noqa: S704  (every part was escaped)
