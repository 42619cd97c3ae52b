"""Intervals and tests for small paired evaluations: every result names its method, and no estimate is a value."""

from evals.statistics.clusters import cluster_difference, cluster_proportion, sign_flip
from evals.statistics.mixture import Mixture, break_even_share, mixture
from evals.statistics.multiplicity import holm, intersection_union
from evals.statistics.paired import PairedTable, mcnemar_exact, newcombe, tango
from evals.statistics.proportion import clopper_pearson, clopper_pearson_bound, wilson
from evals.statistics.result import Interval, PValue, Undefined

__all__ = [
    "Interval",
    "Mixture",
    "PValue",
    "PairedTable",
    "Undefined",
    "break_even_share",
    "clopper_pearson",
    "clopper_pearson_bound",
    "cluster_difference",
    "cluster_proportion",
    "holm",
    "intersection_union",
    "mcnemar_exact",
    "mixture",
    "newcombe",
    "sign_flip",
    "tango",
    "wilson",
]
