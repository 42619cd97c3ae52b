"""Which ledgers a command means, and how it opens them: reading never creates anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.text import is_contract_id
from ledger_core.stores import Ledger, Place
from ledger_core.stores.ledger import list_scopes
from pipelines.cli.clock import wall_clock
from pipelines.errors import PipelineError, UsageError
from pipelines.settings import Settings

_LISTED = 8
_RUN = "run-"
"""Projects of evaluation runs: the only names that nobody chose, hence the only ones that may be cut short."""


def scope_named(tenant: str, project: str) -> Scope:
    """The scope of these names; raises :class:`UsageError` for one that cannot be."""
    for option, name in (("--tenant", tenant), ("--project", project)):
        if not is_contract_id(name):
            raise UsageError(
                f"{option} {name!r} is no name: a lower-case letter, then at most 127 of a-z, 0-9, `_`, `.`, `-`"
            )
    return Scope.make(tenant_namespace=tenant, project_namespace=project)


def existing_scope(settings: Settings) -> Scope:
    """The one ledger under ``settings.home`` that the settings mean; a run's project may be given by its beginning.

    Raises:
        UsageError: a name that cannot be, or a beginning of several projects.
        PipelineError: no such ledger; the message lists those that are there.
    """
    wanted = scope_named(settings.tenant, settings.project)
    scopes = list_scopes(settings.place)
    if wanted in scopes:
        return wanted
    found = [
        scope
        for scope in scopes
        if wanted.project_namespace.startswith(_RUN)
        and scope.tenant_namespace == wanted.tenant_namespace
        and scope.project_namespace.startswith(wanted.project_namespace)
    ]
    if len(found) > 1:
        raise UsageError(
            f"--project {wanted.project_namespace!r} is the beginning of {len(found)} projects"
            f" ({_names(found)}); write more of it"
        )
    if not found:
        raise PipelineError(
            f"no ledger {name_of(wanted)} below {settings.home}; "
            + (
                f"choose with --tenant and --project among {_names(scopes)}"
                if scopes
                else "`veritas import FORMAT PATH` makes one"
            )
        )
    return found[0]


@contextmanager
def reading(where: Path | Place, scope: Scope) -> Iterator[Ledger]:
    """The ledger of ``scope`` as it is, which must exist; closed at the end."""
    with Ledger.existing(where, scope, now=wall_clock) as ledger:
        try:
            yield ledger
        except StatementError as error:
            raise PipelineError(
                f"ledger {name_of(scope)} holds a statement that does not decode; `veritas verify` says which ({error})"
            ) from error


def without_events(place: Place) -> list[str]:
    """Names of places below the home with content and no ledger: its file is gone or empty, or its first write was killed."""
    known = {place.folder(scope) for scope in place.scopes()}
    return [
        f"{folder.parent.name}/{folder.name}"
        for folder in sorted(blobs.parent for blobs in (place.home / "ledgers").glob("*/*/blobs"))
        if folder not in known and next((folder / "blobs").glob("*/*"), None) is not None
    ]


def name_of(scope: Scope) -> str:
    """``tenant/project``."""
    return f"{scope.tenant_namespace}/{scope.project_namespace}"


def _names(scopes: list[Scope] | tuple[Scope, ...]) -> str:
    listed = ", ".join(name_of(scope) for scope in scopes[:_LISTED])
    return listed if len(scopes) <= _LISTED else f"{listed} and {len(scopes) - _LISTED} more"
