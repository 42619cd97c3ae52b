"""The sections of the attribution suite, in the order in which they are run: the quick ones first."""

from __future__ import annotations

from tests.bench import executors_equality, planted, prefix_tree
from tests.bench.sections import Section

SECTIONS: tuple[Section, ...] = (
    Section("planted", planted.run),
    Section("prefix-tree", prefix_tree.run),
    Section("executors", executors_equality.run),
)
