"""Errors of the orchestration layer and the exit codes of the command line.

PipelineError                 exit 1
├── UsageError                exit 2: an option or argument that cannot be
├── LakeError                 a table that is missing or not what its schema says
│   ├── MissingTableError     an asset's input was never materialised
│   └── OutdatedTableError    a table that another version wrote
├── CheckFailedError          a blocking check failed: nothing downstream of it was done
│   └── DamagedLedgerError    exit 4: the check was that the ledger verifies
└── PlanError                 a run plan that cannot be carried out
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """One table of exit codes for all commands."""

    DONE = 0
    FAILURE = 1
    USAGE = 2
    PARTIAL_IMPORT = 3
    LEDGER_DOES_NOT_VERIFY = 4
    INCONCLUSIVE = 10
    KILL = 11
    INVALID = 12


class PipelineError(Exception):
    """Base of what the pipelines raise on purpose."""

    exit_code = ExitCode.FAILURE


class UsageError(PipelineError):
    """An option or argument that cannot be; the message names it and what is allowed."""

    exit_code = ExitCode.USAGE


class LakeError(PipelineError):
    """A table that does not hold what its schema says."""


class MissingTableError(LakeError):
    """A table that another asset has to write first; the message names the command that writes it."""


class OutdatedTableError(LakeError):
    """A table that another version wrote, with other columns than this one reads; it has to be made again."""


class CheckFailedError(PipelineError):
    """A blocking check failed and nothing downstream of it was done; the message names the check and what it found."""


class DamagedLedgerError(CheckFailedError):
    """The check that failed is the one that the ledger verifies."""

    exit_code = ExitCode.LEDGER_DOES_NOT_VERIFY


class PlanError(PipelineError):
    """A run plan that cannot be carried out."""
