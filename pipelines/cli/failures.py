"""What went wrong, as one line on standard error and an exit code. Nothing here is imported before something failed."""

from __future__ import annotations

import errno

from attribution.errors import AttributionError
from evals.errors import EvalError
from ledger_core.kernel.errors import LedgerError, VerificationError
from pipelines.errors import ExitCode, PipelineError

_EXPECTED = (PipelineError, LedgerError, AttributionError, EvalError)
"""Roots of the error trees: their messages name the thing and the way out."""

_WAYS_OUT = {
    errno.ENOSPC: "free space, or choose another place with --home",
    errno.EDQUOT: "free space, or choose another place with --home",
    errno.EFBIG: "free space, or choose another place with --home",
    errno.EROFS: "choose a writable place with --home",
    errno.EACCES: "change its permissions, or choose another place with --home",
    errno.EPERM: "change its permissions, or choose another place with --home",
    errno.ENOTDIR: "a part of the path is a file; choose another place with --home",
    errno.EEXIST: "something else is in its place; choose another place with --home",
    errno.ENOENT: "check the path",
    errno.EISDIR: "it is a folder; name a file",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


def exit_code(error: Exception) -> int:
    """The code of the one table that ``error`` ends a command with."""
    if isinstance(error, VerificationError):
        return ExitCode.LEDGER_DOES_NOT_VERIFY
    return int(getattr(error, "exit_code", ExitCode.FAILURE)) if isinstance(error, _EXPECTED) else ExitCode.FAILURE


def describe(error: Exception) -> str:
    """``error`` in one line: what, which, and the way out."""
    if isinstance(error, _EXPECTED):
        return _one_line(str(error))
    if isinstance(error, OSError):
        place = "" if error.filename is None else f"{error.filename}: "
        way_out = _WAYS_OUT.get(error.errno or 0, "check the disk and the path; --debug shows where")
        return _one_line(f"{place}{error.strerror or error}; {way_out}")
    return _one_line(
        f"internal error: {type(error).__name__}: {error}; run `veritas --debug …` and report what it prints"
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
