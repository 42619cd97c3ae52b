"""Checkpoints, proofs, receipts and bindings as texts: what they hold, and everything that must be refused."""

from __future__ import annotations

import base64
import json

import pytest

from ledger_core.kernel import merkle
from ledger_core.kernel.errors import MerkleError, NoteError, SignatureError, StatementError
from ledger_core.kernel.statements import Scope
from ledger_core.signing import (
    Checkpoint,
    ConsistencyProof,
    InclusionProof,
    Leaf,
    SignedNote,
    SigningKey,
    bind_key,
    bound_keys,
    check_receipt,
    leaf_of,
    origin_of,
    sign_append,
)
from tests.ledger_core.story import SCOPE, open_memory, tell

KEY = SigningKey("veritas.test", b"\x07" * 32)
OTHER = SigningKey("veritas.test", b"\x08" * 32)
TRUSTED = [KEY.verifier]
ROOT = bytes(range(32))


@pytest.fixture(scope="module")
def leaves():
    ledger = open_memory()
    tell(ledger)
    return [leaf_of(event) for event in ledger.events()]


def signed(leaves, size, *, key=KEY, family="evidence", scope=SCOPE):
    root = merkle.root([leaf.hashed() for leaf in leaves[:size]])
    return key.sign(Checkpoint(origin_of(scope, family), size, root).text)


def inclusion(leaves, place, size, **changes):
    path = merkle.inclusion_proof([leaf.hashed() for leaf in leaves[:size]], place)
    values = {"leaf": leaves[place], "index": place, "path": path, "checkpoint": signed(leaves, size)}
    return InclusionProof(**values | changes)


def consistency(leaves, first, second, **changes):
    path = merkle.consistency_proof([leaf.hashed() for leaf in leaves[:second]], first)
    values = {"path": path, "older": signed(leaves, first), "newer": signed(leaves, second)}
    return ConsistencyProof(**values | changes)


class TestCheckpoint:
    def test_it_is_three_lines(self):
        checkpoint = Checkpoint("veritas/tests/story/evidence", 12, ROOT)
        assert checkpoint.text == f"veritas/tests/story/evidence\n12\n{base64.b64encode(ROOT).decode()}\n"
        assert Checkpoint.parse(checkpoint.text) == checkpoint
        assert checkpoint.subject == (SCOPE, "evidence")

    @pytest.mark.parametrize("origin", ["example.com/log", "veritas/a/b/other", "veritas/A/b/evidence", "veritas/a/b"])
    def test_another_programs_log_has_no_subject_of_ours(self, origin):
        assert Checkpoint(origin, 1, ROOT).subject is None

    @pytest.mark.parametrize("size", ["0", "00", "-1", "+1", " 1", "01", "1e3", "", "18446744073709551616", "१"])
    def test_a_size_is_a_decimal_from_1(self, size):
        with pytest.raises(NoteError):
            Checkpoint.parse(f"origin\n{size}\n{base64.b64encode(ROOT).decode()}\n")

    @pytest.mark.parametrize("root", ["", "AAAA", base64.b64encode(ROOT).decode()[:-1], "x" * 44])
    def test_a_root_has_32_bytes(self, root):
        with pytest.raises(NoteError):
            Checkpoint.parse(f"origin\n1\n{root}\n")

    def test_nothing_else_stands_under_the_signature(self):
        text = Checkpoint("origin", 1, ROOT).text
        for other in (f"{text}more\n", text.replace("\n", "\n\n", 1), text[:-1], ""):
            with pytest.raises(NoteError, match="three lines"):
                Checkpoint.parse(other)


class TestInclusion:
    def test_every_event_of_every_size(self, leaves):
        for size in range(1, len(leaves) + 1):
            for index in range(size):
                proof = InclusionProof.parse(inclusion(leaves, index, size).encode())
                assert proof.require(TRUSTED).size == size
                assert proof.leaf == leaves[index]

    def test_the_file_is_a_tlog_proof(self, leaves):
        lines = inclusion(leaves, 2, 5).encode().split("\n")
        assert lines[0] == "c2sp.org/tlog-proof@v1"
        assert json.loads(base64.b64decode(lines[1].removeprefix("extra "))) == leaves[2].model_dump()
        assert lines[2] == "index 2"
        assert lines[6:8] == ["", "veritas/tests/story/evidence"]

    def test_each_part_counts(self, leaves):
        wrong = [
            inclusion(leaves, 2, 5, index=3),
            inclusion(leaves, 2, 5, leaf=leaves[3]),
            inclusion(leaves, 2, 5, leaf=leaves[3], index=3),
            inclusion(leaves, 2, 5, path=()),
            inclusion(leaves, 2, 5, path=inclusion(leaves, 2, 5).path[::-1]),
            inclusion(leaves, 2, 5, checkpoint=signed(leaves, 6)),
        ]
        for proof in wrong:
            with pytest.raises(MerkleError):
                proof.require(TRUSTED)

    def test_the_checkpoint_must_be_signed_and_of_the_leafs_log(self, leaves):
        with pytest.raises(SignatureError):
            inclusion(leaves, 2, 5).require([OTHER.verifier])
        with pytest.raises(NoteError, match="not of the evidence log"):
            inclusion(leaves, 2, 5, checkpoint=signed(leaves, 5, family="control")).require(TRUSTED)

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("@v1", "@v2"),
            lambda text: text.replace("extra ", "other "),
            lambda text: text.replace("index 2", "index 02"),
            lambda text: text.replace("index 2", "index two"),
            lambda text: text.replace("\n\n", "\n" + "A" * 44 + "\n\n", 1).replace("A" * 44, "?" * 44),
            lambda text: text.split("\n\n", maxsplit=1)[0],
            lambda text: text.replace("extra ", "extra AAAA"),
            lambda text: text.replace("\n\n", "\n" + f"{base64.b64encode(ROOT).decode()}\n" * 65 + "\n", 1),
            lambda text: text.replace("\n5\n", "\n0\n"),
        ],
    )
    def test_what_is_no_proof_is_refused(self, leaves, change):
        with pytest.raises((NoteError, StatementError)):
            InclusionProof.parse(change(inclusion(leaves, 2, 5).encode()))


