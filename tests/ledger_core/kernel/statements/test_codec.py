"""Every kind of statement: what encodes, what decodes, and every way in which other bytes must not."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import canonical
from ledger_core.kernel.errors import LedgerError, StatementError, TrustFieldError
from ledger_core.kernel.records import MAX_BYTES, TRUST_FIELDS, Record
from ledger_core.kernel.statements import STATEMENT_TYPES, Statement, decode_statement, family_of
from ledger_core.kernel.statements.envelope import kind_and_fact
from tests.ledger_core.story import Story

STORY = Story()
BY_KIND: dict[str, Statement] = {statement.kind: statement for statement in STORY}

every_kind = pytest.mark.parametrize("kind", sorted(STATEMENT_TYPES))


def as_json(statement: Statement) -> dict:
    return json.loads(statement.encoded)


def spelled(value: object) -> bytes:
    """Canonical bytes by other means; every key in a statement is ASCII, so code point order is UTF-16 order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def record_types(base: type[Record] = Record) -> list[type[Record]]:
    return [kind for child in base.__subclasses__() for kind in (child, *record_types(child))]


def test_the_story_tells_of_every_kind():
    assert set(BY_KIND) == set(STATEMENT_TYPES)
    assert len(STATEMENT_TYPES) == 20


@every_kind
def test_a_statement_decodes_to_itself(kind):
    statement = BY_KIND[kind]
    decoded = decode_statement(statement.encoded)
    assert type(decoded) is STATEMENT_TYPES[kind]
    assert decoded == statement
    assert decoded.event_id == statement.event_id


@every_kind
def test_its_bytes_are_canonical_under_the_strict_profile(kind):
    encoded = BY_KIND[kind].encoded
    assert encoded == spelled(json.loads(encoded))
    assert canonical.require(encoded) == json.loads(encoded)


@pytest.mark.parametrize("record", record_types(), ids=lambda record: record.__name__)
def test_fields_are_declared_in_canonical_order(record):
    names = list(record.model_fields)
    assert names == sorted(names, key=canonical.utf16_order)
    assert all(field.is_required() for field in record.model_fields.values()), "a closed record has no defaults"


def test_the_envelope_holds_exactly_the_designed_fields():
    for statement in STORY:
        assert list(as_json(statement)) == [
            "body",
            "erasure_scopes",
            "kind",
            "observed_at",
            "occurred_at",
            "profile",
            "protection_domain_id",
            "representation",
            "retention_class",
            "schema_version",
            "scope",
            "source_fact",
            "visibility_class",
        ]


def refuses(data: bytes, match: str | None = None) -> None:
    with pytest.raises(StatementError, match=match):
        decode_statement(data)


def leaves(value: object, path: tuple = ()) -> list[tuple[tuple, object]]:
    """Every value in a document with its path, containers included."""
    found = [(path, value)] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [leaf for key, child in items for leaf in leaves(child, (*path, key))]


def changed(document: dict, path: tuple, value: object) -> dict:
    copy = json.loads(json.dumps(document))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy


def without(document: dict, path: tuple) -> dict:
    copy = json.loads(json.dumps(document))
    place = copy
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return copy


def coercions(value: object) -> list[object]:
    """Values that a lax decoder would take for ``value``."""
    if isinstance(value, bool):
        return [int(value), str(value).lower()]
    if isinstance(value, int):
        return [float(value), str(value), bool(value)]
    if isinstance(value, str):
        return [[value], value.encode().hex() * 2 + "\n", value + "\n", value + "\x7f", 1]
    if isinstance(value, dict):
        return [list(value.values()), [[key, item] for key, item in value.items()], "{}"]
    if isinstance(value, list):
        return [{str(key): item for key, item in enumerate(value)}, None]
    return [{}, "null", False]


@every_kind
def test_no_value_is_coerced(kind):
    document = as_json(BY_KIND[kind])
    for path, value in leaves(document):
        for other in coercions(value):
            refuses(spelled(changed(document, path, other)))


@every_kind
def test_no_field_is_optional_and_none_may_be_added(kind):
    document = as_json(BY_KIND[kind])
    objects = [((), document)] + [(path, value) for path, value in leaves(document) if isinstance(value, dict)]
    for path, value in objects:
        for key in value:
            refuses(spelled(without(document, (*path, key))))
        refuses(spelled(changed(document, (*path, "extra"), None)), "extra")


