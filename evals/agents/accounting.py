"""What asking a server came to: requests, tokens and, where the user gave prices, money."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evals.errors import AgentError
from ledger_core.kernel.errors import ProviderError
from ledger_core.providers import Completion, LlmProvider, Message, OpenAiConnection

_MILLION = Decimal(1_000_000)
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Prices:
    """What the user says a million tokens cost; nothing here knows any price."""

    prompt: Decimal
    completion: Decimal
    currency: str = "USD"

    def __post_init__(self) -> None:
        """Refuse what is no price.

        Raises:
            AgentError: a price that is negative or no number.
        """
        for name in ("prompt", "completion"):
            price = getattr(self, name)
            if not price.is_finite() or price < 0:
                raise AgentError(f"a price of {price} a million {name} tokens is none; pass a number of at least 0")

    def of(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """The cost of so many tokens, exactly."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / _MILLION


@dataclass(slots=True)
class Account:
    """Counts of one agent, in the order things happened."""

    prices: Prices | None = None
    answered: int = 0
    """Answers that a server gave now."""
    from_cache: int = 0
    """Answers that it had given before; they cost nothing again."""
    empty: int = 0
    """Of the answers given now, those without a word."""
    faults: Counter[str] = field(default_factory=Counter)
    """Kind of failure -> how often; each is an outcome of a trial."""
    retries: int = 0
    """Requests that were sent again."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0
    """Answers whose server did not say how many tokens they took; they are in no sum."""
    models: Counter[str] = field(default_factory=Counter)
    """Model that answered, as the server reports it: more than one name means that it changed under way."""

    def took(self, completion: Completion) -> None:
        """Count an answer that was given now."""
        self.answered += 1
        self.empty += not completion.text.strip()
        self.models[completion.model] += 1
        if completion.usage is None:
            self.unreported += 1
        else:
            self.prompt_tokens += completion.usage.prompt_tokens
            self.completion_tokens += completion.usage.completion_tokens

    @property
    def cost(self) -> Decimal | None:
        """What the reported tokens cost; None without prices, and without a single report."""
        if self.prices is None or (self.answered and self.unreported == self.answered):
            return None
        return self.prices.of(self.prompt_tokens, self.completion_tokens)

    def document(self) -> dict[str, object]:
        """The counts as JSON values; money as the exact decimal, in text."""
        return {
            "answered": self.answered,
            "from_cache": self.from_cache,
            "empty": self.empty,
            "faults": dict(sorted(self.faults.items())),
            "retries": self.retries,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "unreported": self.unreported,
            "models": dict(sorted(self.models.items())),
            "cost": None if self.cost is None else format(self.cost.normalize(), "f"),
            "currency": None if self.prices is None else self.prices.currency,
        }


class Pace:
    """Keeps below a server's limits of requests and tokens a minute, so that it need not refuse.

    A server that refuses all the same is waited for by the connection.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Wait by ``sleep`` against ``clock``, both in seconds.

        Raises:
            AgentError: a limit under which nothing would ever be asked.
        """
        for name, limit in (("requests", requests_per_minute), ("tokens", tokens_per_minute)):
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise AgentError(f"{limit} {name} a minute ask nothing; pass a number above 0, or none")
        self._requests, self._tokens = requests_per_minute, tokens_per_minute
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._spent: deque[tuple[float, int]] = deque()

    def wait(self) -> None:
        """Return when the next request may be sent."""
        now = self._clock()
        ready = max(now, self._next, self._tokens_ready(now))
        if ready > now:
            self._sleep(ready - now)
        if self._requests is not None:
            self._next = max(now, ready) + _MINUTE / self._requests

    def took(self, completion: Completion) -> None:
        """Count the tokens of an answer, where the server reports them."""
        if completion.usage is not None:
            self._spent.append((self._clock(), completion.usage.prompt_tokens + completion.usage.completion_tokens))

    def _tokens_ready(self, now: float) -> float:
        """When the tokens of the last minute are below the limit again."""
        while self._spent and self._spent[0][0] <= now - _MINUTE:
            self._spent.popleft()
        if self._tokens is None:
            return now
        total = sum(tokens for _, tokens in self._spent)
        for spent_at, tokens in self._spent:
            if total < self._tokens:
                break
            total -= tokens
            now = spent_at + _MINUTE
        return now


class AccountedLlm:
    """A language model whose requests are counted and kept below the limits that the user knows of."""

    def __init__(
        self, llm: LlmProvider, connection: OpenAiConnection, account: Account, pace: Pace | None = None
    ) -> None:
        """Ask ``llm``, whose ``connection`` tells of retries."""
        self.account = account
        self._llm, self._connection, self._pace = llm, connection, pace or Pace()

    @property
    def model(self) -> str:
        """See :attr:`LlmProvider.model`."""
        return self._llm.model

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> Completion:
        """See :meth:`LlmProvider.complete`."""
        self._pace.wait()
        before = self._connection.retries
        try:
            completion = self._llm.complete(messages, max_tokens=max_tokens)
        except ProviderError as error:
            self.account.faults[type(error).__name__] += 1
            raise
        finally:
            self.account.retries += self._connection.retries - before
        self._pace.took(completion)
        self.account.took(completion)
        return completion
