"""The evidence contracts' vectors, version 1: every digest that their suites pin."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger_core.kernel import ostk
from ledger_core.kernel.canonical import encode, require
from ledger_core.kernel.digests import Prefix, body_hex, domain_hex, framed_hex
from ledger_core.kernel.errors import StrictProfileError
from tests.shared import shared_path

V1 = "vectors/evidence-contracts/v1"
DIGEST = "ab" * 32


def record(name: str, version: str = V1) -> Any:
    data = shared_path(f"{version}/{name}.jsonl").read_bytes()
    assert data.endswith(b"\n")
    value = require(data[:-1])
    assert encode(value) == data[:-1]
    return value


def suite() -> Any:
    return record("stage1-vector-suite")["artifacts"]


def key(seed: int) -> Ed25519PublicKey:
    """The public fixture keys; they sign test material only."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32).public_key()


def test_the_profile_and_its_manifest() -> None:
    pinned = record("stage1-vector-suite")["profile"]
    assert ostk.identity(Prefix.CANONICAL_PROFILE, record("canonical-profile")) == pinned["profile_digest"]
    assert pinned["profile_digest"] == "cf22991a86bfc560556c7d04efa4ee6b7b1ee0f49c919b257ea7b4f30f8e4a29"
    manifest = record("conformance-manifest")
    assert manifest["profile_digest"] == pinned["profile_digest"]
    assert ostk.identity(Prefix.TEST_VECTOR_MANIFEST, manifest) == pinned["vector_manifest_digest"]


def test_the_digest_vectors_of_the_manifest() -> None:
    vectors = record("conformance-manifest")["digest_vectors"]
    assert len(vectors) == 6
    for vector in vectors:
        if vector["formula"] == "domain_separated":
            found = domain_hex(Prefix(vector["domain"]), bytes.fromhex(vector["input_utf8_hex"]))
        elif vector["formula"] == "u64_be_length_framed":
            found = framed_hex(Prefix(vector["domain"]), map(bytes.fromhex, vector["parts_utf8_hex"]))
        else:
            assert (vector["formula"], vector["domain"]) == ("body_exact_length", "ostk-body-v1")
            found = body_hex(bytes.fromhex(vector["input_utf8_hex"]))
        assert found == vector["expected_sha256"], vector["id"]


def test_the_scalar_vectors_of_the_manifest() -> None:
    from ledger_core.kernel.text import check_decimal
    from ledger_core.kernel.timestamps import check_timestamp

    vectors = record("conformance-manifest")["scalar_vectors"]
    for name, check in (("decimal", check_decimal), ("timestamp", check_timestamp)):
        assert [check(value) for value in vectors[f"{name}_valid"]] == vectors[f"{name}_valid"]
        assert len(vectors[f"{name}_invalid"]) >= 6
        for value in vectors[f"{name}_invalid"]:
            with pytest.raises(StrictProfileError):
                check(value)


def test_the_registry_package_and_each_of_its_entries() -> None:
    package = record("genesis-registry-package")
    pinned = suite()["genesis_registry_package"]
    assert ostk.identity(Prefix.REGISTRY_PACKAGE, package) == pinned["package_digest"]
    assert pinned["package_digest"] == "5a931fd5551bec47f83adb019f3e794d1b6a759f4501e7ea26a83076d9518177"
    entries = [ostk.identity(Prefix.REGISTRY_ENTRY, entry) for entry in package["entries"]]
    assert entries == [row["entry_digest"] for row in package["manifest"]]
    assert len(entries) == pinned["entry_count"] == 20


def test_the_bootstrap_receipt_and_what_it_holds() -> None:
    receipt = record("bootstrap-receipt")
    statement = receipt["statement"]
    pinned = suite()["bootstrap_receipt"]
    assert ostk.identity(Prefix.BOOTSTRAP_RECEIPT, receipt) == pinned["receipt_digest"]
    assert ostk.identity(Prefix.BOOTSTRAP_STATEMENT, statement) == pinned["statement_id"]
    assert ostk.identity(Prefix.OSTK_LOG_EPOCH, statement["genesis_epoch"]) == pinned["epoch_id"]
    assert pinned["epoch_id"] == "d35655f3297e1c5eb4503443befb956f93dc5210b46cdc1a4d7d9f2746b8fab2"
    policy = ostk.identity(Prefix.BOOTSTRAP_SIGNER_POLICY, statement["signer_policy"])
    assert policy == statement["signer_policy_digest"]


