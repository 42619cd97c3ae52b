"""The sections of the attribution suite, in the order in which they are run: the quick ones first."""

from __future__ import annotations

from tests.bench import (
    executors_equality,
    peer_contextcite_growth,
    peer_contextcite_quality,
    peer_contextcite_speed,
    planted,
    prefix_tree,
    trajectory_checks,
)
from tests.bench.sections import Section

SECTIONS: tuple[Section, ...] = (
    Section("planted", planted.run),
    Section("prefix-tree", prefix_tree.run),
    Section("executors", executors_equality.run),
    Section("contextcite-speed", peer_contextcite_speed.run),
    Section("contextcite-growth", peer_contextcite_growth.run),
    Section("trajectory-checks", trajectory_checks.run),
    Section("contextcite-quality", peer_contextcite_quality.run),
)
