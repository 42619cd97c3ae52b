"""Attacks by whoever owns the files, against somebody who kept a checkpoint, a proof or a receipt elsewhere."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import (
    MerkleError,
    NoteError,
    SigningError,
    UnknownReferenceError,
    VerificationError,
)
from ledger_core.kernel.statements import FAMILIES, Scope
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.signing import SigningKey, leaf_of, origin_of, sign_append
from ledger_core.stores import Ledger
from ledger_core.stores.checkpoints import (
    LedgerTrees,
    NoteBook,
    add_notes,
    checkpointed_scopes,
    make_checkpoint,
    note_file,
    read_notes,
)
from ledger_core.stores.kept import Kept, read_kept
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.verify import verify
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger
from tests.ledger_core.stores.test_verify import Logs, logs_of, relinked
from tests.ledger_core.story import NOW, SCOPE, Story, open_memory, tell

KEY = SigningKey("veritas.test", b"\x07" * 32)
OTHER = SigningKey("veritas.test", b"\x08" * 32)
NOTHING = Scope.make(tenant_namespace="tests", project_namespace="nothing")


def add(ledger: Ledger, text: str) -> str:
    """One more event at the end of the evidence log."""
    story = Story()
    body = EntryGivenBody.make(content=ledger.put_blob(text.encode(), TEXT), role="user")
    fact = story.named["user"].source_fact.model_copy(update={"key": f"later {text}"})
    (outcome,) = ledger.append((story._author.write(EntryGiven, fact, body),), role="recorder")
    return outcome.event_id


@pytest.fixture
def ledger() -> Ledger:
    told = open_memory()
    tell(told)
    return told


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "anchor"


def with_logs(ledger: Ledger, logs: Logs) -> Ledger:
    events = [event for family in FAMILIES for event in logs[family]]
    return Ledger(MemoryEventStore.restore(SCOPE, ledger.blobs, events), ledger.blobs, now=NOW)


def forked(ledger: Ledger, place: int) -> Ledger:
    """A ledger whose owner wrote everything from the ``place``-th evidence event on anew: other receipts, sound chains."""
    logs = logs_of(ledger)
    kept, rest = logs["evidence"][:place], logs["evidence"][place:]
    pairs = [(event.statement, event.receipt_bytes) for event in kept]
    pairs += [(event.statement, event.receipt_bytes.replace(b'"local"', b'"other"')) for event in rest]
    genesis = logs["control"][0].event_id
    return with_logs(ledger, logs | {"evidence": relinked(genesis, "evidence", pairs)})


def kind_and_place(ledger: Ledger, *kept: Kept) -> tuple[str, str, int | None]:
    found = verify(ledger, kept=kept).first_divergence
    assert found is not None, "the attack went unseen"
    return found.kind.value, found.family, found.offset


@pytest.mark.invariant("§2.6")
class TestAnAnchor:
    def test_an_honest_ledger_agrees_with_it_also_after_it_grew(self, ledger, anchor):
        for text in ("one", "two", "three"):
            make_checkpoint(ledger, KEY, [anchor])
            add(ledger, text)
        kept = read_kept(anchor)
        assert [each.checkpoint.size for each in kept.book.of(SCOPE)] == [6, 25, 26, 27]
        assert verify(ledger, kept=[kept]).first_divergence is None

    @pytest.mark.parametrize("left", [24, 1, 0])
    def test_a_truncated_log(self, ledger, anchor, left):
        make_checkpoint(ledger, KEY, [anchor])
        logs = logs_of(ledger)
        short = with_logs(ledger, logs | {"evidence": logs["evidence"][:left]})
        assert verify(short).first_divergence is None, "without an anchor nobody can tell"
        assert kind_and_place(short, read_kept(anchor)) == ("truncated", "evidence", left + 1)

    def test_a_truncated_control_log(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        logs = logs_of(ledger)
        short = with_logs(ledger, logs | {"control": logs["control"][:-1]})
        assert kind_and_place(short, read_kept(anchor)) == ("truncated", "control", 6)

    @pytest.mark.parametrize("place", [0, 12, 24])
    def test_a_forked_chain(self, ledger, anchor, place):
        make_checkpoint(ledger, KEY, [anchor])
        other = forked(ledger, place)
        assert verify(other).first_divergence is None, "without an anchor nobody can tell"
        assert kind_and_place(other, read_kept(anchor)) == ("forked", "evidence", 1)

    def test_two_checkpoints_bound_the_place_of_a_fork(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        for number in range(4):
            add(ledger, f"before {number}")
        make_checkpoint(ledger, KEY, [anchor])
        assert kind_and_place(forked(ledger, 27), read_kept(anchor)) == ("forked", "evidence", 26)

    def test_what_lies_after_the_last_checkpoint_can_be_cut_off_unseen(self, ledger, anchor):
        """The stated limit, and how a client's receipt closes it for its own event."""
        make_checkpoint(ledger, KEY, [anchor])
        last = ledger.event(add(ledger, "after"))
        logs = logs_of(ledger)
        short = with_logs(ledger, logs | {"evidence": logs["evidence"][:-1]})
        kept = read_kept(anchor)
        assert verify(short, kept=[kept]).first_divergence is None
        receipt = Kept("receipt", proofs=(sign_append(last, KEY),))
        assert kind_and_place(short, kept, receipt) == ("truncated", "evidence", 26)

    def test_yesterdays_file(self, tmp_path, anchor):
        with open_ledger(tmp_path) as ledger:
            tell(ledger)
        yesterday = tmp_path / "yesterday"
        shutil.copyfile(file_of(tmp_path), yesterday)
        with open_ledger(tmp_path) as ledger:
            add(ledger, "today")
            make_checkpoint(ledger, KEY, [anchor])
            assert verify(ledger, kept=[read_kept(anchor)]).first_divergence is None
        shutil.copyfile(yesterday, file_of(tmp_path))
        with open_ledger(tmp_path) as ledger:
            assert verify(ledger).first_divergence is None
            assert kind_and_place(ledger, read_kept(anchor)) == ("truncated", "control", 6)

    def test_a_rewritten_blob_and_its_statement(self, ledger, anchor):
        """Bytes under another digest need another statement, and that another chain: a fork."""
        make_checkpoint(ledger, KEY, [anchor])
        logs = logs_of(ledger)
        place = next(n for n, e in enumerate(logs["evidence"]) if e.statement.kind == "entry.given")
        old = logs["evidence"][place].statement
        body = old.body.model_copy(update={"content": ledger.put_blob(b"another question", TEXT)})
        new = old.model_copy(update={"body": body})
        changed = type(old).decode(new.canonical_bytes())
        pairs = [(event.statement, event.receipt_bytes) for event in logs["evidence"][: place + 1]]
        pairs[place] = (changed, pairs[place][1])
        rewritten = relinked(logs["control"][0].event_id, "evidence", pairs)
        other = with_logs(ledger, logs | {"evidence": rewritten})
        assert verify(other).first_divergence is None
        assert kind_and_place(other, read_kept(anchor))[0] in {"forked", "truncated"}

    def test_a_rewritten_blob_alone(self, tmp_path, anchor):
        with open_ledger(tmp_path) as ledger:
            story = tell(ledger)
            make_checkpoint(ledger, KEY, [anchor])
            ref = story.named["observed_alpha"].body.content
            (path,) = tmp_path.rglob(ref.digest)
            path.write_bytes(b"x" * ref.byte_length)
            assert kind_and_place(ledger, read_kept(anchor))[0] == "blob-corrupt"

    @pytest.mark.parametrize(
        "column", ["epoch_id", "event_id", "statement", "receipt", "chain", "committed_offset", "shard"]
    )
    def test_a_flipped_bit_in_each_field_of_one_record(self, tmp_path, anchor, column):
        with open_ledger(tmp_path) as ledger:
            story = tell(ledger)
            make_checkpoint(ledger, KEY, [anchor])
            head = ledger.head()
        with closing(sqlite3.connect(file_of(tmp_path))) as connection, connection:
            where = (story.id("derived"),)
            (value,) = connection.execute(f"SELECT {column} FROM events WHERE event_id = ?", where).fetchone()
            if isinstance(value, int):
                flipped = value ^ (1 << 20)
            elif isinstance(value, bytes):
                flipped = value[:40] + bytes([value[40] ^ 1]) + value[41:]
            else:
                flipped = value[:40] + chr(ord(value[40]) ^ 1) + value[41:]
            connection.execute(f"UPDATE events SET {column} = ? WHERE event_id = ?", (flipped, *where))
        with open_ledger(tmp_path) as ledger:
            kind, family, offset = kind_and_place(ledger, read_kept(anchor))
            assert (kind, family) in {
                ("position", "evidence"),
                ("event-id", "evidence"),
                ("statement", "evidence"),
                ("receipt", "evidence"),
                ("chain", "evidence"),
                ("offset", "evidence"),
            }
            assert offset == 8 or column == "committed_offset"
            assert ledger.head() == head


