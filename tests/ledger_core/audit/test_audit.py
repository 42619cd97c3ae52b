"""The auditor on whole ledgers: what it finds, that it finds what our own verification finds, and what it leaves open."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ledger_core.audit import Report, audit, open_source
from ledger_core.audit.__main__ import main
from ledger_core.audit.source import MemoryBlobs, SourceError
from ledger_core.kernel import merkle
from ledger_core.kernel.statements import FAMILIES
from ledger_core.signing import leaf_of
from ledger_core.stores.verify import verify
from tests.golden.build import FILE as GOLDEN
from tests.ledger_core.audit.reading import SUFFIXES, row_of, source_of
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger
from tests.ledger_core.stores.test_verify import logs_of, relinked, walked
from tests.ledger_core.story import Story, open_memory, tell


@pytest.fixture(scope="module")
def told():
    ledger = open_memory()
    return ledger, tell(ledger)


def audited(ledger, logs=None) -> Report:
    return audit(source_of(ledger, logs), suffixes=SUFFIXES)


def found(report):
    assert report.finding is not None, "the tampering went unseen"
    return report.finding.kind.value, report.finding.family, report.finding.offset


class TestSoundLedgers:
    def test_every_number_is_the_one_that_our_own_code_has(self, told):
        ledger, _ = told
        report = audited(ledger)
        assert report.finding is None
        assert report.unchecked == []
        ours = verify(ledger)
        assert report.heads == {"control": ours.control_head, "evidence": ours.head}
        assert report.events == {family: ledger.count(family) for family in FAMILIES}
        assert (report.blobs, report.erased) == (ours.blobs, ours.erased)
        assert report.scope == ledger.scope.model_dump()
        for family in FAMILIES:
            leaves = [leaf_of(event).hashed() for event in ledger.events(family)]
            assert report.roots[family] == merkle.root(leaves).hex()

    def test_the_golden_ledger_holds(self, capsys):
        assert main([str(GOLDEN)]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith("tests/story: holds\n")
        assert "evidence  25 events, head 914d49c3a161d976" in printed
        assert "beliefs   8 entries, 0 retracted" in printed

    def test_a_ledger_on_disk_by_folder_and_by_file(self, tmp_path, capsys):
        with open_ledger(tmp_path) as ledger:
            tell(ledger)
            head = ledger.head()
            for path in (file_of(tmp_path), file_of(tmp_path).parent):
                assert main([str(path), "--json"]) == 0
                assert json.loads(capsys.readouterr().out)["heads"]["evidence"] == head
        copy = tmp_path / "copy"
        shutil.copytree(file_of(tmp_path).parent, copy)
        copy.chmod(0o555)
        assert main([str(copy)]) == 0


@pytest.mark.invariant("§2.6")
class TestTampering:
    """Whatever is wrong, both implementations say the same about it."""

    CHANGES = (
        ("statement", lambda e: replace(e, encoded=e.encoded[:-2] + b" }")),
        ("event-id", lambda e: replace(e, event_id="00" * 32)),
        ("chain", lambda e: replace(e, chain="00" * 32)),
        ("receipt", lambda e: replace(e, receipt_bytes=e.receipt_bytes.replace(b'"role"', b'"Role"'))),
        ("receipt", lambda e: replace(e, receipt_bytes=e.receipt_bytes.replace(b"2026-03", b"2027-03", 1))),
        ("position", lambda e: replace(e, position=e.position.model_copy(update={"epoch_id": "11" * 32}))),
        ("position", lambda e: replace(e, position=e.position.model_copy(update={"shard": 1}))),
        ("offset", lambda e: replace(e, position=e.position.model_copy(update={"committed_offset": "99"}))),
    )

    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.parametrize(("kind", "change"), CHANGES)
    def test_one_event_was_changed(self, told, family, kind, change):
        ledger, _ = told
        logs = logs_of(ledger)
        for place in range(1, len(logs[family])):
            changed = [*logs[family]]
            changed[place] = change(changed[place])
            tampered = logs | {family: changed}
            assert found(audited(ledger, tampered)) == (kind, family, place + 1)
            ours = walked(ledger, tampered).first_divergence
            assert (ours.kind.value, ours.family) == (kind, family)

    def test_an_event_was_taken_out(self, told):
        ledger, _ = told
        logs = logs_of(ledger)
        for family in FAMILIES:
            less = logs | {family: [*logs[family][:2], *logs[family][3:]]}
            assert found(audited(ledger, less)) == ("offset", family, 3)

    def test_an_event_in_the_other_log(self, told):
        ledger, _ = told
        logs = logs_of(ledger)
        genesis = logs["control"][0].event_id
        moved = [(event.statement, event.receipt_bytes) for event in [*logs["evidence"][:2], logs["control"][3]]]
        tampered = logs | {"evidence": relinked(genesis, "evidence", moved)}
        assert found(audited(ledger, tampered)) == ("family", "evidence", 3)

    def test_a_sound_chain_over_statements_that_nobody_could_append(self, told):
        ledger, _ = told
        logs = logs_of(ledger)
        genesis = logs["control"][0].event_id
        pairs = [(event.statement, event.receipt_bytes) for event in logs["evidence"]]
        swapped = [pairs[3], pairs[2], *pairs[:2]]
        assert found(audited(ledger, logs | {"evidence": relinked(genesis, "evidence", swapped)})) == (
            "reference",
            "evidence",
            1,
        )
        twice = [*pairs, pairs[0]]
        assert found(audited(ledger, logs | {"evidence": relinked(genesis, "evidence", twice)}))[0] == "fact"
        control = [(event.statement, event.receipt_bytes) for event in logs["control"]]
        jumped = [control[0], control[2]]
        kinds = {found(audited(ledger, logs | {"control": relinked(genesis, "control", jumped)}))[0]}
        assert kinds <= {"reference", "rule", "receipt"}

    def test_no_genesis(self, told):
        ledger, _ = told
        logs = logs_of(ledger)
        assert found(audited(ledger, logs | {"control": []}))[0] == "genesis"
        assert found(audited(ledger, logs | {"control": logs["control"][1:]}))[0] in {"genesis", "offset"}

    @pytest.mark.parametrize("name", ["fired", "refused", "adjusted"])
    def test_a_conclusion_that_does_not_follow(self, told, name):
        """The receipts of verdicts are recomputed, also where the chain over them is sound."""
        ledger, story = told
        logs = logs_of(ledger)
        without = [event for event in logs["evidence"] if event.event_id != story.id(name)]
        pairs = [(event.statement, event.receipt_bytes) for event in without]
        genesis = logs["control"][0].event_id
        tampered = logs | {"evidence": relinked(genesis, "evidence", pairs)}
        kind, _, offset = found(audited(ledger, tampered))
        assert kind == "fold"
        ours = walked(ledger, tampered).first_divergence
        assert (ours.kind.value, ours.offset) == (kind, offset)

    def test_content(self, told):
        ledger, story = told
        digest = story.named["observed_alpha"].body.content.digest
        for change, kind in (
            (lambda blobs: blobs.held.pop(digest), "blob-missing"),
            (lambda blobs: blobs.held.update({digest: b"other"}), "blob-corrupt"),
            (lambda blobs: (blobs.held.pop(digest), blobs.erased.add(digest)), "blob-erased"),
        ):
            source = source_of(ledger)
            assert isinstance(source.blobs, MemoryBlobs)
            change(source.blobs)
            assert found(audit(source, suffixes=SUFFIXES))[0] == kind

    def test_the_end_that_the_file_itself_records(self, tmp_path, capsys):
        with open_ledger(tmp_path) as ledger:
            tell(ledger)
        with closing(sqlite3.connect(file_of(tmp_path))) as connection, connection:
            connection.execute("DELETE FROM events WHERE family = 'evidence' AND committed_offset = 25")
        assert main([str(file_of(tmp_path))]) == 4
        assert "DOES NOT HOLD\n  finding   head at evidence event 25" in capsys.readouterr().out

    @pytest.mark.parametrize("column", ["epoch_id", "event_id", "statement", "receipt", "chain"])
    def test_flipped_bits_in_a_file(self, tmp_path, column):
        """Eight bits of one field of one record, one at a time; both implementations name the same place."""
        with open_ledger(tmp_path) as ledger:
            story = tell(ledger)
        (value,) = self._query(tmp_path, f"SELECT {column} FROM events WHERE event_id = ?", story.id("derived"))
        raw = value if isinstance(value, bytes) else value.encode()
        for bit in range(8):
            flipped = raw[:30] + bytes([raw[30] ^ (1 << bit)]) + raw[31:]
            new = flipped if isinstance(value, bytes) else flipped.decode("utf-8", "replace")
            update = f"UPDATE events SET {column} = ? WHERE family = 'evidence' AND committed_offset = 8"
            self._query(tmp_path, update, new)
            theirs = audit(open_source(file_of(tmp_path)), suffixes=SUFFIXES)
            with open_ledger(tmp_path) as ledger:
                ours = verify(ledger).first_divergence
            assert found(theirs) == (ours.kind.value, ours.family, ours.offset)
        self._query(
            tmp_path, f"UPDATE events SET {column} = ? WHERE family = 'evidence' AND committed_offset = 8", value
        )
        assert audit(open_source(file_of(tmp_path)), suffixes=SUFFIXES).finding is None

    def _query(self, home: Path, query: str, *values: object):
        with closing(sqlite3.connect(file_of(home))) as connection, connection:
            return connection.execute(query, values).fetchone()


class TestWhatIsNotThere:
    def test_nothing_to_audit(self, tmp_path, capsys):
        assert main([str(tmp_path)]) == 2
        assert "no ledger at" in capsys.readouterr().err
        (tmp_path / "text").write_text("something\n")
        with pytest.raises(SourceError, match="line 1"):
            open_source(tmp_path / "text")

    def test_beliefs_are_not_judged_without_the_policys_suffix_list(self, told):
        ledger, _ = told
        report = audit(source_of(ledger))
        assert report.finding is None
        assert report.state is None
        (reason,) = report.unchecked
        assert "--suffix-list" in reason
        assert ledger.policy().suffix_list_digest in reason

    def test_a_file_that_is_cut_short(self, tmp_path, capsys):
        with open_ledger(tmp_path) as ledger:
            tell(ledger)
        raw = file_of(tmp_path).read_bytes()
        cut = tmp_path / "cut.sqlite3"
        cut.write_bytes(raw[: len(raw) // 2])
        assert main([str(cut)]) in {2, 4}
        assert capsys.readouterr().out.count("holds\n") == 0


def test_it_runs_where_nothing_else_is_installed(tmp_path):
    """In an interpreter without site packages, given the suffix list as a file."""
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
    import publicsuffixlist

    code = "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]; sys.path.insert(0, sys.argv.pop(1))"
    code += "; import runpy; runpy.run_module('ledger_core.audit', run_name='__main__', alter_sys=True)"
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, root, str(file_of(tmp_path)), "--suffix-list", publicsuffixlist.PSLFILE],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tests/story: holds\n")


def test_a_row_is_only_bytes_and_words(told):
    """The audit reads what a store has, not what our types make of it."""
    ledger, _ = told
    event = next(iter(ledger.events()))
    assert vars(row_of(event)) == {
        "family": "evidence",
        "offset": 1,
        "epoch_id": event.position.epoch_id,
        "shard": 0,
        "event_id": Story().id("system"),
        "statement": event.encoded,
        "receipt": event.receipt_bytes,
        "chain": event.chain,
    }