class TestConsistency:
    def test_every_pair_of_sizes(self, leaves):
        for second in range(1, len(leaves) + 1):
            for first in range(1, second + 1):
                proof = ConsistencyProof.parse(consistency(leaves, first, second).encode())
                older, newer = proof.require(TRUSTED)
                assert (older.size, newer.size) == (first, second)

    def test_another_history_of_the_same_size_is_noticed(self, leaves):
        forked = [*leaves[:3], leaves[5], *leaves[4:]]
        with pytest.raises(MerkleError):
            consistency(leaves, 4, 9, older=signed(forked, 4)).require(TRUSTED)
        with pytest.raises(MerkleError):
            consistency(leaves, 4, 9, newer=signed(forked, 9)).require(TRUSTED)

    def test_a_newer_checkpoint_never_comes_first(self, leaves):
        proof = consistency(leaves, 4, 9)
        with pytest.raises(MerkleError):
            ConsistencyProof(proof.path, proof.newer, proof.older).require(TRUSTED)

    def test_both_must_be_signed_and_of_one_log(self, leaves):
        for side in ("older", "newer"):
            size = 4 if side == "older" else 9
            with pytest.raises(SignatureError):
                consistency(leaves, 4, 9, **{side: signed(leaves, size, key=OTHER)}).require(TRUSTED)
            elsewhere = signed(leaves, size, scope=Scope.make(tenant_namespace="tests", project_namespace="other"))
            with pytest.raises(NoteError, match="two logs"):
                consistency(leaves, 4, 9, **{side: elsewhere}).require(TRUSTED)

    def test_what_is_no_proof_is_refused(self, leaves):
        text = consistency(leaves, 4, 9).encode()
        for other in ("", text.replace("@v1", "@v2"), text.rpartition("\n\n")[0], f"{text}\n\nmore\n"):
            with pytest.raises(NoteError):
                ConsistencyProof.parse(other)


class TestReceipt:
    def test_it_acknowledges_exactly_the_event(self):
        ledger = open_memory()
        tell(ledger)
        for family in ("control", "evidence"):
            for event in ledger.events(family):
                receipt = SignedNote.parse(sign_append(event, KEY).encode())
                leaf = check_receipt(receipt, TRUSTED)
                assert leaf == leaf_of(event)
                assert (leaf.event_id, leaf.index + 1, leaf.chain) == (event.event_id, event.offset, event.chain)

    def test_only_a_trusted_key_acknowledges(self, leaves):
        note = KEY.sign(f"veritas/append-receipt@v1\n{leaves[0].canonical_bytes().decode()}\n")
        assert check_receipt(note, TRUSTED) == leaves[0]
        with pytest.raises(SignatureError):
            check_receipt(note, [OTHER.verifier])

    def test_a_checkpoint_is_no_receipt_and_a_receipt_no_checkpoint(self, leaves):
        with pytest.raises(NoteError, match="two lines"):
            check_receipt(signed(leaves, 3), TRUSTED)
        with pytest.raises(NoteError):
            Checkpoint.parse(f"veritas/append-receipt@v1\n{leaves[0].canonical_bytes().decode()}\n")

    def test_a_leaf_has_one_spelling(self, leaves):
        spaced = json.dumps(leaves[0].model_dump())
        with pytest.raises(StatementError):
            check_receipt(KEY.sign(f"veritas/append-receipt@v1\n{spaced}\n"), TRUSTED)


class TestLeaf:
    def test_it_holds_what_the_log_says_of_an_event(self, leaves):
        leaf = leaves[4]
        assert list(Leaf.model_fields) == ["chain", "event_id", "family", "position", "receipt"]
        assert leaf.index == 4
        assert leaf.position.committed_offset == "5"
        assert leaf.hashed() == merkle.leaf_hash(leaf.canonical_bytes())


class TestBinding:
    def test_a_bound_key_is_read_back(self):
        first, second = bind_key(SCOPE, KEY.verifier), bind_key(SCOPE, OTHER.verifier)
        assert first.body.key_id == f"veritas.test.{KEY.verifier.key_id.hex()}"
        assert bind_key(SCOPE, KEY.verifier).event_id == first.event_id
        assert bound_keys([first, second]) == (KEY.verifier, OTHER.verifier)
        assert bound_keys([first], role="other") == ()

    def test_a_binding_under_another_id_binds_nothing(self):
        statement = bind_key(SCOPE, KEY.verifier)
        body = statement.body.model_copy(update={"public_key": OTHER.verifier.public_key.hex()})
        assert bound_keys([statement.model_copy(update={"body": body})]) == ()

    def test_a_foreign_name_cannot_be_bound(self):
        with pytest.raises(StatementError, match=r"example\.com/log"):
            bind_key(SCOPE, SigningKey("example.com/log", b"\x01" * 32).verifier)
