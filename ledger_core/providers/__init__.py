"""Language and embedding models behind two small protocols, and the clients that reach them."""

from ledger_core.providers.openai_connection import OpenAiConnection
from ledger_core.providers.openai_models import OpenAiEmbedder, OpenAiLlm
from ledger_core.providers.protocols import Completion, EmbeddingProvider, LlmProvider, Message, Usage
from ledger_core.providers.retrying import RetryPolicy

__all__ = [
    "Completion",
    "EmbeddingProvider",
    "LlmProvider",
    "Message",
    "OpenAiConnection",
    "OpenAiEmbedder",
    "OpenAiLlm",
    "RetryPolicy",
    "Usage",
]
