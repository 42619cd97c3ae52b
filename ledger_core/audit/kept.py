"""What was kept of a ledger (anchors, proofs, receipts) against its logs as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ledger_core.audit import canonical, trees
from ledger_core.audit.findings import FindingKind, FoundError
from ledger_core.audit.logs import Event, Logs
from ledger_core.audit.notes import Checkpoint, File, Key, NoteError, SignatureError, bound_key
from ledger_core.audit.trees import TreeError


def check_kept(logs: Logs, kept: Mapping[str, File], keys: Sequence[Key]) -> None:
    """Hold the logs to everything in ``kept`` (by name of the file); raises :class:`FoundError` at the first departure.

    An anchor is trusted by the keys in it, everything else by ``keys``, those of the anchors, and those the log binds.
    """
    bound = (bound_key(event.statement["body"]) for event in _bindings(logs))
    known = [*keys, *(key for file in kept.values() for key in file.keys), *(key for key in bound if key is not None)]
    for name, file in kept.items():
        _require(name, file, known)
    for family, events in logs.events.items():
        origin = f"veritas/{logs.scope['tenant_namespace']}/{logs.scope['project_namespace']}/{family}"
        pinned = sorted(_pinned(kept, origin), key=lambda pair: pair[0].size)
        _check_leaves(logs, kept, family)
        roots = trees.roots_at((event.leaf for event in events), (checkpoint.size for checkpoint, _ in pinned))
        _check_roots(family, len(events), pinned, roots)


def _bindings(logs: Logs) -> Iterator[Event]:
    for event in logs.events["control"]:
        if event.statement["kind"] == "key.bound" and event.statement["body"]["role"] == "checkpoint":
            yield event


def _require(name: str, file: File, known: Sequence[Key]) -> None:
    try:
        file.require(file.keys or known)
    except SignatureError as error:
        raise FoundError(FindingKind.SIGNATURE, "evidence", None, f"{name}: {error}") from error
    except (NoteError, TreeError) as error:
        raise FoundError(FindingKind.PROOF, "evidence", None, f"{name}: {error}") from error


def _pinned(kept: Mapping[str, File], origin: str) -> Iterator[tuple[Checkpoint, str]]:
    for name, file in kept.items():
        mine = [checkpoint for checkpoint in file.checkpoints if checkpoint.origin == origin]
        elsewhere = {c.origin.rpartition("/")[0] for c in file.checkpoints} - {origin.rpartition("/")[0]}
        if file.path is not None and elsewhere:
            raise FoundError(FindingKind.CHECKPOINT, "evidence", None, f"{name} is about {min(elsewhere)}")
        yield from ((checkpoint, name) for checkpoint in mine)


def _check_leaves(logs: Logs, kept: Mapping[str, File], family: str) -> None:
    events = logs.events[family]
    for name, file in kept.items():
        leaf = file.leaf
        if leaf is None or leaf["family"] != family:
            continue
        if leaf["position"]["epoch_id"] != logs.epoch_id:
            raise FoundError(FindingKind.CHECKPOINT, family, None, f"{name} is about another ledger")
        offset = int(leaf["position"]["committed_offset"])
        if offset > len(events):
            detail = f"{name} acknowledges event {leaf['event_id']} at {offset}, the log ends at {len(events)}"
            raise FoundError(FindingKind.TRUNCATED, family, len(events) + 1, detail)
        if events[offset - 1].leaf != trees.leaf_hash(canonical.dump(leaf)):
            detail = f"{name} acknowledges event {leaf['event_id']}, the log holds {events[offset - 1].event_id}"
            raise FoundError(FindingKind.FORKED, family, offset, detail)


def _check_roots(family: str, count: int, pinned: Sequence[tuple[Checkpoint, str]], roots: Mapping[int, bytes]) -> None:
    agreed = 0
    for checkpoint, name in pinned:
        root = roots.get(checkpoint.size)
        if root is None:
            detail = f"{name} pins {checkpoint.size} events, the log ends at {count}"
            raise FoundError(FindingKind.TRUNCATED, family, count + 1, detail)
        if root != checkpoint.root:
            detail = f"events {agreed + 1} to {checkpoint.size} are not those that {name} pins"
            raise FoundError(FindingKind.FORKED, family, agreed + 1, detail)
        agreed = checkpoint.size
