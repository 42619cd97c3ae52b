"""The clean-room implementation as the laws' oracle: a second reading of the trust calculus, from canonical bytes.

It shares no code with the fold: recursion instead of an order, sets instead of bit sets, its own cliques, its own reading
of the public suffix list, plain JSON instead of our types.
"""

from __future__ import annotations

import json
from functools import cache

from ledger_core.audit.beliefs import believe as audited
from tests.ledger_core.audit.reading import cluster_of, plain_policy, view


def believe(statements, policy):
    """Entry -> (tier, base, attenuation, belief, retracted, suspended, invalidated, corroborated, weights); reputations."""
    parsed = {statement.event_id: _parsed(statement.encoded) for statement in statements}
    return view(audited(parsed, plain_policy(policy), cluster_of))


@cache
def _parsed(encoded):
    """A statement as plain JSON; nobody changes it, so that many ledgers of one world may share it."""
    return json.loads(encoded)


def without_withdrawn(unique):
    """Without reversed verdicts, then without judgements that one which is left replaces."""
    withdrawn = {s.body.verdict for s in unique.values() if s.kind == "verdict.reversed"}
    left = {key: s for key, s in unique.items() if key not in withdrawn}
    replaced = {
        s.representation.lineage.event_id
        for s in left.values()
        if s.kind in {"verdict.filed", "edges.measured", "replay.audited"}
    }
    return {key: s for key, s in left.items() if key not in replaced}