def test_the_bootstrap_approvals_are_signatures_of_the_statement_id() -> None:
    receipt = record("bootstrap-receipt")
    signers = receipt["statement"]["signer_policy"]["signers"]
    assert [signer["public_key"] for signer in signers] == [key(seed).public_bytes_raw().hex() for seed in (1, 2, 3)]
    public = {signer["principal_id"]: bytes.fromhex(signer["public_key"]) for signer in signers}
    assert len(receipt["attestations"]) == receipt["statement"]["signer_policy"]["threshold"]
    for attestation in receipt["attestations"]:
        message = ostk.approval_message(Prefix.BOOTSTRAP_APPROVAL, attestation["statement_id"])
        assert message == b"ostk-bootstrap-approval-v1\x00" + bytes.fromhex(
            suite()["bootstrap_receipt"]["statement_id"]
        )
        verifier = Ed25519PublicKey.from_public_bytes(public[attestation["signer_principal_id"]])
        verifier.verify(bytes.fromhex(attestation["signature"]), message)
        with pytest.raises(InvalidSignature):
            verifier.verify(bytes.fromhex(attestation["signature"]), message[:-1] + b"\x00")


def test_the_control_event_its_shard_and_its_chain() -> None:
    event = record("bootstrap-control-event")
    position = event["append_position"]
    receipt = suite()["bootstrap_receipt"]
    assert ostk.identity(Prefix.ACCEPTED_EVENT, event["event"]) == event["accepted_event_id"]
    assert event["accepted_event_id"] == "ca530fad9338a7a35ce7aad78e016f53b88a21846d4a1f53fecdcb1cabbdabe0"

    partition = event["consistency_partition_key"]
    shard = ostk.partition_shard(
        epoch=position["epoch_id"],
        scope=event["event"]["scope"],
        family=partition["family"],
        key=partition["key_digest"],
        shard_count=16,
    )
    assert shard == position["shard"] == 5

    genesis = ostk.genesis_chain(receipt=receipt["receipt_digest"], epoch=position["epoch_id"], shard=shard)
    assert genesis == event["previous_chain_digest"]
    assert genesis == "a3ca801a63519f957a28d3bae6cd63f8c4edb3e3c851457323b511a8a7a2bce5"
    appended = ostk.append_chain(
        previous=genesis,
        epoch=position["epoch_id"],
        shard=shard,
        offset=int(position["committed_offset"]),
        event_id=event["accepted_event_id"],
    )
    assert appended == event["append_chain_digest"]
    assert appended == "b044f8700a078372645a37ff1329cc0eb4e2e0ffbd374b47fd10935f42920987"


def test_the_source_fact_its_representation_and_the_statement_about_it() -> None:
    fact, representation, statement = map(
        record, ("evidence-source-fact", "evidence-representation", "evidence-statement")
    )
    pinned = suite()
    fact_id = ostk.identity(Prefix.OSTK_SOURCE_FACT, fact)
    assert fact_id == pinned["source_fact"]["source_fact_id"] == representation["source_fact_id"]
    representation_key = ostk.identity(Prefix.OSTK_REPRESENTATION, representation)
    assert representation_key == pinned["representation"]["representation_key"] == statement["representation_key"]
    assert (statement["source_fact"], statement["representation"]) == (fact, representation)
    assert ostk.identity(Prefix.ACCEPTED_EVENT, statement) == pinned["evidence_statement"]["event_id"]
    assert hashlib.sha256(encode(statement)).hexdigest() == pinned["evidence_statement"]["raw_sha256"]


def test_the_shard_of_the_source_fact_and_its_genesis() -> None:
    pinned = suite()["bootstrap_receipt"]
    fact = record("evidence-source-fact")
    shard = ostk.partition_shard(
        epoch=pinned["epoch_id"],
        scope=fact["scope"],
        family="source_fact",
        key=suite()["source_fact"]["source_fact_id"],
        shard_count=16,
    )
    assert shard == pinned["source_fact_fixture_shard"] == 14
    genesis = ostk.genesis_chain(receipt=pinned["receipt_digest"], epoch=pinned["epoch_id"], shard=shard)
    assert genesis == pinned["source_fact_genesis_chain"]


def test_the_resource_uri() -> None:
    uri = ostk.resource_uri(record("resource-locator"))
    assert uri == suite()["resource_locator"]["resource_uri"]
    assert uri == record("evidence-source-fact")["canonical_resource_id"]


def test_resource_uris_of_another_form() -> None:
    folder = "vectors/evidence-contracts/v3/evidence-admission"
    locators = record("ingress-locators", folder)
    text = shared_path(f"{folder}/admitted-statement.jsonl").read_text()
    for locator in locators.values():
        assert f'"{ostk.resource_uri(locator)}"' in text


