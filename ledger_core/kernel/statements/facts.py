"""Source-fact keys: which real-world fact each kind of statement reports, spelled one way only.

A record key is the source's own identifier, or else the digest of the record's canonical JSON and its ordinal among
equals: never a path or a file digest, so that a transcript that grew by three records adds exactly three.
"""

from __future__ import annotations

import hashlib

from ledger_core.kernel.errors import CanonicalError
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.text import check_text

_MAX_BYTES = 256
FIRST = "1"
_DIGEST_MARK = "sha256:"


def fact_text(value: str) -> str:
    """``value`` where it is admissible in a key, else its digest (foreign ids may hold anything)."""
    try:
        encoded = value.encode()
        if 0 < len(encoded) <= _MAX_BYTES and not value.startswith(_DIGEST_MARK):
            return check_text(value)
    except (CanonicalError, UnicodeEncodeError):
        pass
    return _DIGEST_MARK + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def _fact(namespace: str, record_key: str, *parts: str | int) -> SourceFact:
    key = fact_text("/".join(str(part) for part in parts))
    return SourceFact.make(key=key, namespace=namespace, object=fact_text(record_key), revision=FIRST)


def call_fact(
    namespace: str, record_key: str, step: int, call_id: str, record_pointer: str | None = None
) -> SourceFact:
    """A tool call's seal, or (same key, another kind) the observation minted from it or from one declared record."""
    place = str(step) if record_pointer is None else f"{step}@{hashlib.sha256(record_pointer.encode()).hexdigest()}"
    return _fact(namespace, record_key, place, call_id)


def message_fact(namespace: str, record_key: str, step: int) -> SourceFact:
    """A message that somebody gave, or a model call of a recorder: (recorder, record key, step)."""
    return _fact(namespace, record_key, step)


def claim_fact(namespace: str, generation: str, start: int, stop: int) -> SourceFact:
    """A claim: (generation, byte range)."""
    return _fact(namespace, generation, start, stop)


def measurement_fact(namespace: str, generation: str, claim: str, recipe: str, rows: str) -> SourceFact:
    """A measurement: (generation, claim, recipe digest, rows digest)."""
    return SourceFact.make(key=f"{claim}/{recipe}/{rows}", namespace=namespace, object=generation, revision=FIRST)


def verdict_fact(namespace: str, target: str, candidate: str, recipe: str) -> SourceFact:
    """A verdict: (target, candidate, recipe), which stops asking again until the answer suits."""
    return _fact(namespace, target, candidate, recipe)


def pair_fact(namespace: str, first: str, second: str) -> SourceFact:
    """An independence assessment of a pair: no recipe in the key, because a recorded pair is never re-judged."""
    return _fact(namespace, first, second)


def successor_fact(namespace: str, subject: str, predecessor: str | None) -> SourceFact:
    """An audit's, a policy's or a reversal's: (subject, predecessor)."""
    return _fact(namespace, subject, predecessor or "none")


def trial_fact(namespace: str, scenario: str, arm: str, agent: str, repeat: int) -> SourceFact:
    """A trial: (scenario, arm, agent, repeat)."""
    return _fact(namespace, scenario, arm, agent, repeat)


def receipt_fact(namespace: str, verdict: str, *subject: str) -> SourceFact:
    """A receipt: (verdict, what of its consequences it reports)."""
    return _fact(namespace, verdict, *subject)
