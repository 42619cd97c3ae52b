"""A slim statement is what belief reads of it, and nothing else can be had from it."""

from __future__ import annotations

import pytest

from ledger_core.belief import STRICT_CLUSTERS, fold
from ledger_core.belief.slim import slim
from ledger_core.kernel.errors import StatementError
from tests.properties.ledgers import story_of


@pytest.mark.parametrize("seed", range(30))
def test_slim_statements_are_believed_as_whole_ones_are(seed):
    statements = story_of(seed, 40).statements
    assert fold([slim(s, str) for s in statements], STRICT_CLUSTERS) == fold(statements, STRICT_CLUSTERS)


def test_it_answers_to_its_id_and_has_lost_its_content():
    (given, *_) = (s for s in story_of(1, 40).statements if s.kind == "entry.given")
    small = slim(given, str)
    assert (small.event_id, small.kind, type(small)) == (given.event_id, "entry.given", type(given))
    for gone in ("scope", "source_fact", "representation"):
        with pytest.raises(AttributeError):
            getattr(small, gone)
    with pytest.raises(StatementError, match="no statement"):
        _ = small.source_fact_id
    with pytest.raises(AttributeError):
        small.body.content  # noqa: B018 - that it cannot be read is the point


def test_judgements_are_kept_whole_and_equal_ids_are_one_string():
    texts: dict[str, str] = {}
    statements = story_of(3, 40).statements
    for statement in statements:
        small = slim(statement, lambda text: texts.setdefault(text, text))
        if statement.kind in {"verdict.filed", "replay.audited", "edges.measured", "independence.assessed"}:
            assert small is statement
        elif statement.kind == "entry.observed":
            assert small.body.seal is texts[statement.body.seal]
            assert small.event_id is texts[statement.event_id]
