import pytest

from attribution.decision.floor import Floor, Undefined
from attribution.decision.floor_table import FloorRow, FloorTable, shipped
from ledger_core.kernel.errors import StatementError

WEIGHTS = "ab" * 32
SCORER = {"weights": WEIGHTS, "template": "chatml", "dtype": "float32"}


def row(tau, tokens, units, **changes):
    return FloorRow.of(Floor(tau, 0.75, 199, "shipped"), tokens=tokens, units=units, **{**SCORER, **changes})


def table():
    return FloorTable.of([row(1.0, (1, 16), (1, 6)), row(2.0, (17, 64), (1, 6)), row(3.0, (1, 16), (7, 16))])


@pytest.mark.parametrize(
    ("tokens", "units", "tau"), [(1, 1, 1.0), (16, 6, 1.0), (17, 6, 2.0), (64, 1, 2.0), (16, 7, 3.0)]
)
def test_lookup_by_length_and_units(tokens, units, tau):
    assert table().lookup(tokens=tokens, units=units, **SCORER) == Floor(tau, 0.75, 199, "shipped")


@pytest.mark.parametrize(
    ("tokens", "units", "changes", "reason"),
    [
        (65, 1, {}, "65 claim tokens"),
        (17, 7, {}, "7 units"),
        (1, 0, {}, "0 units"),
        (1, 1, {"dtype": "bfloat16"}, "bfloat16"),
        (1, 1, {"weights": "cd" * 32}, "cdcd"),
        (1, 1, {"template": "plain"}, "plain"),
    ],
)
def test_no_bin_is_undefined_with_its_reason(tokens, units, changes, reason):
    found = table().lookup(tokens=tokens, units=units, **{**SCORER, **changes})
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_a_written_floor_never_sinks():
    assert row(1.0000001, (1, 1), (1, 1)).tau_micro_nats == 1_001_000
    assert row(1.0002, (1, 1), (1, 1)).tau_micro_nats == 1_001_000
    assert row(0.75, (1, 1), (1, 1)).tau_micro_nats == 750_000


def test_the_digest_is_about_content_not_order():
    rows = [row(1.0, (1, 16), (1, 6)), row(2.0, (17, 64), (1, 6))]
    assert FloorTable.of(rows).digest() == FloorTable.of(rows[::-1]).digest()
    assert FloorTable.of(rows).digest() != FloorTable.of(rows[:1]).digest()
    assert FloorTable.decode(table().canonical_bytes()) == table()


def test_two_floors_for_one_claim_are_refused():
    with pytest.raises(StatementError, match="two floors"):
        FloorTable.of([row(1.0, (1, 16), (1, 6)), row(2.0, (16, 64), (6, 9))])
    with pytest.raises(StatementError, match="backwards"):
        row(1.0, (16, 1), (1, 6))


def test_the_shipped_tables_decode():
    assert shipped().version == 1
