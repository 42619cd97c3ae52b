"""The policy record: closed, complete, and identified by its numbers alone."""

from __future__ import annotations

import hashlib
import json

import pytest

from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.policy import Policy, TierBases

NUMBERS = {
    "base_ppm": {
        "conjecture": 250_000,
        "derived": 500_000,
        "sealed_unverified": 700_000,
        "sealed_verified": 950_000,
    },
    "cosine_ppm": 920_000,
    "echo_containment_ppm": 500_000,
    "independence_recipe": "cluster-v1",
    "invalidation_threshold": 500_000_000,
    "jaccard_ppm": 700_000,
    "minimum_shingles": 50,
    "null_threshold_micro_nats": 250_000,
    "prior_failures": 2,
    "prior_successes": 2,
    "quorum": 2,
    "require_majority": False,
    "retracted_ppm": 50_000,
    "stale_after_seconds": None,
    "standing_required": False,
    "suffix_list_digest": "ab" * 32,
    "uncontrasted_cap_ppm": 500_000,
    "undeclared_context_ppm": 0,
    "version": 1,
}


def made(**changes: object) -> Policy:
    return Policy.make(**(NUMBERS | {"base_ppm": TierBases.make(**NUMBERS["base_ppm"])} | changes))


def test_its_bytes_are_the_numbers_in_canonical_order():
    assert made().canonical_bytes() == json.dumps(NUMBERS, separators=(",", ":")).encode()
    assert Policy.decode(made().canonical_bytes()) == made()


def test_its_digest_is_domain_separated():
    expected = hashlib.sha256(b"veritas-policy-v1\x00" + json.dumps(NUMBERS, separators=(",", ":")).encode())
    assert made().digest() == expected.hexdigest()


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - {"base_ppm", "version"}))
def test_every_number_is_part_of_the_identity(name):
    value = NUMBERS[name]
    other: object
    if isinstance(value, bool):
        other = not value
    elif isinstance(value, str):
        other = value[:-1] + "0"
    else:
        other = (value or 0) + 1
    assert made(**{name: other}).digest() != made().digest()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("quorum", 0),
        ("quorum", True),
        ("quorum", 2.0),
        ("cosine_ppm", 1_000_001),
        ("cosine_ppm", -1),
        ("invalidation_threshold", 1_000_000_001),
        ("require_majority", 0),
        ("standing_required", "false"),
        ("suffix_list_digest", "AB" * 32),
        ("version", 2),
        ("stale_after_seconds", -1),
        ("independence_recipe", "Cluster"),
        ("null_threshold_micro_nats", 2**53),
        ("tier", 1),
    ],
)
def test_inadmissible_numbers_are_refused_by_name(name, value):
    with pytest.raises(StatementError, match=name):
        made(**{name: value})


def test_a_number_inside_a_number_is_refused_by_its_whole_name():
    wrong = NUMBERS | {"base_ppm": NUMBERS["base_ppm"] | {"derived": -1}}
    with pytest.raises(StatementError, match=r"^base_ppm\.derived: .*\(got -1\)$"):
        Policy.decode(json.dumps(wrong).encode())
