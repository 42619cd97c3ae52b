"""The service as a process: bound to the loopback unless told otherwise, stopped without losing what it acknowledged."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn

from ledger_core.service.app import create_app
from ledger_core.service.config import ServiceConfig
from ledger_core.service.errors import ConfigurationError

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8430
GRACE_SECONDS: Final = 30
"""How long requests that are being answered may take to end after SIGTERM; nobody new is let in meanwhile."""

_Address = tuple[Any, ...]
"""As the address family has it: host and port first."""

_KEEP_ALIVE_SECONDS: Final = 30
_BACKLOG: Final = 512


@dataclass(frozen=True, slots=True)
class Binding:
    """Where the service listens."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """0: one that is free."""
    allow_remote: bool = False
    """Whether an address that other machines reach is meant."""
    certificate: Path | None = None
    """Chain in PEM; with ``private_key`` the service speaks TLS."""
    private_key: Path | None = None


def serve(config: ServiceConfig, binding: Binding, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``ready`` is told the URL once requests are answered.

    On a signal the socket closes, requests that are being answered end, and every writer commits what it has accepted.

    Raises:
        ConfigurationError: an address that other machines reach without ``allow_remote``, half a pair of TLS files, or
            an address that cannot be had.
    """
    require_loopback(binding)
    if (binding.certificate is None) != (binding.private_key is None):
        raise ConfigurationError("TLS needs both the certificate and its private key; give both or neither")
    server = _Server(
        uvicorn.Config(
            create_app(config),
            host=binding.host,
            port=binding.port,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=binding.certificate,
            ssl_keyfile=None if binding.private_key is None else str(binding.private_key),
        ),
        ready,
    )
    sockets = [_listen(binding.host, binding.port)]
    try:
        server.run(sockets=sockets)
    finally:
        for listening in sockets:
            listening.close()
    if not server.started:
        raise ConfigurationError("the service did not start; its log says why")


def require_loopback(binding: Binding) -> None:
    """Return if only this machine reaches the address, or if others are meant to.

    Raises:
        ConfigurationError: tokens would travel over a network that nobody said they may travel over.
    """
    if binding.allow_remote:
        return
    for address in _addresses(binding.host, binding.port):
        if not ipaddress.ip_address(str(address[1][0]).partition("%")[0]).is_loopback:
            raise ConfigurationError(
                f"{binding.host} is reached by other machines, and tokens would travel in the clear; stay on {DEFAULT_HOST}"
                " behind a proxy that speaks TLS, or pass --allow-remote (with --certificate and --private-key)"
            )


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, _Address]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigurationError(
            f"{host!r} is no address of this machine ({error.strerror}); try {DEFAULT_HOST}"
        ) from error
    return [(family, address) for family, _, _, _, address in found]


def _listen(host: str, port: int) -> socket.socket:
    family, address = _addresses(host, port)[0]
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another with --port or --host"
        ) from error
    return listening


class _Server(uvicorn.Server):
    """Tells when it answers, and where."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            scheme = "https" if self.config.is_ssl else "http"
            self._ready(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")
