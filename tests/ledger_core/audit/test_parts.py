"""The auditor's parts against ours: where both answer, they answer the same; what it leaves open it says."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.audit import canonical, notes, shapes, trees
from ledger_core.audit.hashing import body
from ledger_core.audit.origin import OriginError, SuffixList, cluster
from ledger_core.belief.origin import host_cluster, seal_cluster
from ledger_core.kernel import canonical as ours
from ledger_core.kernel import digests, merkle
from ledger_core.kernel.errors import CanonicalError, MerkleError, NoteError, SignatureError, StatementError
from ledger_core.kernel.statements import STATEMENT_TYPES, decode_statement
from ledger_core.signing import Checkpoint, InclusionProof, SignedNote, SigningKey, VerifierKey
from tests.golden.build import KEY, SIGNED
from tests.ledger_core.audit.reading import SUFFIXES
from tests.ledger_core.belief.test_origin import HOSTS
from tests.ledger_core.story import Story
from tests.shared import shared_path

RULES = sorted(SUFFIXES._plain | {f"x.{name}" for name in SUFFIXES._wild} | SUFFIXES._exceptions)
SEAL = {"attestation": "boundary", "reach": "external_read", "tool": "search", "origin_host": None}
UNJUDGED = {"ex\u00adample.com", "faß.de", "exam\u200dple.com", "xn--abc.example", "i❤.example"}
"""Hosts of the corpus that need IDNA's tables; all others are judged."""


def judged(host: str) -> str | None:
    try:
        return cluster({**SEAL, "origin_host": host}, SUFFIXES)
    except OriginError:
        return None


class TestOrigin:
    def test_every_host_of_the_corpus_is_judged_alike_or_said_to_be_open(self):
        answers = {host: judged(host) for host in HOSTS}
        assert {host: answer for host, answer in answers.items() if answer not in (None, HOSTS[host])} == {}
        assert {host for host, answer in answers.items() if answer is None} == UNJUDGED

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.from_regex(r"[a-z0-9_-]{1,6}", fullmatch=True), min_size=1, max_size=4), st.data())
    def test_any_plain_host(self, labels, data):
        host = ".".join([*labels, data.draw(st.sampled_from(RULES))])
        answer = judged(host)
        if answer is None:
            assert "xn--" in host
        else:
            assert answer == host_cluster(host)

    @settings(max_examples=200, deadline=None)
    @given(st.text(min_size=1, max_size=20))
    def test_any_text_at_all(self, host):
        answer = judged(host)
        assert answer is None or answer == host_cluster(host)

    @pytest.mark.parametrize(
        "changes", [{"reach": "local"}, {"attestation": "imported"}, {}, {"tool": "t" * 250, "reach": "local"}]
    )
    def test_tools_and_calls_without_a_host(self, changes):
        class Body:
            """As much of a seal's body as a cluster is read from."""

        sealed = Body()
        sealed.__dict__.update({**SEAL, **changes})
        assert cluster({**SEAL, **changes}, None) == seal_cluster(sealed)

    def test_the_list_is_the_policys(self):
        from ledger_core.belief.policies import SUFFIX_LIST_DIGEST

        assert SUFFIXES.digest == SUFFIX_LIST_DIGEST
        with pytest.raises(OriginError, match="--suffix-list"):
            cluster({**SEAL, "origin_host": "a.example"}, None)
        assert SuffixList(b"").registrable(["a", "b", "c"]) == "b.c"


