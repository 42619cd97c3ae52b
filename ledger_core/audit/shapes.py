"""Which members every kind of record has: closed shapes, as data.

A shape is a test of a single value, a set of words, a record (every key, no other), a list of one shape, or one of the
two wrappers :class:`Maybe` and :class:`Event`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

MILLION = 10**6
BILLION = 10**9
CONTROL_KINDS = {"ledger.genesis", "policy.activated", "criteria.registered", "key.bound"}
ENTRIES = ("entry.observed", "entry.given", "entry.derived", "entry.conjectured")
CLAIMS = ("entry.derived", "entry.conjectured")


@dataclass(frozen=True)
class Maybe:
    """Null, or of the shape."""

    shape: Any


@dataclass(frozen=True)
class Event:
    """The id of an earlier event of one of these kinds."""

    kinds: tuple[str, ...]


class ShapeError(ValueError):
    """A record that is not of its shape; the message names the place."""


def fits(value: Any, shape: Any, place: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Check ``value`` and yield its references: place, event id, admitted kinds; raises :class:`ShapeError`."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from fits(value, shape.shape, place)
    elif isinstance(shape, dict):
        yield from _record(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise ShapeError(f"{place} is no list")
        for element in value:
            yield from fits(element, shape[0], place)
    elif isinstance(shape, Event):
        if not _digest(value):
            raise ShapeError(f"{place} is no event id")
        yield place, value, shape.kinds
    elif not (_is_word(value, shape) if isinstance(shape, set) else shape(value)):
        raise ShapeError(f"{place} is {str(value)[:60]!r}")


def _record(value: Any, shape: dict[str, Any], place: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    if not isinstance(value, dict) or value.keys() != shape.keys():
        raise ShapeError(f"{place or 'the record'} has other members than {', '.join(shape)}")
    for name, inner in shape.items():
        yield from fits(value[name], inner, f"{place}.{name}" if place else name)


def _is_word(value: Any, words: set[Any]) -> bool:
    return any(type(word) is type(value) and word == value for word in words)


def _matches(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _number(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _text(most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value.encode("utf-8")) <= most


def _time(value: Any) -> bool:
    if (
        not isinstance(value, str)
        or re.fullmatch(r"[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{6}000Z", value) is None
    ):
        return False
    try:
        datetime.fromisoformat(value[:26])
    except ValueError:
        return False
    return True


_digest = _matches(r"[0-9a-f]{64}")
_id = _matches(r"[a-z][a-z0-9_.-]{0,127}")
_arm = _matches(r"[0-9a-z][0-9a-z_.-]{0,127}")
_family = _matches(r"\*|[a-z][a-z0-9_.-]{0,127}")
_offset = _matches(r"[1-9][0-9]{0,15}")
_any_pointer = _matches(r"(?:/(?:[^~/]|~[01])*)+")
_name, _fact = _text(256), _text(512)
_count, _nats = _number(0, 2**53 - 1), _number(1 - 2**53, 2**53 - 1)
_ppm, _parts = _number(0, MILLION), _number(0, BILLION)


def _pointer(value: Any) -> bool:
    return _fact(value) and _any_pointer(value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


SCOPE = {"project_namespace": _id, "tenant_namespace": _id}
CONTENT = {
    "algorithm": {"ostk-body-v1"},
    "byte_length": _count,
    "digest": _digest,
    "media_type": _name,
    "protection_domain_id": _id,
}
POSITION = {"committed_offset": _offset, "epoch_id": _digest, "shard": _number(0, 65535)}
RECEIPT = {
    "channel": {"service", "embedded", "import"},
    "context_head": Maybe(_digest),
    "delivery_id": Maybe(_name),
    "policy_head": Maybe(_digest),
    "principal_id": _id,
    "received_at": _time,
    "recorded_at": _time,
    "role": set("sealer recorder agent verifier attributor operator auditor admin evaluator".split()),
}
LEAF = {
    "chain": _digest,
    "event_id": _digest,
    "family": {"control", "evidence"},
    "position": POSITION,
    "receipt": _digest,
}
POLICY = {
    "base_ppm": {"conjecture": _ppm, "derived": _ppm, "sealed_unverified": _ppm, "sealed_verified": _ppm},
    "cosine_ppm": _ppm,
    "echo_containment_ppm": _ppm,
    "independence_recipe": _id,
    "invalidation_threshold": _parts,
    "jaccard_ppm": _ppm,
    "minimum_shingles": _count,
    "null_threshold_micro_nats": _nats,
    "prior_failures": _count,
    "prior_successes": _count,
    "quorum": _number(1, 2**53 - 1),
    "require_majority": _flag,
    "retracted_ppm": _ppm,
    "stale_after_seconds": Maybe(_count),
    "standing_required": _flag,
    "suffix_list_digest": _digest,
    "uncontrasted_cap_ppm": _ppm,
    "undeclared_context_ppm": _ppm,
    "version": {1},
}
_ATTESTATION = {"boundary", "imported"}
_CLAIM = {
    "content": CONTENT,
    "generation": Maybe(Event(("generation.recorded",))),
    "parents": [{"entry": Event(ENTRIES), "ppm": _ppm}],
    "span": Maybe({"start": _count, "stop": _count}),
}
_MEASURED = {
    "entry": Event(ENTRIES),
    "interval": Maybe({"high": _nats, "low": _nats}),
    "labels": [set("necessary redundant-with sufficient conjunct-with partial declared-kept".split())],
    "ppm": Maybe(_ppm),
    "verdict": {"edge", "null", "undetermined", "opposes"},
}
_REGION = {
    "entry": Maybe(Event(ENTRIES)),
    "token_start": Maybe(_count),
    "token_stop": Maybe(_count),
    "unit": Maybe(_count),
}
_VERDICT = Event(("verdict.filed",))
_ENTRY = Event(ENTRIES)

BODIES: dict[str, dict[str, Any]] = {
    "seal.minted": {
        "args": CONTENT,
        "attestation": _ATTESTATION,
        "determinism": {"deterministic", "nondeterministic", "unknown"},
        "effect": {"read_only", "mutating"},
        "origin_host": Maybe(_name),
        "outcome": {"ok", "error", "timeout"},
        "reach": {"external_read", "local"},
        "reacquisition": Maybe(
            {"procedure": {"tool_call", "http_get"}, "secret_refs": [_name], "tool_digest": Maybe(_digest)}
        ),
        "result": CONTENT,
        "runner": {"live", "simulated", "foreign"},
        "source_id": _name,
        "tool": _name,
    },
    "entry.observed": {
        "content": CONTENT,
        "predicate_family": _family,
        "record_pointer": Maybe(_pointer),
        "seal": Event(("seal.minted",)),
    },
    "entry.given": {"content": CONTENT, "role": {"system", "user"}},
    "entry.derived": _CLAIM,
    "entry.conjectured": _CLAIM,
    "generation.recorded": {
        "attestation": _ATTESTATION,
        "claims": [{"byte_start": _count, "byte_stop": _count, "form": {"sentence", "tool_call"}}],
        "context": [_REGION],
        "decoding": {"greedy", "sampled", "constrained", "unknown"},
        "model": _name,
        "policy": Maybe(_digest),
        "prompt_tokens": Maybe(CONTENT),
        "renderer": Maybe(_id),
        "response": CONTENT,
        "response_tokens": Maybe(CONTENT),
        "splitter": _id,
        "weights_digest": Maybe(_digest),
    },
    "edges.measured": {
        "claim": Event(CLAIMS),
        "claim_result": {"grounded", "ungrounded", "diffuse", "undetermined"},
        "cuts": [{"members": [_digest], "ppm": _ppm}],
        "entries": [_MEASURED],
        "flags": [set("proxy-scored uncalibrated uncontrasted provisional-floor windowed".split())],
        "gate": _id,
        "generation": Event(("generation.recorded",)),
        "predecessor": Maybe(Event(("edges.measured",))),
        "recipe": CONTENT,
        "rows_digest": _digest,
        "scorer_weights_digest": _digest,
        "total_effect": Maybe(_nats),
    },
    "verdict.filed": {
        "candidate": _ENTRY,
        "recipe": _id,
        "stage_a": Maybe(CONTENT),
        "stage_b": Maybe(CONTENT),
        "target": _ENTRY,
        "verdict": {"contradict", "support", "undecided"},
    },
    "independence.assessed": {
        "cosine_ppm": Maybe(_ppm),
        "echoes": [_digest],
        "first": _ENTRY,
        "jaccard_ppm": Maybe(_ppm),
        "recipe": _id,
        "result": {"dependent", "independent", "structured", "echo", "unknown"},
        "second": _ENTRY,
    },
    "cascade.fired": {
        "attenuated": [{"attenuation": _parts, "entry": _ENTRY}],
        "members": [_ENTRY],
        "target": _ENTRY,
        "verdict": _VERDICT,
    },
    "cascade.refused": {
        "eligible": _count,
        "largest_independent": _count,
        "reason": {"not_eligible", "too_few", "not_independent", "already_retracted", "outnumbered"},
        "target": _ENTRY,
        "verdict": _VERDICT,
    },
    "reputation.adjusted": {
        "cluster": _name,
        "failures": _count,
        "family": _family,
        "successes": _count,
        "target": _ENTRY,
    },
    "verdict.reversed": {
        "note": Maybe(CONTENT),
        "predecessor": Maybe(Event(("verdict.reversed",))),
        "reason": {"verifier_error", "source_corrected", "operator_decision", "erased"},
        "verdict": _VERDICT,
    },
    "replay.audited": {
        "observed": Maybe(CONTENT),
        "outcome": set("tampered mismatch stale unavailable not_comparable intact match".split()),
        "predecessor": Maybe(Event(("replay.audited",))),
        "seal": Event(("seal.minted",)),
    },
    "ledger.genesis": {
        "format_version": {1},
        "partition_seed": _digest,
        "policy_digest": _digest,
        "scope": SCOPE,
        "shard_count": _number(1, 65535),
    },
    "policy.activated": {"name": _id, "policy": POLICY, "predecessor": Maybe(Event(("policy.activated",)))},
    "criteria.registered": {"criteria": CONTENT, "n": _count, "name": _id},
    "key.bound": {"algorithm": {"ed25519"}, "key_id": _id, "public_key": _digest, "role": _id},
    "blob.erased": {
        "authority": _id,
        "content_digest": _digest,
        "reason": {"privacy", "retention", "secret", "legal"},
    },
    "trial.recorded": {
        "agent": _name,
        "answer": Maybe(CONTENT),
        "arm": _arm,
        "criteria": Event(("criteria.registered",)),
        "outcome": set("asserts_false asserts_true asserts_both third_value abstains unscored error".split()),
        "repeat": _count,
        "row": CONTENT,
        "scenario": _digest,
    },
}


def statement_shape(kind: str) -> dict[str, Any]:
    """The shape of a whole statement of ``kind``; raises :class:`ShapeError` for a kind that there is not."""
    if kind not in BODIES:
        raise ShapeError(f"kind {kind[:60]!r} is none of the {len(BODIES)}")
    return {
        "body": BODIES[kind],
        "erasure_scopes": [{"kind": {"source_fact", "privacy_subject", "record"}, "target_digest": _digest}],
        "kind": {kind},
        "observed_at": Maybe(_time),
        "occurred_at": Maybe(_time),
        "profile": {"ostk-canonical-json-v1"},
        "protection_domain_id": _id,
        "representation": {
            "config_digest": _digest,
            "lineage": {"event_id": Maybe(Event((kind,))), "relation": {"origin", "supersedes"}},
            "producer": _id,
            "producer_version": _name,
            "redaction_policy": {"none", "secrets-v1"},
        },
        "retention_class": {"standard"},
        "schema_version": {1},
        "scope": SCOPE,
        "source_fact": {"key": _fact, "namespace": _id, "object": _fact, "revision": _fact},
        "visibility_class": {"private"},
    }


def contents(value: Any) -> Iterator[dict[str, Any]]:
    """Every content reference inside a statement."""
    if isinstance(value, dict):
        if value.get("algorithm") == "ostk-body-v1":
            yield value
        else:
            for inner in value.values():
                yield from contents(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from contents(inner)
