"""From statements to belief: a pure function of the set of statements and one policy."""

from ledger_core.belief.fold import fold
from ledger_core.belief.origin import cluster_of
from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS, policy_named
from ledger_core.belief.state import BeliefState, EntryState, FoldOptions, Hyperedge, PathStep, Retraction

__all__ = [
    "SEED_V4_CLUSTERS",
    "SEED_V4_CLUSTERS_NAME",
    "STRICT_CLUSTERS",
    "BeliefState",
    "EntryState",
    "FoldOptions",
    "Hyperedge",
    "PathStep",
    "Retraction",
    "cluster_of",
    "fold",
    "policy_named",
]
