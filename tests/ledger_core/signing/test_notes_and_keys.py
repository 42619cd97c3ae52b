"""Signed notes and keys: the published note of Go's checksum database tools, and everything that must be refused."""

from __future__ import annotations

import base64
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel.errors import NoteError, SignatureError, SigningKeyError
from ledger_core.signing.keys import SigningKey, VerifierKey, load_key, open_key
from ledger_core.signing.notes import MAX_SIGNATURES, SignedNote

# The example of golang.org/x/mod/sumdb/note: key, text and signature as published there.
VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNATURE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
SEED = bytes(range(32))


def key(number=0, name="veritas.test"):
    return SigningKey(name, bytes([number]) * 32)


def test_the_published_note_verifies_and_is_written_to_the_byte(tmp_path):
    note = SignedNote.parse(f"{TEXT}\n{SIGNATURE}")
    published = VerifierKey.parse(VERIFIER)
    assert note.text == TEXT
    assert note.require([published]) == (published,)
    file = tmp_path / "key"
    file.write_text(SIGNER + "\n")
    file.chmod(0o600)
    signer = load_key(file)
    assert str(signer.verifier) == VERIFIER
    assert signer.sign(TEXT).encode() == f"{TEXT}\n{SIGNATURE}"


def test_the_key_id_tells_names_and_keys_apart():
    ids = {each.verifier.key_id for each in (key(0), key(1), key(0, "other"))}
    assert len(ids) == 3
    assert all(len(each) == 4 for each in ids)


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=40).map(lambda text: f"{text}\n"))
def test_what_is_signed_parses_back_and_verifies(text):
    note = key().sign(text)
    assert SignedNote.parse(note.encode()) == note
    assert note.require([key(1).verifier, key().verifier]) == (key().verifier,)


def test_a_text_may_hold_empty_lines():
    note = key().sign("one\n\ntwo\n")
    assert SignedNote.parse(note.encode()).text == "one\n\ntwo\n"


@pytest.mark.parametrize("position", range(len("one\ntwo\n")))
def test_every_changed_character_of_the_text_is_noticed(position):
    note = key().sign("one\ntwo\n")
    changed = note.text[:position] + "x" + note.text[position + 1 :]
    with pytest.raises(SignatureError, match="does not verify"):
        SignedNote(changed, note.signatures).require([key().verifier])


def test_another_key_of_the_same_name_is_not_trusted():
    with pytest.raises(SignatureError, match="no trusted key signed"):
        key(0).sign("text\n").require([key(1).verifier])
    with pytest.raises(SignatureError, match="trusted are none"):
        key(0).sign("text\n").require([])


def test_one_bad_signature_of_a_trusted_key_spoils_the_note():
    good, other = key(0).sign("text\n"), key(1).sign("another text\n")
    both = SignedNote("text\n", good.signatures + other.signatures)
    with pytest.raises(SignatureError):
        both.require([key(0).verifier, key(1).verifier])
    assert both.require([key(0).verifier]) == (key(0).verifier,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text\n",
        "text\n\n",
        "text\n\n— name\n",
        "text\n\n- name AAAAAAAA\n",
        "text\n\n— name AAAA\n",
        "text\n\n— name AAAAAAA\n",
        "text\n\n— name AAAAAAAB=\n",
        "text\n\n— na+me AAAAAAAA\n",
        "text\n\n—  AAAAAAAA\n",
        "text\n\n— name AAAAAAAA",
        "te\txt\n\n— name AAAAAAAA\n",
        "text\r\n\n— name AAAAAAAA\n",
        "\n— name AAAAAAAA\n",
        "text\n\n" + "— name AAAAAAAA\n" * (MAX_SIGNATURES + 1),
    ],
)
def test_what_is_no_note_is_refused(text):
    with pytest.raises(NoteError):
        SignedNote.parse(text)


def test_sixteen_signatures_are_read():
    assert len(SignedNote.parse("text\n\n" + "— name AAAAAAAA\n" * MAX_SIGNATURES).signatures) == MAX_SIGNATURES


@pytest.mark.parametrize(
    "text",
    [
        VERIFIER.replace("c74f20a3", "c74f20a4"),
        VERIFIER.replace("+ARpc", "+AhPc"),
        VERIFIER.replace("+ARpc", "+ARpd"),
        VERIFIER.replace("PeterNeumann", "Peter Neumann"),
        VERIFIER + " ",
        "name+00000000+AAAA",
        "",
    ],
)
def test_a_damaged_verifier_key_is_refused(text):
    with pytest.raises(NoteError):
        VerifierKey.parse(text)


def test_only_text_that_a_note_can_hold_is_signed():
    for text in ("no newline", "tab\t\n"):
        with pytest.raises(NoteError):
            key().sign(text)


def test_a_key_file_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "keys" / "checkpoint.key"
    made = open_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert open_key(path).verifier == made.verifier
    assert [each.name for each in path.parent.iterdir()] == ["checkpoint.key"]
    with pytest.raises(SigningKeyError, match="never overwritten"):
        key().save(path)
    assert load_key(path).verifier == made.verifier
    path.chmod(0o640)
    with pytest.raises(SigningKeyError, match=r"mode 640.*chmod 600"):
        load_key(path)


def test_of_two_processes_that_make_the_key_at_once_the_first_one_stands(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.key"
    first, generate = SigningKey.generate(), SigningKey.generate

    def beaten(name):
        first.save(path)
        return generate(name)

    monkeypatch.setattr(SigningKey, "generate", beaten)
    assert open_key(path).verifier == first.verifier


def test_two_new_keys_are_two_keys():
    assert SigningKey.generate().verifier != SigningKey.generate().verifier


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+x\n", SIGNER.replace("c74f20a3", "c74f20a4"), SIGNER[:-1], VERIFIER])
def test_what_is_no_key_is_refused(tmp_path, text):
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(SigningKeyError, match=str(path)):
        load_key(path)


def test_a_missing_key_says_how_to_make_one(tmp_path):
    with pytest.raises(SigningKeyError, match="veritas checkpoint"):
        load_key(tmp_path / "none")


def test_a_private_key_does_not_show_itself():
    made = SigningKey("veritas.test", SEED)
    for shown in (repr(made), str(made), str(made.verifier)):
        assert SEED.hex() not in shown
        assert base64.b64encode(SEED).decode() not in shown