def test_the_genesis_activation() -> None:
    pinned = record("genesis-activation/vector-suite")
    statement, event, receipt, result = (
        record(f"genesis-activation/{name}")
        for name in ("activation-statement", "activation-event", "activation-receipt", "registry-test-result")
    )
    assert ostk.identity(Prefix.REGISTRY_ACTIVATION_STATEMENT, statement) == pinned["statement_id"]
    assert ostk.identity(Prefix.REGISTRY_ACTIVATION_RECEIPT, receipt) == pinned["activation_id"]
    assert ostk.identity(Prefix.REGISTRY_TEST_RESULT, result) == pinned["test_result_digest"]
    assert ostk.identity(Prefix.ACCEPTED_EVENT, event) == pinned["accepted_event_id"]
    assert ostk.identity(Prefix.REGISTRY_ACTIVATION_STREAM, event["scope"]) == pinned["consistency_key_digest"]
    policy = record("genesis-registry-package")["entries"][0]
    assert ostk.identity(Prefix.REGISTRY_ENTRY, policy) == pinned["activation_policy_digest"]


def test_the_activation_approvals_are_a_domain_of_their_own() -> None:
    approvals = record("genesis-activation/activation-approval-set")["approvals"]
    eligible = record("genesis-activation/activation-receipt")["eligible_approvals"]
    attested = [ostk.identity(Prefix.REGISTRY_ACTIVATION_APPROVAL, approval) for approval in approvals]
    assert attested == [row["attestation_id"] for row in eligible]
    for seed, approval in enumerate(approvals, start=1):
        signature = bytes.fromhex(approval["signature"])
        message = ostk.approval_message(Prefix.REGISTRY_ACTIVATION_SIGNATURE, approval["statement_id"])
        key(seed).verify(signature, message)
        with pytest.raises(InvalidSignature):  # a bootstrap signature cannot be replayed, nor this one there
            key(seed).verify(signature, ostk.approval_message(Prefix.BOOTSTRAP_APPROVAL, approval["statement_id"]))


@pytest.mark.parametrize(
    ("folder", "event", "pin"),
    [
        ("v2/successor-activation", "activation-event", "accepted_event_id"),
        ("v3/successor-generic", "activation-event", "generation_two_accepted_event_id"),
        ("v3/successor-generic", "rollback-event", "rollback_accepted_event_id"),
    ],
)
def test_later_contracts_keep_the_event_domain_and_the_stream(folder: str, event: str, pin: str) -> None:
    path = f"vectors/evidence-contracts/{folder}"
    pinned = record("vector-suite", path)
    accepted = record(event, path)
    assert ostk.identity(Prefix.ACCEPTED_EVENT, accepted) == pinned[pin]
    assert ostk.identity(Prefix.REGISTRY_ACTIVATION_STREAM, accepted["scope"]) == pinned["consistency_key_digest"]


def test_an_identity_moves_with_every_byte_and_every_domain() -> None:
    one = {"a": 1, "b": [True, "x"]}
    found = {ostk.identity(prefix, value) for prefix in Prefix for value in (one, {**one, "a": 2}, [one], {"b": 1})}
    assert len(found) == 4 * len(Prefix)
    assert ostk.identity(Prefix.ACCEPTED_EVENT, {"b": [True, "x"], "a": 1}) == ostk.identity(Prefix.ACCEPTED_EVENT, one)


def test_every_part_of_a_chain_counts() -> None:
    base = {"previous": DIGEST, "epoch": DIGEST, "shard": 1, "offset": 1, "event_id": DIGEST}
    others = {"previous": "cd" * 32, "epoch": "cd" * 32, "shard": 2, "offset": 2, "event_id": "cd" * 32}
    found = {ostk.append_chain(**base)} | {ostk.append_chain(**{**base, name: value}) for name, value in others.items()}
    assert len(found) == 6
    genesis = {"receipt": DIGEST, "epoch": DIGEST, "shard": 1}
    moved = {"receipt": "cd" * 32, "epoch": "cd" * 32, "shard": 256}
    found = {ostk.genesis_chain(**genesis)} | {ostk.genesis_chain(**{**genesis, n: v}) for n, v in moved.items()}
    assert len(found) == 4