@pytest.mark.invariant("§2.1", "EVID-04")
@every_kind
@pytest.mark.parametrize("name", sorted(TRUST_FIELDS))
def test_a_trust_field_is_refused_by_name(kind, name):
    document = as_json(BY_KIND[kind])
    own = name in as_json(BY_KIND[kind])["body"]  # an erasure names the authority that ordered it
    for path in ((name,),) if own else ((name,), ("body", name)):
        with pytest.raises(TrustFieldError, match=rf"\b{name}: trust is never stated"):
            decode_statement(spelled(changed(document, path, 1)))


@pytest.mark.invariant("§2.1")
def test_a_trust_field_is_named_before_any_other_complaint():
    document = changed(as_json(BY_KIND["entry.derived"]), ("aaa",), 1)
    document = without(changed(document, ("body", "tier"), "sealed_verified"), ("scope",))
    with pytest.raises(TrustFieldError, match="tier"):
        decode_statement(spelled(document))


@every_kind
def test_the_same_value_in_other_bytes_is_refused(kind):
    encoded = BY_KIND[kind].encoded
    text = encoded.decode()
    reversed_keys = json.dumps(dict(reversed(json.loads(encoded).items())), ensure_ascii=False, separators=(",", ":"))
    others = {
        "key order": reversed_keys.encode(),
        "white space": encoded.replace(b",", b", ", 1),
        "final newline": encoded + b"\n",
        "trailing bytes": encoded + b"{}",
        "byte order mark": b"\xef\xbb\xbf" + encoded,
        "escaped ASCII": encoded.replace(b'"kind"', b'"\\u006bind"', 1),
        "escaped value": text.replace('"private"', '"\\u0070rivate"').encode(),
        "escaped solidus": encoded.replace(b'"private"', b'"pri\\/vate"'),
        "duplicate key": encoded.replace(b'"kind":', b'"kind":"ledger.genesis","kind":', 1),
        "escaped duplicate key": encoded.replace(b'"kind":', b'"\\u006bind":"ledger.genesis","kind":', 1),
        "exponent": encoded.replace(b'"schema_version":1', b'"schema_version":1e0'),
        "fraction": encoded.replace(b'"schema_version":1', b'"schema_version":1.0'),
        "true for one": encoded.replace(b'"schema_version":1', b'"schema_version":true'),
        "another version": encoded.replace(b'"schema_version":1', b'"schema_version":2'),
        "cut short": encoded[:-1],
        "no UTF-8": encoded.replace(b"tests", b"\xfftests", 1),
        "UTF-16": text.encode("utf-16"),
    }
    for name, data in others.items():
        assert data != encoded, name
        refuses(data)


@every_kind
def test_a_body_of_another_kind_is_refused(kind):
    document = as_json(BY_KIND[kind])
    for other in STATEMENT_TYPES:
        paired = changed(document, ("kind",), other)
        if STATEMENT_TYPES[other].model_fields["body"].annotation is type(BY_KIND[kind].body):
            assert decode_statement(spelled(paired)).kind == other
            assert other in {kind, "entry.derived", "entry.conjectured"}
        else:
            refuses(spelled(paired))


@pytest.mark.parametrize("kind", ["", "entry", "entry.observed ", "Entry.given", "veritas.unknown", "bootstrap"])
def test_an_unknown_kind_is_refused(kind):
    refuses(spelled(changed(as_json(BY_KIND["entry.given"]), ("kind",), kind)))


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"1", b'"entry.given"', b"{}", b"\x00", b"[" * 100_000])
def test_what_is_no_statement_is_refused(data):
    refuses(data)


def test_a_statement_over_a_mebibyte_is_refused_before_it_is_parsed():
    refuses(b" " * (MAX_BYTES + 1), "1048577 bytes")
    refuses(BY_KIND["entry.given"].encoded.ljust(MAX_BYTES), "not the canonical encoding")


@pytest.mark.parametrize(
    "text",
    [
        "a\u0301",  # not NFC
        "\u0085",  # C1 control
        "\x7f",
        "\u200e\ue000",  # private use
        "\ufdd0",  # noncharacter
        "\U0001fffe",
        "line\nbreak",
        "tab\t",
        "",
        "x" * 257,
        "ü" * 129,
    ],
)
def test_foreign_names_and_fact_keys_are_strict_text(text):
    seal = as_json(BY_KIND["seal.minted"])
    refuses(spelled(changed(seal, ("body", "tool"), text)))
    if len(text) < 129:
        refuses(spelled(changed(seal, ("source_fact", "key"), text)))


@pytest.mark.parametrize(
    "pointer", ["", "hits", "/a~2", "/a~", "/\u0085", "/a\u0301", "/\x7f", "/\n", "/\ue000", "/" + "x" * 512, "/\ufffe"]
)
def test_a_record_pointer_is_a_strict_rfc_6901_pointer(pointer):
    refuses(spelled(changed(as_json(BY_KIND["entry.observed"]), ("body", "record_pointer"), pointer)))


