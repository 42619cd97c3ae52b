"""The reader that both profiles configure: what a message repeats of a document."""

from __future__ import annotations

import pytest

from ledger_core.kernel import canonical
from ledger_core.kernel.errors import CanonicalError
from ledger_core.kernel.json_reader import quoted


def test_a_value_of_more_than_sixty_four_characters_is_cut_and_its_length_told() -> None:
    assert quoted("x" * 64) == f"'{'x' * 64}'"
    assert quoted("x" * 65) == f"'{'x' * 64}'… (65 characters)"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b'"\\u12g45678"', r"invalid escape '\\u12g4' at character 1"),
        (b'"ab\\x"', "invalid escape '\\\\x\"' at character 3"),
        (b'"a', "unterminated string at character 0"),
        (b'"a\x01"', "raw control character U+0001 in a string at character 2"),
        (b'{"a" 1}', "expected ':' but found '1' at character 5"),
        (b'{"a":1 "b"}', "expected ',' or '}' but found '\"' at character 7"),
        (b"[1 2]", "expected ',' or ']' but found '2' at character 3"),
        (b"{1}", "expected a key in quotes but found '1' at character 1"),
        (b"[", "expected a value but found the end at character 1"),
        (b"1 ,", "expected the end but found ',' at character 2"),
        (b" \xff", "not UTF-8 (invalid start byte) at byte 1"),
        (b"\xef\xbb\xbf1", "byte order mark at byte 0; remove it"),
    ],
)
def test_a_refusal_says_what_stands_where(document: bytes, message: str) -> None:
    with pytest.raises(CanonicalError) as refused:
        canonical.parse(document)
    assert str(refused.value) == message
