"""What is read off a statement's bytes against what its decoded record says: never more bytes, never another reading."""

from __future__ import annotations

import json
from binascii import unhexlify
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.records import MAX_BYTES, Record
from ledger_core.kernel.statements import STATEMENT_TYPES, decode_statement
from ledger_core.kernel.statements.outline import OUTLINED_KINDS, Recorded, Sealed, outline, outline_of
from ledger_core.kernel.statements.shapes import expression
from tests.ledger_core.belief.book import Book
from tests.ledger_core.kernel.statements.test_codec import BY_KIND, as_json, changed, coercions, leaves, spelled
from tests.properties.ledgers import story_of

SUPERSEDED = json.loads('{"event_id":null,"relation":"origin"}')


def plain(kind, *changes):
    """The story's statement of ``kind`` as the first of its fact, with ``changes``."""
    document = changed(as_json(BY_KIND[kind]), ("representation", "lineage"), SUPERSEDED)
    document = changed(document, ("erasure_scopes",), [])
    for path, value in changes:
        document = changed(document, path, value)
    return document


def agreed(data):
    """The outline of ``data``, which must be that of its statement; None where it has none."""
    found = outline(data)
    if found is not None:
        assert found == outline_of(decode_statement(data))
    return found


outlined = pytest.mark.parametrize("kind", sorted(OUTLINED_KINDS))


@pytest.fixture(scope="module")
def told():
    return [statement for seed in (3, 7) for statement in story_of(seed, 60).statements]


def test_six_kinds_have_outlines():
    kinds = {
        "entry.conjectured",
        "entry.derived",
        "entry.given",
        "entry.observed",
        "generation.recorded",
        "seal.minted",
    }
    assert kinds == OUTLINED_KINDS


def test_every_statement_of_a_log_that_can_have_an_outline_has_one(told):
    for statement in told:
        found = agreed(statement.encoded)
        assert (found is not None) == (statement.kind in OUTLINED_KINDS), statement.kind
        assert (outline_of(statement) is None) == (found is None)
    assert {statement.kind for statement in told} > OUTLINED_KINDS


def test_an_outline_holds_what_the_statement_says():
    book = Book()
    observed = book.seal("a.example", "text", family="price", tool="fetch")
    generation = book.generation([observed])
    book.claim(generation, {observed: 7})
    seal, observation, recorded, claim = (outline(statement.encoded) for statement in book.statements)
    for found, statement in zip((seal, observation, recorded, claim), book.statements, strict=True):
        assert found.kind == statement.kind
        assert found.event_id.hex() == statement.event_id
        assert found.source_fact_id.hex() == statement.source_fact_id
        assert found.scope == statement.scope.canonical_bytes()
    at = "2026-01-01T00:00:00.000000000Z"
    assert seal.sealed == Sealed("boundary", "read_only", "a.example", "external_read", "fetch", at)
    assert [json.loads(ref)["byte_length"] for ref in seal.content] == [2, 4]
    assert (observation.referred, observation.family) == ((seal.event_id,), "price")
    assert observation.content == seal.content[1:]
    assert recorded.recorded == Recorded("boundary", "aa" * 32, is_exact=True)
    assert recorded.referred == (observation.event_id,)
    assert len(recorded.content) == 3
    assert (claim.referred, claim.ppm, claim.generation) == ((observation.event_id,), (7,), recorded.event_id)


VALUES = [
    *(None, 0, 1, 999_999, 1_000_000, 1_000_001, 10**15 - 1, 10**15, 2**53, -1, "", "x", "X", "*", "é", 'a"b', "a\\b"),
    *("a" * 127, "a" * 128, "a" * 129, "b" * 256, "b" * 257, "ab" * 32, "AB" * 32, "c" * 512, "c" * 513, "~", "\x7f"),
    *("/", "/a", "/a~0~1", "/a~2", "a/b", "/" + "p" * 511, "/" + "p" * 512, "/ ~", "//", [], [None], {}, "local"),
    *("2026-12-31T23:59:59.999999000Z", "2026-02-29T00:00:00.000000000Z", "2026-01-01T00:00:00.000000001Z"),
    *("0000-01-01T00:00:00.000000000Z", "2026-04-31T00:00:00.000000000Z", "2026-01-01T24:00:00.000000000Z"),
]


