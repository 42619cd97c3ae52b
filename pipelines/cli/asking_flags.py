"""Options that say how a server is asked: at what prices, how fast, how patiently."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from evals.agents.accounting import Prices
    from pipelines.agents import Asking, Chosen, ChosenVerifier

_PRICES = "PROMPT,COMPLETION[,CURRENCY]"
_PARTS = (2, 3)

Agent = Annotated[
    str,
    typer.Option(metavar="AGENT", help="Who answers: local, or openai:MODEL; its key is read from OPENAI_API_KEY."),
]
AgentUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="Base URL of the server, up to its version. (env OPENAI_BASE_URL)")
]
AgentPrices = Annotated[
    str | None,
    typer.Option(metavar=_PRICES, help="Prices of a million tokens, for the cost of the answers: 0.15,0.60,USD."),
]
Verifier = Annotated[
    str,
    typer.Option(metavar="VERIFIER", help="Who says what contradicts what: oracle (the scenarios), or openai:MODEL."),
]
VerifierUrl = Annotated[str | None, typer.Option(metavar="URL", help="As --agent-url, of the verifier's server.")]
VerifierPrices = Annotated[
    str | None, typer.Option(metavar=_PRICES, help="As --agent-prices, of the verifier's model.")
]
RequestsPerMinute = Annotated[float | None, typer.Option(help="Send servers no more requests a minute, all together.")]
TokensPerMinute = Annotated[
    float | None, typer.Option(help="Take no more tokens a minute, as far as servers report them.")
]
Attempts = Annotated[int | None, typer.Option(min=1, help="Send a request at most so often, the first time included.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds in which an answer has to be there.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What holds for every server that is asked."""

    requests_per_minute: float | None
    tokens_per_minute: float | None
    attempts: int | None
    timeout: float | None

    def asking(self, *places: tuple[str | None, str | None]) -> tuple[Asking, ...]:
        """How each server is asked, given its URL and its prices; all of them under one pace.

        Raises:
            UsageError: prices that are none.
            AgentError: a limit or a price that is none.
        """
        from evals.agents.accounting import Pace
        from pipelines.agents import Asking

        pace = Pace(requests_per_minute=self.requests_per_minute, tokens_per_minute=self.tokens_per_minute)
        return tuple(
            Asking(
                url=url,
                prices=None if prices is None else prices_of(prices),
                pace=pace,
                attempts=self.attempts,
                timeout_seconds=self.timeout,
            )
            for url, prices in places
        )


def prices_of(option: str) -> Prices:
    """The prices in ``PROMPT,COMPLETION[,CURRENCY]``, exactly as they are written.

    Raises:
        UsageError: not of that form.
        AgentError: a negative price.
    """
    from decimal import Decimal, InvalidOperation

    from evals.agents.accounting import Prices
    from pipelines.errors import UsageError

    parts = [part.strip() for part in option.split(",")]
    try:
        prompt, completion = map(Decimal, parts[:2])
    except (InvalidOperation, ValueError):
        parts = []
    if len(parts) not in _PARTS or not all(parts):
        raise UsageError(f"prices are {_PRICES} of a million tokens, such as 0.15,0.60,USD; got {option!r}")
    return Prices(prompt, completion, *parts[2:])


def chosen(
    agent: str,
    agent_at: tuple[str | None, str | None],
    verifier: str,
    verifier_at: tuple[str | None, str | None],
    limits: Limits,
    cache: Path,
) -> tuple[Chosen | None, ChosenVerifier | None]:
    """Who answers and who judges; None for the local model and for the oracle.

    Args:
        agent: as ``--agent``.
        agent_at: URL and prices of its server.
        verifier: as ``--verifier``.
        verifier_at: URL and prices of its server.
        limits: what holds for both.
        cache: folder of answers.

    Raises:
        UsageError: an agent or verifier that there is not, or an option about a server that is not asked.
        AgentError: a price or a limit that is none, or a model that no trial could name.
    """
    from pipelines.agents import LOCAL, ORACLE, chosen_agent, chosen_verifier
    from pipelines.errors import UsageError

    for (url, prices), who, is_own in (
        (agent_at, "agent", agent == LOCAL),
        (verifier_at, "verifier", verifier == ORACLE),
    ):
        if is_own and (url or prices):
            raise UsageError(
                f"--{who}-{'url' if url else 'prices'} is about a server; name its model with --{who} openai:MODEL"
            )
    if agent == LOCAL and verifier == ORACLE and any(value is not None for value in astuple(limits)):
        raise UsageError(
            "limits are about servers, and none is asked; name one with --agent or --verifier openai:MODEL"
        )
    of_agent, of_verifier = limits.asking(agent_at, verifier_at)
    return chosen_agent(agent, of_agent, cache), chosen_verifier(verifier, of_verifier)
