"""``python -m ledger_core.audit PATH``: check a ledger without its own code.

Exit codes: 0 everything holds, 3 what was checked holds and something could not be judged, 4 a finding, 2 nothing to audit.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ledger_core.audit.auditor import Report, audit, suffix_list
from ledger_core.audit.notes import File, NoteError, read_file, verifier_key
from ledger_core.audit.origin import installed_list
from ledger_core.audit.source import SourceError, open_source

HOLDS, USAGE, PARTLY, FOUND = 0, 2, 3, 4


def main(arguments: list[str] | None = None) -> int:
    """Audit what the command line names and print what was found; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        source = open_source(given.path, given.keys)
        kept = {str(path): _read(path) for path in given.kept}
        trusted = [verifier_key(text) for text in given.key]
        place = given.suffix_list or installed_list()
        suffixes = None if place is None else suffix_list(place.read_bytes())
    except (SourceError, NoteError, OSError) as error:
        print(f"audit: {error}", file=sys.stderr)  # noqa: T201 - this is the program's output
        return USAGE
    report = audit(source, suffixes=suffixes, kept=kept, keys=trusted)
    text = json.dumps(_document(report), indent=1) if given.json else _text(report, beliefs=given.beliefs)
    print(text)  # noqa: T201 - this is the program's output
    if report.finding is not None:
        return FOUND
    return PARTLY if report.unchecked else HOLDS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ledger_core.audit", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("path", type=Path, help="a ledger's folder, its SQLite file, or an export")
    parser.add_argument(
        "--kept", type=Path, action="append", default=[], help="an anchor, a proof or an append receipt; repeatable"
    )
    parser.add_argument("--key", action="append", default=[], help="a verifier key to trust; repeatable")
    parser.add_argument("--keys", type=Path, help="folder of the data keys of encrypted content")
    parser.add_argument("--suffix-list", type=Path, help="the public suffix list that the policy names by its digest")
    parser.add_argument("--beliefs", action="store_true", help="print every entry's tier, attenuation and belief")
    parser.add_argument("--json", action="store_true", help="print one JSON document, beliefs included")
    return parser


def _read(path: Path) -> File:
    try:
        return read_file(path.read_text(encoding="utf-8"))
    except (NoteError, UnicodeDecodeError) as error:
        raise NoteError(f"{path}: {error}") from error


def _text(report: Report, *, beliefs: bool) -> str:
    name = "/".join(report.scope.get(part, "?") for part in ("tenant_namespace", "project_namespace"))
    lines = [
        f"{name}: {'DOES NOT HOLD' if report.finding else 'holds, as far as it could be judged' if report.unchecked else 'holds'}"
    ]
    if report.finding is not None:
        lines.append(f"  finding   {report.finding}")
    for family, head in report.heads.items():
        lines.append(
            f"  {family:<9} {report.events[family]} events, head {head}, root {report.roots.get(family, 'none')}"
        )
    if report.finding is None:
        lines.append(f"  content   {report.blobs} present, {report.erased} erased on purpose")
    lines.extend(f"  unchecked {reason}" for reason in report.unchecked)
    if report.state is not None:
        retracted = len(report.state.retractions)
        lines.append(f"  beliefs   {len(report.state.entries)} entries, {retracted} retracted")
        if beliefs:
            lines.extend(
                f"  {key} {each.tier} attenuation {each.attenuation} belief {each.belief}"
                for key, each in sorted(report.state.entries.items())
            )
    return "\n".join(lines)


def _document(report: Report) -> dict[str, Any]:
    finding, state = report.finding, report.state
    return {
        "holds": finding is None,
        "complete": not report.unchecked,
        "finding": None if finding is None else {**vars(finding), "kind": finding.kind.value},
        "scope": report.scope,
        "events": report.events,
        "heads": report.heads,
        "roots": report.roots,
        "blobs": report.blobs,
        "erased": report.erased,
        "unchecked": report.unchecked,
        "beliefs": None
        if state is None
        else {
            key: {"tier": each.tier, "base": each.base, "attenuation": each.attenuation, "belief": each.belief}
            for key, each in sorted(state.entries.items())
        },
    }


if __name__ == "__main__":
    sys.exit(main())