def test_shards_are_spread_over_the_whole_count() -> None:
    scope = {"project_namespace": "project.fixture", "tenant_namespace": "tenant.fixture"}
    shards = {
        ostk.partition_shard(epoch=DIGEST, scope=scope, family="f", key=f"{number:064x}", shard_count=16)
        for number in range(200)
    }
    assert shards == set(range(16))
    assert ostk.partition_shard(epoch=DIGEST, scope=scope, family="f", key=DIGEST, shard_count=1) == 0
    assert ostk.partition_shard(epoch=DIGEST, scope=scope, family="f", key=DIGEST, shard_count=65_536) < 65_536


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ostk.genesis_chain(receipt="ab" * 31, epoch=DIGEST, shard=0), "^receipt digest 'abab"),
        (
            lambda: ostk.genesis_chain(receipt=DIGEST, epoch=DIGEST.upper(), shard=0),
            f"^epoch id '{DIGEST.upper()}' is no digest",
        ),
        (lambda: ostk.genesis_chain(receipt=DIGEST, epoch=DIGEST, shard=65_536), "shard 65536 does not fit"),
        (lambda: ostk.genesis_chain(receipt=DIGEST, epoch=DIGEST, shard=-1), "shard -1 does not fit"),
        (
            lambda: ostk.append_chain(previous=DIGEST, epoch=DIGEST, shard=0, offset=0, event_id=DIGEST),
            "offsets count from 1",
        ),
        (lambda: ostk.append_chain(previous=DIGEST, epoch="x", shard=0, offset=1, event_id=DIGEST), "^epoch id 'x'"),
        (lambda: ostk.append_chain(previous=DIGEST, epoch=DIGEST, shard=0, offset=1, event_id=""), "^event id ''"),
        (
            lambda: ostk.append_chain(previous="x" * 81, epoch=DIGEST, shard=0, offset=1, event_id=DIGEST),
            f"^previous chain digest '{'x' * 80}' is no digest",
        ),
        (
            lambda: ostk.partition_shard(epoch="", scope={}, family="f", key=DIGEST, shard_count=1),
            "^epoch id ''",
        ),
        (
            lambda: ostk.partition_shard(epoch=DIGEST, scope={}, family="f", key="k", shard_count=1),
            "^key digest 'k'",
        ),
        (
            lambda: ostk.partition_shard(epoch=DIGEST, scope={}, family="f", key=DIGEST, shard_count=65_537),
            "shard count 65537 lies outside 1 to 65536",
        ),
        (
            lambda: ostk.partition_shard(epoch=DIGEST, scope={}, family="f", key=DIGEST, shard_count=0),
            "shard count 0",
        ),
        (
            lambda: ostk.partition_shard(epoch=DIGEST, scope={}, family="F!", key=DIGEST, shard_count=1),
            "family 'F!' is no contract id",
        ),
        (lambda: ostk.approval_message(Prefix.BOOTSTRAP_APPROVAL, DIGEST + "\n"), "^statement id '"),
        (lambda: ostk.identity(Prefix.ACCEPTED_EVENT, {"a": 1.0}), "type float"),
    ],
)
def test_malformed_parts_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(StrictProfileError, match=message):
        call()


def locator(**changes: object) -> dict[str, object]:
    component = {"encoding": "decimal", "key": "id", "value": "12345"}
    return {"components": [component], "identity_form": "entity", "resource_kind": "repository", **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"components": []}, "no list of components"),
        ({"components": "ab"}, "components 'ab' of a locator are no list of components"),
        ({"components": ["x"]}, "component 'x' of a locator is no object"),
        (
            {"components": [{"encoding": "decimal", "key": "id", "value": "012345"}]},
            "decimal '012345' is not canonical",
        ),
        ({"components": [{"encoding": "hex_bytes", "key": "id", "value": "ABCD"}]}, "no run of lower-case hexadecimal"),
        ({"components": [{"encoding": "hex_bytes", "key": "id", "value": "abc"}]}, "no run of lower-case hexadecimal"),
        ({"components": [{"encoding": "nfc_utf8", "key": "id", "value": "e\u0301"}]}, "not NFC"),
        ({"components": [{"encoding": "base64", "key": "id", "value": "x"}]}, "decimal, hex_bytes, nfc_utf8"),
        ({"components": [{"encoding": "decimal", "key": "id", "value": 1}]}, "needs a string value"),
        ({"identity_form": "thing"}, "is no resource URI"),
        ({"resource_kind": "Repository"}, "is no resource URI"),
        ({"resource_kind": None}, "is no resource URI"),
    ],
)
def test_malformed_locators_are_refused(changes: dict[str, object], message: str) -> None:
    assert ostk.resource_uri(locator()).startswith("urn:ostk:entity:v1:repository:sha256:")
    with pytest.raises(StrictProfileError, match=message):
        ostk.resource_uri(locator(**changes))


def test_a_resource_uri_is_returned_itself() -> None:
    uri = f"urn:ostk:version:v1:repository:sha256:{DIGEST}"
    assert ostk.check_resource_uri(uri) is uri


@pytest.mark.parametrize(
    "uri",
    [
        f"urn:ostk:entity:v1:repository:sha256:{DIGEST.upper()}",
        f"urn:ostk:entity:v2:repository:sha256:{DIGEST}",
        f"urn:ostk:entity:repository:sha256:{DIGEST}",
        f"URN:ostk:entity:v1:repository:sha256:{DIGEST}",
        f"urn:ostk:entity:v1:repository:sha256:{DIGEST[:-1]}",
        f"urn:ostk:entity:v1:repository:sha256:{DIGEST}\n",
    ],
)
def test_other_shapes_are_no_resource_uri(uri: str) -> None:
    with pytest.raises(StrictProfileError, match="is no resource URI"):
        ostk.check_resource_uri(uri)
