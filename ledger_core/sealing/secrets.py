"""Secrets that tools are given by reference: the ledger holds their names, never their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ledger_core.kernel.errors import SealError

SecretSource = Callable[[str], str]
"""Gives the value of a reference such as ``env:API_TOKEN``; raises :class:`SealError` where there is none."""

SHORTEST = 8
"""Characters of a secret. What a tool gives is searched for its values, and a shorter one would be found everywhere."""

_ENV = "env:"


def no_secrets(reference: str) -> str:
    """Has none."""
    raise SealError(f"no secrets are configured, and a tool asks for {reference!r}; give the boundary a source of them")


def from_environment(environ: Mapping[str, str]) -> SecretSource:
    """Resolves ``env:NAME`` in ``environ``."""

    def resolve_one(reference: str) -> str:
        name = reference.removeprefix(_ENV)
        if name == reference or name not in environ:
            raise SealError(f"the secret {reference!r} is not set; write {_ENV}NAME and set NAME")
        return environ[name]

    return resolve_one


def resolve(references: Iterable[str], source: SecretSource) -> dict[str, str]:
    """The value of each of ``references``; raises :class:`SealError` for one that is too short to be kept secret."""
    values = {reference: source(reference) for reference in references}
    for reference, value in values.items():
        if len(value) < SHORTEST:
            raise SealError(f"the secret {reference!r} has fewer than {SHORTEST} characters; use a longer one")
    return values
