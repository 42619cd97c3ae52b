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
    │   ├── StoreUnreachableError the store's server does not answer; nothing was written
    │   │   └── OutcomeUnknownError it went away during a commit: append the same again
    │   └── BlobError             missing, corrupt or erased content
    ├── VerificationError         the ledger does not verify
    ├── SigningError              signing, or checking what was signed
    │   ├── SigningKeyError       a private key that cannot be used
    │   ├── NoteError             no signed note, checkpoint, proof or receipt
    │   └── SignatureError        no trusted key signed it
    ├── PolicyError               an unknown or malformed policy
    ├── BeliefError               a reading that asks for what the fold cannot give
    ├── ProviderError             a language or embedding model that did not serve
    │   ├── ProviderRefusedError  the request, the model or the credentials are not accepted
    │   ├── ProviderUnavailableError overloaded or failing, still so after every retry, or out of quota
    │   ├── ProviderUnreachableError no connection, or no answer in time
    │   └── ProviderAnswerError   an answer that is not of the protocol's form
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


class StoreUnreachableError(StoreError):
    """The server that keeps the ledger does not answer; nothing was written."""


class OutcomeUnknownError(StoreUnreachableError):
    """The server went away while it committed and cannot be asked; appending the same statements again settles it."""


class BlobError(StoreError):
    """Content that is missing, corrupt or erased."""


class VerificationError(LedgerError):
    """The ledger does not verify; the message names the first divergence."""


class SigningError(LedgerError):
    """Signing, or checking what was signed, failed."""


class SigningKeyError(SigningError):
    """A private key that is missing, damaged, or readable by others."""


class NoteError(SigningError):
    """Text that is no signed note, or a note that is no checkpoint, proof or receipt."""


class SignatureError(SigningError):
    """No trusted key signed the note, or a trusted key's signature does not verify."""


class PolicyError(LedgerError):
    """An unknown policy name or a policy with inadmissible numbers."""


class BeliefError(LedgerError):
    """A reading that names no entry of the ledger, or dependences that no order satisfies."""


class ConnectorError(LedgerError):
    """A transcript that cannot be read at all; single broken records go on the reject list instead."""


class ProviderError(LedgerError):
    """A language or embedding model that did not serve the request; nothing was filed because of it."""


class ProviderRefusedError(ProviderError):
    """The provider does not accept the request, the model's name or the credentials; asking again is of no use."""


class ProviderUnavailableError(ProviderError):
    """The provider is overloaded or failing, and still was after every retry, or its quota is used up."""


class ProviderUnreachableError(ProviderError):
    """No connection to the provider, or no answer within the time allowed."""


class ProviderAnswerError(ProviderError):
    """The provider answered with something that is not of the protocol's form."""