@pytest.mark.parametrize("pointer", ["/", "/hits/0", "/a~0b/c~1d", "/Größe", "//", "/" + "x" * 511, None])
def test_pointers_that_name_a_record_are_kept(pointer):
    document = changed(as_json(BY_KIND["entry.observed"]), ("body", "record_pointer"), pointer)
    assert decode_statement(spelled(document)).body.record_pointer == pointer


def sets_of_a_statement() -> list[tuple[str, tuple, str]]:
    """Arrays whose order has no meaning: kind, path, and what a refusal calls the array."""
    measured = as_json(BY_KIND["edges.measured"])["body"]["entries"]
    edge = next(number for number, entry in enumerate(measured) if entry["verdict"] == "edge")
    return [
        ("seal.minted", ("body", "reacquisition", "secret_refs"), "secret references"),
        ("seal.minted", ("erasure_scopes",), "erasure scopes"),
        ("entry.derived", ("body", "parents"), "declared parents"),
        ("edges.measured", ("body", "entries"), "measured entries"),
        ("edges.measured", ("body", "entries", edge, "labels"), "labels"),
        ("edges.measured", ("body", "cuts"), "cuts"),
        ("edges.measured", ("body", "flags"), "flags"),
        ("edges.measured", ("body", "cuts", 0, "members"), "members of a cut"),
        ("independence.assessed", ("body", "echoes"), "echoes"),
        ("cascade.fired", ("body", "members"), "members"),
        ("cascade.fired", ("body", "attenuated"), "attenuated entries"),
    ]


@pytest.mark.parametrize(("kind", "path", "name"), sets_of_a_statement(), ids=str)
def test_a_set_has_one_spelling(kind, path, name):
    document = as_json(BY_KIND[kind])
    items = document
    for step in path:
        items = items[step]
    if path[-1] == "echoes":
        document = changed(document, ("body", "result"), "echo")
        items = [document["body"]["first"], document["body"]["second"]]
        assert decode_statement(spelled(changed(document, path, items)))
    assert items, "a set without members shows nothing"
    refusal = rf": {name} are sorted, each once"
    refuses(spelled(changed(document, path, [items[0], items[0]])), refusal)
    if len(items) > 1:
        refuses(spelled(changed(document, path, items[::-1])), refusal)


def test_an_array_is_no_longer_than_the_profile_admits():
    document = as_json(BY_KIND["edges.measured"])
    entry = document["body"]["entries"][1] | {"verdict": "null", "ppm": None, "interval": None}
    many = [entry | {"entry": f"{number:064x}"} for number in range(4097)]
    plain = changed(document, ("body", "cuts"), [])
    assert decode_statement(spelled(changed(plain, ("body", "entries"), many[:4096])))
    refuses(spelled(changed(plain, ("body", "entries"), many)), "4096")


def test_records_that_contradict_themselves_are_refused():
    digest = "ab" * 32
    contradictions = [
        ("entry.derived", ("body", "span"), None, "together"),
        ("entry.derived", ("body", "generation"), None, "together"),
        ("entry.derived", ("body", "span"), {"start": 4, "stop": 4}, "empty"),
        ("generation.recorded", ("body", "claims", 0, "byte_stop"), 26, "overlaps"),
        ("generation.recorded", ("body", "claims", 1, "byte_stop"), 48, "response"),
        ("generation.recorded", ("body", "context", 0, "token_start"), 1, "tile"),
        ("generation.recorded", ("body", "context", 0, "token_stop"), None, "both token bounds"),
        ("generation.recorded", ("body", "context", 5, "token_stop"), 39, "39 tokens"),
        ("generation.recorded", ("body", "context", 1, "unit"), 0, "template"),
        ("generation.recorded", ("body", "prompt_tokens"), None, "no token bounds"),
        ("edges.measured", ("body", "cuts", 0, "members"), [digest], "is an `edge`"),
        ("edges.measured", ("body", "cuts", 0, "members"), [], "at least one"),
        ("verdict.filed", ("body", "candidate"), STORY.id("observed_alpha"), "itself"),
        ("independence.assessed", ("body", "result"), "echo", "names which"),
        ("independence.assessed", ("body", "echoes"), [digest], "names which"),
        ("independence.assessed", ("body", "first"), "ff" * 32, "two different entries, sorted"),
        ("independence.assessed", ("body", "second"), BY_KIND["independence.assessed"].body.first, "two different"),
        ("generation.recorded", ("body", "context", 0, "token_start"), 10, "token range 10..9 runs backwards"),
        ("ledger.genesis", ("body", "scope", "project_namespace"), "other", "its own|scope it stands in"),
        ("entry.given", ("representation", "lineage", "relation"), "origin", "lineage"),
        ("entry.observed", ("representation", "lineage", "relation"), "supersedes", "lineage"),
    ]
    for kind, path, value, match in contradictions:
        refuses(spelled(changed(as_json(BY_KIND[kind]), path, value)), match)
    measured = as_json(BY_KIND["edges.measured"])
    edge = next(n for n, entry in enumerate(measured["body"]["entries"]) if entry["verdict"] == "edge")
    refuses(spelled(changed(measured, ("body", "entries", edge, "ppm"), None)), "weight")
    refuses(spelled(changed(measured, ("body", "entries", 1 - edge, "ppm"), 0)), "weight")
    refuses(spelled(changed(measured, ("body", "entries", edge, "interval"), {"high": 1, "low": 2})), "backwards")


