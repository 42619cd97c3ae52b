"""Who may use which route: the one table, asked before anything else is looked at.

A route that is not in the table cannot be registered (:mod:`.guard`), and the tests hold every cell of it to a table of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

ServiceRole = Literal["sealer", "recorder", "agent", "verifier", "attributor", "operator", "auditor", "admin"]
"""What a token lets its bearer be. (`evaluator` is a role of the embedded mode only.)"""

ROLES: Final[tuple[ServiceRole, ...]] = get_args(ServiceRole)

Operation = tuple[str, str]
"""HTTP method and path template."""

_Roles = frozenset[ServiceRole]

_EVERYBODY: Final[_Roles] = frozenset(ROLES)
_LEDGER: Final[_Roles] = _EVERYBODY - {"admin"}
_CITING: Final[_Roles] = _LEDGER - {"auditor"}
"""Roles whose statements cite content, which therefore have to bring it."""
_READERS: Final[_Roles] = frozenset({"verifier", "auditor"})
_MEASURERS: Final[_Roles] = _READERS | _Roles({"attributor"})
_AGENT_AND_READERS: Final[_Roles] = _READERS | _Roles({"agent"})


def _only(role: ServiceRole) -> _Roles:
    return frozenset({role})


PERMISSIONS: Final[Mapping[Operation, frozenset[ServiceRole]]] = MappingProxyType(
    {
        ("PUT", "/blob"): _CITING,
        ("GET", "/blob/{digest}"): _MEASURERS,
        ("POST", "/seal"): _only("sealer"),
        ("POST", "/replay-audit/{seal_id}"): _only("sealer"),
        ("POST", "/generation"): _only("recorder"),
        ("GET", "/generation"): _MEASURERS,
        ("GET", "/generation/{generation_id}"): _MEASURERS,
        ("POST", "/entry"): _only("agent"),
        ("GET", "/entry/{entry_id}"): _AGENT_AND_READERS,
        ("GET", "/context"): _AGENT_AND_READERS,
        ("POST", "/verdict"): _only("verifier"),
        ("POST", "/contradiction"): _only("verifier"),
        ("POST", "/edges/measured"): _only("attributor"),
        ("GET", "/edges/{claim_id}"): _MEASURERS,
        ("POST", "/policy"): _only("operator"),
        ("POST", "/verdict/{verdict_id}/reverse"): _only("operator"),
        ("POST", "/erasure"): _only("operator"),
        ("POST", "/checkpoint"): _only("operator"),
        ("GET", "/checkpoint"): _only("auditor"),
        ("GET", "/proof/inclusion"): _only("auditor"),
        ("GET", "/proof/consistency"): _only("auditor"),
        ("GET", "/audit"): _only("auditor"),
        ("GET", "/events"): _READERS,
        ("GET", "/head"): _LEDGER,
        ("POST", "/token"): _only("admin"),
        ("GET", "/token"): _only("admin"),
        ("POST", "/token/{token_id}/revoke"): _only("admin"),
        ("GET", "/whoami"): _EVERYBODY,
    }
)
"""Operation -> the roles that may use it."""

OPEN: Final[frozenset[Operation]] = frozenset({("GET", "/healthz"), ("GET", "/metrics"), ("GET", "/openapi.json")})
"""Operations without a token: they tell nothing of any tenant."""
