"""Teacher-forced log-probabilities from a transformers model, exact under any mask.

The tree of a block (``prefix_tree.py``) is read in depth-first chunks of a fixed size. Within a chunk a 4-D mask lets
every token see its ancestors and nobody else, and explicit position ids place it where it would stand in its own
sequence; keys and values of the path that leads into the chunk come from a cache of that path alone. So every
distinct prefix is computed once, memory is bounded by chunk and path, and a block has one plan and one set of bits.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from attribution.blocks import Block
from attribution.errors import ContextWindowError, UnsupportedModelError
from attribution.games.base import DELETED, PRESENT
from attribution.layout import Target, TokenLayout, Unit, tile
from attribution.models.language import LanguageModel
from attribution.scorers.prefix_tree import ROOT, Nodes, PrefixTree, build_tree
from ledger_core.kernel.digests import DigestHex, Prefix, framed_hex

CHUNK_TOKENS = 384
"""Tokens of one forward pass: enough for full matrix products on a CPU, little enough to keep attention cheap."""

_LOGIT_ROWS = 64
"""Rows of the vocabulary-wide float64 log-softmax held at once."""

_TOLERANCE = {"float32": 1e-3, "bfloat16": 1.5}
"""Nats by which one token may differ between a tree and a plain pass of the same model."""


_PROVEN: WeakSet[LanguageModel] = WeakSet()
"""Loaded models whose branches were found exact, so that a scorer per trajectory costs nothing."""


class TransformersScorer:
    """Scores with a loaded :class:`LanguageModel`.

    Raises:
        UnsupportedModelError: the model does not honour a 4-D attention mask with explicit positions, so branches
            would see each other; found by a small trial, once per loaded model.
    """

    def __init__(self, language: LanguageModel, *, chunk_tokens: int = CHUNK_TOKENS) -> None:
        self._language = language
        self._chunk_tokens = chunk_tokens
        if language not in _PROVEN:
            _require_exact_branches(language)
            _PROVEN.add(language)

    @property
    def id(self) -> DigestHex:
        """Identity over weights, tokenizer, dtype, batch plan and device."""
        files = self._language.files
        parts = ("transformers-scorer-v1", files.weights_digest, files.tokenizer_digest, self.dtype, self.plan)
        return framed_hex(Prefix.CONFIG, [part.encode() for part in parts])

    @property
    def dtype(self) -> str:
        """Arithmetic of the forward pass."""
        return self._language.dtype

    @property
    def plan(self) -> str:
        """Depth-first prefix tree in chunks of so many tokens, and the device where it is not the CPU."""
        device = self._language.device
        return f"prefix-tree-v1/{self._chunk_tokens}" + ("" if device == "cpu" else f"/{device}")

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        """Tokens the model would read for ``block``: what a dry run prints."""
        return len(build_tree(layout, block.states).inner())

    def score(self, layout: TokenLayout, block: Block) -> npt.NDArray[np.float64]:
        """``float64[mask, scored_token]`` of log-probabilities in nats; see :class:`attribution.scorers.base.Scorer`.

        Raises:
            ContextWindowError: the layout was built for a model that sees more tokens.
            BlockError: states that do not fit the layout.
        """
        window = self._language.context_window
        if layout.longest() > window:
            raise ContextWindowError(
                f"the trajectory needs {layout.longest()} tokens and {self._language.files.name} sees {window}; "
                "build the layout with this model's context window"
            )
        tree = build_tree(layout, block.states)
        return node_log_probabilities(self._language.model, tree, self._chunk_tokens)[tree.columns]


def node_log_probabilities(model: Any, tree: PrefixTree, chunk_tokens: int) -> npt.NDArray[np.float64]:
    """``float64[node]``: log-probability in nats of every scored node given its path; NaN where nothing is scored."""
    import torch

    scores = np.full(len(tree.tokens), np.nan)
    scored = np.unique(tree.columns)
    run = tree.inner()
    path = _Path()
    with torch.inference_mode():
        for chunk in np.array_split(run, max(1, -(-len(run) // chunk_tokens))) if len(run) else ():
            followers = scored[np.isin(tree.parents[scored], chunk)]
            asked, rows = np.unique(tree.parents[followers], return_inverse=True)
            path.lead_to(tree, int(chunk[0]))
            logits = _read(model, tree, chunk, path, asked)
            scores[followers] = _log_softmax_at(logits, rows, tree.tokens[followers])
    return scores


class _Path:
    """Keys and values of the tokens that lead into the next chunk."""

    def __init__(self) -> None:
        self.nodes: Nodes = np.empty(0, dtype=np.int64)
        self.layers: list[tuple[Any, Any]] = []

    def lead_to(self, tree: PrefixTree, node: int) -> None:
        """Keep only the ancestors of ``node``; depth-first order guarantees that all of them are here."""
        import torch

        ancestors = []
        parent = int(tree.parents[node])
        while parent != ROOT:
            ancestors.append(parent)
            parent = int(tree.parents[parent])
        kept = np.array(ancestors[::-1], dtype=np.int64)
        places = torch.from_numpy(np.searchsorted(self.nodes, kept))
        self.layers = [
            (keys.index_select(2, places.to(keys.device)), values.index_select(2, places.to(values.device)))
            for keys, values in self.layers
        ]
        self.nodes = kept

    def cache(self) -> Any:
        """The path as a cache that a model can extend."""
        from transformers import DynamicCache

        return DynamicCache(self.layers) if len(self.nodes) else DynamicCache()

    def extended(self, chunk: Nodes, cache: Any) -> None:
        """Take over what the model appended for ``chunk``."""
        self.nodes = np.concatenate([self.nodes, chunk])
        self.layers = [(layer.keys, layer.values) for layer in cache.layers]


def _read(model: Any, tree: PrefixTree, chunk: Nodes, path: _Path, asked: Nodes) -> Any:
    """Run ``chunk`` after ``path`` and extend the path; returns the logits ``[asked, vocabulary]``."""
    import torch

    def placed(array: npt.NDArray[Any]) -> Any:
        return torch.from_numpy(array).to(model.device)

    visible = placed(_visibility(tree, path.nodes, chunk))
    mask = torch.zeros(visible.shape, dtype=model.dtype, device=model.device)
    mask.masked_fill_(~visible, torch.finfo(model.dtype).min)
    cache = path.cache()
    logits = model(
        input_ids=placed(tree.tokens[chunk])[None],
        position_ids=placed(tree.depths[chunk])[None],
        attention_mask=mask[None, None],
        cache=cache,
        use_cache=True,
        logits_to_keep=placed(np.searchsorted(chunk, asked)),
    ).logits[0]
    path.extended(chunk, cache)
    return logits


def _visibility(tree: PrefixTree, path: Nodes, chunk: Nodes) -> npt.NDArray[np.bool_]:
    """``bool[chunk, path + chunk]``: which tokens each token of the chunk descends from, itself included."""
    visible = np.zeros((len(chunk), len(path) + len(chunk)), dtype=np.bool_)
    place = {int(node): row for row, node in enumerate(chunk)}
    for row, node in enumerate(chunk):
        parent = int(tree.parents[node])
        if parent in place:
            visible[row] = visible[place[parent]]
        elif parent != ROOT:
            # Depth-first order: a parent outside the chunk is on the path, and so is all that leads to it.
            visible[row, : np.searchsorted(path, parent) + 1] = True
        visible[row, len(path) + row] = True
    return visible


def _log_softmax_at(logits: Any, rows: npt.NDArray[np.intp], tokens: Nodes) -> npt.NDArray[np.float64]:
    """``float64[follower]``: log-probability of ``tokens`` under their rows of ``logits``, normalised in float64."""
    import torch

    normaliser = torch.cat([part.double().logsumexp(dim=1) for part in logits.split(_LOGIT_ROWS)])
    where = torch.from_numpy(rows).to(logits.device)
    chosen = logits[where, torch.from_numpy(tokens).to(logits.device)].double() - normaliser[where]
    result: npt.NDArray[np.float64] = chosen.cpu().numpy()
    return result


def _require_exact_branches(language: LanguageModel) -> None:
    """Compare a forked trial tree with plain passes, so that a model that ignores masks or positions is refused."""
    import torch

    trunk, left, right = (1, 2, 0), (3, 4, 2, 1), (4, 0, 3)
    ids, regions = tile([(trunk, None), (left, 0), (right, None)])
    layout = TokenLayout(ids, regions, (Unit("trial", "trial"),), (Target("trial", 7, 10, None),))
    states = np.array([[PRESENT], [DELETED]], dtype=np.uint8)
    tree = build_tree(layout, states)
    found = node_log_probabilities(language.model, tree, chunk_tokens=4)[tree.columns]
    for row, prefix in enumerate([trunk + left, trunk]):
        with torch.inference_mode():
            plain = torch.tensor([[*prefix, *right]], device=language.device)
            logits = language.model(plain, use_cache=False).logits[0].double()
        expected = logits.log_softmax(1)[range(len(prefix) - 1, len(prefix) + 2), right].cpu().numpy()
        difference = float(np.abs(found[row] - expected).max())
        if not difference <= _TOLERANCE[language.dtype]:
            raise UnsupportedModelError(
                f"{language.files.name}: branches of one pass differ from plain passes by {difference:.3g} nats, so "
                "this architecture does not honour attention masks with explicit positions; use a decoder with "
                "full attention (Llama, Qwen, GPT-2, SmolLM)"
            )
