"""`veritas scenarios`: a list that names all, and one in words."""

from __future__ import annotations

import json

import pytest

from evals.scenarios import FAMILIES, decode_scenario, generate
from tests.evals.scenarios.loaders import files

EVERY = [
    scenario
    for name, family in FAMILIES.items()
    for variant in (None, *family.on_request)
    for scenario in generate(name, 2, 7, variant)
]


def test_the_list_holds_every_family_and_variant(veritas):
    done = veritas("scenarios", "list", "--n", 2)
    assert done.err == ""
    assert [line.split()[0] for line in done.out.splitlines()] == [scenario.id for scenario in EVERY]
    listed = veritas("scenarios", "list", "--n", 2, "--json").json
    assert [(each["id"], each["digest"]) for each in listed["scenarios"]] == [(each.id, each.digest) for each in EVERY]


@pytest.mark.parametrize("scenario", EVERY[:: max(1, len(EVERY) // 12)], ids=lambda scenario: scenario.family)
def test_one_is_shown_with_its_texts_its_steps_and_its_truth(veritas, scenario):
    done = veritas("scenarios", "show", scenario.id, "--n", 2)
    assert done.code == 0
    assert done.out.startswith(
        f"{scenario.id}\nfamily {scenario.family}, variant {scenario.variant}, {scenario.order}\n"
    )
    for entry in scenario.entries:
        assert entry.text in done.out
    assert f"{len(scenario.steps):>2}. " in done.out
    for claim in scenario.dependents:
        assert claim in done.out.split("must fall")[1].splitlines()[0]


def test_json_is_the_canonical_record(veritas):
    scenario = EVERY[0]
    done = veritas("scenarios", "show", scenario.digest[:12], "--n", 2, "--json")
    record = json.dumps(done.json, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    assert decode_scenario(record) == scenario


def test_of_a_file_with_what_was_left_out(veritas, tmp_path):
    rows = files.attack_rows()
    rows["test1"]["question"] = "is it Toledo"
    path = files.write(tmp_path / "towns.json", rows)
    done = veritas("scenarios", "list", "--population", f"poisonedrag={path}")
    assert len(done.out.splitlines()) == 6
    assert done.err == "record 'test1': left out, its question names one of the answers\n"
    first = done.out.split()[0]
    shown = veritas("scenarios", "show", first, "--population", f"poisonedrag={path}")
    assert "the mouth of river" in shown.out


def test_what_cannot_be_is_one_line(veritas, tmp_path):
    assert "no scenario begins with 'nothing'" in veritas("scenarios", "show", "nothing").refused(2)
    assert "write more of it" in veritas("scenarios", "show", "planted").refused(2)
    assert "FORMAT=PATH" in veritas("scenarios", "list", "--population", "conflictqa").refused(2)
    assert "no scenario format 'squad'" in veritas("scenarios", "list", "--population", "squad=a.json").refused(1)
    assert "cannot be read" in veritas("scenarios", "list", "--population", f"conflictqa={tmp_path}/no").refused(1)
