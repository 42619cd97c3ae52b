"""When a request is sent again, and how long to wait before.

Sent again is what the server refused for the moment (429, 502, 503, 504) and what never reached it. A `Retry-After`
header (RFC 9110 §10.2.3: seconds or a date) is obeyed up to a limit; without one the wait doubles, with jitter.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from ledger_core.kernel.errors import ProviderError

RETRIED_STATUSES = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently a request is tried."""

    attempts: int = 4
    """All of them, the first included; at least 1."""
    first_wait: float = 0.5
    """Seconds before the second attempt; doubled for each further one."""
    longest_wait: float = 30.0
    """Seconds: the most that is waited, whoever asks for it."""

    def __post_init__(self) -> None:
        """Refuse numbers under which no request would be sent; raises :class:`ProviderError`."""
        if self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise ProviderError(f"at least one attempt, and no negative wait; got {self}")

    def backoff(self, attempt: int, jitter: float) -> float:
        """Seconds to wait after failed attempt number ``attempt`` (from 1); ``jitter`` in [0, 1) takes up to half off."""
        doubled: float = self.first_wait * 2.0 ** min(attempt - 1, 63)
        return min(doubled, self.longest_wait) * (1 - jitter / 2)


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds that a `Retry-After` header asks to wait from ``now`` (seconds since the epoch); None where it says none."""
    if header is None:
        return None
    value = header.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