class TestCanonical:
    def same(self, data: bytes) -> None:
        """Both read ``data`` or neither does; text beyond this Python's Unicode only ours can refuse."""
        try:
            theirs = canonical.load(data)
        except canonical.CanonicalError:
            with pytest.raises(CanonicalError):
                ours.require(data)
            return
        try:
            value = ours.require(data)
        except CanonicalError as error:
            refusal = str(error)
        else:
            assert value == theirs
            return
        assert "not NFC" in refusal or "values in one document" in refusal

    VALUES = st.recursive(
        st.none() | st.booleans() | st.integers(-(2**55), 2**55) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=12,
    )

    @settings(max_examples=150, deadline=None)
    @given(VALUES, st.booleans(), st.booleans(), st.booleans())
    def test_spellings_of_any_value(self, value, ascii_only, spaced, ordered):
        text = json.dumps(value, ensure_ascii=ascii_only, sort_keys=ordered, separators=None if spaced else (",", ":"))
        self.same(text.encode("utf-8", "surrogatepass"))
        try:
            self.same(canonical.dump(value))
        except canonical.CanonicalError:
            with pytest.raises(CanonicalError):
                ours.encode(value)

    def test_the_json_test_suite(self):
        folder = shared_path("vectors/json-parsing")
        files = sorted(folder.rglob("*.json"))
        assert len(files) > 140
        for file in files:
            self.same(file.read_bytes())

    @pytest.mark.parametrize(
        "text",
        [
            '{"a":1,"\\u0061":2}',
            "1.0",
            "-0",
            "[1,2 ]",
            '"\x7f"',
            '"\u212b"',
            '"\ue000"',
            "01",
            "NaN",
            "[" * 65 + "]" * 65,
        ],
    )
    def test_what_no_statement_spells(self, text):
        with pytest.raises(canonical.CanonicalError):
            canonical.load(text.encode())

    def test_digests(self):
        for data in (b"", b"x", bytes(1000)):
            assert body(data) == digests.body_hex(data)


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*path, key))


def changed(value, path, new):
    """A copy of ``value`` with another value at ``path``; ``...`` takes the member out."""
    if not path:
        return new
    copied = copy.deepcopy(value)
    at = copied
    for key in path[:-1]:
        at = at[key]
    if new is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return copied


class TestShapes:
    def test_every_kind_has_the_same_members(self):
        assert set(shapes.BODIES) == set(STATEMENT_TYPES)
        for kind, record in STATEMENT_TYPES.items():
            assert list(shapes.BODIES[kind]) == list(record.model_fields["body"].annotation.model_fields)
            assert set(shapes.statement_shape(kind)) == set(record.model_fields)

    @pytest.mark.parametrize("name", sorted(Story().named))
    def test_every_change_of_a_statement_is_refused_by_both_or_by_none(self, name):
        """Each member taken out, or replaced by a value of every other type: no shape is looser than the record."""
        statement = json.loads(Story().named[name].encoded)
        replacements = (..., None, True, 0, -1, 2**53, "", "x", "é" * 300, [], {}, {"x": 1}, "00" * 32)
        for path in places(statement):
            if not path:
                continue
            for new in replacements:
                self.both(canonical_bytes(changed(statement, path, new)))

    def both(self, data: bytes | None) -> None:
        if data is None:
            return
        value = canonical.load(data)
        try:
            list(shapes.fits(value, shapes.statement_shape(str(value.get("kind")))))
        except shapes.ShapeError:
            with pytest.raises(StatementError):
                decode_statement(data)
            return
        try:
            decode_statement(data)
        except StatementError as error:
            refusal = str(error)
        else:
            return
        # Relations between members are the rules' business, not a shape's.
        assert RELATIONS.search(refusal), refusal


def canonical_bytes(value) -> bytes | None:
    try:
        return canonical.dump(value)
    except canonical.CanonicalError:
        return None


RELATIONS = shapes.re.compile(
    "sorted|a unit names|both token bounds|runs backwards|tile|covers|names a generation|lineage|is empty|overlaps|ends at"
    "|has a weight|every member|at least one member|supports itself|names which|members of the pair|opens the scope|no token"
)


