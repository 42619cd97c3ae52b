"""Measured dependency: which context entries a claim rests on, by counterfactual ablation.

``from attribution import attribute`` is the way in without a ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attribution.library import Attribution, Completions, Regenerate, attribute

__all__ = ["Attribution", "Completions", "Regenerate", "attribute"]


def __getattr__(name: str) -> Any:
    """Import the library on first use: importing a submodule of this package must stay cheap."""
    if name in __all__:
        from attribution import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
