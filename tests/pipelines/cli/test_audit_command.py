"""`veritas audit`: what is printed suffices to recompute the belief, and every event it names is in the ledger."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS
from ledger_core.harness.verdicts import file_verdict
from ledger_core.kernel.statements import FAMILIES
from ledger_core.kernel.types import U
from ledger_core.stores import Ledger
from tests.ledger_core.story import NOW, SCOPE, Story
from tests.pipelines.cli.conftest import STORY, Veritas
from tests.properties.test_account import evaluated

LINE = re.compile(r"^  (\S+) = (.+) = (\d+)$", re.MULTILINE)
ENTRIES = "observed_alpha observed_beta observed_gamma derived conjectured user_again".split()


def recompute(text: str) -> dict[str, int]:
    """The results of the printed arithmetic, each recomputed from its own line and found among the results before it."""
    results: dict[str, int] = {}
    for name, expression, value in LINE.findall(text):
        assert evaluated(expression) == int(value), name
        operands = {int(number) for number in re.findall(r"\d{9,}", expression)}
        assert operands <= {U, *results.values()}, f"{name} uses numbers that no line above gives"
        results[name] = int(value)
    return results


@pytest.fixture
def quarrel(home: Path, story: Story) -> Story:
    """The story, and one more verdict in the place of the reversed one: `alpha` is retracted."""
    with Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger:
        target, candidate = story.id("observed_alpha"), story.id("observed_beta")
        filed = file_verdict(ledger, target=target, candidate=candidate, verdict="contradict", recipe="again-v1")
        assert filed.fired
    return story


def events_of(home: Path) -> set[str]:
    with Ledger.existing(home, SCOPE, now=NOW) as ledger:
        return {event.event_id for family in FAMILIES for event in ledger.events(family)}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_printed_arithmetic_gives_the_belief(veritas: Veritas, quarrel: Story, name: str):
    done = veritas("audit", quarrel.id(name), *STORY)
    assert (done.code, done.err) == (0, "")
    belief = veritas("audit", quarrel.id(name)[:12], *STORY, "--json").json["belief"]
    listed = {each["entry"]: each["belief"] for each in veritas("why", *STORY, "--json").json}
    assert belief == listed[quarrel.id(name)]
    if belief is None:
        assert "belief  none" in done.out
        assert LINE.findall(done.out) == []
    else:
        assert recompute(done.out)["belief"] == belief


@pytest.mark.parametrize("name", ENTRIES)
def test_every_id_that_is_printed_is_an_event_of_the_ledger(veritas: Veritas, home: Path, quarrel: Story, name: str):
    done = veritas("audit", quarrel.id(name), *STORY)
    assert f"\npolicy  {quarrel.id('strict')} (digest {STRICT_CLUSTERS.digest()})\n" in done.out
    head = next(line.split()[1] for line in done.out.splitlines() if line.startswith("head "))
    beside = {head, STRICT_CLUSTERS.digest()}
    assert set(re.findall(r"\b[0-9a-f]{64}\b", done.out)) - beside <= events_of(home)


def test_a_claim_on_something_retracted_is_followed_back_to_the_quorum(veritas: Veritas, quarrel: Story):
    done = veritas("audit", quarrel.id("derived"), *STORY)
    alpha, derived = quarrel.id("observed_alpha"), quarrel.id("derived")
    assert done.out.startswith(f"entry   {derived} entry.derived INVALIDATED\n")
    results = recompute(done.out)
    assert results == {
        "base": 500_000_000,
        f"A'({alpha})": U,
        f"A({alpha})": 50_000_000,
        f"A({derived})": 50_950_000,  # U − ⌊999,000 · 950,000,000 / 10⁶⌋
        "belief": 25_475_000,
    }
    assert f"rests on {alpha} at 999000 ppm" in done.out
    assert f"measured 999000 ppm by {quarrel.id('measured')}" in done.out
    assert "retracted by 2 members, 2 pairwise independent, 2 wanted" in done.out
    for source in ("beta", "gamma"):
        line = f"{quarrel.id(f'observed_{source}')} of {source}.example (seal {quarrel.id(f'seal_{source}')})"
        assert line in done.out
    assert f"assessment {quarrel.id('independent')}: " in done.out


def test_a_reputation_is_shown_with_the_retractions_that_made_it(veritas: Veritas, quarrel: Story):
    beta = veritas("audit", quarrel.id("observed_beta"), *STORY).out
    alpha = veritas("audit", quarrel.id("observed_alpha"), *STORY).out
    assert f"for      s = 1\n    {quarrel.id('observed_alpha')} of alpha.example retracted, cascade " in beta
    assert "against  f = 0" in beta
    assert recompute(beta)["base"] == U * 7 * 3 // (7 * 3 + 3 * 2)
    assert f"against  f = 1\n    {quarrel.id('observed_alpha')} of alpha.example retracted" in alpha
    assert recompute(alpha)["base"] == U * 7 * 2 // (7 * 2 + 3 * 3)


def test_an_observation_shows_its_seal_and_its_audits(veritas: Veritas, story: Story):
    done = veritas("audit", story.id("observed_alpha"), *STORY)
    assert f"seal {story.id('seal_alpha')}, origin alpha.example, family *" in done.out
    assert f"audit {story.id('audited')}: intact" in done.out
    assert "for      s = 0" in done.out
    assert "against  f = 0" in done.out


def test_a_name_that_is_none(veritas: Veritas, story: Story):
    assert "no entry id" in veritas("audit", "zz", *STORY).refused(2)
    assert "not an entry" in veritas("audit", story.id("generation"), *STORY).refused()
