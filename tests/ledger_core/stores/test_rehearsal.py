"""A rehearsal answers as the ledger would and leaves it alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import BlobError, CollisionError, UnknownReferenceError
from ledger_core.kernel.statements import facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.stores import BlobStatus, Fresh, Ledger, Replayed
from ledger_core.stores.rehearsal import rehearsal
from tests.ledger_core.story import NOW, SCOPE, tell


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as opened:
        yield opened


def _given(ledger: Ledger, text: str, step: int = 9) -> EntryGiven:
    body = EntryGivenBody.make(content=ledger.put_blob(text.encode(), TEXT), role="user")
    return Author(SCOPE, "tests.story", "1.0").write(EntryGiven, facts.message_fact("tests", "r", step), body)


def test_it_tells_fresh_from_known_and_keeps_nothing(ledger: Ledger):
    story = tell(ledger)
    head, count = ledger.head(), ledger.count()
    stage = rehearsal(ledger)
    assert stage.count() == count
    assert [event.event_id for event in stage.events()] == [event.event_id for event in ledger.events()]
    assert isinstance(stage.append((story.named["derived"],), role="recorder")[0], Replayed)
    new = _given(stage, "a text of its own")
    assert isinstance(stage.append((new,), role="recorder")[0], Fresh)
    assert isinstance(stage.append((new,), role="recorder")[0], Replayed)
    assert (stage.count(), ledger.count(), ledger.head()) == (count + 1, count, head)
    assert ledger.blob_status(new.body.content) is BlobStatus.MISSING
    assert stage.blob_status(new.body.content) is BlobStatus.MISSING


def test_it_reads_what_the_ledger_holds(ledger: Ledger):
    story = tell(ledger)
    ref = story.named["user"].body.content
    assert rehearsal(ledger).read_blob(ref) == ledger.read_blob(ref)
    assert rehearsal(ledger).policy() == ledger.policy()


def test_it_refuses_what_the_ledger_would_refuse(ledger: Ledger):
    tell(ledger)
    stage = rehearsal(ledger)
    ledger.append((_given(ledger, "one"),), role="recorder")
    with pytest.raises(CollisionError):
        rehearsal(ledger).append((_given(stage, "other"),), role="recorder")
    stage.append((_given(stage, "other"),), role="recorder")
    seal = next(event.statement for event in ledger.events() if event.statement.kind == "entry.observed")
    empty = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    with pytest.raises(UnknownReferenceError):
        rehearsal(empty).append((seal,), role="sealer")


@pytest.mark.invariant("EVID-09")
def test_erased_content_stays_refused(ledger: Ledger):
    ledger.put_blob(b"a secret", TEXT)
    ledger.blobs.erase(content_ref(b"a secret", TEXT).digest)
    stage = rehearsal(ledger)
    with pytest.raises(BlobError, match="erased on purpose"):
        stage.put_blobs([(b"fine", TEXT), (b"a secret", TEXT)])
    with pytest.raises(BlobError, match="in the ledger itself"):
        stage.blobs.erase(content_ref(b"fine", TEXT).digest)
