"""The report: one closed document in, one self-contained page and its tables out."""

from evals.report.build import build_report
from evals.report.data import Identity, ModelIdentity, ProvenanceRow, ReportData
from evals.report.evidence import Cascade, CascadeEdge, CascadeNode, PersistedRow, StabilityRow, WhatIfRow
from evals.report.figures import figures_of
from evals.report.inputs import PromptText, ReportInputs, RunFacts, ScenarioFacts
from evals.report.render import render_html
from evals.report.write import read_report, write_report

__all__ = [
    "Cascade",
    "CascadeEdge",
    "CascadeNode",
    "Identity",
    "ModelIdentity",
    "PersistedRow",
    "PromptText",
    "ProvenanceRow",
    "ReportData",
    "ReportInputs",
    "RunFacts",
    "ScenarioFacts",
    "StabilityRow",
    "WhatIfRow",
    "build_report",
    "figures_of",
    "read_report",
    "render_html",
    "write_report",
]
