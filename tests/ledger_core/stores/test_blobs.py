"""Blobs in files: encryption, keys that are destroyed, and what a crash or a backup does to them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import BlobError, StorageFullError, StoreError
from ledger_core.kernel.statements import facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import BlobErased, BlobErasedBody
from ledger_core.stores import BlobStatus, Ledger, Place
from ledger_core.stores.blobs import FileBlobStore
from ledger_core.stores.verify import verify
from tests.faults.steps import dies_at, in_child
from tests.ledger_core.stores.test_sqlite import note
from tests.ledger_core.story import NOW, SCOPE, SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME

SECRET = b"Anna's diagnosis, in full. " * 100
REF = content_ref(SECRET, TEXT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def blobs(folder: Path, keys: Path) -> FileBlobStore:
    store = FileBlobStore(folder, keys)
    store.put(SECRET)
    return store


def stored_file(folder: Path) -> Path:
    (path,) = folder.glob(f"??/{REF.digest}*")
    return path


def key_file(keys: Path) -> Path:
    (path,) = keys.glob(f"??/{REF.digest}.*")
    return path


def test_nothing_of_the_content_lies_on_disk(blobs, folder, keys):
    lying = b"".join(path.read_bytes() for root in (folder, keys) for path in root.rglob("*") if path.is_file())
    assert b"diagnosis" not in lying
    assert stored_file(folder).name == f"{REF.digest}.enc"
    assert blobs.read(REF) == SECRET
    assert stat.S_IMODE(key_file(keys).stat().st_mode) == 0o600
    assert key_file(keys).stat().st_size == 32


def test_each_object_has_a_key_and_a_nonce_of_its_own(folder, keys):
    store = FileBlobStore(folder, keys)
    store.put_all([b"one", b"two", b"three"])
    assert len({path.read_bytes() for path in keys.glob("*/*.*")}) == 3
    assert len({path.read_bytes()[16:44] for path in folder.glob("*/*.enc")}) == 3


@pytest.mark.invariant("EVID-08", "EVID-09")
def test_who_destroys_the_key_has_erased_every_copy(blobs, folder, keys, tmp_path):
    """Yesterday's backup of the blobs comes back: without the key it is noise, and the keys' own mark says why."""
    backup = tmp_path / "backup"
    shutil.copytree(folder, backup)
    secret = key_file(keys).read_bytes()
    blobs.erase(REF.digest)
    assert blobs.status(REF) is BlobStatus.ERASED
    assert not list(keys.glob(f"??/{REF.digest}*"))
    assert not [path for path in keys.rglob("*") if path.is_file() and secret in path.read_bytes()]
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)
    again = FileBlobStore(folder, keys)
    assert again.status(REF) is BlobStatus.ERASED
    for act in (lambda: again.read(REF), lambda: again.put(SECRET), lambda: again.put_stream([SECRET])):
        with pytest.raises(BlobError, match="erased on purpose"):
            act()


def test_erased_missing_and_corrupt_are_three_things(blobs, folder, keys):
    path, key = stored_file(folder), key_file(keys)
    sealed, secret = path.read_bytes(), key.read_bytes()
    for place in (0, 20, 40, 60, len(sealed) - 1):
        path.write_bytes(sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :])
        # A key id that nobody knows opens nothing: that key is missing.
        expected = BlobStatus.MISSING if 16 <= place < 32 else BlobStatus.CORRUPT
        assert blobs.status(REF) is expected, place
        with pytest.raises(BlobError, match=str(expected)):
            blobs.read(REF)
    for length in (0, 10, 59, len(sealed) - 1):
        path.write_bytes(sealed[:length])
        assert blobs.status(REF) is BlobStatus.CORRUPT, length
    path.write_bytes(sealed)
    key.write_bytes(bytes(32))
    assert blobs.status(REF) is BlobStatus.CORRUPT
    key.unlink()
    assert blobs.status(REF) is BlobStatus.MISSING
    with pytest.raises(BlobError, match="is missing: put the bytes first, or restore the blob \\(and its key"):
        blobs.read(REF)
    key.write_bytes(secret)
    assert blobs.read(REF) == SECRET
    path.unlink()
    assert blobs.status(REF) is BlobStatus.MISSING


def test_without_the_folder_of_keys_nothing_is_opened(blobs, folder):
    assert FileBlobStore(folder).status(REF) is BlobStatus.MISSING
    assert blobs.status(REF) is BlobStatus.PRESENT


def test_damaged_content_that_is_put_again_is_whole_again(blobs, folder, keys):
    stored_file(folder).write_bytes(b"x" * 100)
    assert FileBlobStore(folder, keys).put(SECRET) == REF.digest
    assert blobs.read(REF) == SECRET
    blobs.erase(REF.digest)
    assert not list(keys.glob(f"??/{REF.digest}*")), "the key of the damaged object goes too"


def test_what_lay_there_in_plain_stays_readable_and_is_erased_alike(folder, keys):
    FileBlobStore(folder).put(SECRET)
    store = FileBlobStore(folder, keys)
    assert store.put(SECRET) == REF.digest
    assert stored_file(folder).name == REF.digest
    assert store.read(REF) == SECRET
    store.erase(REF.digest)
    assert not list(folder.glob(f"??/{REF.digest}*"))
    assert store.status(REF) is BlobStatus.ERASED


def test_an_erasure_while_the_same_bytes_are_put_wins(folder, keys, monkeypatch):
    store, rival = FileBlobStore(folder, keys), FileBlobStore(folder, keys)
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        rival.erase(REF.digest)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(BlobError, match="erased on purpose"):
        store.put(SECRET)
    assert not list(folder.glob(f"??/{REF.digest}*"))
    assert not list(keys.glob(f"??/{REF.digest}*"))
    assert store.status(REF) is BlobStatus.ERASED


def test_the_key_is_durable_before_the_object_has_its_name(folder, keys, monkeypatch):
    steps = []
    real_fsync, real_rename = os.fsync, Path.rename

    def fsync(handle: int) -> None:
        steps.append(Path(f"/proc/self/fd/{handle}").readlink())
        real_fsync(handle)

    def rename(self: Path, target: Path) -> Path:
        steps.append(Path("rename"))
        return real_rename(self, target)

    store = FileBlobStore(folder, keys)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", rename)
    store.put(SECRET)
    named = steps.index(Path("rename"))
    key = key_file(keys)
    assert key in steps[:named]
    assert key.parent in steps[steps.index(key) : named]
    assert any(step.parent == folder / "tmp" for step in steps[:named])
    assert folder / REF.digest[:2] in steps[named:]


def test_an_encrypted_ledger_verifies_and_tells_what_became_of_its_content(tmp_path):
    place = Place(tmp_path / "home", keys=tmp_path / "keys")
    with Ledger.open(place, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger:
        entry = note(ledger, 1, "a secret")
        ledger.append((entry, note(ledger, 2, "kept")), role="recorder")
        digest = entry.body.content.digest
        assert verify(ledger).blobs == 2
        (key,) = (tmp_path / "keys" / "tests" / "story").glob(f"*/{digest}.*")
        secret = key.read_bytes()
        key.unlink()
        assert verify(ledger).first_divergence.kind == "blob-missing"
        key.write_bytes(bytes(32))
        assert verify(ledger).first_divergence.kind == "blob-corrupt"
        key.write_bytes(secret)
        ledger.blobs.erase(digest)
        assert verify(ledger).first_divergence.kind == "blob-erased"
        body = BlobErasedBody.make(authority="tests.operator", content_digest=digest, reason="privacy")
        fact = facts.message_fact("tests.blobs", "erasure", 1)
        ledger.append((Author(SCOPE, "tests.blobs", "1").write(BlobErased, fact, body),), role="operator")
        report = verify(ledger)
        assert (report.first_divergence, report.blobs, report.erased) == (None, 1, 1)


def dying_at(number: int, folder: Path, keys: Path, act) -> int:
    """Exit status of a process that is killed before its ``number``-th fsync, rename or removal."""

    def child(_) -> None:
        watch = dies_at(number)
        store = FileBlobStore(folder, keys)
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((os, "fsync"), (Path, "rename"), (Path, "unlink")):
                real = getattr(owner, name)
                patch.setattr(owner, name, lambda *given, real=real, **named: (watch("step"), real(*given, **named))[1])
            act(store)

    return in_child(child)[0]


@pytest.mark.parametrize("act", [lambda store: store.put(SECRET), lambda store: store.put_stream([SECRET])])
def test_a_put_that_is_killed_anywhere_stored_all_or_nothing(tmp_path, act):
    for number in range(1, 20):
        folder, keys = tmp_path / str(number) / "blobs", tmp_path / str(number) / "keys"
        status = dying_at(number, folder, keys, act)
        store = FileBlobStore(folder, keys)
        assert store.status(REF) in {BlobStatus.PRESENT, BlobStatus.MISSING}
        act(store)
        assert store.read(REF) == SECRET
        store.erase(REF.digest)
        assert not list(keys.glob(f"??/{REF.digest}*")), "keys of puts that were killed go too"
        if status == 0:
            assert number > 6
            return
    pytest.fail("the put never finished")


def test_an_erasure_that_is_killed_anywhere_is_finished_by_the_next_writer(tmp_path):
    for number in range(1, 20):
        folder, keys = tmp_path / str(number) / "blobs", tmp_path / str(number) / "keys"
        FileBlobStore(folder, keys).put(SECRET)
        status = dying_at(number, folder, keys, lambda store: store.erase(REF.digest))
        store = FileBlobStore(folder, keys)
        erased = store.status(REF) is BlobStatus.ERASED
        assert erased or store.read(REF) == SECRET
        store.put(b"something else")
        left = [*folder.glob(f"??/{REF.digest}*"), *keys.glob(f"??/{REF.digest}*")]
        assert bool(left) is not erased
        if status == 0:
            assert erased
            assert number > 4
            return
    pytest.fail("the erasure never finished")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_refuses_leaves_no_draft_and_no_name(folder, keys, monkeypatch, code):
    store = FileBlobStore(folder, keys)
    store.put(b"before")

    def fsync(_: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        for act in (lambda: store.put(SECRET), lambda: store.put_stream([SECRET])):
            with pytest.raises(StorageFullError if code == errno.ENOSPC else StoreError):
                act()
    assert not list((folder / "tmp").iterdir())
    assert store.status(REF) is BlobStatus.MISSING
    assert store.put_stream([SECRET]).digest == REF.digest
