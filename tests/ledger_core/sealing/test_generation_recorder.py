"""Model calls as recorded: exact tokens where they are known, claims by sentence, and no secret in any form."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS, STRICT_CLUSTERS
from ledger_core.kernel.content import TEXT, TOKENS
from ledger_core.kernel.errors import CollisionError, StatementError, UnknownReferenceError
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.kernel.statements.facts import message_fact
from ledger_core.kernel.tokens import unpack_tokens
from ledger_core.sealing import ContextSpan, GenerationRecorder
from ledger_core.sealing.generations import PlainCall, cited
from ledger_core.stores import Replayed
from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import boundary, external, open_ledger, statements

WEIGHTS = "5e" * 32


@pytest.fixture
def ledger():
    return open_ledger()


@pytest.fixture
def shown(ledger):
    """A question, a tool result and a second one."""
    body = EntryGivenBody.make(content=ledger.put_blob(b"How high is the tower?", TEXT), role="user")
    question = Author(ledger.scope, "test", "1").write(EntryGiven, message_fact("test", "run", 0), body)
    ledger.append((question,), role="recorder")
    tools = boundary(external("a", lambda: "330 m"), external("b", lambda: "iron"), ledger=ledger)
    return [question.event_id, tools.call("a", {}).entry, tools.call("b", {}).entry]


def exact(shown, response="It is 330 m high. It is made of iron.", **fields):
    question, height, metal = shown
    call = {
        "model": "tiny",
        "response": response,
        "decoding": "greedy",
        "weights_digest": WEIGHTS,
        "prompt_ids": tuple(range(10, 20)),
        "response_ids": (7, 8, 9),
        "context": (
            ContextSpan(None, 0, 2),
            ContextSpan(question, 2, 4, is_ablatable=False),
            ContextSpan(height, 4, 7, group="call"),
            ContextSpan(metal, 7, 9, group="call"),
            ContextSpan(None, 9, 10),
        ),
    }
    return PlainCall(**{**call, **fields})


def generation(ledger):
    return statements(ledger, "generation.recorded")[0].body


@dataclass
class Foreign:
    """A call object of somebody else, with more on it than is asked for."""

    model = "other"
    weights_digest = None
    prompt_ids = None
    response_ids = None
    response = "Perhaps."
    decoding = "sampled"
    context = ()
    usage = 12


def test_a_call_is_recorded_with_its_exact_tokens(ledger, shown):
    head = ledger.head()
    recorded = GenerationRecorder(ledger, "run").record(exact(shown), step=3, renderer="v2", context_head=head)
    body = generation(ledger)
    assert recorded.generation == statements(ledger, "generation.recorded")[0].event_id
    assert unpack_tokens(ledger.read_blob(body.prompt_tokens)) == tuple(range(10, 20))
    assert unpack_tokens(ledger.read_blob(body.response_tokens)) == (7, 8, 9)
    assert {body.prompt_tokens.media_type, body.response_tokens.media_type} == {TOKENS}
    assert (body.model, body.weights_digest, body.decoding, body.attestation) == ("tiny", WEIGHTS, "greedy", "boundary")
    assert (body.renderer, body.policy, body.is_exact) == ("v2", ledger.policy().digest(), True)
    regions = [(region.entry, region.token_start, region.token_stop, region.unit) for region in body.context]
    assert regions == [
        (None, 0, 2, None),
        (shown[0], 2, 4, None),
        (shown[1], 4, 7, 0),
        (shown[2], 7, 9, 0),
        (None, 9, 10, None),
    ]
    event = ledger.event(recorded.generation)
    assert (event.receipt.role, event.receipt.context_head) == ("recorder", head)


def test_every_sentence_is_a_claim_of_its_byte_range(ledger, shown):
    recorded = GenerationRecorder(ledger, "run").record(exact(shown), step=0, parents={shown[1]: 500_000})
    assert [(claim.text, claim.start, claim.stop) for claim in recorded.claims] == [
        ("It is 330 m high. ", 0, 18),
        ("It is made of iron.", 18, 37),
    ]
    claims = statements(ledger, "entry.derived")
    assert [claim.event_id for claim in claims] == [claim.entry for claim in recorded.claims]
    for claim, said in zip(claims, recorded.claims, strict=True):
        assert ledger.read_blob(claim.body.content).decode() == said.text
        assert (claim.body.generation, claim.body.span.start, claim.body.span.stop) == (
            recorded.generation,
            said.start,
            said.stop,
        )
        assert [(parent.entry, parent.ppm) for parent in claim.body.parents] == [(shown[1], 500_000)]
    assert verify(ledger).first_divergence is None


def test_a_claim_that_declares_nothing_is_a_conjecture_and_is_presumed_to_rest_on_its_context(ledger, shown):
    recorded = GenerationRecorder(ledger, "run").record(exact(shown, "It is high."), step=0)
    (claim,) = recorded.claims
    assert ledger.statement(claim.entry).kind == "entry.conjectured"
    strict = fold(statements(ledger), STRICT_CLUSTERS).entries[claim.entry]
    assert {edge.parents for edge in strict.hyperedges} == {(entry,) for entry in shown}
    assert fold(statements(ledger), SEED_V4_CLUSTERS).entries[claim.entry].hyperedges == ()


def test_a_claim_declares_what_it_cites(ledger, shown):
    response = f"It is 330 m high [2]. It is iron [entry:{shown[2][:12]}]. It is old [9]."
    recorded = GenerationRecorder(ledger, "run").record(exact(shown, response), step=0)
    found = [[parent.entry for parent in ledger.statement(claim.entry).body.parents] for claim in recorded.claims]
    assert found == [[shown[1]], [shown[2]], []]


def test_cites_count_entries_once_and_never_leave_the_context():
    context = [ContextSpan("aa" * 32), ContextSpan(None), ContextSpan("aa" * 32), ContextSpan("bb" * 32)]
    assert cited("[2] and [entry:aaaaaaaa]", context) == {"bb" * 32: 1_000_000, "aa" * 32: 1_000_000}
    assert cited("[0] [3] [entry:cccccccc]", context) == {}


def test_without_claims_only_the_generation_is_recorded(ledger, shown):
    recorded = GenerationRecorder(ledger, "run").record(exact(shown), step=0, claims=False)
    assert recorded.claims == ()
    assert len(generation(ledger).claims) == 2
    assert not statements(ledger, "entry.derived")


def test_any_object_with_the_attributes_will_do(ledger):
    recorded = GenerationRecorder(ledger, "run").record(Foreign(), step=0)
    body = generation(ledger)
    assert (body.model, body.prompt_tokens, body.response_tokens, body.is_exact) == ("other", None, None, False)
    assert recorded.response == "Perhaps."


@pytest.mark.parametrize("response", ["", "   \n"])
def test_an_empty_response_has_no_claims(ledger, shown, response):
    assert GenerationRecorder(ledger, "run").record(exact(shown, response), step=0).claims == ()


@pytest.mark.invariant("EVENT-01")
def test_the_same_call_again_is_a_replay_and_another_one_collides(ledger, shown):
    recorder = GenerationRecorder(ledger, "run")
    first = recorder.record(exact(shown), step=0)
    count = ledger.count()
    assert recorder.record(exact(shown), step=0) == first
    assert ledger.count() == count
    with pytest.raises(CollisionError):
        recorder.record(exact(shown, "Something else."), step=0)
    assert isinstance(ledger.append((ledger.statement(first.generation),), role="recorder")[0], Replayed)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"context": (ContextSpan(None, 0, 9),)}, "covers 9 tokens, the prompt has 10"),
        ({"context": (ContextSpan(None, 0, 4), ContextSpan(None, 5, 10))}, "does not tile the prompt at token 4"),
        ({"context": (ContextSpan(None, 0, 10, group="x"),)}, "template text is never ablated"),
        ({"prompt_ids": (1, -1)}, "token ids are integers"),
        ({"decoding": "lucky"}, "decoding"),
        ({"weights_digest": "abc"}, "weights_digest"),
    ],
)
def test_a_call_that_does_not_add_up_is_refused_and_nothing_is_written(ledger, shown, fields, complaint):
    count = ledger.count()
    with pytest.raises(StatementError, match=complaint):
        GenerationRecorder(ledger, "run").record(exact(shown, **fields), step=0)
    assert ledger.count() == count


def test_a_context_entry_that_is_none_is_refused(ledger):
    with pytest.raises(UnknownReferenceError, match="ab" * 32):
        GenerationRecorder(ledger, "run").record(PlainCall("tiny", "Yes.", (ContextSpan("ab" * 32),)), step=0)


@pytest.mark.invariant("EVID-05")
class TestSecrets:
    KEY = "AKIAIOSFODNN7EXAMPLE"

    def test_a_response_with_a_secret_keeps_its_words_and_loses_its_tokens(self, ledger, shown):
        recorded = GenerationRecorder(ledger, "run").record(exact(shown, f"The key is {self.KEY}. It is old."), step=0)
        body = generation(ledger)
        assert (body.prompt_tokens, body.response_tokens, body.weights_digest) == (None, None, None)
        assert self.KEY not in recorded.response
        assert self.KEY.encode() not in b"".join(ledger.blobs._blobs.values())
        assert recorded.claims[1].text == "It is old."
        assert {region.token_start for region in body.context} == {None}
        assert {region.unit for region in body.context} == {None, 0}

    def test_a_prompt_that_spells_a_secret_is_not_kept_as_tokens(self, ledger, shown):
        recorder = GenerationRecorder(ledger, "run", decode=lambda ids: f"{len(ids)} {self.KEY}")
        recorder.record(exact(shown), step=0)
        assert not generation(ledger).is_exact

    def test_a_clean_prompt_is_kept(self, ledger, shown):
        GenerationRecorder(ledger, "run", decode=lambda ids: f"{len(ids)} words").record(exact(shown), step=0)
        assert generation(ledger).is_exact
