"""A whole ledger as one file: the same bytes for the same ledger, the same heads after restoring, no byte that is free."""

from __future__ import annotations

import os
import random
import signal
import tarfile
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import AppendError, BlobError, CollisionError, LedgerError, StoreError, VerificationError
from ledger_core.kernel.statements import content_refs, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import BlobErased, BlobErasedBody
from ledger_core.stores import BlobStatus, Ledger, Place, list_scopes
from ledger_core.stores.archive import export, open_archive, restore
from ledger_core.stores.sqlite import SqliteEventStore
from ledger_core.stores.verify import verify
from tests.faults.steps import in_child
from tests.ledger_core.stores.test_sqlite import note, open_ledger
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell


def erase(ledger: Ledger, digest: str) -> None:
    ledger.blobs.erase(digest)
    body = BlobErasedBody.make(authority="tests.operator", content_digest=digest, reason="privacy")
    fact = facts.message_fact("tests.archive", "erasure", 1)
    ledger.append((Author(SCOPE, "tests.archive", "1").write(BlobErased, fact, body),), role="operator")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A ledger with every kind of statement, an erased blob and a collision."""
    with open_ledger(tmp_path / "home") as ledger:
        tell(ledger)
        ledger.append((note(ledger, 1, "private"),), role="recorder")
        with pytest.raises(CollisionError):
            ledger.append((note(ledger, 1, "something else"),), role="recorder")
        erase(ledger, ledger.put_blob(b"private", TEXT).digest)
    return tmp_path / "home"


@pytest.fixture
def exported(home: Path, tmp_path: Path) -> Path:
    with open_ledger(home) as ledger:
        export(ledger, tmp_path / "ledger.tar")
    return tmp_path / "ledger.tar"


def heads(home: Path | Place) -> tuple[str, str]:
    with Ledger.existing(home, SCOPE, now=NOW) as ledger:
        return ledger.head(), ledger.head("control")


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def test_a_restored_ledger_is_the_same_ledger(home, exported, tmp_path):
    restored = restore(exported, tmp_path / "there")
    assert (restored.scope, restored.fresh) == (SCOPE, True)
    assert heads(tmp_path / "there") == heads(home)
    with open_ledger(home) as one, open_ledger(tmp_path / "there") as other:
        assert list(one.events()) == list(other.events())
        assert list(one.events("control")) == list(other.events("control"))
        assert one.store.collisions() == other.store.collisions() != ()
        assert verify(one) == verify(other) == restored.report
        assert restored.report.erased == 1
        for event in one.events():
            for ref in content_refs(event.statement):
                assert one.blob_status(ref) is other.blob_status(ref)
                if one.blob_status(ref) is BlobStatus.PRESENT:
                    assert one.read_blob(ref) == other.read_blob(ref)
        other.append((note(other, 2, "life goes on"),), role="recorder")
        with pytest.raises(BlobError, match="erased on purpose"):
            other.put_blob(b"private", TEXT)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["ledgers"]


def test_equal_ledgers_give_equal_bytes(exported, tmp_path):
    restore(exported, tmp_path / "there")
    with open_ledger(tmp_path / "there") as ledger:
        export(ledger, tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == exported.read_bytes()
    memory = open_memory()
    tell(memory)
    export(memory, tmp_path / "memory.tar")
    restore(tmp_path / "memory.tar", tmp_path / "from-memory")
    assert heads(tmp_path / "from-memory") == (memory.head(), memory.head("control"))


def test_any_tar_reads_it(exported):
    with tarfile.open(exported) as archive:
        names = archive.getnames()
        assert names[:5] == ["veritas-ledger.json", "control.tsv", "evidence.tsv", "collisions.tsv", "erased.txt"]
        assert all(name.startswith("blobs/") for name in names[5:])
        assert len(names) == 5 + 17
        evidence = archive.extractfile("evidence.tsv").read().splitlines()
    assert [line.split(b"\t")[2].split(b'"')[3] for line in evidence] == [
        b"%d" % n for n in range(1, len(evidence) + 1)
    ]


def test_restoring_twice_is_restoring_once(exported, tmp_path):
    assert restore(exported, tmp_path / "there").fresh
    assert not restore(exported, tmp_path / "there").fresh


def test_another_ledger_in_the_place_is_never_touched(exported, tmp_path):
    with open_ledger(tmp_path / "there") as ledger:
        ledger.append((note(ledger, 1),), role="recorder")
        head = ledger.head()
    with pytest.raises(AppendError, match="there is another ledger tests/story of 1 evidence events"):
        restore(exported, tmp_path / "there")
    with open_ledger(tmp_path / "there") as ledger:
        assert ledger.head() == head
    folder = tmp_path / "elsewhere" / "ledgers" / "tests" / "story"
    folder.mkdir(parents=True)
    with pytest.raises(AppendError, match="exists; move it away"):
        restore(exported, tmp_path / "elsewhere")


def test_no_bit_of_the_file_is_free(exported, tmp_path):
    """A flipped bit anywhere is refused, and nothing is made of the file."""
    whole = exported.read_bytes()
    chosen = random.Random(7)
    copy = tmp_path / "flipped.tar"
    for _ in range(120):
        place, bit = chosen.randrange(len(whole)), 1 << chosen.randrange(8)
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with pytest.raises(VerificationError), open_archive(copy) as archive:
            archive.verify()
    with pytest.raises(VerificationError):
        restore(copy, tmp_path / "there")
    assert files_below(tmp_path / "there") == []


def test_every_shorter_file_is_refused(exported, tmp_path):
    whole = exported.read_bytes()
    copy = tmp_path / "short.tar"
    for length in [0, 1, 511, 512, *random.Random(3).sample(range(len(whole)), 40), len(whole) - 1]:
        copy.write_bytes(whole[:length])
        with pytest.raises(VerificationError, match="unreadable"), open_archive(copy):
            pass
    copy.write_bytes(whole + b"\0")
    with pytest.raises(VerificationError, match="something follows it"), open_archive(copy):
        pass


def repacked(source: Path, target: Path, change) -> Path:
    """The export at ``source`` with members changed, as somebody would who knows the format."""
    with tarfile.open(source) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    change(members)
    with target.open("wb") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.write(info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512))
        file.write(bytes(1024))
    return target


def _in_line(member: str, number: int, before: bytes, after: bytes):
    def change(members: dict[str, bytes]) -> None:
        lines = members[member].split(b"\n")
        assert before in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(before, after, 1)
        members[member] = b"\n".join(lines)

    return change


def _without_line(member: str, number: int):
    def change(members: dict[str, bytes]) -> None:
        lines = members[member].split(b"\n")
        del lines[number - 1]
        members[member] = b"\n".join(lines)

    return change


def _without_a_blob(members: dict[str, bytes]) -> None:
    del members[next(name for name in members if name.startswith("blobs/"))]


def _another_blob(members: dict[str, bytes]) -> None:
    members[next(name for name in members if name.startswith("blobs/"))] += b"!"


def _a_stray_blob(members: dict[str, bytes]) -> None:
    members["blobs/" + "f" * 64] = b"contraband"


def _not_erased(members: dict[str, bytes]) -> None:
    members["erased.txt"] = b""


def _other_collision(members: dict[str, bytes]) -> None:
    fields = members["collisions.tsv"].split(b"\t")
    members["collisions.tsv"] = b"\t".join([b"ab" * 32, *fields[1:]])


def _other_order(members: dict[str, bytes]) -> None:
    members["control.tsv"] = members.pop("control.tsv")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_in_line("evidence.tsv", 4, b'"kind":"', b'"kind":"x'), "statement at evidence event 4"),
        (_in_line("evidence.tsv", 2, b'"local"', b'"rival"'), "chain at evidence event 2"),
        (
            _in_line("evidence.tsv", 3, b'"committed_offset":"3"', b'"committed_offset":"4"'),
            "offset at evidence event 3",
        ),
        (_in_line("evidence.tsv", 3, b"\t", b" "), "statement at evidence event 3"),
        (_without_line("evidence.tsv", 5), "offset at evidence event 5"),
        (_without_line("control.tsv", 5), "head at control event 5"),
        (_without_a_blob, "blob-missing at evidence event"),
        (_another_blob, "blob-corrupt at evidence event"),
        (_a_stray_blob, f"content {'f' * 64} belongs to no event"),
        (_not_erased, "blob-missing at evidence event"),
        (_other_collision, "collision 1 contradicts the events"),
        (_other_order, "unreadable: its members begin with veritas-ledger.json, evidence.tsv"),
        (_in_line("veritas-ledger.json", 1, b'"format_version":1', b'"format_version":2'), "use the program version"),
        (_in_line("veritas-ledger.json", 1, b'"tests"', b'"testz"'), "genesis at control event 1"),
    ],
)
def test_what_was_changed_on_purpose_is_named(exported, tmp_path, change, found):
    changed = repacked(exported, tmp_path / "changed.tar", change)
    with pytest.raises(VerificationError) as caught:
        restore(changed, tmp_path / "there")
    assert str(changed) in str(caught.value)
    assert found in str(caught.value)
    assert files_below(tmp_path / "there") == []


def test_repacking_alone_changes_nothing(exported, tmp_path):
    assert repacked(exported, tmp_path / "same.tar", lambda _: None).read_bytes() == exported.read_bytes()


def test_without_content_it_verifies_but_is_restored_only_where_the_content_is(home, exported, tmp_path):
    bare = tmp_path / "bare.tar"
    with open_ledger(home) as ledger:
        header = export(ledger, bare, blobs=False)
        assert (header.evidence_head, header.blobs) == (ledger.head(), False)
    assert bare.stat().st_size < exported.stat().st_size
    with open_archive(bare) as archive:
        report = archive.verify()
        assert (report.head, report.blobs) == (header.evidence_head, 0)
        assert len(archive.erased) == 1
    with pytest.raises(BlobError, match="is missing"):
        restore(bare, tmp_path / "there")
    assert files_below(tmp_path / "there") == []


def test_a_ledger_that_does_not_verify_is_not_exported(home, tmp_path):
    with open_ledger(home) as ledger:
        ledger.store._connection.execute("UPDATE events SET chain = ? WHERE committed_offset = 3", ("0" * 64,))
        with pytest.raises(VerificationError, match="chain at control event 3"):
            export(ledger, tmp_path / "out.tar")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


def test_an_existing_file_and_a_place_that_is_none_are_refused(home, exported, tmp_path):
    before = exported.read_bytes()
    with open_ledger(home) as ledger:
        with pytest.raises(StoreError, match="exists; choose another name"):
            export(ledger, exported)
        with pytest.raises(StoreError, match="nowhere"):
            export(ledger, tmp_path / "nowhere" / "x.tar")
    assert exported.read_bytes() == before
    with pytest.raises(StoreError, match=r"cannot use .*absent"):
        restore(tmp_path / "absent.tar", tmp_path / "there")


def test_what_fails_halfway_leaves_no_ledger(exported, tmp_path, monkeypatch):
    def adopt(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteEventStore, "adopt", adopt)
        with pytest.raises((OSError, LedgerError)):
            restore(exported, tmp_path / "there")
    assert files_below(tmp_path / "there") == []
    assert list_scopes(tmp_path / "there") == ()
    assert restore(exported, tmp_path / "there").fresh


def test_a_kill_while_restoring_leaves_no_ledger(exported, tmp_path):
    def act(_) -> None:
        def adopt(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        SqliteEventStore.adopt = adopt
        restore(exported, tmp_path / "there")

    status, _ = in_child(act)
    assert status == -signal.SIGKILL
    assert list_scopes(tmp_path / "there") == ()
    assert restore(exported, tmp_path / "there").fresh
    with open_ledger(tmp_path / "there") as ledger:
        assert verify(ledger).first_divergence is None


def test_it_is_restored_encrypted_where_the_place_has_keys(home, exported, tmp_path):
    place = Place(tmp_path / "there", keys=tmp_path / "keys")
    restore(exported, place)
    assert heads(place) == heads(home)
    blobs = [path.name for path in (tmp_path / "there").glob("ledgers/tests/story/blobs/??/*")]
    assert len(blobs) == 17
    assert all(name.endswith(".enc") for name in blobs)
    with Ledger.existing(place, SCOPE, now=NOW) as ledger:
        assert verify(ledger).first_divergence is None


@pytest.mark.invariant("EVID-09")
def test_an_export_from_before_an_erasure_does_not_bring_the_content_back(exported, tmp_path):
    """The folder of keys outlives every home: what it saw destroyed, no older file may store again."""
    place = Place(tmp_path / "there", keys=tmp_path / "keys")
    restore(exported, place)
    with Ledger.existing(place, SCOPE, now=NOW) as ledger:
        ref = next(ref for event in ledger.events() for ref in content_refs(event.statement))
        ledger.blobs.erase(ref.digest)
    with pytest.raises(BlobError, match=f"{ref.digest} was erased on purpose"):
        restore(exported, Place(tmp_path / "again", keys=tmp_path / "keys"))
    assert files_below(tmp_path / "again") == []
