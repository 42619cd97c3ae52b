"""Context rendering: what a model is shown of the ledger, and in which order."""

from ledger_core.harness.render.entries import ContextEntry, RenderedLine, RenderOrder, context_entries
from ledger_core.harness.render.renderers import (
    RENDERERS,
    RETRACTED,
    Renderer,
    render_flat,
    render_v1,
    render_v2,
    render_v2_marked,
)

__all__ = [
    "RENDERERS",
    "RETRACTED",
    "ContextEntry",
    "RenderOrder",
    "RenderedLine",
    "Renderer",
    "context_entries",
    "render_flat",
    "render_v1",
    "render_v2",
    "render_v2_marked",
]
