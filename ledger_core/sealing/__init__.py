"""The tool boundary: the only place where seals are made, and where they are looked at again."""

from ledger_core.sealing.audit import Audit, ReplayAuditor
from ledger_core.sealing.boundary import SealedCall, SealSink, ToolBoundary
from ledger_core.sealing.generations import ContextSpan, GenerationRecorder, ModelCall, RecordedGeneration
from ledger_core.sealing.registry import RegisteredTool, ToolRegistry, register
from ledger_core.sealing.results import Returned

__all__ = [
    "Audit",
    "ContextSpan",
    "GenerationRecorder",
    "ModelCall",
    "RecordedGeneration",
    "RegisteredTool",
    "ReplayAuditor",
    "Returned",
    "SealSink",
    "SealedCall",
    "ToolBoundary",
    "ToolRegistry",
    "register",
]
