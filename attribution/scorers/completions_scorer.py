"""Teacher-forced log-probabilities from a server that speaks OpenAI's completions interface: vLLM, SGLang and their like.

The server is sent token ids and is asked for the log-probability of every token of the prompt; what it answers is held against
the ids that were sent, so nothing is ever tokenised again. A block becomes one prompt for each leaf of its prefix tree, which
scores every node on the way; reusing prefixes is the server's business.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from attribution.blocks import Block
from attribution.errors import ContextWindowError, ScoringServerError
from attribution.layout import TokenLayout
from attribution.models.tokenizer import ExactTokenizer
from attribution.scorers.prefix_tree import ROOT, Nodes, PrefixTree, build_tree
from ledger_core.kernel.digests import DigestHex, Prefix, framed_hex
from ledger_core.providers.openai_connection import Answer

if TYPE_CHECKING:
    from ledger_core.providers import OpenAiConnection

Dialect = Literal["prompt-logprobs", "echo"]
"""How log-probabilities of a prompt are asked for.

- ``prompt-logprobs``: vLLM's parameter of that name; each token comes with its id.
- ``echo``: the prompt is repeated with ``logprobs``, as SGLang and vLLM do; ids come with ``return_token_ids``.
"""

_ASKED: dict[Dialect, dict[str, Any]] = {
    "prompt-logprobs": {"extra_body": {"prompt_logprobs": 1}},
    "echo": {"echo": True, "logprobs": 1, "extra_body": {"return_token_ids": True}},
}
PROMPTS = 8
"""Prompts of one request, which a server computes side by side."""
_NEW_TOKENS = 1
"""Tokens that the server must write after a prompt: some refuse to write none."""
_CLAMPED = -9999.0
"""What such servers say in place of minus infinity, or of anything below it."""
_ROUNDING = 1e-3
"""Nats by which a log-probability may exceed 0: it is computed in the server's arithmetic."""
_BY_ID = "token_id:"
"""How a server begins tokens that it was told to name by id."""
_TRIAL = "Is it true that 7 of the 12 keys are blue?"


class _TokenScore(Answer):
    logprob: float
    decoded_token: str | None = None


class _Echoed(Answer):
    token_logprobs: list[float | None]
    tokens: tuple[str, ...] = ()


class _Choice(Answer):
    index: int
    logprobs: _Echoed | None = None
    prompt_logprobs: list[dict[str, _TokenScore] | None] | None = None
    prompt_token_ids: list[int] | None = None


class _Completions(Answer):
    model: str
    choices: list[_Choice]


class CompletionsScorer:
    """Scores with the model of a server.

    Two answers of a server to one question may differ in their last digits, as batches are put together by load: a stored block
    repeats to the bit, a block that is computed again need not.

    Args:
        connection: the server.
        model: as the server calls it; it must call itself so in every answer.
        tokenizer: of that model; the ids of a layout are its ids.
        weights_digest: which weights the server was started with, as far as its operator says: nobody else knows.
        tokenizer_digest: SHA-256 of ``tokenizer.json``.
        dtype: arithmetic of the server's forward pass, as it was started with; part of the scorer's identity.
        context_window: most tokens of a sequence on that server.
        dialect: see :data:`Dialect`.
        prompts: prompts of one request.

    Raises:
        ScoringServerError: a trial finds another model, another tokenizer, or no log-probabilities.
        ProviderError: the server does not answer; the message says what to do.
    """

    def __init__(
        self,
        connection: OpenAiConnection,
        model: str,
        *,
        tokenizer: ExactTokenizer,
        weights_digest: str,
        tokenizer_digest: str,
        dtype: str,
        context_window: int,
        dialect: Dialect = "prompt-logprobs",
        prompts: int = PROMPTS,
    ) -> None:
        self._connection = connection
        self._model = model
        self._tokenizer = tokenizer
        self._digests = (weights_digest, tokenizer_digest)
        self._dtype = dtype
        self._window = context_window
        self._dialect: Dialect = dialect
        self._prompts = max(1, prompts)
        self._scored_prompts([tokenizer.tokenize(_TRIAL)], spelled=True)

    @property
    def id(self) -> DigestHex:
        """Identity over the model's name, declared weights, tokenizer, declared dtype, dialect and batch plan."""
        parts = ("completions-scorer-v1", self._model, *self._digests, self.dtype, self.plan)
        return framed_hex(Prefix.CONFIG, [part.encode() for part in parts])

    @property
    def dtype(self) -> str:
        """Arithmetic of the server's forward pass, as declared."""
        return self._dtype

    @property
    def plan(self) -> str:
        """Dialect, and so many prompts a request."""
        return f"completions-v1/{self._dialect}/{self._prompts}"

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        """Tokens sent for ``block``."""
        tree = build_tree(layout, block.states)
        return int(sum(tree.depths[leaf] + 1 for leaf in _leaves(tree)))

    def score(self, layout: TokenLayout, block: Block) -> npt.NDArray[np.float64]:
        """``float64[mask, scored_token]`` of log-probabilities in nats; see :class:`attribution.scorers.base.Scorer`.

        Raises:
            ContextWindowError: sequences longer than the server takes.
            ScoringServerError: an answer that cannot be taken as scores.
            ProviderError: no answer.
        """
        if layout.longest() + _NEW_TOKENS > self._window:
            raise ContextWindowError(
                f"the trajectory needs {layout.longest()} tokens and the {_NEW_TOKENS} that {self._model} must write after "
                f"them, and it sees {self._window}; build the layout with a smaller context window"
            )
        tree = build_tree(layout, block.states)
        scores = np.full(len(tree.tokens), np.nan)
        leaves = _leaves(tree)
        for start in range(0, len(leaves), self._prompts):
            paths = [_path(tree, int(leaf)) for leaf in leaves[start : start + self._prompts]]
            answered = self._scored_prompts([tree.tokens[path].tolist() for path in paths])
            for path, found in zip(paths, answered, strict=True):
                # A node on several paths keeps the score of the first: the others differ in the last digits at most.
                fresh = np.isnan(scores[path])
                scores[path[fresh]] = found[fresh]
        table: npt.NDArray[np.float64] = scores[tree.columns]
        return table

    def _scored_prompts(
        self, prompts: Sequence[Sequence[int]], *, spelled: bool = False
    ) -> list[npt.NDArray[np.float64]]:
        """Log-probabilities in nats of every token of every prompt; NaN for the first, which follows nothing."""
        answer = self._connection.ask(
            lambda client: client.completions.with_streaming_response.create(
                model=self._model,
                prompt=[list(prompt) for prompt in prompts],
                max_tokens=_NEW_TOKENS,
                temperature=0,
                **_ASKED[self._dialect],
            ),
            _Completions,
        )
        where = self._connection.base_url
        if answer.model != self._model:
            raise ScoringServerError(
                f"{where} answered as {answer.model!r}, not as {self._model!r}; ask for the model by the name it is served under"
            )
        placed = {choice.index: choice for choice in answer.choices}
        if placed.keys() != set(range(len(prompts))) or len(answer.choices) != len(prompts):
            raise ScoringServerError(
                f"{where} gave {len(answer.choices)} answers with indexes {sorted(placed)[:8]} to {len(prompts)} prompts; "
                "each prompt needs exactly one"
            )
        read = _READERS[self._dialect]
        return [
            self._checked(prompt, list(read(placed[number], prompt, where)), spelled=spelled)
            for number, prompt in enumerate(prompts)
        ]

    def _checked(
        self, prompt: Sequence[int], found: Sequence[tuple[float | None, str | None]], *, spelled: bool
    ) -> npt.NDArray[np.float64]:
        where = self._connection.base_url
        values = np.full(len(prompt), np.nan)
        for place, (token, (value, text)) in enumerate(zip(prompt, found, strict=True)):
            if spelled and text is not None and text.encode() != self._tokenizer.token_bytes(token):
                raise ScoringServerError(
                    f"{where} spells token {token} {text!r}, the tokenizer here {self._tokenizer.token_bytes(token)!r}; "
                    f"give the tokenizer of {self._model!r}"
                )
            if not place:
                continue
            if value is None or not math.isfinite(value) or not _CLAMPED < value <= _ROUNDING:
                raise ScoringServerError(
                    f"{where} gives {value} as the log-probability of token {place} of {len(prompt)}; scores are finite "
                    f"numbers between {_CLAMPED:g} and 0, neither clipped nor left out"
                )
            values[place] = value
        return values


