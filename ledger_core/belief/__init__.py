"""From statements to belief: a pure function of the set of statements and one policy."""

from ledger_core.belief.fold import fold
from ledger_core.belief.origin import cluster_of
from ledger_core.belief.policies import CALIBRATED, SEED_V4, SEED_V4_CLUSTERS, STRICT, STRICT_CLUSTERS, policy_named
from ledger_core.belief.state import BeliefState, EntryState, FoldOptions, Hyperedge, PathStep, Retraction
from ledger_core.belief.what_if import Fall, what_if

__all__ = [
    "CALIBRATED",
    "SEED_V4",
    "SEED_V4_CLUSTERS",
    "STRICT",
    "STRICT_CLUSTERS",
    "BeliefState",
    "EntryState",
    "Fall",
    "FoldOptions",
    "Hyperedge",
    "PathStep",
    "Retraction",
    "cluster_of",
    "fold",
    "policy_named",
    "what_if",
]
