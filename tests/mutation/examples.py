"""Hypothesis as mutants need it: few examples, no shrinking, and no verdict that depends on the clock."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, Phase, settings

_SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps the settings of a test; there is no public way to change those that a decorator gave."""


def limit(items: Iterable[pytest.Item], examples: int | None) -> None:
    """At most ``examples`` of each Hypothesis test (None: as many as it asks for).

    A busy machine is no mutant: neither the deadline of an example nor the check for slow data may fail a test.
    """
    for item in items:
        function = getattr(item, "obj", None)
        function = getattr(function, "__func__", function)
        known = getattr(function, _SETTINGS, None)
        if known is not None:
            asked = known.max_examples
            bounded = settings(
                known,
                max_examples=asked if examples is None else min(examples, asked),
                phases=(Phase.explicit, Phase.generate),
                suppress_health_check=list(HealthCheck),
                deadline=None,
                database=None,
                derandomize=True,
                report_multiple_bugs=False,
            )
            setattr(function, _SETTINGS, bounded)
