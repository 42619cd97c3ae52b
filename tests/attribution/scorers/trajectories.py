"""A small trajectory with everything in it: tool unit of two regions, claims that are units, foils, swaps."""

from __future__ import annotations

from attribution.layout import Target, TokenLayout, Unit, build_layout, tile
from attribution.models import LanguageModel


def trajectory(language: LanguageModel, *, foils: bool = True, entry: str = "the depot is at Brenk") -> TokenLayout:
    """Units: 0 an entry, 1 a tool call with its result, 2 the first claim, 3 a later entry; then a final claim."""
    chat, text = language.chat_template_pieces, language.tokenize

    def message(role: str, content: str) -> tuple[int, ...]:
        return (*chat.opening(role), *text(content), *chat.closing)

    opening = chat.opening("assistant")
    pieces = [
        (message("system", "notes:"), None),
        (message("user", entry), 0),
        (message("assistant", "look"), 1),
        ((*chat.opening("user"), *text("why"), *chat.closing), None),
        (message("tool", "4412 is a van"), 1),
    ]
    start = sum(len(piece) for piece, _ in pieces) + len(opening)
    first = text("Brenk it is.")
    pieces.append(((*opening, *first, *chat.closing), 2))
    pieces.append((message("user", "opens at 7"), 3))
    pieces.append((message("user", "where, when?"), None))
    last_start = sum(len(piece) for piece, _ in pieces) + len(opening)
    last = text("Brenk at 7.")
    pieces.append(((*opening, *last, *chat.closing), None))
    ids, regions = tile(pieces)
    units = (
        Unit("e0", "depot", (message("user", "the depot is at Corvo"),)),
        Unit("t1", "tool", (message("assistant", "seek"), message("tool", "9021 is a bus"))),
        Unit("c2", "claim"),
        Unit("e3", "hours", (message("user", "opens at 6"),)),
    )
    targets = (
        Target("first", start, start + len(first), 2, (text("Corvo it is."),) if foils else ()),
        Target(
            "last",
            last_start,
            last_start + len(last),
            None,
            (text("Corvo at 7."), text("Brenk at 11."), text("Brenk at 6.")) if foils else (),
        ),
    )
    return build_layout(ids, regions, units, targets, context_window=language.context_window)
