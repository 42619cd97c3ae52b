"""The closed record: what it refuses, and how a refusal reads."""

from __future__ import annotations

import json

import pytest

from ledger_core.kernel.errors import StatementError, TrustFieldError
from ledger_core.kernel.records import TRUST_FIELDS
from ledger_core.kernel.statements.envelope import Lineage, Scope, SourceFact
from ledger_core.kernel.statements.generation import ContextRegion

SCOPE = b'{"project_namespace":"p","tenant_namespace":"t"}'
MEBIBYTE = 1_048_576


def complaint(data: bytes) -> str:
    with pytest.raises(StatementError) as refused:
        Scope.decode(data)
    return str(refused.value)


def test_a_record_is_its_canonical_bytes():
    assert Scope.decode(SCOPE) == Scope.make(project_namespace="p", tenant_namespace="t")
    assert Scope.decode(SCOPE).canonical_bytes() == SCOPE
    assert complaint(SCOPE + b" ") == "Scope: the bytes are not the canonical encoding of what they say"


def test_a_record_is_a_mebibyte_at_most():
    assert complaint(SCOPE.ljust(MEBIBYTE)) == "Scope: the bytes are not the canonical encoding of what they say"
    assert complaint(SCOPE.ljust(MEBIBYTE + 1)) == "a record of 1048577 bytes is over the limit of 1048576"


def test_a_refusal_names_the_field_and_its_value():
    read = complaint(b'{"project_namespace":"P","tenant_namespace":"t"}')
    assert read.startswith("project_namespace: String should match pattern")
    assert read.endswith("(got 'P')")
    assert complaint(b"{").startswith("the record: Invalid JSON")


@pytest.mark.parametrize(("length", "shown"), [(78, "'" + "-" * 78 + "'"), (79, "'" + "-" * 76 + "...")])
def test_a_long_value_is_cut_to_eighty_characters(length, shown):
    assert len(shown) == 80
    with pytest.raises(StatementError) as refused:
        Scope.make(project_namespace="-" * length, tenant_namespace="t")
    assert str(refused.value).endswith(f" (got {shown})")


def test_a_rule_of_the_record_is_told_in_its_own_words():
    with pytest.raises(
        StatementError, match=r"^the record: lineage `supersedes` names an event_id and `origin` names none"
    ):
        Lineage.make(event_id=None, relation="supersedes")
    with pytest.raises(StatementError, match=r"^key: a source-fact part has 1 to 512 bytes; digest what is longer"):
        SourceFact.make(key="", namespace="n", object="o", revision="1")


def test_every_name_of_trust_is_refused_by_name():
    assert {*TRUST_FIELDS} == {
        *("authority", "belief", "reputation", "tier", "trust", "trust_tier", "verified", "sealed", "corroborated")
    }
    for name in TRUST_FIELDS:
        stated = json.loads(SCOPE) | {"aaa": 1, name: 1}
        with pytest.raises(TrustFieldError) as refused:
            Scope.make(**stated)
        assert str(refused.value) == (f"{name}: trust is never stated by a request, it is computed; remove this field")
    with pytest.raises(StatementError, match=r"^trusty: Extra inputs"):
        Scope.make(**json.loads(SCOPE), trusty=1)


def test_a_record_cannot_be_changed():
    scope = Scope.decode(SCOPE)
    with pytest.raises(ValueError, match="frozen"):
        scope.project_namespace = "q"
    assert hash(scope) == hash(Scope.decode(SCOPE))


def test_nothing_is_coerced():
    with pytest.raises(StatementError, match=r"^unit: Input should be a valid integer .*\(got '7'\)$"):
        ContextRegion.make(entry="ab" * 32, token_start=0, token_stop=1, unit="7")