class TestTrees:
    LEAVES = tuple(trees.leaf_hash(bytes([number])) for number in range(20))

    def test_roots_at_every_size(self):
        roots = trees.roots_at(self.LEAVES, range(25))
        assert sorted(roots) == list(range(1, 21))
        for size, root in roots.items():
            assert root == merkle.root(self.LEAVES[:size])

    def test_every_proof_and_every_changed_proof(self):
        for size in range(1, 21):
            root = merkle.root(self.LEAVES[:size])
            for index in range(size):
                path = merkle.inclusion_proof(self.LEAVES[:size], index)
                trees.require_inclusion(self.LEAVES[index], index, size, path, root)
                self.refused(self.LEAVES[index], (index + 1) % size if size > 1 else 1, size, path, root)
                self.refused(self.LEAVES[index - 1], index, size, path, root, only=size > 1)
                self.refused(self.LEAVES[index], index, size, [*path, root], root)
                self.refused(self.LEAVES[index], index, size, path[:-1], root, only=bool(path))

    def refused(self, leaf, index, size, path, root, *, only=True):
        if only:
            with pytest.raises(trees.TreeError):
                trees.require_inclusion(leaf, index, size, path, root)
            with pytest.raises(MerkleError):
                merkle.verify_inclusion(leaf=leaf, index=index, size=size, proof=path, root=root)

    def test_every_consistency_and_every_changed_one(self):
        for second in range(1, 21):
            new = merkle.root(self.LEAVES[:second])
            for first in range(1, second + 1):
                old, path = merkle.root(self.LEAVES[:first]), merkle.consistency_proof(self.LEAVES[:second], first)
                trees.require_consistency(first, second, path, old, new)
                with pytest.raises(trees.TreeError):
                    trees.require_consistency(first, second, [*path, old], old, new)
                if first < second:
                    with pytest.raises(trees.TreeError):
                        trees.require_consistency(first, second, path, new, old)
                    with pytest.raises(trees.TreeError):
                        trees.require_consistency(second, first, path, new, old)

    def test_size_0(self):
        root = merkle.root(self.LEAVES)
        for ask in (
            lambda: trees.require_inclusion(self.LEAVES[0], 0, 0, [], root),
            lambda: trees.require_consistency(0, 3, [], root, root),
        ):
            with pytest.raises(trees.TreeError, match="size 0"):
                ask()


class TestNotes:
    def test_what_one_writes_the_other_reads(self):
        for path in sorted(SIGNED.iterdir()):
            read = notes.read_file(path.read_text(encoding="utf-8"))
            read.require([notes.verifier_key(str(KEY.verifier))])

    @pytest.mark.parametrize("path", sorted(SIGNED.iterdir()), ids=lambda path: path.name)
    def test_no_character_of_a_signed_file_is_free(self, path):
        """Every third one replaced: no other text is read, signed and proved."""
        text = path.read_text(encoding="utf-8")
        trusted = [notes.verifier_key(str(KEY.verifier))]
        for place in range(0, len(text), 3):
            other = text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]
            try:
                notes.read_file(other).require(trusted)
            except (notes.NoteError, trees.TreeError, ValueError):
                continue
            pytest.fail(f"character {place} ({text[place]!r}) may be changed unseen")

    @pytest.mark.parametrize(
        "text", ["", "x", "a\n\n", "veritas/append-receipt@v1\n", "c2sp.org/tlog-proof@v1\nindex 0\n\n"]
    )
    def test_what_is_none_of_them(self, text):
        with pytest.raises((notes.NoteError, IndexError)):
            notes.read_file(text)

    @given(st.integers(0, 255), st.integers(0, 67))
    @settings(max_examples=60, deadline=None)
    def test_a_signature_with_one_other_byte(self, byte, place):
        key = SigningKey("veritas.test", b"\x05" * 32)
        note = key.sign(Checkpoint("veritas/a/b/evidence", 3, bytes(32)).text)
        raw = bytearray(note.signatures[0].key_id + note.signatures[0].signature)
        raw[place] = byte
        changed_note = note.encode().replace(
            note.signatures[0].line().split(" ")[2], notes.base64.b64encode(raw).decode()
        )
        mine = self.verdict(lambda: SignedNote.parse(changed_note).require([key.verifier]))
        theirs = self.verdict(lambda: notes._note(changed_note).require([notes.verifier_key(str(key.verifier))]))
        assert mine == theirs == (bytes(raw) == note.signatures[0].key_id + note.signatures[0].signature)

    def verdict(self, ask) -> bool:
        try:
            ask()
        except (SignatureError, NoteError, notes.SignatureError, notes.NoteError):
            return False
        return True

    def test_keys(self):
        text = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
        read = notes.verifier_key(text)
        assert (read.name, read.key_id.hex(), read.public) == (
            "PeterNeumann",
            "c74f20a3",
            VerifierKey.parse(text).public_key,
        )
        with pytest.raises(notes.NoteError):
            notes.verifier_key(text.replace("c74f20a3", "c74f20a4"))

    def test_a_proof_names_its_own_index(self):
        text = (SIGNED / "event.tlog-proof").read_text(encoding="utf-8")
        assert InclusionProof.parse(text).index == 24
        with pytest.raises(notes.NoteError, match="not the place"):
            notes.read_file(text.replace("index 24", "index 23"))
