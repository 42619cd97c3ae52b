"""Scenarios: frozen data that plants a falsehood and says what must happen to it."""

from evals.scenarios.base import (
    GENERATOR_VERSION,
    AskStep,
    CompactStep,
    DeclaredParent,
    GiveStep,
    JudgeStep,
    Question,
    SayStep,
    Scenario,
    ScenarioEntry,
    SealStep,
    decode_scenario,
)
from evals.scenarios.families import FAMILIES
from evals.scenarios.generate import generate

__all__ = [
    "FAMILIES",
    "GENERATOR_VERSION",
    "AskStep",
    "CompactStep",
    "DeclaredParent",
    "GiveStep",
    "JudgeStep",
    "Question",
    "SayStep",
    "Scenario",
    "ScenarioEntry",
    "SealStep",
    "decode_scenario",
    "generate",
]
