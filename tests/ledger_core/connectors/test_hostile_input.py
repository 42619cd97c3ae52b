"""Whatever a file holds, an import ends in a report or in one typed line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ledger_core.connectors import FORMATS, import_transcripts
from ledger_core.kernel.errors import ConnectorError
from ledger_core.stores.verify import verify
from tests.ledger_core.connectors.conftest import new_ledger

TEXT = st.text(st.characters(), max_size=12)  # lone surrogates and NUL included
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
ANY = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]) | ANY
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "refusal", "image", "reasoning"]) | ANY, "text": ANY})
    | ANY,
    max_size=2,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"id": TEXT | ANY, "function": st.fixed_dictionaries({"name": TEXT | ANY, "arguments": TEXT | ANY}) | ANY}
    )
    | ANY,
    max_size=2,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": ROLES},
        optional={
            "content": TEXT | PARTS | ANY,
            "tool_calls": CALLS | ANY,
            "function_call": ANY,
            "tool_call_id": TEXT | ANY,
            "name": TEXT | ANY,
            "error": ANY,
            "id": ANY,
        },
    )
    | ANY,
    max_size=4,
)
EVENTS = st.lists(
    st.fixed_dictionaries({"event": st.sampled_from(["model", "tool"]), "id": ANY, "timestamp": ANY, "output": ANY})
    | ANY,
    max_size=2,
)
FILES = {
    "chat": st.fixed_dictionaries({"messages": MESSAGES}) | MESSAGES | ANY,
    "tau-bench": st.lists(
        st.fixed_dictionaries({"task_id": ANY, "trial": ANY, "traj": MESSAGES | ANY}) | ANY, max_size=2
    )
    | ANY,
    "inspect": st.fixed_dictionaries(
        {
            "eval": st.fixed_dictionaries({"model": TEXT | ANY}) | ANY,
            "samples": st.lists(
                st.fixed_dictionaries(
                    {"messages": MESSAGES | ANY, "events": EVENTS | ANY},
                    optional={"uuid": TEXT | ANY, "epoch": ANY, "attachments": ANY, "transcript": ANY, "id": ANY},
                )
                | ANY,
                max_size=2,
            )
            | ANY,
        }
    )
    | ANY,
}


def check(format_name: str, path: Path) -> None:
    ledger = new_ledger()
    try:
        report = import_transcripts(ledger, format_name, path)
    except ConnectorError as error:
        assert "\n" not in str(error).removeprefix(str(path))  # noqa: PT017 - one of two good ends
        assert ledger.count() == 0
        return
    assert report.fresh == ledger.count()
    assert all("\n" not in reject.reason for reject in report.rejects)
    assert import_transcripts(ledger, format_name, path).fresh == 0
    verify(ledger).require()


@pytest.mark.parametrize("format_name", FORMATS)
def test_any_json_is_imported_rejected_or_refused(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"

    @settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(FILES[format_name])
    def run(value: object) -> None:
        path.write_text(json.dumps(value))
        check(format_name, path)

    run()


@pytest.mark.parametrize("format_name", FORMATS)
def test_any_bytes_are_rejected_or_refused(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"

    @settings(max_examples=120, deadline=None)
    @given(
        st.binary(max_size=60)
        | st.sampled_from([b'[{"', b"PK\x03\x04", b'{"a":']).flatmap(lambda b: st.binary(max_size=20).map(b.__add__))
    )
    @example(b"[" * 100_000)
    @example(b'{"a":' * 100_000)
    @example(b"[" + b"9" * 100_000 + b"]")
    @example(b"[1e" + b"9" * 10_000 + b"]")
    @example(b"\x00" * 100)
    def run(data: bytes) -> None:
        path.write_bytes(data)
        check(format_name, path)

    run()
