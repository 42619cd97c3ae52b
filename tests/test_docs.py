"""The documentation against the code: nothing undocumented, nothing documented that is not there, no dead link."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from typer.main import get_command

from attribution.decision.verdicts import LabelName, Result, Verdict
from attribution.measurement import GATES
from evals.kill_criteria import Verdict as CriterionVerdict
from evals.metrics import Metric
from evals.scenarios.families import FAMILIES
from evals.trials import Outcome
from ledger_core.belief.state import Tier
from ledger_core.connectors.formats import FORMATS
from ledger_core.harness.checking import Outcome as CheckOutcome
from ledger_core.kernel.errors import ProviderError
from ledger_core.kernel.statements.measurement import MeasurementFlag
from ledger_core.kernel.statements.sealing import AuditOutcome
from ledger_core.stores.verify import DivergenceKind
from ledger_core.verification.adjudication import Ground
from pipelines import settings
from pipelines.cli.app import app
from pipelines.errors import ExitCode
from pipelines.lake.schemas import TABLES
from tests.generated_docs import BLOCKS
from tests.tree import PACKAGES, ROOT, project_files

PAGES = [ROOT / path for path in project_files() if path.suffix == ".md"]
PAGES += [ROOT / "data/README.md", ROOT / "reports/README.md"]
ROOMS = sorted(
    path.parent
    for name in PACKAGES
    for path in (ROOT / name).rglob("__init__.py")
    if path.parent != ROOT / "evals/scenarios/texts"
)
NEEDS_DAGSTER = {"assets", "run sizes"}
SCREEN = 60


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def name_of(path):
    return str(path.relative_to(ROOT))


def test_every_target_that_is_named_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", page("Makefile"), re.MULTILINE))
    named = {
        name for path in PAGES for name in re.findall(r"(?:`|\$ )make ([a-z-]+)", path.read_text(encoding="utf-8"))
    }
    assert named <= targets
    assert {"run", "test", "lint"} <= named


def test_every_folder_of_tests_is_named():
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("*.py"))}
    named = set(re.findall(r"`([a-z_0-9]+)/`", page("tests/README.md")))
    assert named == {*folders, *PACKAGES}


class TestCommandLine:
    COMMANDS = get_command(app).commands

    def section(self, name):
        found = re.search(rf"^## `veritas {name}\b.*?(?=^## |\Z)", page("docs/cli.md"), re.MULTILINE | re.DOTALL)
        assert found is not None, f"docs/cli.md has no section `veritas {name}`"
        return found.group()

    def options(self, command):
        own = {option for param in command.params for option in param.opts if option.startswith("--")}
        return own.union(*(self.options(inner) for inner in getattr(command, "commands", {}).values()))

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_option_is_documented_and_no_other(self, name):
        documented = set(re.findall(r"`(--[a-z-]+)", self.section(name)))
        assert documented - {"--help"} == self.options(self.COMMANDS[name]) - {"--help"}

    def test_every_section_is_a_command(self):
        assert set(re.findall(r"^## `veritas ([a-z-]+)", page("docs/cli.md"), re.MULTILINE)) == set(self.COMMANDS)

    def test_global_options(self):
        head = page("docs/cli.md").split("## Settings")[0]
        for option in {option for param in get_command(app).params for option in param.opts} - {"--help"}:
            assert f"`{option}" in head

    def test_exit_codes(self):
        rows = re.findall(r"^\| (\d+) \| `([A-Z_]+)` \|", page("docs/cli.md"), re.MULTILINE)
        assert {(int(code), name) for code, name in rows} == {(code.value, code.name) for code in ExitCode}

    def test_settings(self):
        rows = re.findall(r"^\| `([a-z]+)` \|.*\| `VERITAS_([A-Z]+)` \|", page("docs/cli.md"), re.MULTILINE)
        assert {name for name, _ in rows} == settings._KEYS
        assert all(name.upper() == variable for name, variable in rows)

    def test_the_readme_lists_every_command(self):
        assert set(re.findall(r"^\| `veritas ([a-z-]+)", page("README.md"), re.MULTILINE)) == set(self.COMMANDS)


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, id=b.name, marks=[pytest.mark.slow] if b.name in NEEDS_DAGSTER else []) for b in BLOCKS],
)
def test_generated_parts_say_what_the_code_says(block):
    assert block.written() == block.make(), "run `python -m tests.generated_docs`"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("docs/ledger.md", DivergenceKind),
        ("docs/belief.md", get_args(Tier)),
        ("docs/belief.md", get_args(AuditOutcome)),
        ("docs/verification.md", get_args(Ground)),
        ("docs/verification.md", get_args(CheckOutcome)),
        ("docs/verification.md", [error.__name__ for error in ProviderError.__subclasses__()]),
        ("docs/attribution.md", get_args(Verdict)),
        ("docs/attribution.md", get_args(Result)),
        ("docs/attribution.md", get_args(LabelName)),
        ("docs/attribution.md", get_args(MeasurementFlag)),
        ("docs/attribution.md", GATES),
        ("docs/evals.md", Metric),
        ("docs/evals.md", Outcome),
        ("docs/evals.md", CriterionVerdict),
        ("docs/evals.md", FAMILIES),
        ("docs/connectors.md", FORMATS),
        ("docs/pipelines.md", TABLES),
    ],
)
def test_closed_vocabularies_are_documented_whole(where, words):
    first_cells = re.findall(r"^\| ([\w-]+) \|", page(where), re.MULTILINE)
    spelled = {*re.findall(r"`([\w-]+)`", page(where)), *first_cells}
    assert {str(word) for word in words} <= spelled


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            assert there.exists(), f"{name_of(path)} links to {target}"
            if anchor and there.suffix == ".md":
                assert anchor in anchors(there), f"{name_of(path)} links to {target}"


def anchors(path):
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_files_that_are_named_exist(path):
    named = re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|toml|sql|jsonl)|(?:[\w-]+/)+)`", path.read_text(encoding="utf-8"))
    for name in named:
        places = [path.parent / name, ROOT / name, *(ROOT / package / name for package in PACKAGES)]
        assert name in MADE_LATER or any(place.exists() for place in places) or here(path, name), (
            f"{name_of(path)}: {name}"
        )


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_tests_that_are_named_exist(path):
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", path.read_text(encoding="utf-8")):
        assert re.search(rf"def {name}\(", page(file)), f"{name_of(path)}: {file}::{name}"


def here(path, name):
    """A file named by its last part alone, somewhere below the page's own folder or in the page's package."""
    below = path.parent if path.parent not in {ROOT, ROOT / "docs", ROOT / "docs/decisions"} else None
    roots = [below] if below else [ROOT / package for package in (*PACKAGES, "tests")]
    return any(next(root.rglob(name.rstrip("/")), None) for root in roots)


MADE_LATER = {
    "veritas.toml",
    "blobs/",
    "rejects/",
    "lake/",
    "reference/",
    "cache/",
    "dagster/",
    "mlflow/",
    "reports/bench/attribution/",
    "evals/scenarios/",
}
"""Names of what a run makes, or of folders with a page of their own."""


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_every_room_says_on_one_screen_what_it_is_for(room):
    lines = (room / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= SCREEN


def test_decisions_are_numbered_and_listed():
    index = page("docs/decisions/README.md")
    pages = sorted(path.name for path in (ROOT / "docs/decisions").glob("[0-9]*.md"))
    assert [int(name[:3]) for name in pages] == list(range(1, len(pages) + 1))
    for name in pages:
        text = page(f"docs/decisions/{name}")
        assert f"({name})" in index
        assert text.startswith(f"# {name[:3]} ")
        assert all(f"**{part}" in text for part in ("Context.", "Options.", "Outcome", "Cost."))


def test_invariants_of_the_belief_page_are_marked_by_tests():
    """Every invariant that a test is marked with stands in the table of laws."""
    marked = {
        found
        for path in (ROOT / "tests").rglob("test_*.py")
        for line in re.findall(r"mark\.invariant\((.*?)\)", path.read_text(encoding="utf-8"))
        for found in re.findall(r"§2\.\d", line)
    }
    listed = set(re.findall(r"^\| (§2\.\d) \|", page("docs/belief.md"), re.MULTILINE))
    assert marked <= listed == {f"§2.{number}" for number in range(1, 9)}