def test_only_members_of_a_pair_echo():
    document = changed(as_json(BY_KIND["independence.assessed"]), ("body", "result"), "echo")
    refuses(spelled(changed(document, ("body", "echoes"), ["ab" * 32])), "only members of the pair echo")


def test_a_generation_of_a_model_elsewhere_has_no_token_bounds():
    document = changed(as_json(BY_KIND["generation.recorded"]), ("body", "prompt_tokens"), None)
    for number in range(len(document["body"]["context"])):
        for bound in ("token_start", "token_stop"):
            document = changed(document, ("body", "context", number, bound), None)
    assert decode_statement(spelled(document)).body.is_exact is False


def test_kind_and_fact_are_read_off_a_statement_only():
    statement = BY_KIND["entry.given"]
    assert kind_and_fact(statement.encoded) == ("entry.given", statement.source_fact_id)
    for mark in (b'],"kind":"', b'"schema_version":1,"scope":', b',"visibility_class":"'):
        short = statement.encoded.replace(mark, b"")
        with pytest.raises(StatementError, match=f"^{len(short)} bytes are no statement: a field of the envelope"):
            kind_and_fact(short)


def test_weights_and_beliefs_stay_in_their_units():
    outside = [
        ("entry.derived", ("body", "parents", 0, "ppm"), 1_000_001),
        ("entry.derived", ("body", "parents", 0, "ppm"), -1),
        ("cascade.fired", ("body", "attenuated", 0, "attenuation"), 1_000_000_001),
        ("edges.measured", ("body", "total_effect"), 2**53),
        ("policy.activated", ("body", "policy", "quorum"), 0),
        ("ledger.genesis", ("body", "shard_count"), 0),
        ("ledger.genesis", ("body", "shard_count"), 65_536),
    ]
    for kind, path, value in outside:
        refuses(spelled(changed(as_json(BY_KIND[kind]), path, value)))


def test_control_statements_are_the_designed_four():
    assert {kind for kind in STATEMENT_TYPES if family_of(kind) == "control"} == {
        "ledger.genesis",
        "policy.activated",
        "criteria.registered",
        "key.bound",
    }


@pytest.mark.invariant("EVID-01")
def test_no_statement_holds_free_text_or_a_float():
    for statement in STORY:
        assert b"\\n" not in statement.encoded
        outside_strings = re.sub(rb'"(?:[^"\\\\]|\\\\.)*"', b"", statement.encoded)
        assert re.search(rb"[0-9][.eE]", outside_strings) is None
        assert b"The tower" not in statement.encoded


def test_what_the_builder_refuses_names_field_and_value():
    body = BY_KIND["verdict.filed"].body
    with pytest.raises(StatementError, match=r"target: .*\(got 'T'\)"):
        type(body).make(**(dict(body) | {"target": "T"}))


@given(st.sampled_from(sorted(BY_KIND)), st.data())
def test_flipping_any_bit_never_yields_the_same_identity(kind, data):
    statement = BY_KIND[kind]
    encoded = bytearray(statement.encoded)
    bit = data.draw(st.integers(0, len(encoded) * 8 - 1))
    encoded[bit // 8] ^= 1 << bit % 8
    try:
        other = decode_statement(bytes(encoded))
    except LedgerError:
        return
    assert other != statement
    assert other.event_id != statement.event_id
    assert canonical.require(bytes(encoded)) == json.loads(encoded)


@given(st.lists(st.sampled_from([b"{", b"}", b'"', b"\\", b":", b",", b"1", b"null", b"kind", b"\xff"]), max_size=40))
def test_arbitrary_bytes_raise_the_typed_error_only(parts):
    refuses(b"".join(parts))


def test_event_ids_in_a_story_are_all_different():
    ids = sorted(statement.event_id for statement in STORY)
    assert all(left < right for left, right in pairwise(ids))
