from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import merkle
from ledger_core.kernel.errors import MerkleError
from tests.shared import shared_path

LEAVES = tuple(merkle.leaf_hash(f"leaf {index}".encode()) for index in range(70))


def reference_root(leaves: tuple[bytes, ...]) -> bytes:
    """RFC 6962 §2.1 as it is written: recursion at the largest power of two."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    left, right = reference_root(leaves[:split]), reference_root(leaves[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def subtrees(size: int) -> list[tuple[int, int]]:
    """Every non-empty subtree of a tree of ``size`` leaves."""
    found = []
    for start in range(size):
        for end in range(start + 1, size + 1):
            width = 1
            while width < end - start:
                width *= 2
            if start % width == 0:
                found.append((start, end))
    return found


def test_hashes_are_those_of_rfc_6962() -> None:
    assert merkle.leaf_hash(b"").hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert merkle.node_hash(b"a" * 32, b"b" * 32) == hashlib.sha256(b"\x01" + b"a" * 32 + b"b" * 32).digest()
    assert merkle.EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_roots_of_small_trees() -> None:
    # The eight entries of the RFC 6962 test vectors that every implementation carries.
    entries = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
    leaves = [merkle.leaf_hash(bytes.fromhex(entry)) for entry in entries]
    assert [merkle.root(leaves[:size]).hex() for size in (1, 2, 3, 8)] == [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]


@pytest.mark.parametrize("size", range(1, len(LEAVES) + 1))
def test_the_root_is_that_of_the_recursive_definition(size: int) -> None:
    assert merkle.root(LEAVES[:size]) == reference_root(LEAVES[:size])


def test_every_inclusion_of_every_small_tree_is_proved_and_verified() -> None:
    for size in range(1, 34):
        leaves = LEAVES[:size]
        root = merkle.root(leaves)
        for index in range(size):
            proof = merkle.inclusion_proof(leaves, index)
            merkle.verify_inclusion(leaf=leaves[index], index=index, size=size, proof=proof, root=root)
            for other in range(size):
                if other != index:
                    with pytest.raises(MerkleError):
                        merkle.verify_inclusion(leaf=leaves[index], index=other, size=size, proof=proof, root=root)


def test_every_consistency_of_every_small_tree_is_proved_and_verified() -> None:
    for second in range(1, 34):
        root = merkle.root(LEAVES[:second])
        for first in range(1, second + 1):
            proof = merkle.consistency_proof(LEAVES[:second], first)
            first_root = merkle.root(LEAVES[:first])
            merkle.verify_consistency(first=first, second=second, first_root=first_root, second_root=root, proof=proof)
            rewritten = merkle.root((merkle.leaf_hash(b"rewritten"), *LEAVES[1:first]))
            with pytest.raises(MerkleError):
                merkle.verify_consistency(
                    first=first, second=second, first_root=rewritten, second_root=root, proof=proof
                )


def test_every_subtree_of_every_small_tree_is_proved_and_verified() -> None:
    for size in range(1, 20):
        root = merkle.root(LEAVES[:size])
        for start, end in subtrees(size):
            inner = merkle.root(LEAVES[start:end])
            proof = merkle.subtree_proof(LEAVES[:size], start, end)
            merkle.verify_subtree(start=start, end=end, size=size, subtree_root=inner, root=root, proof=proof)
            for index in range(start, end):
                merkle.verify_subtree_inclusion(
                    leaf=LEAVES[index],
                    index=index,
                    start=start,
                    end=end,
                    proof=merkle.inclusion_proof(LEAVES[start:end], index - start),
                    subtree_root=inner,
                )


@given(st.data())
def test_no_changed_proof_verifies(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, len(LEAVES)))
    first = data.draw(st.integers(1, size - 1))
    root, first_root = merkle.root(LEAVES[:size]), merkle.root(LEAVES[:first])
    proof = list(merkle.consistency_proof(LEAVES[:size], first))
    at = data.draw(st.integers(0, len(proof) - 1))
    bit = data.draw(st.integers(0, 255))
    changes: dict[str, Callable[[], list[bytes]]] = {
        "flip": lambda: [*proof[:at], _flip(proof[at], bit), *proof[at + 1 :]],
        "drop": lambda: [*proof[:at], *proof[at + 1 :]],
        "repeat": lambda: [*proof[: at + 1], *proof[at:]],
        "shorten": lambda: [*proof[:at], proof[at][:-1], *proof[at + 1 :]],
        "extend": lambda: [*proof, root],
    }
    changed = changes[data.draw(st.sampled_from(sorted(changes)))]()
    with pytest.raises(MerkleError):
        merkle.verify_consistency(first=first, second=size, first_root=first_root, second_root=root, proof=changed)


def _flip(value: bytes, bit: int) -> bytes:
    return (int.from_bytes(value, "big") ^ (1 << bit)).to_bytes(len(value), "big")


def test_the_boundary_between_two_hashes_cannot_be_moved() -> None:
    left, right = LEAVES[0], LEAVES[1]
    root = merkle.node_hash(left, right)
    with pytest.raises(MerkleError, match="leaf hash has 33 bytes instead of 32"):
        merkle.verify_inclusion(leaf=left + right[:1], index=0, size=2, proof=[right[1:]], root=root)
    with pytest.raises(MerkleError, match="proof element 0 has 33 bytes instead of 32"):
        merkle.verify_inclusion(leaf=right[1:] + b"x", index=1, size=2, proof=[left + right[:1]], root=root)
    with pytest.raises(MerkleError, match="subtree root has 31 bytes instead of 32"):
        merkle.verify_subtree(start=0, end=1, size=2, subtree_root=left[:31], root=root, proof=[right])


def test_trees_of_size_0_are_errors() -> None:
    root = merkle.root(LEAVES[:3])
    with pytest.raises(MerkleError, match="a tree of size 0 has no root"):
        merkle.root([])
    with pytest.raises(MerkleError, match="every tree extends the tree of size 0"):
        merkle.consistency_proof(LEAVES[:3], 0)
    for second in (0, 3):
        with pytest.raises(MerkleError, match="every tree extends the tree of size 0"):
            merkle.verify_consistency(first=0, second=second, first_root=merkle.EMPTY_ROOT, second_root=root, proof=[])
    with pytest.raises(MerkleError, match=r"no leaves \[0, 1\) in a tree of 0 leaves"):
        merkle.verify_inclusion(leaf=root, index=0, size=0, proof=[], root=root)
    with pytest.raises(MerkleError, match=r"no leaves \[0, 1\) in a tree of 0 leaves"):
        merkle.inclusion_proof([], 0)


@pytest.mark.parametrize(
    ("start", "end", "size", "message"),
    [
        (-1, 1, 3, r"leaves \[-1, 1\) are no range"),
        (2, 1, 3, r"leaves \[2, 1\) are no range"),
        (1, 3, 3, r"leaves \[1, 3\) are no subtree: 1 is no multiple of 2"),
        (4, 9, 9, "4 is no multiple of 8"),
        (3, 4, 3, r"no leaves \[3, 4\) in a tree of 3 leaves"),
        (0, 4, 3, r"no leaves \[0, 4\) in a tree of 3 leaves"),
        (0, 1, 2**64, "in a tree of 18446744073709551616 leaves"),
    ],
)
def test_what_is_no_subtree_is_refused(start: int, end: int, size: int, message: str) -> None:
    with pytest.raises(MerkleError, match=message):
        merkle.verify_subtree(start=start, end=end, size=size, subtree_root=LEAVES[0], root=LEAVES[0], proof=[])
    if size < 2**64:
        with pytest.raises(MerkleError, match=message):
            merkle.subtree_proof(LEAVES[:size], start, end)


def test_a_leaf_lies_in_a_subtree_only_if_that_is_one() -> None:
    root = merkle.root(LEAVES[1:3])
    proof = merkle.inclusion_proof(LEAVES[1:3], 0)
    with pytest.raises(MerkleError, match=r"leaves \[1, 3\) are no subtree: 1 is no multiple of 2"):
        merkle.verify_subtree_inclusion(leaf=LEAVES[1], index=1, start=1, end=3, proof=proof, subtree_root=root)


def test_the_largest_tree_has_proofs_of_sixty_four_hashes() -> None:
    root = leaf = LEAVES[0]
    for sibling in LEAVES[:64]:
        root = merkle.node_hash(root, sibling)
    merkle.verify_inclusion(leaf=leaf, index=0, size=2**64 - 1, proof=LEAVES[:64], root=root)
    with pytest.raises(MerkleError, match="has 63 hashes instead of 64"):
        merkle.verify_inclusion(leaf=leaf, index=0, size=2**64 - 1, proof=LEAVES[:63], root=root)


def test_the_empty_subtree_lies_in_every_tree_and_proves_nothing() -> None:
    assert merkle.subtree_proof(LEAVES[:5], 2, 2) == ()
    empty = merkle.EMPTY_ROOT
    merkle.verify_subtree(start=2, end=2, size=5, subtree_root=empty, root=LEAVES[0], proof=[])
    with pytest.raises(MerkleError, match="is not the hash of nothing"):
        merkle.verify_subtree(start=2, end=2, size=5, subtree_root=LEAVES[0], root=LEAVES[0], proof=[])
    with pytest.raises(MerkleError, match="proof of an empty subtree has 1 hashes instead of 0"):
        merkle.verify_subtree(start=2, end=2, size=5, subtree_root=empty, root=LEAVES[0], proof=[LEAVES[0]])


def test_messages_name_both_roots_and_both_lengths() -> None:
    root = merkle.root(LEAVES[:3])
    proof = merkle.inclusion_proof(LEAVES[:3], 0)
    with pytest.raises(MerkleError, match=rf"to root {root.hex()} of 3 leaves instead of {'00' * 32}"):
        merkle.verify_inclusion(leaf=LEAVES[0], index=0, size=3, proof=proof, root=bytes(32))
    with pytest.raises(MerkleError, match=r"proof of \[0, 1\) in 3 leaves has 1 hashes instead of 2"):
        merkle.verify_inclusion(leaf=LEAVES[0], index=0, size=3, proof=proof[:1], root=root)
    with pytest.raises(MerkleError, match=r"leaf 1 has 3 bytes instead of 32"):
        merkle.root([LEAVES[0], b"abc"])


def _decode(value: str | None) -> bytes:
    return base64.b64decode(value or "")


def _verify_inclusion(case: dict[str, object], proof: list[bytes]) -> None:
    merkle.verify_inclusion(
        leaf=_decode(case["leafHash"]),
        index=case["leafIdx"],
        size=case["treeSize"],
        proof=proof,
        root=_decode(case["root"]),
    )


def _verify_consistency(case: dict[str, object], proof: list[bytes]) -> None:
    merkle.verify_consistency(
        first=case["size1"],
        second=case["size2"],
        first_root=_decode(case["root1"]),
        second_root=_decode(case["root2"]),
        proof=proof,
    )


def _verify_subtree_inclusion(case: dict[str, object], proof: list[bytes]) -> None:
    merkle.verify_subtree_inclusion(
        leaf=_decode(case["leafHash"]),
        index=case["leafIdx"],
        start=case["start"],
        end=case["end"],
        proof=proof,
        subtree_root=_decode(case["root"]),
    )


def _verify_subtree_consistency(case: dict[str, object], proof: list[bytes]) -> None:
    merkle.verify_subtree(
        start=case["start"],
        end=case["end"],
        size=case["size"],
        subtree_root=_decode(case["root1"]),
        root=_decode(case["root2"]),
        proof=proof,
    )


@pytest.mark.parametrize(
    ("kind", "verify"),
    [
        ("inclusion", _verify_inclusion),
        ("consistency", _verify_consistency),
        ("subtreeinclusion", _verify_subtree_inclusion),
        ("subtreeconsistency", _verify_subtree_consistency),
    ],
)
def test_the_vectors_of_transparency_dev(kind: str, verify: Callable[[dict[str, object], list[bytes]], None]) -> None:
    files = sorted(shared_path(f"vectors/rfc6962/{kind}").rglob("*.json"))
    assert len(files) >= 50
    differing = [
        str(path) for path in files if _is_refused(path, verify) is not json.loads(path.read_text())["wantErr"]
    ]
    assert differing == []


def _is_refused(path: Path, verify: Callable[[dict[str, object], list[bytes]], None]) -> bool:
    case = json.loads(path.read_text())
    try:
        verify(case, [_decode(element) for element in case["proof"] or []])
    except MerkleError:
        return True
    return False
