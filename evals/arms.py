"""The arms: each a reading of the same statements, one row of one table.

An arm never appends and no code branches on an arm's name: a reading looks up what its row says. Contrasts that decide
compare arms of equal order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evals.errors import ArmError

Retraction = Literal["used", "none", "oracle-deletion"]
"""`used`: what the fold invalidates is invalidated; `none`: nothing is; `oracle-deletion`: the planted falsehood and what
rests on it are taken out, whatever the fold says."""

EdgeSource = Literal["declared", "declared-and-lexical", "measured"]
"""`declared-and-lexical`: declared parents that share enough words with the claim (:mod:`evals.lexical`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One row of the table."""

    display: str
    """Short form, for tables and trial records."""
    question: str
    """What the arm answers."""
    context: Literal["flat", "ledger"]
    """Whether the model is shown the transcript or a rendering of the ledger."""
    order: Literal["log", "renderer"]
    renderer: Literal["flat", "v1", "v2", "v2-marked"]
    retraction: Retraction
    edges: EdgeSource
    compaction: Literal["none"] = "none"

    @property
    def id(self) -> str:
        """Name in statements."""
        return f"arm-{self.display}"


_ROWS = (
    Arm(
        display="1",
        question="What does an agent without a ledger answer?",
        context="flat",
        order="log",
        renderer="flat",
        retraction="none",
        edges="declared",
    ),
    Arm(
        display="1o",
        question="What would it answer had the falsehood never been in its context?",
        context="flat",
        order="log",
        renderer="flat",
        retraction="oracle-deletion",
        edges="declared",
    ),
    Arm(
        display="2v1",
        question="Does showing tiers, beliefs and a retraction marker help?",
        context="ledger",
        order="log",
        renderer="v1",
        retraction="used",
        edges="declared",
    ),
    Arm(
        display="2",
        question="Does the ledger's working set help?",
        context="ledger",
        order="log",
        renderer="v2",
        retraction="used",
        edges="declared",
    ),
    Arm(
        display="2k",
        question="Is it the retraction, or the renderer's tags alone?",
        context="ledger",
        order="log",
        renderer="v2",
        retraction="none",
        edges="declared",
    ),
    Arm(
        display="2m",
        question="Is a marker enough, or must a retracted entry go?",
        context="ledger",
        order="log",
        renderer="v2-marked",
        retraction="used",
        edges="declared",
    ),
    Arm(
        display="2x",
        question="Does lexical overlap do what measuring does?",
        context="ledger",
        order="log",
        renderer="v2",
        retraction="used",
        edges="declared-and-lexical",
    ),
    Arm(
        display="3",
        question="Do measured edges retract what rests on the falsehood, and no more?",
        context="ledger",
        order="log",
        renderer="v2",
        retraction="used",
        edges="measured",
    ),
    Arm(
        display="2d",
        question="What does deletion alone do, without the renderer's tags?",
        context="ledger",
        order="log",
        renderer="flat",
        retraction="used",
        edges="declared",
    ),
    Arm(
        display="2r",
        question="What does the renderer's own order add to arm 2?",
        context="ledger",
        order="renderer",
        renderer="v2",
        retraction="used",
        edges="declared",
    ),
    Arm(
        display="2kr",
        question="What does the renderer's own order do with nothing retracted?",
        context="ledger",
        order="renderer",
        renderer="v2",
        retraction="none",
        edges="declared",
    ),
)

ARMS: Mapping[str, Arm] = MappingProxyType({row.display: row for row in _ROWS})
"""Short form -> arm."""

DEFAULT_ARMS: tuple[str, ...] = ("1", "1o", "2v1", "2", "2k", "2m", "2x", "3")
"""What a run reads unless told otherwise; the other rows are secondary contrasts."""


def arm(name: str) -> Arm:
    """The arm called ``name``, in its short form or as in statements.

    Raises:
        ArmError: there is none.
    """
    found = ARMS.get(name.removeprefix("arm-"))
    if found is None:
        raise ArmError(f"no arm {name!r}; choose one of {', '.join(ARMS)}")
    return found