def _leaves(tree: PrefixTree) -> Nodes:
    """Nodes that nothing follows, in order: the ends of the sequences that are sent."""
    return np.setdiff1d(np.arange(len(tree.tokens)), tree.parents)


def _path(tree: PrefixTree, node: int) -> Nodes:
    """Nodes from the root to ``node``, itself included."""
    path = np.empty(int(tree.depths[node]) + 1, dtype=np.int64)
    for place in range(len(path) - 1, -1, -1):
        path[place] = node
        node = int(tree.parents[node])
    assert node == ROOT
    return path


_Read = Iterator[tuple[float | None, str | None]]


def _from_prompt_logprobs(choice: _Choice, prompt: Sequence[int], where: str) -> _Read:
    found = choice.prompt_logprobs
    if found is None:
        raise _without_scores(where, "prompt_logprobs", "a server that knows vLLM's parameter, or the dialect `echo`")
    if len(found) != len(prompt):
        raise _other_tokens(where, f"{len(found)} tokens", prompt)
    yield None, None
    for place in range(1, len(prompt)):
        at = (found[place] or {}).get(str(prompt[place]))
        if at is None:
            raise _other_tokens(where, f"a token {place} that is none of {sorted(found[place] or {})[:4]}", prompt)
        yield at.logprob, at.decoded_token


def _from_echo(choice: _Choice, prompt: Sequence[int], where: str) -> _Read:
    found = choice.logprobs
    if found is None:
        raise _without_scores(where, "logprobs", "a server that repeats a prompt with its log-probabilities")
    if choice.prompt_token_ids is None:
        raise _without_scores(where, "prompt_token_ids", "a server that knows `return_token_ids`: vLLM or SGLang")
    if choice.prompt_token_ids != list(prompt):
        raise _other_tokens(where, f"{len(choice.prompt_token_ids)} tokens", prompt)
    if len(found.token_logprobs) < len(prompt):
        raise _other_tokens(where, f"{len(found.token_logprobs)} log-probabilities", prompt)
    spelled = len(found.tokens) == len(found.token_logprobs)
    for place in range(len(prompt)):
        text = found.tokens[place] if spelled else None
        yield found.token_logprobs[place], None if text is None or text.startswith(_BY_ID) else text


_READERS = {"prompt-logprobs": _from_prompt_logprobs, "echo": _from_echo}


def _without_scores(where: str, member: str, way_out: str) -> ScoringServerError:
    return ScoringServerError(f"{where} answered without `{member}`, so a prompt cannot be scored there; use {way_out}")


def _other_tokens(where: str, what: str, prompt: Sequence[int]) -> ScoringServerError:
    return ScoringServerError(
        f"{where} was sent {len(prompt)} token ids and scored other tokens ({what}); it must take ids as they are, without "
        "tokenising again, adding or cutting any"
    )
