"""Parts of the documentation that are made from the code: ``python -m tests.generated_docs`` writes them anew.

A part stands between two markers in its page; `tests/test_docs.py` holds it to what the code says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.tree import ROOT


def statement_kinds() -> str:
    from ledger_core.kernel.statements import STATEMENT_TYPES, family_of

    rows = []
    for kind, statement in STATEMENT_TYPES.items():
        body = statement.model_fields["body"].annotation
        fields = ", ".join(f"`{name}`" for name in body.model_fields)
        rows.append((f"`{kind}`", family_of(kind), _first_line(body.__doc__), fields))
    return _table(("kind", "family", "says", "body"), rows)


def policies() -> str:
    from ledger_core.belief.policies import POLICIES

    flat = {name: _flat(policy.model_dump()) for name, policy in POLICIES.items()}
    numbers = next(iter(flat.values()))
    rows = [(f"`{field}`", *(_number(values[field]) for values in flat.values())) for field in numbers]
    return _table(("number", *(f"`{name}`" for name in flat)), rows)


def arms() -> str:
    from dataclasses import fields

    from evals.arms import ARMS, DEFAULT_ARMS, Arm

    usual = {field.name: field.default for field in fields(Arm)}
    further = ("corroboration", "instruction", "policy")

    def beside(a: Arm) -> str:
        return ", ".join(f"{name} {getattr(a, name)}" for name in further if getattr(a, name) != usual[name])

    rows = [
        (
            *(f"`{a.display}`", a.renderer, a.order, a.retraction, a.edges, a.compaction, beside(a)),
            *(_yes(a.display in DEFAULT_ARMS), a.question),
        )
        for a in ARMS.values()
    ]
    return _table(("arm", "renderer", "order", "retraction", "edges", "at a fold", "beside", "run", "answers"), rows)


def suite() -> str:
    from pipelines.suite import EFFORTS, SUITE

    rows = []
    for row in SUITE:
        name = f"`{row.family}`" if row.variant is None else f"`{row.family}` {row.variant}"
        sizes = (str(row.at(effort).scenarios) for effort in EFFORTS)
        rows.append((name, *sizes, ", ".join(f"`{arm}`" for arm in row.arms) or "(measured, not asked)"))
    return _table(("scenarios", "`--quick`", "`evaluate`", "`--full`", "read by"), rows)


def criteria() -> str:
    from evals.criteria import load_full_criteria

    rows = []
    for criterion in load_full_criteria().criteria:
        parts = [
            f"{part.name}: {'upper bound <' if part.direction == 'upper-below' else 'lower bound >'} {part.threshold:g}"
            for part in criterion.parts
        ]
        rows.append((criterion.id.upper(), criterion.title, "; ".join(parts) or f"({criterion.unavailable})"))
    return _table(("id", "claim", "passes when all hold"), rows)


def run_sizes() -> str:
    from dataclasses import asdict

    from pipelines.main_job import DEFAULT_SEED, FULL, QUICK

    quick = asdict(QUICK)
    rows = [(name.replace("_", " "), str(size), str(quick[name])) for name, size in asdict(FULL).items()]
    return f"{_table(('scenarios', '`run`', '`--quick`'), rows)}\n\nThe seed is {DEFAULT_SEED} unless told otherwise."


def lake_tables() -> str:
    from pipelines.lake.schemas import TABLES

    rows = [
        (
            f"`{name}`",
            ", ".join(f"`{column}`" for column in table.key),
            ", ".join(f"`{column}`" for column, _ in table.columns if column not in table.key),
            table.description,
        )
        for name, table in sorted(TABLES.items())
    ]
    return _table(("table", "key", "other columns", "one row is"), rows)


def assets() -> str:
    from pipelines.assets.checks import CHECKS
    from pipelines.definitions import ASSETS

    checks = {spec.asset_key.to_user_string(): spec.name for check in CHECKS for spec in check.check_specs}
    rows = []
    for asset in ASSETS:
        spec = next(iter(asset.specs))
        name = spec.key.to_user_string()
        made_from = ", ".join(f"`{dep.asset_key.to_user_string()}`" for dep in spec.deps)
        checked = f"`{checks[name]}`" if name in checks else ""
        rows.append((f"`{name}`", spec.group_name, made_from, _yes(spec.partitions_def is not None), checked))
    return _table(("asset", "group", "made from", "per tenant", "blocking check"), rows)


def permissions() -> str:
    from ledger_core.service.permissions import PERMISSIONS, ROLES

    rows = [
        (f"`{method} {path}`", *("✓" if role in allowed else "" for role in ROLES))
        for (method, path), allowed in PERMISSIONS.items()
    ]
    return _table(("request", *ROLES), rows)


def problems() -> str:
    from ledger_core.service.problems import ProblemKind

    rows = [(f"`{kind.slug}`", str(kind.status), kind.value.title) for kind in ProblemKind]
    return _table(("problem", "status", "means"), rows)


@dataclass(frozen=True)
class Block:
    """A generated part of a page."""

    page: str
    name: str
    make: Callable[[], str]

    @property
    def path(self) -> Path:
        return ROOT / self.page

    def written(self) -> str:
        """What stands in the page between the block's markers."""
        return self._split()[1].strip()

    def write(self) -> None:
        before, _, after = self._split()
        self.path.write_text(f"{before}\n{self.make()}\n{after}", encoding="utf-8")

    def _split(self) -> tuple[str, str, str]:
        text = self.path.read_text(encoding="utf-8")
        marks = f"<!-- generated: {self.name} -->", "<!-- end -->"
        found = re.fullmatch(rf"(.*{marks[0]})(.*?)({marks[1]}.*)", text, re.DOTALL)
        assert found is not None, f"{self.page} has no block between {marks[0]} and {marks[1]}"
        return found.group(1), found.group(2), found.group(3)


BLOCKS = (
    Block("docs/ledger.md", "statement kinds", statement_kinds),
    Block("docs/belief.md", "policies", policies),
    Block("docs/service.md", "permissions", permissions),
    Block("docs/service.md", "problems", problems),
    Block("docs/evals.md", "arms", arms),
    Block("docs/evals.md", "suite", suite),
    Block("docs/evals.md", "criteria", criteria),
    Block("docs/evals.md", "run sizes", run_sizes),
    Block("docs/pipelines.md", "lake tables", lake_tables),
    Block("docs/pipelines.md", "assets", assets),
)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().splitlines()[0]


def _flat(values: dict[str, object]) -> dict[str, object]:
    nested = {name: value for name, value in values.items() if isinstance(value, dict)}
    inner = {f"{name}.{key}": item for name, value in nested.items() for key, item in value.items()}
    return inner | {name: value for name, value in values.items() if name not in nested}


def _number(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value).lower() if isinstance(value, bool) or value is None else str(value)
    return f"{text[:12]}…" if len(text) == 64 else text


def _yes(value: object) -> str:
    return "yes" if value else ""


if __name__ == "__main__":
    for block in BLOCKS:
        block.write()
