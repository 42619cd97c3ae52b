"""Options that say who scores a response: the model here, a server's log-probabilities, or a chat model's answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pipelines.agents import KEY_VARIABLE, URL_VARIABLE
from pipelines.errors import UsageError

if TYPE_CHECKING:
    from attribution.library import Completions, Regenerate
    from attribution.scorers.completions_scorer import Dialect

MODEL, COMPLETIONS, REGENERATE = "model", "completions", "regenerate"
DIALECTS = ("prompt-logprobs", "echo")

Scorer = Annotated[
    str | None,
    typer.Option(help="With --text: who scores: model, completions or regenerate; a key is read from OPENAI_API_KEY."),
]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="With --scorer: the server, up to its version. (env OPENAI_BASE_URL)")
]
ModelName = Annotated[str | None, typer.Option(help="With --scorer: the model as the server calls it.")]
ServerDtype = Annotated[
    str | None, typer.Option(help="With --scorer completions: arithmetic that the server was started with.")
]
ServerDialect = Annotated[
    str | None, typer.Option(help="With --scorer completions: prompt-logprobs (vLLM) or echo (SGLang, vLLM).")
]
Samples = Annotated[int | None, typer.Option(min=1, help="With --scorer regenerate: answers an ablation.")]
Value = Annotated[
    str | None, typer.Option(help="With --scorer regenerate: what an answer must name. Default: the claim's own value.")
]
MaxRequests = Annotated[int | None, typer.Option(min=1, help="With --scorer: send no more requests than this.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The options as given; None is left out."""

    scorer: str | None = None
    base_url: str | None = None
    model_name: str | None = None
    server_dtype: str | None = None
    dialect: str | None = None
    samples: int | None = None
    value: str | None = None
    max_requests: int | None = None

    def chosen(self) -> Completions | Regenerate | None:
        """The scorer that the options name, not yet asked; None for the model in this process.

        Raises:
            UsageError: an unknown scorer, an option that it has no use for or cannot do without, or no key or server.
        """
        kind = self.scorer or MODEL
        if kind not in (MODEL, COMPLETIONS, REGENERATE):
            raise UsageError(f"--scorer {kind!r} is unknown; choose {MODEL}, {COMPLETIONS} or {REGENERATE}")
        self._refuse(kind)
        if kind == MODEL:
            return None
        name = self._needed("--model-name", self.model_name, kind)
        connection = self._connection(kind)
        if kind == COMPLETIONS:
            from attribution.library import Completions

            dialect = self.dialect or DIALECTS[0]
            if dialect not in DIALECTS:
                raise UsageError(f"--dialect {dialect!r} is unknown; choose {' or '.join(DIALECTS)}")
            dtype = self._needed("--server-dtype", self.server_dtype, kind)
            return Completions(connection, name, dtype, cast("Dialect", dialect))
        from attribution.library import Regenerate
        from ledger_core.providers import OpenAiLlm

        samples = self.samples or 1
        # At temperature 0 several answers would be one.
        options: dict[str, Any] = {} if samples == 1 else {"temperature": 1.0, "seed": None}
        return Regenerate(OpenAiLlm(connection, name, **options), value=self.value, samples=samples)

    def _refuse(self, kind: str) -> None:
        """Options of another scorer."""
        used = {
            "--base-url": (self.base_url, (COMPLETIONS, REGENERATE)),
            "--model-name": (self.model_name, (COMPLETIONS, REGENERATE)),
            "--max-requests": (self.max_requests, (COMPLETIONS, REGENERATE)),
            "--server-dtype": (self.server_dtype, (COMPLETIONS,)),
            "--dialect": (self.dialect, (COMPLETIONS,)),
            "--samples": (self.samples, (REGENERATE,)),
            "--value": (self.value, (REGENERATE,)),
        }
        for option, (given, kinds) in used.items():
            if given is not None and kind not in kinds:
                raise UsageError(f"{option} is for --scorer {' or '.join(kinds)}; leave it out with {kind}")

    def _connection(self, kind: str) -> Any:
        from ledger_core.providers import OpenAiConnection

        url = self._needed("--base-url", self.base_url or os.environ.get(URL_VARIABLE), kind)
        key = os.environ.get(KEY_VARIABLE)
        if not key:
            raise UsageError(
                f"--scorer {kind} needs a key in {KEY_VARIABLE}; any word does for a server that asks for none"
            )
        if self.max_requests is None:
            return OpenAiConnection(url, key)
        from attribution.scorers.rationed import RationedConnection

        return RationedConnection(url, key, max_requests=self.max_requests)

    @staticmethod
    def _needed(option: str, given: str | None, kind: str) -> str:
        if not given:
            raise UsageError(f"--scorer {kind} needs {option}")
        return given
