"""Text to exact token ids and back to exact bytes (byte-level BPE).

The exact-token contract: no special token is ever added, a special token's *spelling* inside a text stays
text, nothing is cleaned up or normalised, and the ids of a text give back its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from attribution.errors import LayoutError, UnsupportedModelError


def byte_alphabet() -> dict[str, int]:
    """The printable character that stands for each byte in a byte-level vocabulary (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + rank): byte for rank, byte in enumerate(others)}


class ExactTokenizer:
    """A byte-level BPE tokenizer read from ``tokenizer.json``.

    Raises:
        UnsupportedModelError: the file describes another kind of tokenizer, whose tokens are not bytes.
    """

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer
        from tokenizers.decoders import ByteLevel

        self._path = path
        self._tokenizer: Any = Tokenizer.from_file(str(path))
        if not isinstance(self._tokenizer.decoder, ByteLevel):
            raise UnsupportedModelError(
                f"{str(path)!r} is not a byte-level BPE tokenizer (decoder "
                f"{type(self._tokenizer.decoder).__name__}), so its tokens are not exact bytes; use a GPT-2, Llama 3, "
                "Qwen or SmolLM style tokenizer"
            )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    def tokenize(self, text: str) -> tuple[int, ...]:
        """Ids of ``text`` and of nothing else; ``detokenize`` gives back exactly its UTF-8 bytes.

        Raises:
            LayoutError: the text has an unpaired surrogate, or the tokenizer drops or rewrites some of it.
        """
        try:
            expected = text.encode()
        except UnicodeEncodeError as error:
            raise LayoutError(
                f"character {error.start} is an unpaired surrogate ({text[error.start]!a}), which has no UTF-8 bytes; "
                "decode the source with errors='replace' first"
            ) from error
        ids = tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)
        if self.detokenize(ids) != expected:
            raise LayoutError(
                f"the tokenizer {str(self._path)!r} does not give back the bytes of {text[:60]!r}; "
                "it rewrites or drops text, so exact spans cannot be measured with it"
            )
        return ids

    def detokenize(self, ids: Iterable[int]) -> bytes:
        """The exact bytes of ``ids``; they may end inside a character. A special token gives its spelling."""
        return b"".join(self.token_bytes(token) for token in ids)

    def token_bytes(self, token: int) -> bytes:
        """The bytes one id stands for.

        Raises:
            LayoutError: the id is not in the vocabulary.
        """
        found = self._bytes_of_id.get(token)
        if found is None:
            raise LayoutError(f"token id {token} is not in the vocabulary of {len(self._bytes_of_id)} ids")
        return found

    def special(self, name: str) -> int:
        """Id of the special token spelled ``name``.

        Raises:
            UnsupportedModelError: the tokenizer has no such special token.
        """
        found = self._special_ids.get(name)
        if found is None:
            raise UnsupportedModelError(
                f"the tokenizer {str(self._path)!r} has no special token {name!r}; it has "
                f"{', '.join(sorted(self._special_ids)[:8]) or 'none'}"
            )
        return found

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids of every special token."""
        return frozenset(self._special_ids.values())

    @cached_property
    def _special_ids(self) -> dict[str, int]:
        added = self._tokenizer.get_added_tokens_decoder()
        return {token.content: number for number, token in added.items() if token.special}

    @cached_property
    def _bytes_of_id(self) -> dict[int, bytes]:
        alphabet = byte_alphabet()
        added = self._tokenizer.get_added_tokens_decoder()
        table = {number: token.content.encode() for number, token in added.items()}
        for piece, number in self._tokenizer.get_vocab(with_added_tokens=False).items():
            if number not in table:
                table[number] = bytes(alphabet[character] for character in piece)
        return table
