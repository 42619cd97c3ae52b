from __future__ import annotations

import numpy as np
import pytest

from attribution.blocks import make_blocks
from attribution.errors import ContextWindowError, ScoringServerError
from attribution.models import LanguageModel
from attribution.scorers.completions_scorer import CompletionsScorer
from attribution.scorers.transformers_scorer import TransformersScorer
from ledger_core.kernel.errors import ProviderUnavailableError
from tests.attribution.scorers.completions_server import MODEL, CompletionsServer
from tests.attribution.scorers.trajectories import trajectory
from tests.ledger_core.providers.local_server import error

DIALECTS = ("prompt-logprobs", "echo")
STATES = np.array([(1, 1, 1, 1), (0, 1, 1, 0), (1, 0, 0, 1), (2, 1, 1, 2), (1, 1, 0, 1)], dtype=np.uint8)


pytestmark = pytest.mark.usefixtures("no_certificates")


def scorer_of(served: CompletionsServer, language: LanguageModel | None = None, **options) -> CompletionsScorer:
    language = language or served.language
    settings = {
        "tokenizer": language.tokenizer,
        "weights_digest": language.files.weights_digest,
        "tokenizer_digest": language.files.tokenizer_digest,
        "dtype": "float32",
        "context_window": language.context_window,
    }
    return CompletionsScorer(served.server.connection(), MODEL, **{**settings, **options})


def table_of(scorer: CompletionsScorer | TransformersScorer, layout, states=STATES) -> np.ndarray:
    return scorer.score(layout, make_blocks(scorer, layout, states)[0])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_with_the_model_scores_as_the_model_here(tiny, served, dialect):
    layout = trajectory(tiny)
    found = table_of(scorer_of(served, dialect=dialect, prompts=3), layout)
    np.testing.assert_allclose(found, table_of(TransformersScorer(tiny), layout), atol=1e-4, rtol=0)


