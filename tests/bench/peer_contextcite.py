"""The `context-cite` package, run as it is, on the very tokens that we score.

Three things are given to it: its sources (its own splitter fetches data from the network), the response, and a ChatML template
where the tokenizer has none. Masks, prompts, passes, aggregation and its default solver are its own.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from attribution.blocks import make_blocks
from attribution.games.base import States, Values
from attribution.layout import Ids, Region, Target, TokenLayout, Unit, build_layout
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.bench.measuring import Finding, table
from tests.bench.peer_contextcite_contexts import Context, context
from tests.bench.sections import Bench, Document

VERSION = "0.0.4"
ABLATIONS = 64
"""The package's default."""
ANSWER = 40
"""Tokens of a response at most."""
BATCHES = (1, 2, 4, 8, 16)
"""Batch sizes among which its best one is chosen."""
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def package() -> Any:
    """The imported package; its import would fetch a sentence splitter that is not used here.

    Raises:
        AssertionError: another version than the one that is compared with.
    """
    import importlib.metadata

    import nltk

    assert importlib.metadata.version("context-cite") == VERSION
    fetch, nltk.download = nltk.download, lambda *_, **__: False
    try:
        with quiet():
            import context_cite.context_partitioner
            import context_cite.solver
            import context_cite.utils
    finally:
        nltk.download = fetch
    return context_cite


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without progress bars and the deprecation warnings of its calls into torch."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@cache
def hf_tokenizer(path: str) -> Any:
    """The transformers tokenizer of a model folder, padding on the left as the package asks for."""
    from attribution.models.runtime import offline_transformers

    with offline_transformers() as transformers:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    tokenizer.padding_side = "left"
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _CHATML
    return tokenizer


def partitioner(context: Context) -> Any:
    """The package's partitioner over given sentences."""
    base = package().context_partitioner.SimpleContextPartitioner

    class Given(base):  # type: ignore[misc, valid-type]
        def split_context(self) -> None:
            self._cache["parts"] = list(context.sentences)
            self._cache["separators"] = ["", *[" "] * (len(context.sentences) - 1)]

    return Given(context.text)


class Peer:
    """One context under both tools.

    Args:
        language: the model of both.
        context: sources and question.
        answer: the response's ids, or its length in tokens at most; then the model writes it, greedily, after the package's
            own prompt.
    """

    def __init__(self, language: LanguageModel, context: Context, answer: int | Ids) -> None:
        self.language = language
        self.context = context
        self.tokenizer = hf_tokenizer(str(language.files.path))
        self.response_ids: Ids = ()
        self.prompt_ids, self.prompt = self.citer(1)._get_prompt_ids(return_prompt=True)
        if isinstance(answer, int):
            stop = (language.special("<|im_end|>"),)
            answer = language.generate(tuple(self.prompt_ids), answer, stop_ids=stop)
        self.response_ids = answer

    @property
    def response(self) -> str:
        """The response's text; where its bytes are no text, the package cannot be given it."""
        return self.language.detokenize(self.response_ids).decode("utf-8", "replace")

    @property
    def same_ids(self) -> bool:
        """Whether the package, which tokenises prompt and response anew and together, arrives at the ids of the response."""
        return bool(self.response_ids) and tuple(self.citer(1)._response_ids) == tuple(self.response_ids)

    def citer(self, batch: int, *, ablations: int = ABLATIONS) -> Any:
        """A fresh `ContextCiter`: nothing cached but the response."""
        citer = package().ContextCiter(
            self.language.model,
            self.tokenizer,
            self.context.text,
            self.context.query,
            num_ablations=ablations,
            batch_size=batch,
            partitioner=partitioner(self.context),
        )
        if self.response_ids:
            citer._cache["output"] = self.prompt + self.response
        return citer

    @cached_property
    def layout(self) -> TokenLayout:
        """The package's prompt and the response as our layout: each sentence a unit, a token where its last byte is."""
        ids = (*self.prompt_ids, *self.response_ids)
        ends = list(accumulate(len(self.language.token_bytes(token)) for token in self.prompt_ids))
        start = self.prompt.index(self.context.text)
        edges, place = [], len(self.prompt[:start].encode())
        for number, sentence in enumerate(self.context.sentences):
            place += len(sentence.encode()) + (number > 0)
            edges.append(place)
        head = len(self.prompt[:start].encode())
        cuts = [sum(end <= edge for end in ends) for edge in (head, *edges)]
        regions = [
            Region(0, cuts[0], None),
            *(Region(low, high, unit) for unit, (low, high) in enumerate(pairwise(cuts))),
            Region(cuts[-1], len(ids), None),
        ]
        prompt = len(self.prompt_ids)
        return build_layout(
            ids,
            regions,
            [Unit(f"s{unit}", sentence[:12]) for unit, sentence in enumerate(self.context.sentences)],
            [Target("response", prompt, len(ids), None)],
            context_window=self.language.context_window,
        )

    def ids_under(self, mask: np.ndarray) -> list[int]:
        """What our layout leaves of the prompt under a mask."""
        prompt = len(self.prompt_ids)
        return [
            token
            for region in self.layout.regions
            if region.unit is None or mask[region.unit]
            for token in self.layout.ids[region.start : min(region.stop, prompt)]
        ]

    def differing(self, states: States) -> int:
        """Masks under which the package, which renders and tokenises anew, reads other ids than our layout leaves."""
        citer = self.citer(1)
        return sum(self.ids_under(mask) != citer._get_prompt_ids(mask=mask.astype(bool)) for mask in states)

    def log_p(self, states: States) -> Values:
        """``float64[mask]``: our log-probability of the response, nats."""
        if not len(states):
            return np.zeros(0)
        scorer = TransformersScorer(self.language)
        blocks = make_blocks(scorer, self.layout, states)
        return np.concatenate([scorer.score(self.layout, block) for block in blocks]).sum(axis=1)

    def peer_scores(self, citer: Any, scale: str) -> Values:
        """``float64[mask]``: the package's numbers for its own masks; ``scale`` is `log_prob` or `logit_prob`."""
        values = package().utils.aggregate_logit_probs(citer._logit_probs, scale)
        return np.asarray(values, dtype=np.float64)

    def peer_passes(self, batch: int, ablations: int) -> tuple[Any, float]:
        """The package's ablations, as it runs them, and the seconds that they took."""
        citer = self.citer(batch, ablations=ablations)
        began = time.perf_counter()
        with quiet():
            citer._compute_masks_and_logit_probs()
        return citer, time.perf_counter() - began

    def best_batch(self, ablations: int) -> tuple[int, dict[int, float]]:
        """The batch size with which the package is fastest here, and the seconds an ablation of each."""
        package()
        self.peer_passes(1, 1)
        seconds = {
            batch: self.peer_passes(batch, max(ablations, batch))[1] / max(ablations, batch) for batch in BATCHES
        }
        return min(seconds, key=lambda batch: seconds[batch]), seconds


