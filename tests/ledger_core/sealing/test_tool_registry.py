"""Registrations: what contradicts itself is refused before any call, and a digest stands for all of it."""

from __future__ import annotations

import pytest

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import StatementError, ToolError
from ledger_core.sealing import ToolRegistry, register
from ledger_core.sealing.registry import ToolRegistration
from tests.ledger_core.sealing.workshop import external, local


def nothing():
    return None


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"reach": "local", "origin_host": "a.test"}, "local tool has the origin `none`"),
        ({"runner": "simulated", "origin_host": "a.test"}, "below '.example'"),
        ({"runner": "simulated", "origin_host": None}, "below '.example'"),
        ({"records": "hits"}, "RFC 6901"),
        ({"effect": "harmless"}, "effect"),
        ({"reach": "internet"}, "reach"),
        ({"determinism": "mostly"}, "determinism"),
        ({"predicate_family": "Big Words"}, "predicate_family"),
    ],
)
def test_a_registration_that_contradicts_itself_is_refused_by_field(fields, complaint):
    with pytest.raises(StatementError, match=complaint):
        external("search", nothing, **fields)


def test_an_external_tool_without_a_host_is_of_its_final_peer():
    assert external("search", nothing, origin_host=None).registration.origin == "final_peer"
    assert external("search", nothing).registration.origin == "fixed"
    assert local("notes", nothing).registration.origin == "none"


def test_a_simulated_tool_has_an_invented_host():
    tool = external("search", nothing, origin_host="blog.example", runner="simulated")
    assert (tool.registration.origin_host, tool.registration.runner) == ("blog.example", "simulated")


def test_the_source_is_the_tool_unless_the_registry_says_otherwise():
    assert external("search", nothing).registration.source_id == "search"
    assert external("search", nothing, source_id="wiki").registration.source_id == "wiki"


@pytest.mark.parametrize(
    "change",
    [
        {"effect": "mutating"},
        {"determinism": "unknown"},
        {"origin_host": "other.test"},
        {"version": "2"},
        {"secret_refs": ("env:KEY",)},
        {"records": "/hits"},
        {"source_id": "wiki"},
        {"predicate_family": "price"},
    ],
)
def test_every_number_of_a_registration_is_in_its_digest(change):
    assert (
        external("search", nothing, **change).registration.digest() != external("search", nothing).registration.digest()
    )


def test_the_code_and_its_deadline_are_not_in_the_digest():
    same = external("search", dict, timeout_seconds=3.0)
    assert same.registration.digest() == external("search", nothing).registration.digest()


def test_a_registration_is_a_canonical_record():
    registration = external("search", nothing, secret_refs=("env:B", "env:A")).registration
    data = registration.canonical_bytes()
    assert ToolRegistration.decode(data) == registration
    assert jcs.encode(jcs.parse(data)) == data
    assert registration.secret_refs == ("env:A", "env:B")


def test_a_name_is_registered_once():
    with pytest.raises(ToolError, match="'search' is registered twice"):
        ToolRegistry([external("search", nothing), local("search", nothing)])


def test_an_unknown_tool_is_refused_with_those_there_are():
    registry = ToolRegistry([external("search", nothing), local("notes", nothing)])
    with pytest.raises(ToolError, match="no tool is registered as 'shell'; registered: notes, search"):
        registry.tool("shell")
    with pytest.raises(ToolError, match="registered: none"):
        ToolRegistry([]).tool("shell")


def test_a_tool_is_found_by_its_digest_only_while_it_is_registered_unchanged():
    tool = external("search", nothing)
    registry = ToolRegistry([tool])
    assert registry.by_digest(tool.registration.digest()) is tool
    assert ToolRegistry([external("search", nothing, version="2")]).by_digest(tool.registration.digest()) is None
    assert registry.by_digest(None) is None


def test_registering_needs_no_more_than_what_a_seal_states():
    with pytest.raises(TypeError):
        register("search", nothing)
