"""Ablation designs: which masks to run. Pure; a design depends on the number of units and a seed alone.

`hadamard` builds the orthogonal matrices, `masks` the designs. What does not belong here: scores.
"""

from attribution.designs.hadamard import hadamard, next_order
from attribution.designs.masks import (
    Design,
    bernoulli,
    cube,
    foldover,
    foldover_pair,
    keep_one,
    leave_one_out,
    screen,
)

__all__ = [
    "Design",
    "bernoulli",
    "cube",
    "foldover",
    "foldover_pair",
    "hadamard",
    "keep_one",
    "leave_one_out",
    "next_order",
    "screen",
]
