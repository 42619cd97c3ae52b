"""What earlier versions left on disk: a store's file and signed texts, verified by both implementations, and still written so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger_core.audit.__main__ import main as auditor
from ledger_core.kernel.statements import FAMILIES, content_refs
from ledger_core.stores import Ledger
from ledger_core.stores.kept import read_kept
from ledger_core.stores.verify import verify
from tests.golden.build import FILE, KEY, SIGNED, SQLITE, golden_lines, ledger_from, sign
from tests.golden.test_golden_ledger import CONTROL_HEAD, HEAD
from tests.ledger_core.stores.test_kept import add
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger

SIGNED_FILES = sorted(SIGNED.iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the golden file and its content, as if it had lain there since."""
    file_of(tmp_path).parent.mkdir(parents=True)
    shutil.copyfile(SQLITE, file_of(tmp_path))
    golden = ledger_from(golden_lines())
    with open_ledger(tmp_path) as ledger:
        for family in FAMILIES:
            for event in golden.events(family):
                for ref in content_refs(event.statement):
                    ledger.put_blob(golden.read_blob(ref), ref.media_type)
    return tmp_path


def test_the_file_of_the_first_version_verifies_and_grows(home: Path):
    with open_ledger(home) as ledger:
        report = verify(ledger)
        assert report.first_divergence is None
        assert (report.head, report.control_head) == (HEAD, CONTROL_HEAD)
        golden = ledger_from(golden_lines())
        for family in FAMILIES:
            assert list(ledger.events(family)) == list(golden.events(family))
        add(ledger, "later")
        assert ledger.count() == 26
        assert verify(ledger).first_divergence is None


@pytest.mark.parametrize("path", SIGNED_FILES, ids=lambda path: path.name)
def test_what_was_signed_then_still_convicts_and_acquits(home: Path, path: Path):
    anchor = read_kept(SIGNED / "anchor.notes")
    kept = [anchor, read_kept(path)]
    with open_ledger(home) as ledger:
        assert verify(ledger, kept=kept).first_divergence is None
    shorter = ledger_from([line for number, line in enumerate(golden_lines()) if number != 30])
    assert_cut(shorter, kept)


def assert_cut(ledger: Ledger, kept: list) -> None:
    found = verify(ledger, kept=kept).first_divergence
    assert found is not None
    assert (found.kind.value, found.offset) == ("truncated", 25)


@pytest.mark.parametrize("place", ["jsonl", "sqlite"])
def test_the_auditor_holds_with_all_that_was_signed(home: Path, place: str):
    kept = [argument for path in SIGNED_FILES for argument in ("--kept", str(path))]
    assert auditor([str(FILE if place == "jsonl" else file_of(home)), *kept]) == 0


def test_the_same_key_still_signs_the_same_bytes(tmp_path: Path):
    sign(ledger_from(golden_lines()), tmp_path / "signed")
    written = {path.name: path.read_bytes() for path in (tmp_path / "signed").iterdir()}
    assert written == {path.name: path.read_bytes() for path in SIGNED_FILES}
    assert str(KEY.verifier) == "veritas.golden+39a162d9+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"


def test_the_files_are_small():
    assert SQLITE.stat().st_size < 120_000
    assert sum(path.stat().st_size for path in SIGNED_FILES) < 4_000
