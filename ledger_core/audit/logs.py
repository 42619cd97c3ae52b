"""The two logs, event by event: everything that a chain digest stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ledger_core.audit import canonical, shapes, trees
from ledger_core.audit.findings import FindingKind, FoundError
from ledger_core.audit.hashing import domain, framed
from ledger_core.audit.source import FAMILIES, Row, Source, SourceError


@dataclass(frozen=True)
class Event:
    """One event as far as it has been checked."""

    event_id: str
    family: str
    offset: int
    statement: dict[str, Any]
    policy_head: str | None
    """The policy that its receipt names as in force."""
    leaf: bytes
    """Its leaf hash."""


@dataclass
class Logs:
    """What the walk found."""

    scope: dict[str, str] = field(default_factory=dict)
    epoch_id: str = ""
    events: dict[str, list[Event]] = field(default_factory=lambda: {family: [] for family in FAMILIES})
    heads: dict[str, str] = field(default_factory=dict)
    """Family -> chain digest at its end, as recomputed."""

    @property
    def policies(self) -> dict[str, dict[str, Any]]:
        """Event id of every `policy.activated` -> its policy, in order."""
        control = self.events["control"]
        return {e.event_id: e.statement["body"]["policy"] for e in control if e.statement["kind"] == "policy.activated"}


@dataclass
class _Seen:
    """What rules of appending look up."""

    kinds: dict[str, str] = field(default_factory=dict)
    facts: dict[bytes, str] = field(default_factory=dict)
    policies: list[str] = field(default_factory=list)
    promised: str = ""
    """Digest of the first policy, by genesis."""


def walk(source: Source) -> Logs:
    """Both logs of ``source``, control first; raises :class:`FoundError` at the first thing that is wrong."""
    logs, seen = Logs(), _Seen()
    for family in FAMILIES:
        _Walk(source, logs, seen, family).run()
        recorded = source.heads.get(family)
        mine = (len(logs.events[family]), logs.heads[family])
        if recorded is not None and recorded != mine:
            detail = f"the log ends at {mine[0]} with {mine[1]}, recorded are {recorded[0]} and {recorded[1]}"
            raise FoundError(FindingKind.HEAD, family, mine[0] + 1, detail)
    return logs


class _Walk:
    """One family."""

    def __init__(self, source: Source, logs: Logs, seen: _Seen, family: str) -> None:
        self._source, self._logs, self._seen, self._family = source, logs, seen, family
        self._offset = 0
        self._chain = b""
        self._recorded_at = ""
        self._policies_seen = 0

    def run(self) -> None:
        if self._family == "evidence":
            self._chain = self._opening()
        for row in self._rows():
            self._offset += 1
            self._logs.events[self._family].append(self._event(row))
        if not self._chain:
            raise FoundError(FindingKind.GENESIS, "control", 1, "the control log is empty")
        self._logs.heads[self._family] = self._chain.hex()

    def _rows(self) -> Iterator[Row]:
        try:
            yield from self._source.rows[self._family]
        except SourceError as error:
            raise FoundError(FindingKind.UNREADABLE, self._family, self._offset + 1, str(error)) from error

    def _wrong(self, kind: FindingKind, detail: str) -> FoundError:
        return FoundError(kind, self._family, self._offset, detail)

    def _opening(self) -> bytes:
        genesis = self._logs.events["control"][0].event_id
        epoch = bytes.fromhex(self._logs.epoch_id)
        return framed("veritas-genesis-chain-v1", bytes.fromhex(genesis), epoch, self._family.encode(), bytes(2))

    def _event(self, row: Row) -> Event:
        if row.offset != self._offset:
            raise self._wrong(FindingKind.OFFSET, f"the next event has offset {row.offset}")
        statement, references = self._read(row.statement)
        event_id = domain("ostk-accepted-event-v1", row.statement)
        if not self._logs.epoch_id:
            self._begin(statement, event_id)
        if (row.epoch_id, row.shard) != (self._logs.epoch_id, 0):
            raise self._wrong(FindingKind.POSITION, f"epoch {row.epoch_id}, shard {row.shard}")
        if event_id.hex() != row.event_id:
            raise self._wrong(FindingKind.EVENT_ID, f"the bytes have id {event_id.hex()}, stored is {row.event_id}")
        kind = statement["kind"]
        if (kind in shapes.CONTROL_KINDS) != (self._family == "control"):
            raise self._wrong(FindingKind.FAMILY, f"`{kind}` belongs to the other log")
        policy_head = self._receipt(row.receipt)
        position = {"committed_offset": str(self._offset), "epoch_id": self._logs.epoch_id, "shard": 0}
        receipt = domain("veritas-append-receipt-v1", row.receipt)
        self._chain = framed("veritas-append-chain-v1", self._chain, canonical.dump(position), event_id, receipt)
        if self._chain.hex() != row.chain:
            raise self._wrong(FindingKind.CHAIN, f"the chain gives {self._chain.hex()}, stored is {row.chain}")
        self._rules(row.event_id, statement, references)
        leaf = {
            "chain": row.chain,
            "event_id": row.event_id,
            "family": self._family,
            "position": position,
            "receipt": receipt.hex(),
        }
        hashed = trees.leaf_hash(canonical.dump(leaf))
        return Event(row.event_id, self._family, self._offset, statement, policy_head, hashed)

    def _read(self, data: bytes) -> tuple[dict[str, Any], list[tuple[str, str, tuple[str, ...]]]]:
        try:
            statement = canonical.load(data)
            kind = statement.get("kind") if isinstance(statement, dict) else None
            references = list(shapes.fits(statement, shapes.statement_shape(str(kind))))
        except ValueError as error:
            raise self._wrong(FindingKind.STATEMENT, str(error)) from error
        return statement, references

    def _begin(self, statement: dict[str, Any], event_id: bytes) -> None:
        """The genesis says what the epoch is, and with it where every chain begins."""
        body = statement["body"]
        if statement["kind"] != "ledger.genesis" or body["scope"] != statement["scope"]:
            raise self._wrong(FindingKind.GENESIS, f"the log begins with `{statement['kind']}`")
        if self._source.scope not in (None, body["scope"]):
            raise self._wrong(FindingKind.GENESIS, f"the genesis of {body['scope']} in a file of {self._source.scope}")
        identity = {name: body[name] for name in ("partition_seed", "scope", "shard_count")}
        self._logs.scope = body["scope"]
        self._logs.epoch_id = domain("veritas-log-epoch-v1", canonical.dump(identity)).hex()
        self._seen.promised = body["policy_digest"]
        epoch = bytes.fromhex(self._logs.epoch_id)
        self._chain = framed("veritas-genesis-chain-v1", event_id, epoch, b"control", bytes(2))

    def _receipt(self, data: bytes) -> str | None:
        try:
            receipt = canonical.load(data)
            list(shapes.fits(receipt, shapes.RECEIPT))
        except ValueError as error:
            raise self._wrong(FindingKind.RECEIPT, str(error)) from error
        if receipt["recorded_at"] != max(receipt["received_at"], self._recorded_at):
            raise self._wrong(
                FindingKind.RECEIPT, f"recorded at {receipt['recorded_at']}, before it {self._recorded_at}"
            )
        self._recorded_at = receipt["recorded_at"]
        head: str | None = receipt["policy_head"]
        known = self._seen.policies
        if head is not None and head not in known:
            raise self._wrong(FindingKind.RECEIPT, f"policy {head} was never in force")
        place = 0 if head is None else known.index(head) + 1
        if place < self._policies_seen or (self._family == "control" and place != len(known)):
            raise self._wrong(FindingKind.RECEIPT, f"policy {head} was no longer in force")
        self._policies_seen = place
        return head

    def _rules(
        self, event_id: str, statement: dict[str, Any], references: list[tuple[str, str, tuple[str, ...]]]
    ) -> None:
        seen, kind = self._seen, statement["kind"]
        if statement["scope"] != self._logs.scope or (kind == "ledger.genesis" and self._offset > 1):
            raise self._wrong(FindingKind.RULE, "a statement of another scope, or a second genesis")
        fact = {name: statement[name] for name in ("kind", "scope", "source_fact")}
        fact_id = domain("veritas-source-fact-v1", canonical.dump(fact))
        current, lineage = seen.facts.get(fact_id), statement["representation"]["lineage"]
        if (lineage["relation"] == "supersedes") != (lineage["event_id"] is not None):
            raise self._wrong(FindingKind.STATEMENT, "a lineage that says one thing and names another")
        if lineage["event_id"] != current:
            said = f"{current} reports the same fact" if current else f"{lineage['event_id']} is about another fact"
            raise self._wrong(FindingKind.FACT if current else FindingKind.REFERENCE, said)
        for place, reference, kinds in references:
            if seen.kinds.get(reference) not in kinds:
                detail = f"{place} is {reference}, no earlier event of kind {' or '.join(kinds)}"
                raise self._wrong(FindingKind.REFERENCE, detail)
        if kind == "policy.activated":
            self._policy(event_id, statement["body"])
        seen.facts[fact_id], seen.kinds[event_id] = event_id, kind

    def _policy(self, event_id: str, body: dict[str, Any]) -> None:
        known = self._seen.policies
        if body["predecessor"] != (known[-1] if known else None):
            raise self._wrong(FindingKind.RULE, f"policy `{body['name']}` does not succeed the one in force")
        digest = domain("veritas-policy-v1", canonical.dump(body["policy"])).hex()
        if not known and digest != self._seen.promised:
            raise self._wrong(FindingKind.RULE, f"genesis promised a policy of digest {self._seen.promised}")
        known.append(event_id)
