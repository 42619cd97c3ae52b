"""What a claim rests on: declared, presumed and measured weights, as sets of parents with one weight each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Edges = dict[tuple[str, ...], int]
"""Parents, sorted -> weight in ppm. Several parents count only together."""


@dataclass(frozen=True)
class Dependence:
    """What one claim rests on."""

    edges: Edges
    ungrounded: bool
    """A measurement in force found that its context does not support it at all."""


def dependence(
    claim: dict[str, Any],
    generation: dict[str, Any] | None,
    measurements: Mapping[str, dict[str, Any]],
    policy: dict[str, Any],
) -> Dependence:
    """The dependence of ``claim``; ``measurements`` are the live ones about it, by event id."""
    stated = dict(_stated(claim, generation, policy))
    force = list(_in_force(claim, generation, measurements))
    if not force:
        return Dependence(_strongest(((entry,), ppm) for entry, ppm in stated.items()), ungrounded=False)
    found = [edge for body, lowers in force for edge in _reweighed(stated, body, policy, lowers=lowers)]
    return Dependence(_strongest(iter(found)), any(body["claim_result"] == "ungrounded" for body, _ in force))


def _stated(
    claim: dict[str, Any], generation: dict[str, Any] | None, policy: dict[str, Any]
) -> Iterator[tuple[str, int]]:
    """Every entry of the recorded context as presumed, and every declared parent, the larger of the two."""
    presumed = policy["undeclared_context_ppm"]
    context = {region["entry"] for region in generation["context"]} - {None} if generation is not None else set()
    declared = {parent["entry"]: parent["ppm"] for parent in claim["parents"]}
    for entry in context | declared.keys():
        yield entry, max(presumed if entry in context else 0, declared.get(entry, 0))


def _in_force(
    claim: dict[str, Any], generation: dict[str, Any] | None, measurements: Mapping[str, dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Admitted measurements that no successor of at least their power replaces, each with whether it may lower."""
    power = {key: _power(body, claim, generation) for key, body in measurements.items()}
    for key, body in measurements.items():
        if power[key] and not any(
            power[other] >= power[key] and key in _ancestors(other, measurements) for other in measurements
        ):
            yield body, power[key] == 2  # noqa: PLR2004 - the power to lower


def _ancestors(key: str, measurements: Mapping[str, dict[str, Any]]) -> set[str]:
    found: set[str] = set()
    current = measurements[key]["predecessor"]
    while current in measurements and current not in found:
        found.add(current)
        current = measurements[current]["predecessor"]
    return found


def _power(measurement: dict[str, Any], claim: dict[str, Any], generation: dict[str, Any] | None) -> int:
    """0: counts for nothing; 1: may add and raise; 2: may lower too."""
    if generation is None or measurement["generation"] != claim["generation"]:
        return 0
    context = {region["entry"] for region in generation["context"]}
    if any(found["entry"] not in context for found in measurement["entries"]):
        return 0
    known = all(generation[name] is not None for name in ("prompt_tokens", "response_tokens", "weights_digest"))
    same = generation["weights_digest"] == measurement["scorer_weights_digest"]
    direct = generation["attestation"] == "boundary" and "proxy-scored" not in measurement["flags"]
    return 2 if known and same and direct else 1


def _reweighed(
    stated: Mapping[str, int], measurement: dict[str, Any], policy: dict[str, Any], *, lowers: bool
) -> Iterator[tuple[tuple[str, ...], int]]:
    """What one measurement makes of the stated weights."""
    uncontrasted = "uncontrasted" in measurement["flags"]
    cap = policy["uncontrasted_cap_ppm"] if uncontrasted else 10**6
    results = {found["entry"]: found for found in measurement["entries"]}
    for entry in stated.keys() | results.keys():
        weight, found = stated.get(entry, 0), results.get(entry)
        if found is not None and lowers:
            weight = min(weight, _left(found, weight, policy))
        if found is not None and found["ppm"] is not None:
            weight = max(weight, min(found["ppm"], cap))
        yield (entry,), weight
    for cut in measurement["cuts"]:
        yield tuple(sorted(cut["members"])), min(cut["ppm"], cap)


def _left(found: dict[str, Any], stated: int, policy: dict[str, Any]) -> int:
    """How much of a stated weight a measurement that may lower leaves."""
    if found["verdict"] == "null" and found["interval"] is not None:
        equivalent = found["interval"]["high"] <= policy["null_threshold_micro_nats"]
        return 0 if equivalent else stated
    return stated if found["ppm"] is None else int(found["ppm"])


def _strongest(edges: Iterator[tuple[tuple[str, ...], int]]) -> Edges:
    """One weight for every set of parents, none of weight 0."""
    found: Edges = {}
    for parents, ppm in edges:
        if ppm > found.get(parents, 0):
            found[parents] = ppm
    return found