def test_ids_are_sent_as_they_are_one_prompt_for_each_end_of_the_tree(tiny, served):
    layout = trajectory(tiny)
    scorer = scorer_of(served, prompts=4)
    block = make_blocks(scorer, layout, STATES[:1])[0]
    scorer.score(layout, block)
    sent = served.prompts[1:]  # the first is the trial
    last = layout.targets[1]
    assert list(layout.ids[: last.stop]) in sent
    foils = [[*layout.ids[: last.start], *foil] for foil in last.foils]
    assert all(foil in sent for foil in foils)
    assert len(sent) == 1 + len(foils) + len(layout.targets[0].foils)
    assert scorer.tokens(layout, block) == sum(map(len, sent))
    assert [len(request.body["prompt"]) for request in served.server.requests] == [1, 4, 1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_model_is_refused_at_once(served, dialect):
    served.change = lambda body: body.update(model="served-v2")
    with pytest.raises(ScoringServerError, match="answered as 'served-v2', not as 'served'"):
        scorer_of(served, dialect=dialect)


def without(member):
    return lambda body: [choice.pop(member, None) for choice in body["choices"]]


@pytest.mark.parametrize(
    ("dialect", "change", "message"),
    [
        ("prompt-logprobs", without("prompt_logprobs"), "without `prompt_logprobs`.*dialect `echo`"),
        ("echo", without("logprobs"), "without `logprobs`"),
        ("echo", without("prompt_token_ids"), "without `prompt_token_ids`.*return_token_ids"),
        ("echo", lambda b: b["choices"][0]["prompt_token_ids"].append(1), "scored other tokens"),
        ("echo", lambda b: b["choices"][0].update(prompt_token_ids=[1, 2]), r"scored other tokens \(2 tokens\)"),
        ("echo", lambda b: b["choices"][0]["logprobs"].update(token_logprobs=[None, -1.0]), "2 log-probabilities"),
        ("echo", lambda b: b["choices"][0]["logprobs"]["token_logprobs"].__setitem__(2, None), "gives None"),
        ("prompt-logprobs", lambda b: b["choices"][0]["prompt_logprobs"].pop(), "scored other tokens"),
        (
            "prompt-logprobs",
            lambda b: b["choices"][0]["prompt_logprobs"].__setitem__(3, {"7": {"logprob": -1.0}}),
            r"a token 3 that is none of \['7'\]",
        ),
        ("prompt-logprobs", lambda b: b["choices"][0]["prompt_logprobs"].__setitem__(3, None), "a token 3"),
        ("prompt-logprobs", lambda b: b["choices"].append(b["choices"][0]), "gave 2 answers"),
        ("prompt-logprobs", lambda b: b["choices"][0].update(index=1), r"indexes \[1\] to 1 prompts"),
        ("prompt-logprobs", lambda b: b.update(choices=[]), "gave 0 answers"),
    ],
)
def test_an_answer_without_scores_of_these_tokens_is_refused(served, dialect, change, message):
    served.change = change
    with pytest.raises(ScoringServerError, match=message):
        scorer_of(served, dialect=dialect)


@pytest.mark.parametrize("value", [-9999.0, 0.5, float("nan"), float("-inf")])
def test_a_clipped_or_impossible_score_is_refused(served, value):
    def change(body):
        for entry in body["choices"][0]["prompt_logprobs"][1:]:
            for score in entry.values():
                score["logprob"] = value

    served.change = change
    with pytest.raises(ScoringServerError, match="as the log-probability of token 1 of"):
        scorer_of(served)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_tokenizer_is_found_by_a_trial(served, dialect):
    def change(body):
        for choice in body["choices"]:
            for entry in (choice.get("prompt_logprobs") or [])[1:]:
                for score in entry.values():
                    score["decoded_token"] = "x"
            if choice["logprobs"]:
                choice["logprobs"]["tokens"] = ["x"] * len(choice["logprobs"]["tokens"])

    served.change = change
    with pytest.raises(ScoringServerError, match=r"spells token \d+ 'x', the tokenizer here b'"):
        scorer_of(served, dialect=dialect)


def test_a_server_that_names_tokens_by_id_is_taken(tiny, served):
    def change(body):
        for choice in body["choices"]:
            ids = [*choice["prompt_token_ids"], 5]
            choice["logprobs"]["tokens"] = [f"token_id:{token}" for token in ids]

    served.change = change
    layout = trajectory(tiny)
    assert table_of(scorer_of(served, dialect="echo"), layout).shape == (5, layout.columns)


def test_a_busy_server_is_asked_again_and_one_that_stays_busy_is_named(tiny, served):
    scorer = scorer_of(served)
    layout = trajectory(tiny)
    served.server.replies = [error(503), error(429)]
    expected = table_of(TransformersScorer(tiny), layout, STATES[:1])
    np.testing.assert_allclose(table_of(scorer, layout, STATES[:1]), expected, atol=1e-4, rtol=0)
    assert len(served.server.waits) == 2
    served.server.replies = [error(503)] * 9
    with pytest.raises(ProviderUnavailableError, match="503"):
        table_of(scorer, layout)


def test_the_identity_covers_what_was_declared(served):
    scorers = [
        scorer_of(served),
        scorer_of(served, dtype="bfloat16"),
        scorer_of(served, weights_digest="0" * 64),
        scorer_of(served, tokenizer_digest="0" * 64),
        scorer_of(served, dialect="echo"),
        scorer_of(served, prompts=2),
    ]
    assert len({scorer.id for scorer in scorers}) == 6
    assert scorer_of(served).id == scorers[0].id
    assert (scorers[1].dtype, scorers[0].plan, scorers[4].plan) == (
        "bfloat16",
        "completions-v1/prompt-logprobs/8",
        "completions-v1/echo/8",
    )


def test_what_the_server_cannot_see_whole_is_refused_with_both_sizes(tiny, served):
    layout = trajectory(tiny)
    fits = scorer_of(served, context_window=layout.longest() + 1)
    assert table_of(fits, layout, STATES[:1]).shape == (1, layout.columns)
    tight = scorer_of(served, context_window=layout.longest())
    with pytest.raises(ContextWindowError, match=rf"needs {layout.longest()} tokens .* sees {layout.longest()};"):
        table_of(tight, layout, STATES[:1])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_packaged_model_behind_a_server_scores_as_here(smollm2, dialect):
    served = CompletionsServer(smollm2)
    try:
        layout = trajectory(smollm2)
        found = table_of(scorer_of(served, dialect=dialect), layout, STATES[:3])
    finally:
        served.close()
    np.testing.assert_allclose(found, table_of(TransformersScorer(smollm2), layout, STATES[:3]), atol=1e-3, rtol=0)
