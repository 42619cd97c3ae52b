"""`veritas serve`: the ledgers of this home over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.state import state_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from attribution.models import Embedder

_HOST = "127.0.0.1"
_PORT = 8430


class PackagedEmbedder:
    """The packaged MiniLM, loaded when the first verdict is filed: most services never load it."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    @cached_property
    def _loaded(self) -> Embedder:
        from attribution.models import load_embedder

        return load_embedder(self._cache)

    @property
    def model(self) -> str:
        """Which model embeds; see :class:`~ledger_core.providers.EmbeddingProvider`."""
        return self._loaded.model

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """``float32[text, 384]`` of unit rows; see :class:`~ledger_core.providers.EmbeddingProvider`."""
        return self._loaded.embed(texts)


def command(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = _HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = _PORT,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Listen on an address that other machines reach.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="Certificate chain in PEM: speak TLS.")] = None,
    private_key: Annotated[Path | None, typer.Option(help="Its private key in PEM.")] = None,
    policy: Annotated[str, typer.Option(help="What a new ledger begins with.")] = "strict",
) -> None:
    """Serve the ledgers below --home. Every request needs a token of `veritas token create`; SIGTERM or Ctrl-C stops it."""
    from ledger_core.belief.policies import policy_named
    from ledger_core.kernel.errors import PolicyError
    from ledger_core.service.config import ServiceConfig
    from ledger_core.service.errors import ConfigurationError
    from ledger_core.service.server import Binding, serve
    from pipelines.cli.clock import wall_clock
    from pipelines.errors import UsageError

    settings = state_of(context).settings()
    try:
        config = ServiceConfig(
            home=settings.home,
            now=wall_clock,
            place=settings.place,
            policy=policy_named(policy),
            policy_name=policy,
            embedder=PackagedEmbedder(settings.cache / "models"),
        )
        binding = Binding(host, port, allow_remote, certificate, private_key)
        serve(config, binding, lambda url: typer.echo(f"{url} serves {settings.place} (Ctrl-C stops it)"))
    except (ConfigurationError, PolicyError) as error:
        raise UsageError(str(error)) from error