def peer_of(bench: Bench, number: int, language: LanguageModel | None = None) -> Peer:
    """The comparison's context of that number, as small as the size asks for; a small run repeats its first sentence."""
    chosen = language or bench.language
    if bench.size == "small":
        given = context(number, least=4, most=4)
        return Peer(chosen, given, chosen.tokenize(given.sentences[0]))
    return Peer(chosen, context(number), ANSWER)


def chosen_batch(bench: Bench) -> int:
    """The batch size with which the package is fastest on this machine, found once a run."""

    def find() -> Document:
        best, seconds = peer_of(bench, 0).best_batch(bench.one_of(small=1, default=4, full=8))
        return {"batch": best, "seconds_an_ablation": {str(batch): took for batch, took in seconds.items()}}

    return int(bench.kept.get("contextcite/batch", find)["batch"])


def tabled(bench: Bench, section: str, found: Iterable[Finding]) -> Iterator[Finding]:
    """``found``, and after each of them the table of all so far in ``SECTION.md``, for docs/benchmarks.md."""
    rows: list[Finding] = []
    for finding in found:
        rows.append(finding)
        yield finding
        (bench.out / f"{section}.md").write_text(table(rows), encoding="utf-8")


def solvers() -> dict[str, Callable[[Any, Values, int], tuple[Any, Any]]]:
    """The package's default solver, and three others in its own interface."""
    from sklearn.linear_model import LassoCV, LinearRegression, RidgeCV

    def fitted(make: Callable[[], Any]) -> Callable[[Any, Values, int], tuple[Any, Any]]:
        def fit(masks: Any, outputs: Values, num_output_tokens: int) -> tuple[Any, Any]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(masks.astype(np.float32), outputs / num_output_tokens)
            return model.coef_ * num_output_tokens, model.intercept_ * num_output_tokens

        return fit

    return {
        "Lasso": package().solver.LassoRegression().fit,
        "LassoCV": fitted(lambda: LassoCV(cv=5, random_state=0)),
        "RidgeCV": fitted(lambda: RidgeCV(alphas=np.logspace(-3, 3, 25))),
        "OLS": fitted(LinearRegression),
    }


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and two-sided 95 % t interval of paired differences; NaN ends of fewer than two."""
    from scipy.stats import sem, t

    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    margin = float(t.ppf(0.975, len(values) - 1) * sem(values))
    return mean, mean - margin, mean + margin
