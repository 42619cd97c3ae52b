"""The version of the tables that events lie in, and the steps from an older one.

Every version is one Alembic revision: version 3 is revision ``0003``. A ledger in SQLite keeps its version in
``user_version``, a PostgreSQL database in a table of its own. Alembic is imported only when there is a step to take.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ledger_core.kernel.errors import LedgerVersionError

if TYPE_CHECKING:
    from sqlalchemy import Connection

FORMAT_VERSION = 1
"""What this program reads and writes; an older ledger is brought up to it, a newer one is refused."""

MIGRATIONS = Path(__file__).with_name("migrations")


def revision_of(version: int) -> str:
    """Name of the Alembic revision that makes ``version``; ``base`` for nothing at all."""
    return f"{version:04d}" if version else "base"


def check_version(place: object, found: int) -> None:
    """Raise :class:`LedgerVersionError` where ``place`` was written by a newer program than this."""
    if found > FORMAT_VERSION:
        raise LedgerVersionError(
            f"{place} has ledger format {found}, this program reads formats up to {FORMAT_VERSION}; "
            "use the program version that wrote it"
        )


def migrate(connection: Connection, found: int) -> None:
    """Take every step from version ``found`` to :data:`FORMAT_VERSION`; the caller holds the lock and commits."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS))
    down = script.iterate_revisions(revision_of(FORMAT_VERSION), revision_of(found))
    with Operations.context(MigrationContext.configure(connection)):
        for step in reversed(list(down)):
            step.module.upgrade()
