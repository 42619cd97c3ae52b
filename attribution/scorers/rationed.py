"""A connection that asks only so often: what is asked of a server may cost money."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from attribution.errors import BudgetError
from ledger_core.providers.openai_connection import AnswerT, OpenAiConnection, Streamed

if TYPE_CHECKING:
    from openai import OpenAI


class RationedConnection(OpenAiConnection):
    """An :class:`OpenAiConnection` of at most ``max_requests`` requests; what the connection retries itself counts once.

    Args:
        base_url: as there.
        api_key: as there.
        max_requests: of its whole life.
        options: the connection's own.
    """

    def __init__(self, base_url: str, api_key: str, *, max_requests: int, **options: Any) -> None:
        super().__init__(base_url, api_key, **options)
        self._granted = max_requests
        self.asked = 0
        """Requests so far."""

    def ask(self, send: Callable[[OpenAI], AbstractContextManager[Streamed]], form: type[AnswerT]) -> AnswerT:
        """As there.

        Raises:
            BudgetError: one request too many; it is not sent.
            ProviderError: as there.
        """
        if self.asked >= self._granted:
            raise BudgetError(
                f"the {self.asked} requests to {self.base_url} that were granted are made, and more are needed; grant more, or "
                "ask about fewer sources or one span"
            )
        self.asked += 1
        return super().ask(send, form)
