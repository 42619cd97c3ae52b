"""A ledger of ours as the audit reads it: plain rows and plain JSON, nothing of our types."""

from __future__ import annotations

import json

from ledger_core.audit.origin import SuffixList, cluster, installed_list
from ledger_core.audit.source import MemoryBlobs, Row, Source
from ledger_core.kernel.statements import FAMILIES, content_refs

SUFFIXES = SuffixList(installed_list().read_bytes())


def cluster_of(seal):
    return cluster(seal, SUFFIXES)


def plain(statements):
    """Statements by event id, as parsed JSON."""
    return {statement.event_id: json.loads(statement.encoded) for statement in statements}


def plain_policy(policy):
    return json.loads(policy.canonical_bytes())


def row_of(event):
    at = event.position
    return Row(
        event.family,
        int(at.committed_offset),
        at.epoch_id,
        at.shard,
        event.event_id,
        event.encoded,
        event.receipt_bytes,
        event.chain,
    )


def source_of(ledger, logs=None):
    """``ledger``, or other ``logs`` with its content, as a source of the audit."""
    events = {family: list(ledger.events(family)) for family in FAMILIES} if logs is None else logs
    blobs = MemoryBlobs()
    for family in FAMILIES:
        for event in ledger.events(family):
            for ref in content_refs(event.statement):
                blobs.held[ref.digest] = ledger.read_blob(ref)
    return Source({family: [row_of(event) for event in events[family]] for family in FAMILIES}, blobs)


def view(state):
    """An audited state in the terms of the laws' `view`."""
    entries = {
        key: (
            e.tier,
            e.base,
            e.attenuation,
            e.belief,
            e.retracted,
            e.suspended,
            e.invalidated,
            e.corroborated,
            e.edges,
        )
        for key, e in state.entries.items()
    }
    return entries, state.reputation
