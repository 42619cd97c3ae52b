"""The arms: each a reading of the same statements, one row of one table.

An arm never appends and no code branches on an arm's name: a reading looks up what its row says. Contrasts that decide
compare arms of equal order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from evals.errors import ArmError

Retraction = Literal["used", "none", "oracle-deletion", "latest-wins"]
"""`used`: what the fold invalidates is invalidated; `none`: nothing is; `oracle-deletion`: the planted falsehood and what
rests on it are taken out, whatever the fold says; `latest-wins`: a script keeps what agrees with the observation that
states a value of the question's kind last, and asks no ledger."""

EdgeSource = Literal["declared", "declared-and-lexical", "measured"]
"""`declared-and-lexical`: declared parents that share enough words with the claim (:mod:`evals.lexical`)."""

Order = Literal["log", "renderer", "random", "conjectures-last"]
"""`random`: seeded by the scenario; `conjectures-last`: the renderer's, with conjectures behind everything else."""

Compaction = Literal["trim", "drop-corrections", "summary", "regenerate"]
"""What becomes of the context at a fold (:mod:`evals.compaction`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One row of the table."""

    display: str
    """Short form, for tables and trial records."""
    question: str
    """What the arm answers."""
    context: Literal["flat", "ledger"]
    """Whether the model is shown the transcript or a rendering of the ledger."""
    order: Order = "log"
    renderer: Literal["flat", "v1", "v2", "v2-marked"]
    retraction: Retraction
    edges: EdgeSource = "declared"
    compaction: Compaction
    corroboration: Literal["used", "ignored"] = "used"
    """Whether members of a passing quorum are shown as verified, or every entry by its stored tier."""
    instruction: Literal["plain", "prefer-later"] = "plain"
    """`prefer-later`: the system message says that later and corroborated notes are to be preferred."""
    policy: Literal["in-force", "strict"] = "in-force"
    """`strict`: a claim is presumed to rest on all of its context until measured."""

    @property
    def id(self) -> str:
        """Name in statements."""
        return f"arm-{self.display}"


_FLAT = Arm(
    display="1",
    question="What does an agent without a ledger answer?",
    context="flat",
    renderer="flat",
    retraction="none",
    compaction="trim",
)
_LEDGER = Arm(
    display="2",
    question="Does the ledger's working set help?",
    context="ledger",
    renderer="v2",
    retraction="used",
    compaction="regenerate",
)

_ROWS = (
    _FLAT,
    replace(
        _FLAT,
        display="1w",
        question="How bad may it get when every fold drops the corrections? A bound, by script.",
        compaction="drop-corrections",
    ),
    replace(
        _FLAT,
        display="1m",
        question="What remains when the model itself sums up its notes at every fold?",
        compaction="summary",
    ),
    replace(
        _FLAT,
        display="1o",
        question="What would it answer had the falsehood never been in its context?",
        retraction="oracle-deletion",
    ),
    replace(_FLAT, display="1r", question="Is it the order of the entries alone?", order="random"),
    replace(
        _FLAT,
        display="1i",
        question="Is it enough to tell the model to prefer later, corroborated notes?",
        instruction="prefer-later",
    ),
    replace(
        _FLAT, display="1l", question="Does a script do that lets the latest observation win?", retraction="latest-wins"
    ),
    replace(
        _LEDGER, display="2v1", question="Does showing tiers, beliefs and a retraction marker help?", renderer="v1"
    ),
    replace(
        _LEDGER,
        display="2b",
        question="Does the working set help without the corroboration that verdicts give?",
        corroboration="ignored",
    ),
    _LEDGER,
    replace(
        _LEDGER,
        display="2k",
        question="Is it the retraction, or the renderer's tags alone?",
        retraction="none",
    ),
    replace(
        _LEDGER,
        display="2d",
        question="What does deletion alone do, without the renderer's tags?",
        renderer="flat",
    ),
    replace(
        _LEDGER,
        display="2t",
        question="What do the tags of stored tiers do, with nothing that a verdict says?",
        retraction="none",
        corroboration="ignored",
    ),
    replace(
        _LEDGER,
        display="2m",
        question="Is a marker enough, or must a retracted entry go?",
        renderer="v2-marked",
    ),
    replace(
        _LEDGER,
        display="2c",
        question="Does it matter where conjectures stand in the renderer's own order?",
        order="conjectures-last",
    ),
    replace(
        _LEDGER,
        display="2x",
        question="Does lexical overlap do what measuring does?",
        edges="declared-and-lexical",
    ),
    replace(
        _LEDGER,
        display="3",
        question="Do measured edges retract what rests on the falsehood, and no more?",
        edges="measured",
    ),
    replace(
        _LEDGER,
        display="2s",
        question="What if a claim is presumed to rest on all of its context?",
        policy="strict",
    ),
    replace(
        _LEDGER,
        display="3s",
        question="How much of that presumption do measured edges take back?",
        edges="measured",
        policy="strict",
    ),
    replace(
        _LEDGER,
        display="2r",
        question="What does the renderer's own order add to arm 2?",
        order="renderer",
    ),
    replace(
        _LEDGER,
        display="2kr",
        question="What does the renderer's own order do with nothing retracted?",
        order="renderer",
        retraction="none",
    ),
)

ARMS: Mapping[str, Arm] = MappingProxyType({row.display: row for row in _ROWS})
"""Short form -> arm."""

DEFAULT_ARMS: tuple[str, ...] = ("1", "1o", "2v1", "2", "2k", "2m", "2x", "3")
"""What the main job reads; `veritas evaluate` reads all, family by family (:mod:`pipelines.suite`)."""


def arm(name: str) -> Arm:
    """The arm called ``name``, in its short form or as in statements.

    Raises:
        ArmError: there is none.
    """
    found = ARMS.get(name.removeprefix("arm-"))
    if found is None:
        raise ArmError(f"no arm {name!r}; choose one of {', '.join(ARMS)}")
    return found
