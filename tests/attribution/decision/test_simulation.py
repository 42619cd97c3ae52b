import sys

import pytest

from tests.attribution.decision.simulation import STRATA, SUPPORTED, bounds, calibrated, run

AT_NOMINAL = {"null", "same-entity", "single+naming"}


def show(capsys, *lines):
    with capsys.disabled():
        sys.stdout.write("\n".join(("", *lines, "")))


@pytest.mark.parametrize("units", [5, 14])
def test_planted_edges_are_found_over_a_mild_background(units):
    floor = calibrated(units, n=60)
    for stratum in SUPPORTED:
        tally = run(stratum, units, floor, 12)
        assert tally.complete >= 11, (stratum, str(tally))
        assert tally.wrong_nulls == 0, (stratum, str(tally))
    assert run("null", units, floor, 40).false <= 6


@pytest.mark.slow
@pytest.mark.parametrize("units", [3, 5, 8, 14, 20])
def test_recall_and_false_edges(units, capsys):
    """`n` = 200 a stratum, 400 where the nominal rate of 0.05 applies; floors from 1,000 null claims a family."""
    floor = calibrated(units, n=1000)
    strata = [stratum for stratum in STRATA if units > 3 or stratum not in {"two-chains", "copies", "anchored"}]
    tallies = {stratum: run(stratum, units, floor, 400 if stratum in AT_NOMINAL else 200) for stratum in strata}
    show(capsys, f"d = {units}: {floor}", *(f"  {stratum:14s} {tally}" for stratum, tally in tallies.items()))
    for stratum, tally in tallies.items():
        assert bounds(tally.false, tally.n)[1] < 0.10, (stratum, str(tally))
        if stratum in SUPPORTED:
            assert bounds(tally.complete, tally.n)[0] > 0.90, (stratum, str(tally))
    assert sum(tally.wrong_nulls for tally in tallies.values()) == 0


@pytest.mark.slow
def test_a_floor_from_a_calmer_background_does_not_hold(capsys):
    """Why a floor belongs to one scorer: under a doubled background a mild one lets false edges through."""
    mild, doubled = calibrated(14, n=200), calibrated(14, n=200, scale=2.0)
    borrowed, own = (run("null", 14, floor, 200, scale=2.0) for floor in (mild, doubled))
    show(capsys, f"borrowed floor: {borrowed}", f"own floor:      {own}")
    assert bounds(borrowed.false, 200)[0] > 0.05
    assert bounds(own.false, 200)[1] < 0.10
