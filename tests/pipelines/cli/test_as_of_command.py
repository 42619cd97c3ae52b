"""`veritas why` at earlier times."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import TEXT
from ledger_core.stores import Ledger
from tests.ledger_core.belief.book import SCOPE, Book
from tests.pipelines.cli.conftest import Veritas

BOOK = ("--tenant", SCOPE.tenant_namespace, "--project", SCOPE.project_namespace)


def day(number: int) -> str:
    return f"2026-02-{number:02}T00:00:00.000000000Z"


@pytest.fixture
def target(home: Path) -> str:
    """Observed on the 1st, contradicted by two origins on the 3rd and the 5th; each recorded a day later."""
    today = [1]
    opening = {"policy": SEED_V4_CLUSTERS, "policy_name": SEED_V4_CLUSTERS_NAME}
    with Ledger.open(home, SCOPE, now=lambda: day(today[0]), **opening) as ledger:
        book, desk = Book(), VerdictDesk(ledger)
        entries = []
        for number, host in ((1, "t.example"), (3, "a.example"), (5, "b.example")):
            before = len(book.statements)
            entries.append(book.seal(host, f"{host} says so", at=day(number)))
            for data in book.blobs.values():
                ledger.put_blob(data, TEXT)
            today[0] = number + 1
            ledger.append(book.statements[before:], role="sealer")
        for candidate in entries[1:]:
            desk.file(target=entries[0], candidate=candidate, verdict="contradict", recipe="r")
    return entries[0]


def retracted(veritas: Veritas, target: str, *options: str) -> bool:
    return veritas("why", target, *BOOK, "--json", *options).json["entries"][0]["retracted"]


def test_as_it_was_known_and_as_it_had_happened(veritas: Veritas, target: str):
    assert retracted(veritas, target)
    assert not retracted(veritas, target, "--recorded-as-of", "2026-02-05T12:00:00Z")
    assert retracted(veritas, target, "--recorded-as-of", "2026-02-06T01:00:00+01:00")
    assert not retracted(veritas, target, "--effective-as-of", "2026-02-04T00:00:00Z")
    assert retracted(veritas, target, "--effective-as-of", "2026-02-05T00:00:00Z")


def test_the_list_and_the_head_are_those_of_the_time(veritas: Veritas, target: str):
    then = ("--recorded-as-of", "2026-02-02T00:00:00Z")
    assert [entry["entry"] for entry in veritas("why", *BOOK, "--json", *then).json] == [target]
    assert len(veritas("why", *BOOK, "--json").json) == 3
    heads = {veritas("why", target, *BOOK, "--json", *options).json["head"] for options in (then, ())}
    assert len(heads) == 2


def test_times_that_cannot_be_are_refused(veritas: Veritas, target: str):
    del target
    assert "begins later" in veritas("why", *BOOK, "--recorded-as-of", "2025-01-01T00:00:00Z").refused()
    for option in ("--recorded-as-of", "--effective-as-of"):
        assert f"{option} 'yesterday' is no instant" in veritas("why", *BOOK, option, "yesterday").refused(2)
