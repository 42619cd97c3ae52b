"""The whole audit, in order; the first finding ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ledger_core.audit import canonical, shapes, trees
from ledger_core.audit.beliefs import State, believe
from ledger_core.audit.conclusions import check_conclusions
from ledger_core.audit.findings import Finding, FindingKind, FoundError
from ledger_core.audit.hashing import body
from ledger_core.audit.kept import check_kept
from ledger_core.audit.logs import Logs, walk
from ledger_core.audit.notes import File, Key
from ledger_core.audit.origin import OriginError, SuffixList, cluster
from ledger_core.audit.source import OutOfReachError, Source


@dataclass
class Report:
    """What an audit found."""

    finding: Finding | None = None
    scope: dict[str, str] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    """Family -> root of its tree over all events, in hex."""
    blobs: int = 0
    """Distinct contents that are there and right."""
    erased: int = 0
    state: State | None = None
    """Beliefs under the last policy; None where they were not reached or could not be judged."""
    unchecked: list[str] = field(default_factory=list)
    """What could not be judged here, each with what it would need."""


def audit(
    source: Source,
    *,
    suffixes: SuffixList | None = None,
    kept: Mapping[str, File] | None = None,
    keys: Sequence[Key] = (),
) -> Report:
    """Recompute everything that ``source`` says.

    Args:
        source: the ledger.
        suffixes: the public suffix list of its policies; without it beliefs of ledgers with hosts are not judged.
        kept: anchors, proofs and receipts by file name.
        keys: public keys that the reader brings.
    """
    report = Report()
    try:
        logs = walk(source)
        report.scope = logs.scope
        report.heads = dict(logs.heads)
        report.events = {family: len(events) for family, events in logs.events.items()}
        report.roots = {
            family: trees.roots_at((event.leaf for event in events), (len(events),))[len(events)].hex()
            for family, events in logs.events.items()
            if events
        }
        check_kept(logs, kept or {}, keys)
        _contents(source, logs, report)
        _beliefs(logs, suffixes, report)
    except FoundError as error:
        report.finding = error.finding
    return report


def _contents(source: Source, logs: Logs, report: Report) -> None:
    """Every content that a statement cites, against its digest and length."""
    everything = [event for events in logs.events.values() for event in events]
    announced = {
        event.statement["body"]["content_digest"] for event in everything if event.statement["kind"] == "blob.erased"
    }
    seen: set[bytes] = set()
    out_of_reach: Counter[str] = Counter()
    for event in everything:
        for content in shapes.contents(event.statement):
            key = canonical.dump(content)
            if key in seen:
                continue
            seen.add(key)
            digest = content["digest"]
            erased = source.blobs.is_erased(digest)
            try:
                data = None if erased else source.blobs.read(digest)
            except OutOfReachError as error:
                out_of_reach[str(error)] += 1
                continue
            if data is not None and len(data) == content["byte_length"] and body(data) == digest:
                report.blobs += 1
            elif erased and digest in announced:
                report.erased += 1
            else:
                kind = FindingKind.BLOB_MISSING if data is None else FindingKind.BLOB_CORRUPT
                kind = FindingKind.BLOB_ERASED if erased else kind
                raise FoundError(kind, event.family, event.offset, f"content {digest} of event {event.event_id}")
    report.unchecked.extend(f"{count} contents: {reason}" for reason, count in out_of_reach.items())


def _beliefs(logs: Logs, suffixes: SuffixList | None, report: Report) -> None:
    """The receipts of verdicts, then the beliefs that the log ends with."""
    wanted = {policy["suffix_list_digest"] for policy in logs.policies.values()}
    usable = suffixes if suffixes is not None and wanted == {suffixes.digest} else None
    spelled: dict[bytes, str] = {}

    def cluster_of(seal: dict[str, Any]) -> str:
        key = canonical.dump(seal)
        if key not in spelled:
            spelled[key] = cluster(seal, usable)
        return spelled[key]

    evidence = logs.events["evidence"]
    try:
        check_conclusions(evidence, logs.policies, cluster_of)
        *_, policy = [{}, *logs.policies.values()]
        if policy:
            report.state = believe({event.event_id: event.statement for event in evidence}, policy, cluster_of)
    except OriginError as error:
        lists = f" (SHA-256 {', '.join(sorted(wanted))})" if usable is None else ""
        report.unchecked.append(f"beliefs: {error}{lists}")


@cache
def suffix_list(data: bytes) -> SuffixList:
    """The list that ``data`` spells, parsed once."""
    return SuffixList(data)
