"""Tokens: who may speak for which role in which scope.

A token reads ``vt_<id>_<secret>``: sixteen hex digits that name it and 256 random bits that prove it. Only the SHA-256
of the secret is stored, so that the file admits nobody; a random secret of that length needs no salt and no slow hash.
The file is ``control.sqlite3`` under the home, beside the ledgers and never inside one.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledger_core.kernel.errors import LedgerVersionError
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.text import is_contract_id
from ledger_core.kernel.timestamps import check_timestamp
from ledger_core.service.errors import ServiceError, TokenError
from ledger_core.service.permissions import ROLES, ServiceRole
from ledger_core.stores.files import make_directories, storage_errors
from ledger_core.stores.sqlite_files import marks, sqlite_errors

FILE: Final = "control.sqlite3"
APPLICATION_ID: Final = 0x56455243
"""``VERC``: marks the file as the control file of a home."""

_FORMAT: Final = 1
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 32
_SHAPE: Final = re.compile(r"vt_([0-9a-f]{16})_([0-9a-f]{64})")
_ID: Final = re.compile(r"[0-9a-f]{16}")
_BUSY_SECONDS: Final = 5.0
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    secret_sha256 BLOB NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    role TEXT NOT NULL,
    principal TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
) STRICT;
CREATE INDEX tokens_by_scope ON tokens (tenant, project, created_at);
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={_FORMAT};
COMMIT;
"""
_COLUMNS: Final = "id, tenant, project, role, principal, created_at, expires_at, revoked_at"


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; the secret is not."""

    id: str
    scope: Scope
    role: ServiceRole
    principal: str
    """Name in the receipts of what its bearer appends."""
    created_at: str
    expires_at: str | None
    revoked_at: str | None

    def refusal(self, now: str) -> str | None:
        """Why the token is not valid at ``now``, or None."""
        if self.revoked_at is not None:
            return f"token {self.id} was revoked at {self.revoked_at}; ask an admin for another"
        if self.expires_at is not None and self.expires_at <= now:
            return f"token {self.id} expired at {self.expires_at}; ask an admin for another"
        return None


class TokenStore:
    """The tokens of one home. May be used from several threads; other processes' changes count from their commit on."""

    def __init__(self, home: Path) -> None:
        """Open or create the control file; raises :class:`LedgerVersionError` for a file of another format."""
        self._path = home / FILE
        self._lock = threading.RLock()
        self._known: dict[str, tuple[Token, bytes]] = {}
        self._known_at = -1
        if not self._path.exists():
            with storage_errors(home):
                make_directories(home)
                self._path.touch(mode=0o600)
        with sqlite_errors(self._path):
            self._connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._connection.execute("PRAGMA synchronous=FULL")
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _open(self) -> None:
        application, version, _ = marks(self._connection)
        if (application, version) == (APPLICATION_ID, _FORMAT):
            return
        if (application, version) != (0, 0):
            raise LedgerVersionError(
                f"{self._path} has application {application:#x} and format {version}, expected {APPLICATION_ID:#x} and"
                f" {_FORMAT}; use the program version that wrote it"
            )
        try:
            self._connection.executescript(_SCHEMA)
        except sqlite3.OperationalError:
            # Another process made it in the meantime.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version != _FORMAT:
                raise

    def create(
        self, scope: Scope, role: str, *, now: str, principal: str | None = None, expires_at: str | None = None
    ) -> tuple[Token, str]:
        """A new token and its text, which is told here and never again.

        Raises:
            ServiceError: no such role, a principal that is no name, or an expiry that has passed.
        """
        if role not in ROLES:
            raise ServiceError(f"no role is called {role!r}; the roles are {', '.join(ROLES)}")
        token_id = secrets.token_bytes(_ID_BYTES).hex()
        name = principal or f"token.{token_id}"
        if not is_contract_id(name):
            raise ServiceError(
                f"principal {name!r} is no name: a lower-case letter, then at most 127 of a-z, 0-9, `_`, `.`, `-`"
            )
        if expires_at is not None and check_timestamp(expires_at) <= now:
            raise ServiceError(f"a token that expires at {expires_at} would never be valid; it is {now}")
        secret = secrets.token_bytes(_SECRET_BYTES)
        token = Token(token_id, scope, role, name, check_timestamp(now), expires_at, None)
        with self._writing():
            self._connection.execute(
                f"INSERT INTO tokens ({_COLUMNS}, secret_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                (
                    token.id,
                    scope.tenant_namespace,
                    scope.project_namespace,
                    token.role,
                    token.principal,
                    token.created_at,
                    token.expires_at,
                    token.revoked_at,
                    hashlib.sha256(secret).digest(),
                ),
            )
        return token, f"vt_{token.id}_{secret.hex()}"

    def revoke(self, token_id: str, *, now: str, scope: Scope | None = None) -> Token:
        """Take a token out of service from now on; revoking twice keeps the first time.

        Raises:
            TokenError: there is no such token, or (``scope`` given) not in that scope.
        """
        with self._writing():
            self._connection.execute(
                "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
                " AND tenant = coalesce(?, tenant) AND project = coalesce(?, project)",
                (check_timestamp(now), token_id, *_names(scope)),
            )
        found = [token for token in self.list(scope) if token.id == token_id]
        if not found:
            raise TokenError(f"no token has the id {token_id!r}; `veritas token list` shows all of them")
        return found[0]

    def list(self, scope: Scope | None = None) -> tuple[Token, ...]:
        """Every token, or those of ``scope``, by scope and age."""
        with self._lock, sqlite_errors(self._path):
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM tokens WHERE tenant = coalesce(?, tenant) AND project = coalesce(?, project)"  # noqa: S608 - constants
                " ORDER BY tenant, project, created_at, id",
                _names(scope),
            ).fetchall()
        return tuple(_token(row) for row in rows)

    def authenticate(self, text: str, now: str) -> Token:
        """The valid token that ``text`` is.

        Raises:
            TokenError: no token's text, an unknown one, a wrong secret, expired or revoked. The first three are one
                answer: only who holds the secret learns anything about a token.
        """
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise TokenError(_UNKNOWN)
        with self._lock:
            known = self._lookup(shape[1])
        digest = hashlib.sha256(bytes.fromhex(shape[2])).digest()
        # Compared with something in every case, so that an unknown id takes as long as a wrong secret.
        token, expected = known if known is not None else (None, digest[::-1])
        if not hmac.compare_digest(digest, expected) or token is None:
            raise TokenError(_UNKNOWN)
        refusal = token.refusal(now)
        if refusal is not None:
            raise TokenError(refusal)
        return token

    def _lookup(self, token_id: str) -> tuple[Token, bytes] | None:
        """From memory while nobody changed the file, which SQLite tells for the price of one page's header."""
        with sqlite_errors(self._path):
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            if version != self._known_at:
                self._known.clear()
                self._known_at = version
            known = self._known.get(token_id)
            if known is None:
                row = self._connection.execute(
                    f"SELECT {_COLUMNS}, secret_sha256 FROM tokens WHERE id = ?",  # noqa: S608 - constants
                    (token_id,),
                ).fetchone()
                if row is None:
                    return None
                known = self._known[token_id] = (_token(row[:-1]), bytes(row[-1]))
        return known

    def check(self) -> None:
        """Return if the file can be read; raises :class:`StoreError` otherwise."""
        with self._lock, sqlite_errors(self._path):
            self._connection.execute("PRAGMA user_version").fetchone()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, sqlite_errors(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._known.clear()  # one's own commits do not move `data_version`

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        with self._lock:
            self._connection.close()


_UNKNOWN: Final = "this is no token of this service; send `Authorization: Bearer vt_…`"


def is_token_id(text: str) -> bool:
    """Whether ``text`` could name a token."""
    return _ID.fullmatch(text) is not None


def _names(scope: Scope | None) -> tuple[str | None, str | None]:
    return (None, None) if scope is None else (scope.tenant_namespace, scope.project_namespace)


def _token(row: tuple[str, str, str, ServiceRole, str, str, str | None, str | None]) -> Token:
    token_id, tenant, project, role, principal, created_at, expires_at, revoked_at = row
    scope = Scope.make(tenant_namespace=tenant, project_namespace=project)
    return Token(token_id, scope, role, principal, created_at, expires_at, revoked_at)
