"""The two stages together, with the recipe that names them. It reads texts and writes nothing; the desk files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger_core.providers import EmbeddingProvider, LlmProvider
from ledger_core.verification.adjudication import Ground, Verdict, adjudicate
from ledger_core.verification.prompt import TEMPLATE
from ledger_core.verification.receipts import stage_a_receipt, stage_b_receipt
from ledger_core.verification.screening import Screener, Screening
from ledger_core.verification.settings import Settings
from ledger_core.verification.texts import Text


@dataclass(frozen=True, slots=True)
class Finding:
    """What the verifier found about one pair, with the bytes of its receipts."""

    verdict: Verdict
    ground: Ground
    stage_a: bytes
    stage_b: bytes


class Verifier:
    """Says whether one text contradicts or supports another."""

    def __init__(self, llm: LlmProvider, embedder: EmbeddingProvider, settings: Settings | None = None) -> None:
        """Ask ``llm`` about what ``embedder`` finds near."""
        self.settings = settings or Settings()
        self.recipe = self.settings.recipe(TEMPLATE, llm.model, embedder.model)
        """Names prompt, models and numbers; a pair has one answer under it."""
        self._llm = llm
        self._embedder_model = embedder.model
        self._screener = Screener(embedder, self.settings)

    def screen(self, target: Text, candidates: Sequence[Text]) -> tuple[Screening, ...]:
        """Stage A: ``candidates`` by nearness to ``target``, nearest first, each with whether it is to be asked about.

        Raises:
            ProviderError: the embedder does not serve.
        """
        return self._screener.screen(target, candidates)

    def judge(self, screening: Screening) -> Finding:
        """Stage B on a pair that stage A let through.

        Raises:
            ProviderError: the language model does not serve.
        """
        found = adjudicate(screening, self._llm, self.settings)
        return Finding(
            verdict=found.verdict,
            ground=found.ground,
            stage_a=stage_a_receipt(screening, self.recipe, self._embedder_model, self.settings),
            stage_b=stage_b_receipt(screening, found, self.recipe, self._llm.model),
        )
