"""One expression a record type: the canonical bytes that are certain to decode to it.

Put together from the fields of the type, so that it can only say what the type says, and narrower than that: no escapes, nothing
outside printable ASCII, no time on 29 February. What an expression cannot hold (an order, a sum) is for its user to check, or is
narrowed away here until there is nothing left to check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from ledger_core.kernel import types
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope, Lineage
from ledger_core.kernel.statements.sealing import Reacquisition

_PLAIN = r"[ !#-\[\]-~]"
"""Printable ASCII without the quote and the backslash: strict text, spelled as it is."""
_POINTED = r"(?:/(?:[ !#-.0-\[\]-}]|~[01])*+)++"
_DAY = (
    r"(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"  # of any month
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"
)
_TIME = rf"(?!0000)[0-9]{{4}}-(?:{_DAY})T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{{6}}000Z"

_STRINGS: tuple[tuple[object, str], ...] = (
    (types.Digest, r"[0-9a-f]{64}"),
    (types.ContractId, r"[a-z][a-z0-9_.-]{0,127}+"),
    (types.Family, r"(?:\*|[a-z][a-z0-9_.-]{0,127}+)"),
    (types.ForeignName, _PLAIN + r"{1,256}+"),
    (types.FactText, _PLAIN + r"{1,512}+"),
    (types.Pointer, rf'(?={_PLAIN}{{2,512}}+"){_POINTED}'),
    (types.Timestamp, _TIME),
)
_NUMBERS: tuple[tuple[object, str], ...] = (
    (types.Ppm, r"(?:0|[1-9][0-9]{0,5}+|1000000)"),
    (types.Count, r"(?:0|[1-9][0-9]{0,14}+)"),
)

_, _LIMIT = get_args(types.Items[str])
"""What an array of the strict profile is annotated with."""

_NARROWED: Mapping[tuple[type[Record], str], str] = MappingProxyType(
    {
        (Envelope, "erasure_scopes"): r"\[\]",
        (Lineage, "event_id"): "null",
        (Lineage, "relation"): '"origin"',
        (Reacquisition, "secret_refs"): rf'\[(?:"{_PLAIN}{{1,256}}+")?\]',  # one cannot be out of order
    }
)
"""Fields that a validator compares with others, by the one spelling that it has nothing against."""


def expression(record: type[Record], captured: Mapping[str, str]) -> str:
    """The expression of ``record``.

    ``captured`` names groups by the path of their field (``body.content.digest``): a group holds what stands between the
    quotes of a string or the brackets of an array, or a whole record; it takes no part where the field is null.
    """
    return _object(record, "", captured)


class _Spelling(NamedTuple):
    before: str
    inner: str
    after: str

    def __str__(self) -> str:
        return self.before + self.inner + self.after


def _object(record: type[Record], path: str, captured: Mapping[str, str]) -> str:
    hints = get_type_hints(record, include_extras=True)
    base = Envelope if issubclass(record, Envelope) else record
    members = []
    for name in record.model_fields:
        narrowed = _NARROWED.get((base, name))
        value = narrowed or _value(hints[name], f"{path}{name}", captured)
        members.append(f'"{name}":{value}')
    return r"\{" + ",".join(members) + r"\}"


def _value(hint: Any, path: str, captured: Mapping[str, str]) -> str:
    if get_origin(hint) in {Union, UnionType}:
        return f"(?:{'|'.join(_value(each, path, captured) for each in get_args(hint))})"
    if hint is NoneType:
        return "null"
    found: _Spelling
    if isinstance(hint, type) and issubclass(hint, Record):
        found = _Spelling("", _object(hint, f"{path}.", captured), "")
    else:
        found = _scalar(hint) or _array(hint, path)
    group = captured.get(path)
    return str(found if group is None else found._replace(inner=f"(?P<{group}>{found.inner})"))


def _scalar(hint: Any) -> _Spelling | None:
    for known, inner in _STRINGS:
        if hint is known:
            return _Spelling('"', inner, '"')
    for known, inner in _NUMBERS:
        if hint is known:
            return _Spelling("", inner, "")
    if get_origin(hint) is not Literal:
        return None
    values = get_args(hint)
    if all(isinstance(value, str) for value in values):
        return _Spelling('"', f"(?:{'|'.join(map(re.escape, values))})", '"')
    return _Spelling("", f"(?:{'|'.join(re.escape(json.dumps(value)) for value in values)})", "")


def _array(hint: Any, path: str) -> _Spelling:
    inner, limit = get_args(hint) if get_origin(hint) is Annotated else (None, None)
    if limit is not _LIMIT:
        raise TypeError(f"{path} of type {hint} has no expression; say how its bytes look")
    item = _value(get_args(inner)[0], f"{path}[]", {})
    return _Spelling(r"\[", f"(?:{item}(?:,{item}){{0,{types.MAX_ITEMS - 1}}})?", r"\]")
