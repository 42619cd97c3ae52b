"""The one error tree of the ledger.

    LedgerError
    ├── CanonicalError            bytes or values outside a canonical profile
    │   ├── StrictProfileError    `ostk-canonical-json-v1`
    │   └── JcsProfileError       guarded RFC 8785
    ├── MerkleError               an RFC 6962 proof or tree size that cannot be
    ├── StatementError            a record that does not decode to exactly its bytes
    │   └── TrustFieldError       a request that carries a trust field
    ├── AppendError               the log refused a statement
    │   ├── UnknownReferenceError a reference to no event, or to one of the wrong kind
    │   └── CollisionError        same fact and representation, other bytes
    ├── SealError                 the tool boundary refuses
    │   ├── ToolError             an unknown tool, or a registration or result that contradicts itself
    │   └── UnserialisableError   arguments or a result without canonical bytes
    ├── StoreError                the store cannot serve
    │   ├── LedgerVersionError    a ledger written by another version
    │   ├── LedgerBusyError       another process holds the ledger
    │   ├── StorageFullError      no space left, or a read-only location
    │   └── BlobError             missing, corrupt or erased content
    ├── VerificationError         the ledger does not verify
    ├── PolicyError               an unknown or malformed policy
    ├── BeliefError               a reading that asks for what the fold cannot give
    └── ConnectorError            a transcript that cannot be read at all

Every message names the offending value and what to do about it.
"""


class LedgerError(Exception):
    """Base of everything the ledger raises on purpose."""


class CanonicalError(LedgerError):
    """Bytes or a value outside a canonical profile."""


class StrictProfileError(CanonicalError):
    """Outside the strict statement profile `ostk-canonical-json-v1`."""


class JcsProfileError(CanonicalError):
    """Outside the guarded RFC 8785 profile of sealed JSON payloads."""


class MerkleError(LedgerError):
    """A Merkle proof that does not verify, or a tree size that cannot be."""


class StatementError(LedgerError):
    """A record that does not decode to exactly the bytes it came from."""


class TrustFieldError(StatementError):
    """A request that tried to state its own trust; the message names the field."""


class AppendError(LedgerError):
    """The log refused a statement; nothing was written."""


class UnknownReferenceError(AppendError):
    """A reference to an event that is not there, or is of a kind that may not be referenced here."""


class CollisionError(AppendError):
    """The same source fact arrived with other bytes and no lineage to say that they replace the first."""

    def __init__(self, message: str, *, source_fact_id: str, held: str, refused: str) -> None:
        super().__init__(message)
        self.source_fact_id = source_fact_id
        self.held = held
        """Event id of the statement the ledger holds."""
        self.refused = refused
        """Event id of the statement that was refused."""


class SealError(LedgerError):
    """The tool boundary refuses; nothing was written."""


class ToolError(SealError):
    """A tool that is not registered, or a registration or result that contradicts itself."""


class UnserialisableError(SealError):
    """Arguments or a result without canonical bytes; the agent sees nothing of it."""


class StoreError(LedgerError):
    """The store cannot serve the request."""


class LedgerVersionError(StoreError):
    """The ledger on disk was written by another version of the format."""


class LedgerBusyError(StoreError):
    """Another process holds the ledger's lock."""


class StorageFullError(StoreError):
    """The location has no space left or may not be written."""


class BlobError(StoreError):
    """Content that is missing, corrupt or erased."""


class VerificationError(LedgerError):
    """The ledger does not verify; the message names the first divergence."""


class PolicyError(LedgerError):
    """An unknown policy name or a policy with inadmissible numbers."""


class BeliefError(LedgerError):
    """A reading that names no entry of the ledger, or dependences that no order satisfies."""


class ConnectorError(LedgerError):
    """A transcript that cannot be read at all; single broken records go on the reject list instead."""
