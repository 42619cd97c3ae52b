"""What becomes of a context at a fold: one policy an arm, looked up by name."""

from evals.compaction.folds import COMPACTIONS, KEPT_LINES, Folded, folded_lines, groups_of
from evals.compaction.summary import Summariser, SummaryError, summary_of

__all__ = [
    "COMPACTIONS",
    "KEPT_LINES",
    "Folded",
    "Summariser",
    "SummaryError",
    "folded_lines",
    "groups_of",
    "summary_of",
]
