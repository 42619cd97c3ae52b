"""How an edge takes part: the labels of the rule, read off the lattice."""

from __future__ import annotations

from attribution.decision.search import Findings
from attribution.decision.verdicts import Label


def labels_of(unit: int, findings: Findings) -> tuple[Label, ...]:
    """Labels of an edge, in a fixed order.

    - `necessary`: losing it alone costs a floor;
    - `redundant-with` W: the claim stands without it, but not once W is absent too;
    - `sufficient`: it alone keeps the claim, every other candidate and edge gone;
    - `conjunct-with` j: losing either loses the claim, neither alone keeps it;
    - `partial`: some candidates or edges were not enumerated together.
    """
    evidence = findings.evidence[unit]
    labels = []
    if evidence.necessary:
        labels.append(Label("necessary"))
    if evidence.hidden_by is not None:
        labels.append(Label("redundant-with", evidence.hidden_by))
    lattice = findings.lattice
    whole = findings.enumerated_whole
    if unit in lattice.pool:
        if whole and lattice.suffices(unit):
            labels.append(Label("sufficient"))
        labels += [
            Label("conjunct-with", (other,))
            for other in sorted(findings.edges & set(lattice.pool) - {unit})
            if not any(lattice.stands([one]) or lattice.suffices(one) for one in (unit, other))
        ]
    if not whole:
        labels.append(Label("partial"))
    return tuple(labels)
