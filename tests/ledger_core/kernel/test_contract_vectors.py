"""The evidence contracts' vectors of every version: what a suite pins is the identity of a record that lies beside it.

Files are found by what they are called, so that vectors that nobody has looked at yet are held to the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger_core.kernel import ostk
from ledger_core.kernel.canonical import require
from ledger_core.kernel.digests import Prefix
from tests.shared import shared_path

ROOT = "vectors/evidence-contracts"

KINDS: dict[str, tuple[Prefix, ...]] = {
    r"canonical-profile": (Prefix.CANONICAL_PROFILE,),
    r"conformance-manifest|(.+-)?(positive|negative)-(cases|vectors)(-v\d+)?|body-schema-slots.*": (
        Prefix.TEST_VECTOR_MANIFEST,
    ),
    r"(genesis-)?registry-package|generation-\d+-package": (Prefix.REGISTRY_PACKAGE,),
    r".+-entry|activation-policy-v\d+": (Prefix.REGISTRY_ENTRY,),
    r"(evidence-)?source-fact.*": (Prefix.OSTK_SOURCE_FACT, Prefix.OSTK_SOURCE_FACT_V2),
    r"(evidence-)?representation.*": (Prefix.OSTK_REPRESENTATION, Prefix.OSTK_REPRESENTATION_V2),
    r".*log-epoch.*": (Prefix.OSTK_LOG_EPOCH, Prefix.OSTK_LOG_EPOCH_V2),
    r"(evidence|admitted)-statement.*|.+-accepted-statement.*|(activation|rollback)-event|.+-attestation-event": (
        Prefix.ACCEPTED_EVENT,
    ),
    r"bootstrap-receipt": (Prefix.BOOTSTRAP_RECEIPT,),
    r"registry-test-result": (Prefix.REGISTRY_TEST_RESULT,),
    r"(activation|rollback|contested-rival)-statement": (
        Prefix.REGISTRY_ACTIVATION_STATEMENT,
        Prefix.SUCCESSOR_STATEMENT,
        Prefix.SUCCESSOR_STATEMENT_V2,
    ),
    r"(activation|rollback|contested-rival)-receipt": (
        Prefix.REGISTRY_ACTIVATION_RECEIPT,
        Prefix.SUCCESSOR_RECEIPT,
        Prefix.SUCCESSOR_RECEIPT_V2,
    ),
}
"""What a file is called -> the domains its identity may have, by version."""

APPROVALS = {
    "v1/genesis-activation": (Prefix.REGISTRY_ACTIVATION_APPROVAL, Prefix.REGISTRY_ACTIVATION_SIGNATURE),
    "v2/successor-activation": (Prefix.SUCCESSOR_APPROVAL, Prefix.SUCCESSOR_SIGNATURE),
    "v3/successor-generic": (Prefix.SUCCESSOR_APPROVAL_V2, Prefix.SUCCESSOR_SIGNATURE_V2),
}
"""Folder -> the domain of an approval and of what its signer signs."""


def is_single(name: str) -> bool:
    """A record of its own, not a suite and not a record that must be refused."""
    return "vector-suite" not in name and re.match(r"negative-(?!cases|vectors)", name) is None


def records(name: str) -> Iterator[tuple[Path, Any]]:
    """(file, value) of every positive record whose name, without ending, matches ``name`` in full."""
    for path in sorted(shared_path(ROOT).rglob("*.jsonl")):
        if is_single(path.name) and re.fullmatch(name, path.stem):
            yield path, require(path.read_bytes().removesuffix(b"\n"))


def suites(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*vector-suite*.jsonl")))


@pytest.mark.parametrize("name", KINDS, ids=lambda name: KINDS[name][0].name.lower())
def test_every_record_has_the_identity_that_its_suite_pins(name: str) -> None:
    found = [
        (path, [ostk.identity(prefix, value) in suites(path.parent) for prefix in KINDS[name]])
        for path, value in records(name)
    ]
    assert found
    assert [str(path) for path, pins in found if sum(pins) != 1] == []


def test_every_domain_of_a_second_version_occurs() -> None:
    used = set()
    for name, prefixes in KINDS.items():
        for path, value in records(name):
            used |= {prefix for prefix in prefixes if ostk.identity(prefix, value) in suites(path.parent)}
    every = {prefix for prefixes in KINDS.values() for prefix in prefixes}
    # The first epoch lies inside the bootstrap receipt, not in a file of its own.
    assert every - used == {Prefix.OSTK_LOG_EPOCH}


def pinned_files(value: Any) -> Iterator[tuple[str, str]]:
    """(path, SHA-256 of the file) wherever a suite states both, beside each other or under a common stem."""
    if isinstance(value, list):
        for inner in value:
            yield from pinned_files(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            stem = key.removesuffix("path")
            if key.endswith("path") and isinstance(value.get(f"{stem}raw_sha256"), str):
                yield inner, value[f"{stem}raw_sha256"]
            yield from pinned_files(inner)


def test_every_file_has_the_bytes_that_its_suite_pins() -> None:
    """The closing LF is outside every digest of version 1 and inside the file digests of the later ones."""
    compared = 0
    for suite in sorted(shared_path(ROOT).rglob("*vector-suite*.jsonl")):
        for line in suite.read_text(encoding="utf-8").splitlines():
            for name, digest in pinned_files(json.loads(line)):
                path = suite.parent / name
                if path.is_file():
                    data = path.read_bytes()
                    known = {hashlib.sha256(data).hexdigest(), hashlib.sha256(data.removesuffix(b"\n")).hexdigest()}
                    assert digest in known, path
                    compared += 1
    assert compared >= 40


@pytest.mark.parametrize("folder", APPROVALS)
def test_every_approval_is_pinned_and_signed_by_one_fixture_key_under_its_own_domain(folder: str) -> None:
    approval_prefix, signature_prefix = APPROVALS[folder]
    keys = [Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32).public_key() for seed in (1, 2, 3)]
    checked = 0
    for path in sorted(shared_path(f"{ROOT}/{folder}").glob("*activation-approval-set.jsonl")):
        beside = "".join(file.read_text(encoding="utf-8") for file in sorted(path.parent.glob("*.jsonl")))
        for approval in require(path.read_bytes().removesuffix(b"\n"))["approvals"]:
            assert ostk.identity(approval_prefix, approval) in beside
            signers = {
                prefix: [
                    number
                    for number, key in enumerate(keys, start=1)
                    if signs(key, approval["signature"], ostk.approval_message(prefix, approval["statement_id"]))
                ]
                for prefix in (Prefix.BOOTSTRAP_APPROVAL, *(signature for _, signature in APPROVALS.values()))
            }
            assert [prefix for prefix, found in signers.items() if found] == [signature_prefix]
            assert len(signers[signature_prefix]) == 1
            checked += 1
    assert checked >= 2


def signs(key: Any, signature: str, message: bytes) -> bool:
    try:
        key.verify(bytes.fromhex(signature), message)
    except InvalidSignature:
        return False
    return True


def test_what_an_admitted_statement_contains_is_pinned_with_it() -> None:
    """A statement holds its source fact and its representation: three identities, one record."""
    checked = 0
    for path, statement in records(r"(evidence|admitted)-statement.*"):
        # Version 1 names the key beside the record; both of its records lie in files of their own.
        second = statement["source_fact"]["schema_version"] == 2
        fact_prefix = Prefix.OSTK_SOURCE_FACT_V2 if second else Prefix.OSTK_SOURCE_FACT
        key_prefix = Prefix.OSTK_REPRESENTATION_V2 if second else Prefix.OSTK_REPRESENTATION
        fact_id = ostk.identity(fact_prefix, statement["source_fact"])
        key = ostk.identity(key_prefix, statement["representation"])
        assert statement["representation"]["source_fact_id"] == fact_id, path
        assert {fact_id, key} <= set(re.findall(r"[0-9a-f]{64}", suites(path.parent))), path
        checked += 1
    assert checked >= 3


def test_every_locator_has_the_resource_uri_that_a_fact_states() -> None:
    """Locators lie alone or several in a file; the facts beside them name what they locate."""
    checked = 0
    for path in sorted(shared_path(ROOT).rglob("*locator*.jsonl")):
        value = require(path.read_bytes().removesuffix(b"\n"))
        beside = "".join(file.read_text(encoding="utf-8") for file in path.parent.glob("*.jsonl") if file != path)
        for locator in [value] if "components" in value else value.values():
            assert ostk.resource_uri(locator) in beside, path
            checked += 1
    assert checked >= 3
