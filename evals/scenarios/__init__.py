"""Scenarios: frozen data that plants a falsehood and says what must happen to it."""

from evals.scenarios.base import (
    GENERATOR_VERSION,
    AskStep,
    AuditStep,
    CompactStep,
    DeclaredParent,
    FoldStep,
    GiveStep,
    JudgeStep,
    Question,
    ReverseStep,
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
    "AuditStep",
    "CompactStep",
    "DeclaredParent",
    "FoldStep",
    "GiveStep",
    "JudgeStep",
    "Question",
    "ReverseStep",
    "SayStep",
    "Scenario",
    "ScenarioEntry",
    "SealStep",
    "decode_scenario",
    "generate",
]
