"""The main job small enough for fast tests: a random-weight model, a few scenarios, floors that everything may pass."""

from __future__ import annotations

from pathlib import Path

from attribution.decision import Floor
from attribution.decision.floor_table import FloorRow, FloorTable
from attribution.measurement import UNCONTRASTED
from attribution.models import LanguageModel
from attribution.trajectory import TEMPLATE as CHAT_TEMPLATE
from evals.prompts import TEMPLATE as NOTES_TEMPLATE
from pipelines.main_job import Sizes, open_run
from pipelines.settings import Settings
from pipelines.workspace import Workspace

NOW = "2026-01-31T12:00:00.000000000Z"
SIZES = Sizes(planted_premise=2, corrections_leave=1, mixed_parents=2, null=1, competence=1, answers=2)
FLOOR = Floor(0.5, 0.5, 199, "shipped")


def floors_for(weights: str, floor: Floor = FLOOR) -> FloorTable:
    """One floor for every claim that the scorer of ``weights`` can meet."""
    return FloorTable.of(
        FloorRow.of(
            floor, tokens=(1, 4096), units=(1, 64), weights=weights, template=template + suffix, dtype="float32"
        )
        for template in (NOTES_TEMPLATE, CHAT_TEMPLATE)
        for suffix in ("", UNCONTRASTED)
    )


def settings_in(home: Path, model: Path) -> Settings:
    return Settings(
        home=home, reports=home / "reports", model=str(model), tenant="default", project="imported", threads=1
    )


def open_tiny(home: Path, language: LanguageModel, **options: object) -> Workspace:
    """A tiny run below ``home``, with the model that is loaded already."""
    chosen = {"quick": True, "now": NOW, "sizes": SIZES} | options
    at = open_run(settings_in(home, language.files.path), **chosen)
    at.floors = floors_for(language.files.weights_digest)
    at._models["model"] = language
    return at
