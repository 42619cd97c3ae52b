import pytest

from tests.attribution.decision.simulation import STRATA, SUPPORTED, bounds, calibrated, run


@pytest.mark.parametrize("units", [5, 14])
def test_planted_edges_are_found_over_a_mild_background(units):
    floor = calibrated(units, n=60)
    for stratum in SUPPORTED:
        tally = run(stratum, units, floor, 12)
        assert tally.complete >= 11, (stratum, str(tally))
        assert tally.wrong_nulls == 0, (stratum, str(tally))
    assert run("null", units, floor, 40).false <= 6


@pytest.mark.slow
@pytest.mark.parametrize("units", [5, 8, 14, 20])
def test_recall_and_false_edges_at_200_a_stratum(units, capsys):
    floor = calibrated(units)
    tallies = {stratum: run(stratum, units, floor, 200) for stratum in STRATA}
    with capsys.disabled():
        print(f"\nd = {units}: {floor}")
        for stratum, tally in tallies.items():
            print(f"  {stratum:14s} {tally}")
    for stratum in SUPPORTED:
        tally = tallies[stratum]
        assert bounds(tally.complete, tally.n)[0] > 0.90, (stratum, str(tally))
    for stratum, tally in tallies.items():
        assert bounds(tally.false, tally.n)[1] < 0.10, (stratum, str(tally))
    assert sum(tally.wrong_nulls for tally in tallies.values()) <= 2


@pytest.mark.slow
def test_a_floor_from_a_calmer_background_does_not_hold(capsys):
    """Why floors belong to one scorer: under a doubled background a mild floor lets false edges through."""
    mild, doubled = calibrated(14), calibrated(14, scale=2.0)
    borrowed, own = (run("null", 14, floor, 200, scale=2.0) for floor in (mild, doubled))
    with capsys.disabled():
        print(f"\nborrowed floor: {borrowed}\nown floor:      {own}")
    assert bounds(borrowed.false, 200)[0] > 0.05
    assert bounds(own.false, 200)[1] < 0.10
