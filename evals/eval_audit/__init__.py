"""What is wrong with the numbers of somebody else's evaluation, by its own log, with the corrected figure beside each."""

from evals.eval_audit.audit import AuditReport, audit
from evals.eval_audit.findings import Figure, Finding
from evals.eval_audit.runs import EvalRun

__all__ = ["AuditReport", "EvalRun", "Figure", "Finding", "audit"]
