"""Language models and embedders, found on this machine and loaded offline."""

from attribution.models.decoding import Constrained
from attribution.models.embedder import Embedder, load_embedder
from attribution.models.files import DEFAULT_MODEL, ModelFiles
from attribution.models.language import ChatPieces, LanguageModel, load_language_model, resolve_model
from attribution.models.tokenizer import ExactTokenizer

__all__ = [
    "DEFAULT_MODEL",
    "ChatPieces",
    "Constrained",
    "Embedder",
    "ExactTokenizer",
    "LanguageModel",
    "ModelFiles",
    "load_embedder",
    "load_language_model",
    "resolve_model",
]
