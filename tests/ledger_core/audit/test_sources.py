"""Where the auditor reads from: exports with and without content, encrypted content with and without its keys."""

from __future__ import annotations

import json

import pytest

from ledger_core.audit import audit, open_source
from ledger_core.audit.__main__ import main
from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.stores import Ledger, Place
from ledger_core.stores.archive import export
from tests.ledger_core.audit.reading import SUFFIXES
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell


@pytest.fixture(scope="module")
def told():
    ledger = open_memory()
    return ledger, tell(ledger)


@pytest.fixture(scope="module")
def archive(told, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "story.tar"
    export(told[0], path)
    return path


def test_an_export_holds(told, archive, capsys):
    ledger, _ = told
    assert main([str(archive), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["heads"] == {"control": ledger.head("control"), "evidence": ledger.head()}
    assert (found["blobs"], found["complete"], len(found["beliefs"])) == (17, True, 8)


def test_an_export_without_content_holds_as_far_as_it_can_be_judged(told, tmp_path, capsys):
    path = tmp_path / "story.tar"
    export(told[0], path, blobs=False)
    assert main([str(path)]) == 3
    printed = capsys.readouterr().out
    assert printed.startswith("tests/story: holds, as far as it could be judged\n")
    assert "17 contents: the export was made without content" in printed


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (b'"kind":"entry.derived"', b'"kind":"entry.DERIVED"', "statement"),
        (b'"committed_offset":"8"', b'"committed_offset":"9"', "offset"),
        (b'"project_namespace":"story"', b'"project_namespace":"storx"', "genesis"),
        (b"310 m high", b"311 m high", "blob-corrupt"),
    ],
)
def test_a_changed_export(archive, tmp_path, old, new, kind):
    """The first place where the bytes stand is changed, whatever else in the file would have to change with it."""
    data = archive.read_bytes()
    assert old in data
    changed = tmp_path / "changed.tar"
    changed.write_bytes(data.replace(old, new, 1))
    report = audit(open_source(changed), suffixes=SUFFIXES)
    assert report.finding is not None
    assert report.finding.kind.value == kind


def test_what_is_no_export(archive, tmp_path, capsys):
    for size in (100, 600):
        cut = tmp_path / "cut.tar"
        cut.write_bytes(archive.read_bytes()[:size])
        assert main([str(cut)]) == 2
        assert "audit: " in capsys.readouterr().err


def test_encrypted_content_is_read_with_its_keys_and_said_to_be_unread_without(tmp_path, capsys):
    place = Place(tmp_path / "home", keys=tmp_path / "keys")
    with Ledger.open(place, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger:
        story = tell(ledger)
    folder = place.folder(SCOPE)
    assert list(folder.glob("blobs/*/*.enc")), "content is encrypted"
    assert main([str(folder)]) == 3
    assert "17 contents: encrypted" in capsys.readouterr().out
    keys = tmp_path / "keys" / "tests" / "story"
    assert main([str(folder), "--keys", str(keys)]) == 0
    digest = story.named["observed_alpha"].body.content.digest
    (sealed,) = folder.glob(f"blobs/*/{digest}.enc")
    sealed.write_bytes(sealed.read_bytes()[:-1] + b"x")
    assert main([str(folder), "--keys", str(keys)]) == 4
    assert "blob-corrupt" in capsys.readouterr().out