@outlined
def test_whatever_stands_in_a_field_the_outline_says_no_more_than_the_record(kind):
    document = plain(kind)
    assert agreed(spelled(document)) is not None
    first_of_each = [leaf for leaf in leaves(document) if all(step == 0 for step in leaf[0] if isinstance(step, int))]
    for path, value in first_of_each:
        for other in [*VALUES, *coercions(value)]:
            agreed(spelled(changed(document, path, other)))


@outlined
@given(data=st.data())
def test_changed_bytes_have_no_outline_that_they_do_not_decode_to(kind, data):
    encoded = bytearray(spelled(plain(kind)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(encoded) - 1))
        what = data.draw(st.sampled_from([b"", b" ", b"0", b"1", b"a", b'"', b",", b"\\", b"\xc3\xa9", b"}", b"]"]))
        encoded[at : at + data.draw(st.integers(0, 2))] = what
    agreed(bytes(encoded))


REFUSED = [
    ("entry.derived", ("body", "span"), None),
    ("entry.derived", ("body", "generation"), None),
    ("entry.derived", ("body", "span"), {"start": 4, "stop": 4}),
    ("entry.derived", ("body", "span"), {"start": 5, "stop": 4}),
    ("entry.conjectured", ("body", "parents"), [{"entry": "ab" * 32, "ppm": 1}] * 2),
    ("entry.conjectured", ("body", "parents"), [{"entry": "bb" * 32, "ppm": 1}, {"entry": "ab" * 32, "ppm": 1}]),
    ("generation.recorded", ("body", "claims", 0, "byte_stop"), 26),
    ("generation.recorded", ("body", "claims", 0, "byte_stop"), 0),
    ("generation.recorded", ("body", "claims", 1, "byte_stop"), 48),
    ("generation.recorded", ("body", "context", 0, "token_start"), 1),
    ("generation.recorded", ("body", "context", 0, "token_stop"), None),
    ("generation.recorded", ("body", "context", 0, "token_start"), None),
    ("generation.recorded", ("body", "context", 5, "token_stop"), 39),
    ("generation.recorded", ("body", "context", 5, "token_stop"), 0),
    ("generation.recorded", ("body", "context", 1, "unit"), 0),
    ("generation.recorded", ("body", "prompt_tokens"), None),
    ("entry.given", ("representation", "lineage", "relation"), "supersedes"),
    ("entry.given", ("representation", "lineage", "event_id"), "ab" * 32),
    ("seal.minted", ("body", "reacquisition", "secret_refs"), ["b", "a"]),
]


@pytest.mark.parametrize(("kind", "path", "value"), REFUSED)
def test_what_contradicts_itself_has_no_outline(kind, path, value):
    data = spelled(plain(kind, (path, value)))
    with pytest.raises(StatementError):
        decode_statement(data)
    assert outline(data) is None


ADMITTED = [
    ("entry.conjectured", ("body",), {"generation": None, "span": None}),
    ("entry.derived", ("body",), {"parents": []}),
    ("entry.derived", ("body",), {"span": {"start": 9, "stop": 10}}),
    ("entry.observed", ("body",), {"record_pointer": "/rows/0/a~1b"}),
    ("entry.observed", ("body",), {"record_pointer": None}),
    ("entry.observed", ("body",), {"predicate_family": "*"}),
    ("seal.minted", ("body",), {"origin_host": None, "reacquisition": None, "reach": "local"}),
    ("seal.minted", (), {"observed_at": None}),
    ("seal.minted", (), {"observed_at": "2024-01-31T23:59:59.999999000Z"}),
    ("generation.recorded", ("body",), {"claims": [], "weights_digest": None}),
    ("generation.recorded", ("body",), {"context": [], "prompt_tokens": None, "response_tokens": None}),
]


