"""A stand-in for the language model at the recorder's boundary: one id a byte, and what it would have said is scripted."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.models import ChatPieces, ModelFiles
from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.statements import Scope
from ledger_core.stores.ledger import Ledger

NOW = "2026-01-31T12:00:00.000000000Z"
SCOPE = Scope.make(tenant_namespace="eval", project_namespace="trials")
WEIGHTS = "cd" * 32
_ROLES = {"system": (310,), "user": (311,), "assistant": (312,), "tool": (313,)}
_SHOWN = {300: "<", 301: ">", 310: "system", 311: "user", 312: "assistant", 313: "tool"}


@dataclass(frozen=True)
class Continuation:
    """What constrained decoding reports, as far as the recorder reads it."""

    greedy_ids: tuple[int, ...]


class ByteModel:
    """Says what it is made to say; by itself it would have ended every claim in ``own_value``."""

    context_window = 8192
    chat_template_pieces = ChatPieces(start=300, end=301, newline=(10,), roles=_ROLES)

    def __init__(self, files: ModelFiles, own_value: str | None = None) -> None:
        self.files = files
        self._own_value = own_value
        self.prompts: list[tuple[int, ...]] = []

    def tokenize(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode())

    def token_bytes(self, token: int) -> bytes:
        return bytes([token])

    def detokenize(self, ids) -> bytes:
        return bytes(ids)

    def constrained(self, prompt_ids, response_ids) -> Continuation:
        self.prompts.append(tuple(prompt_ids))
        said = bytes(response_ids)
        if self._own_value is None:
            return Continuation(tuple(response_ids))
        return Continuation(tuple(said[: -len(self._own_value)] + self._own_value.encode()))


def shown(ids) -> str:
    """Ids as text, the frame's ids by name."""
    return "".join(_SHOWN.get(token) or chr(token) for token in ids)


def byte_model(folder, own_value: str | None = None) -> ByteModel:
    files = ModelFiles(
        name="bytes",
        path=folder,
        weights_digest=WEIGHTS,
        tokenizer_digest="ef" * 32,
        file_name="bytes.gguf",
        quantisation="none",
    )
    return ByteModel(files, own_value)


def open_memory() -> Ledger:
    return Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
