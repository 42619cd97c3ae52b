"""A second process that looks at content finds what the first would have found, and does not outlive it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.statements import facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import BlobErased, BlobErasedBody
from ledger_core.stores import cited, looks
from ledger_core.stores.blobs import FileBlobStore
from ledger_core.stores.looks import SecondLook
from ledger_core.stores.verify import VerificationReport, verify
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger
from tests.ledger_core.story import SCOPE


@pytest.fixture
def started(monkeypatch) -> list[SecondLook]:
    """Every process that is started from here on, for ledgers of any size."""
    found: list[SecondLook] = []

    class Counted(SecondLook):
        def __init__(self, blobs: FileBlobStore) -> None:
            super().__init__(blobs)
            found.append(self)

    monkeypatch.setattr(cited, "EVENTS_FOR_TWO", 0)
    monkeypatch.setattr(cited, "_cores", lambda: 2)
    monkeypatch.setattr(cited, "SecondLook", Counted)
    return found


def judged(home: Path) -> VerificationReport:
    with open_ledger(home) as ledger:
        return verify(ledger)


def files_of(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("blobs/??/*") if path.is_file())


def remove(home: Path) -> None:
    files_of(home)[0].unlink()


def rewrite(home: Path) -> None:
    for file in files_of(home)[:3]:
        file.write_bytes(b"another" * 3)


def erase(home: Path) -> None:
    with open_ledger(home) as ledger:
        for file in files_of(home)[:2]:
            ledger.blobs.erase(file.name)


def erase_and_say_so(home: Path) -> None:
    with open_ledger(home) as ledger:
        digest = files_of(home)[0].name
        ledger.blobs.erase(digest)
        order = BlobErasedBody.make(authority="tests.operator", content_digest=digest, reason="privacy")
        fact = facts.message_fact("tests.second", "erasure", 1)
        ledger.append((Author(SCOPE, "tests.second", "1").write(BlobErased, fact, order),), role="operator")


def make_unreadable(home: Path) -> None:
    file = files_of(home)[0]
    file.unlink()
    file.mkdir()


def cut_the_chain(home: Path) -> None:
    with sqlite3.connect(file_of(home)) as connection:
        connection.execute(
            "UPDATE events SET chain = ? WHERE family = 'evidence' AND committed_offset = 9", ("ab" * 32,)
        )


DAMAGE = {
    "none": (lambda _: None, None),
    "missing": (remove, "blob-missing"),
    "rewritten": (rewrite, "blob-corrupt"),
    "erased": (erase, "blob-erased"),
    "erased with a word": (erase_and_say_so, None),
    "unreadable": (make_unreadable, "unreadable"),
    "another divergence first": (cut_the_chain, "chain"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_two_processes_report_what_one_reports(home, started, monkeypatch, damage):
    act, kind = DAMAGE[damage]
    act(home)
    together = judged(home)
    assert len(started) == 1
    monkeypatch.setattr(cited, "EVENTS_FOR_TWO", 10**9)
    alone = judged(home)
    assert together == alone
    assert len(started) == 1
    assert (alone.first_divergence and alone.first_divergence.kind) == kind
    assert alone.blobs > 0 or damage == "missing"


@pytest.mark.parametrize("damage", ["none", "rewritten", "erased with a word", "another divergence first"])
def test_where_the_second_process_is_lost_the_first_looks_again(home, started, monkeypatch, damage):
    DAMAGE[damage][0](home)
    expected = judged(home)
    monkeypatch.setattr(looks, "__name__", "no.such.module")
    assert judged(home) == expected
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert judged(home) == expected
    assert len(started) == 2


@pytest.mark.parametrize("cores", [1, 2])
def test_small_ledgers_and_single_processors_have_no_second_process(home, started, monkeypatch, cores):
    monkeypatch.setattr(cited, "EVENTS_FOR_TWO", 0 if cores == 1 else 10_000)
    monkeypatch.setattr(cited, "_cores", lambda: cores)
    assert judged(home).first_divergence is None
    assert started == []


def test_no_process_is_left_when_the_walk_is_interrupted(home, started, monkeypatch):
    with open_ledger(home) as ledger:

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(ledger.store, "head", interrupted)
        with pytest.raises(KeyboardInterrupt):
            verify(ledger)
    assert [second._process.poll() for second in started] == [-signal.SIGKILL]


def test_it_ends_with_its_parent(tmp_path):
    program = (
        "import os, sys; from pathlib import Path\n"
        "from ledger_core.stores.blobs import FileBlobStore; from ledger_core.stores.looks import SecondLook\n"
        "second = SecondLook(FileBlobStore(Path(sys.argv[1])))\n"
        "print(second._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    child = Path(f"/proc/{int(done.stdout)}")
    deadline = time.monotonic() + 30
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists() or "Z" in (child / "stat").read_text().split()[2]


def test_keys_reach_the_second_process(tmp_path):
    blobs = FileBlobStore(tmp_path / "blobs", tmp_path / "keys")
    blobs.put(b"a secret")
    ref = content_ref(b"a secret", TEXT)
    second = SecondLook(blobs)
    second.ask(("evidence", 1, "ab" * 32, ref.canonical_bytes()))
    found = second.answer()
    second.close()
    assert (found.present, found.erased, found.loss) == (1, [], None)