class TestSignatures:
    def test_another_keys_note_in_an_anchor(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        text = anchor.read_text()
        forged = read_notes(anchor).checkpoints[0].checkpoint.text
        anchor.write_text(text + OTHER.sign(forged).encode())
        assert kind_and_place(ledger, read_kept(anchor)) == ("signature", "control", None)

    def test_a_changed_size_under_a_true_signature(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        anchor.write_text(anchor.read_text().replace("\n25\n", "\n24\n"))
        assert kind_and_place(ledger, read_kept(anchor)) == ("signature", "evidence", None)

    def test_a_file_is_trusted_by_its_own_keys_and_no_others(self, ledger, anchor):
        """Whoever keeps a file put its keys there: a key that only the log binds does not sign for it."""
        make_checkpoint(ledger, KEY, [anchor])
        book = read_notes(anchor)
        foreign = NoteBook((OTHER.verifier,), book.checkpoints)
        assert kind_and_place(ledger, Kept("anchor", foreign))[0] == "signature"
        resigned = tuple(replace(each, note=OTHER.sign(each.checkpoint.text)) for each in book.checkpoints)
        assert verify(ledger, kept=[Kept("anchor", NoteBook((OTHER.verifier,), resigned))]).first_divergence is None

    def test_a_signer_that_is_not_bound_leaves_the_log_as_it_is(self, ledger, anchor):
        heads = ledger.head("control"), ledger.head()
        make_checkpoint(ledger, KEY, [anchor], bind=False)
        assert (ledger.head("control"), ledger.head()) == heads
        assert verify(ledger, kept=[read_kept(anchor)]).first_divergence is None

    def test_another_ledgers_anchor_says_nothing_about_this_one(self, ledger, anchor):
        note = OTHER.sign(f"{origin_of(NOTHING, 'evidence')}\n1\n{'A' * 43}=\n")
        add_notes(anchor, [note], KEY.verifier)
        assert verify(ledger, kept=[read_kept(anchor)]).first_divergence is None
        assert read_notes(anchor).scopes == (NOTHING,)


@pytest.mark.invariant("§2.6")
class TestProofs:
    @pytest.fixture
    def trees(self, ledger, anchor) -> LedgerTrees:
        make_checkpoint(ledger, KEY, [anchor])
        return LedgerTrees(ledger)

    def note(self, anchor, family="evidence"):
        return read_notes(anchor).latest(SCOPE, family).note

    def saved(self, tmp_path, text) -> Kept:
        path = tmp_path / "proof"
        path.write_text(text)
        return read_kept(path)

    def test_every_event_of_both_logs_is_proved(self, ledger, anchor, trees, tmp_path):
        for family in FAMILIES:
            for event in ledger.events(family):
                proof = trees.prove_inclusion(event.event_id, self.note(anchor, family))
                assert proof.require([KEY.verifier]).size == ledger.count(family)
                assert verify(ledger, kept=[self.saved(tmp_path, proof.encode())]).first_divergence is None

    def test_the_log_extends_its_older_checkpoints(self, ledger, anchor, trees, tmp_path):
        older = self.note(anchor)
        add(ledger, "more")
        make_checkpoint(ledger, KEY, [anchor], trees)
        proof = trees.prove_consistency(older, self.note(anchor))
        assert [each.size for each in proof.require([KEY.verifier])] == [25, 26]
        assert verify(ledger, kept=[self.saved(tmp_path, proof.encode())]).first_divergence is None

    def test_a_proof_of_what_the_log_lost(self, ledger, anchor, trees, tmp_path):
        last = list(ledger.events())[-1]
        kept = self.saved(tmp_path, trees.prove_inclusion(last.event_id, self.note(anchor)).encode())
        logs = logs_of(ledger)
        short = with_logs(ledger, logs | {"evidence": logs["evidence"][:-1]})
        assert kind_and_place(short, kept) == ("truncated", "evidence", 25)
        assert kind_and_place(forked(ledger, 24), kept) == ("forked", "evidence", 25)

    def test_a_proof_that_does_not_hold(self, ledger, anchor, trees, tmp_path):
        events = list(ledger.events())
        proof = trees.prove_inclusion(events[3].event_id, self.note(anchor))
        wrong = replace(proof, leaf=leaf_of(events[4]), index=4)
        assert kind_and_place(ledger, self.saved(tmp_path, wrong.encode())) == ("proof", "evidence", None)
        untrusted = replace(proof, checkpoint=OTHER.sign(proof.checkpoint.text))
        assert kind_and_place(ledger, self.saved(tmp_path, untrusted.encode())) == ("signature", "evidence", None)

    def test_a_proof_of_size_0_is_an_error(self, ledger, anchor, trees, tmp_path):
        empty = Ledger.in_memory(NOTHING, now=NOW, policy=ledger.policy(), policy_name="seed-v4-clusters")
        with pytest.raises(MerkleError, match="size 0"):
            make_checkpoint(empty, KEY, [anchor])
        proof = trees.prove_inclusion(next(iter(ledger.events())).event_id, self.note(anchor)).encode()
        with pytest.raises(NoteError, match="size 0 says nothing"):
            self.saved(tmp_path, proof.replace("\n25\n", "\n0\n"))

    def test_a_receipt_is_exact_about_its_event(self, ledger, tmp_path):
        make_checkpoint(ledger, KEY, [tmp_path / "notes"])
        for family in FAMILIES:
            for event in ledger.events(family):
                kept = self.saved(tmp_path, sign_append(event, KEY).encode())
                assert verify(ledger, kept=[kept]).first_divergence is None
        event = list(ledger.events())[9]
        kept = self.saved(tmp_path, sign_append(event, KEY).encode())
        assert kind_and_place(forked(ledger, 7), kept) == ("forked", "evidence", 10)
        other = self.saved(tmp_path, sign_append(event, OTHER).encode())
        assert kind_and_place(ledger, other) == ("signature", "evidence", None)

    def test_another_ledgers_proof_proves_nothing_here(self, ledger, tmp_path):
        make_checkpoint(ledger, KEY, [tmp_path / "notes"])
        other = Ledger.in_memory(NOTHING, now=NOW, policy=ledger.policy(), policy_name="seed-v4-clusters")
        body = EntryGivenBody.make(content=other.put_blob(b"x", TEXT), role="user")
        story = Story()
        given = story._author.write(EntryGiven, story.named["user"].source_fact, body)
        (outcome,) = other.append((given.model_copy(update={"scope": NOTHING}),), role="recorder")
        make_checkpoint(other, KEY, [tmp_path / "other"])
        note = read_notes(tmp_path / "other").latest(NOTHING, "evidence").note
        proof = LedgerTrees(other).prove_inclusion(outcome.event_id, note)
        assert kind_and_place(ledger, self.saved(tmp_path, proof.encode()))[0] == "checkpoint"
        receipt = sign_append(other.event(outcome.event_id), KEY)
        assert kind_and_place(ledger, self.saved(tmp_path, receipt.encode()))[0] == "checkpoint"

    def test_what_came_after_the_checkpoint_is_not_proved_by_it(self, ledger, anchor, trees):
        later = add(ledger, "later")
        trees.refresh()
        with pytest.raises(UnknownReferenceError, match="veritas checkpoint"):
            trees.prove_inclusion(later, self.note(anchor))
        with pytest.raises(VerificationError):
            LedgerTrees(forked(ledger, 3)).prove_inclusion(later, self.note(anchor))
        with pytest.raises(VerificationError):
            trees.prove_consistency(self.note(anchor, "control"), self.note(anchor))


class TestNoteFiles:
    def test_making_a_checkpoint_again_adds_nothing(self, ledger, anchor):
        first = make_checkpoint(ledger, KEY, [anchor])
        text = anchor.read_text()
        assert make_checkpoint(ledger, KEY, [anchor]) == first
        assert anchor.read_text() == text
        assert ledger.count("control") == 6, "the key is bound once"
        assert text.startswith(f"{KEY.verifier}\nveritas/tests/story/control\n6\n")

    def test_a_ledger_that_was_cut_off_is_not_signed(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        text = anchor.read_text()
        for attacked in (forked(ledger, 5), with_logs(ledger, logs_of(ledger) | {"evidence": []})):
            with pytest.raises(VerificationError, match="cut off or rewritten"):
                make_checkpoint(attacked, KEY, [anchor])
        assert anchor.read_text() == text

    def test_notes_of_several_ledgers_and_keys_stand_in_one_file(self, ledger, anchor):
        make_checkpoint(ledger, KEY, [anchor])
        add(ledger, "more")
        make_checkpoint(ledger, OTHER, [anchor])
        book = read_notes(anchor)
        assert book.keys == (KEY.verifier, OTHER.verifier)
        assert [each.checkpoint.size for each in book.checkpoints] == [6, 25, 7, 26]
        assert verify(ledger, kept=[read_kept(anchor)]).first_divergence is None

    def test_writers_at_once_lose_no_note(self, anchor):
        notes = [KEY.sign(f"{origin_of(SCOPE, 'evidence')}\n{size}\n{'A' * 43}=\n") for size in range(1, 17)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda note: add_notes(anchor, [note], KEY.verifier), notes))
        book = read_notes(anchor)
        assert sorted(each.checkpoint.size for each in book.checkpoints) == list(range(1, 17))
        assert book.keys == (KEY.verifier,)

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text[: len(text) // 2],
            lambda text: text + "something else\n",
            lambda text: text.replace("+", "-", 1),
            lambda text: text.replace("\n25\n", "\n0\n"),
            lambda text: "\n" + text,
        ],
    )
    def test_a_damaged_file_is_named(self, ledger, anchor, change: Callable[[str], str]):
        make_checkpoint(ledger, KEY, [anchor])
        anchor.write_text(change(anchor.read_text()))
        with pytest.raises(SigningError, match=str(anchor)):
            read_notes(anchor)

    def test_no_file_is_no_note_and_another_file_no_anchor(self, tmp_path):
        assert read_notes(tmp_path / "none") == NoteBook()
        with pytest.raises(NoteError, match="no file"):
            read_kept(tmp_path / "none")
        (tmp_path / "empty").write_text("")
        with pytest.raises(NoteError, match="no checkpoint"):
            read_kept(tmp_path / "empty")

    def test_a_home_knows_which_ledgers_it_signed(self, ledger, tmp_path):
        assert checkpointed_scopes(tmp_path) == ()
        make_checkpoint(ledger, KEY, [note_file(tmp_path, SCOPE)])
        assert checkpointed_scopes(tmp_path) == (SCOPE,)
