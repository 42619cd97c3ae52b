"""One question played through a real ledger: pages read at the boundary, verdicts filed, belief folded.

The curve is computed from pairs alone. This is the same question asked of the whole path, so that the two can be held
against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ledger_core.belief import fold
from ledger_core.belief.receipts import check_receipts
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.types import EventId
from ledger_core.sealing.boundary import ToolBoundary
from ledger_core.sealing.registry import ToolRegistry, register
from ledger_core.stores.ledger import Ledger

if TYPE_CHECKING:
    from ledger_core.providers import EmbeddingProvider

SCOPE: Final = Scope.make(project_namespace="quorum-attack", tenant_namespace="evals")
NOW: Final = "2026-01-01T00:00:00.000000000Z"
ORACLE: Final = "oracle-v1"
"""Recipe of the verdicts: that every staged text contradicts the target is known, and not what is measured here."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What became of a target."""

    retracted: bool
    largest_independent: int
    """Size of the largest pairwise independent set of contradictors that the last receipt of a verdict names."""
    corroborated: int
    """Contradictors that are displayed as verified."""


def stage(
    target: str,
    contradictors: Sequence[tuple[str, str]],
    policy: Policy,
    policy_name: str,
    embedder: EmbeddingProvider,
) -> Staged:
    """Seal ``target`` and then each of ``contradictors`` (origin, text), file that each contradicts it, and fold.

    Every origin is a simulated page of its own registrable domain; equal origin names share one.

    Raises:
        PolicyError: the policy cannot be applied by this version.
        BeliefError: the receipts in the log are not those that follow from it.
    """
    hosts = {
        origin: f"origin-{place}.example" for place, origin in enumerate(dict.fromkeys(o for o, _ in contradictors))
    }
    pages = {"target": ("target.example", target)}
    pages |= {f"page-{place}": (hosts[origin], text) for place, (origin, text) in enumerate(contradictors)}
    with Ledger.in_memory(SCOPE, now=NOW, policy=policy, policy_name=policy_name) as ledger:
        entries = _read(ledger, pages)
        desk = VerdictDesk(ledger, embedder)
        for page in list(pages)[1:]:
            desk.file(target=entries["target"], candidate=entries[page], verdict="contradict", recipe=ORACLE)
        log = [event.statement for event in ledger.events()]
    mismatches = check_receipts(log, policy)
    if mismatches:
        raise BeliefError(f"{len(mismatches)} verdicts have other receipts than the log implies: {mismatches[0]}")
    state = fold(log, policy)
    retraction = state.retractions.get(EventId(entries["target"]))
    refused = max((s.body.largest_independent for s in log if s.kind == "cascade.refused"), default=0)
    return Staged(
        retracted=retraction is not None,
        largest_independent=refused if retraction is None else retraction.largest_independent,
        corroborated=sum(entry.corroborated for entry in state.entries.values()),
    )


def _read(ledger: Ledger, pages: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Read every page once at the boundary; page -> the observation's id."""
    registry = ToolRegistry(
        [
            register(
                f"read-{page}",
                lambda text=text: text,
                effect="read_only",
                reach="external_read",
                determinism="deterministic",
                origin_host=host,
                runner="simulated",
            )
            for page, (host, text) in pages.items()
        ]
    )
    boundary = ToolBoundary(ledger, registry, "quorum-attack", lambda: NOW)
    return {page: boundary.call(f"read-{page}", {}).entry for page in pages}