@pytest.mark.parametrize(("kind", "path", "fields"), ADMITTED)
def test_what_is_missing_or_at_its_limit_still_has_one(kind, path, fields):
    assert agreed(spelled(plain(kind, *(((*path, name), value) for name, value in fields.items())))) is not None


@pytest.mark.parametrize("missing", ["prompt_tokens", "response_tokens", "weights_digest"])
def test_a_generation_is_exact_only_if_nothing_is_missing(missing):
    document = plain("generation.recorded", (("body", missing), None))
    for region in document["body"]["context"] if missing == "prompt_tokens" else ():
        region |= {"token_start": None, "token_stop": None}
    assert agreed(spelled(document)).recorded.is_exact is False


@pytest.mark.parametrize("bound", ["token_start", "token_stop"])
def test_without_prompt_tokens_no_region_has_a_bound(bound):
    document = plain("generation.recorded", (("body", "prompt_tokens"), None))
    for region in document["body"]["context"]:
        region |= {"token_start": None, "token_stop": None}
    assert agreed(spelled(document)) is not None
    document["body"]["context"][1][bound] = 5
    with pytest.raises(StatementError):
        decode_statement(spelled(document))
    assert outline(spelled(document)) is None


def test_what_is_too_long_has_none():
    document = plain("generation.recorded")
    parent = document["body"]["context"][0] | {"token_start": 0, "token_stop": 0}
    rest = [parent] * ((MAX_BYTES // len(spelled(parent))) + 1)
    assert len(rest) > 4096
    for count, expected in ((4096 - len(document["body"]["context"]), True), (len(rest), False)):
        regions = rest[:count] + document["body"]["context"]
        data = spelled(changed(document, ("body", "context"), regions))
        assert (agreed(data) is not None) is expected


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'],"kind":"entry.given"', b'{"body":{}],"kind":"entry.given', b"\xff" * 40]
)
def test_what_is_no_statement_has_none(data):
    assert outline(data) is None


def test_every_day_of_four_years_is_one_for_both_readings_but_one():
    for number in range(date(2023, 1, 1).toordinal(), date(2026, 12, 31).toordinal() + 1):
        day = date.fromordinal(number)
        found = agreed(spelled(plain("seal.minted", (("observed_at",), f"{day}T00:00:00.000000000Z"))))
        assert (found is None) == ((day.month, day.day) == (2, 29))


def reached(record, seen):
    """``record`` and every record type that stands in its fields."""
    if record in seen:
        return seen
    seen.add(record)
    for field in record.model_fields.values():
        for part in _types(field.annotation):
            reached(part, seen)
    return seen


def _types(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in getattr(annotation, "__args__", ()) for found in _types(part)]


def test_every_validator_that_compares_fields_is_one_that_the_outline_knows():
    """A new one is a new way for bytes to be refused: it belongs into the outline first."""
    seen = set()
    for kind in OUTLINED_KINDS:
        reached(STATEMENT_TYPES[kind], seen)
    found = {name for record in seen for name in record.__pydantic_decorators__.model_validators}
    assert found == {
        "_claims_lie_in_the_response",
        "_context_tiles_the_prompt",
        "_erasure_scopes_are_a_set",
        "_is_consistent",
        "_is_not_empty",
        "_secrets_are_a_set",
        "_span_belongs_to_a_generation",
        "_supersedes_names_an_event",
    }
    assert not any(record.__pydantic_decorators__.field_validators for record in seen)


def test_a_field_of_unknown_type_has_no_expression():
    class Odd(Record):
        weight: float

    with pytest.raises(TypeError, match="weight of type <class 'float'> has no expression"):
        expression(Odd, {})


def test_ids_are_raw_bytes():
    statement = BY_KIND["entry.given"]
    assert outline_of(statement).event_id == unhexlify(statement.event_id)
