"""Secrets that are known by the name they stand beside: ``password=…``, ``"api_key": "…"``, ``--token …``.

Three classes of names, from the most to the least telling; the less a name tells, the more the value must look like a
secret. A name's prefix is free (``DB_PASSWORD``, ``userPassword``), its end is not (``password_policy`` is no secret).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ledger_core.redaction.findings import Finding, without_markers

_STRONG_NAMES = (
    r"passw(?:or)?d|passphrase|pass[_-]phrase|passcode|pwd|db[_-]?pass|client[_-]?secret|app[_-]?secret|"
    r"secret[_-]?(?:access[_-]?)?key|private[_-]?key"
)
_CREDENTIAL_NAMES = (
    r"(?:api|access|auth|encryption|signing|account|master|service|subscription)[_-]?key|"
    r"(?:access|auth|refresh|session|bot|bearer|csrf|xsrf|api|personal|deploy)[_-]?token|secret|credential|passw"
)
_KEYISH_NAMES = r"key|token|auth|authorization|session|session[_-]?id|cookie|signature|nonce"
_SUFFIX = r"s?(?:[_-]?(?:hash|confirm(?:ation)?|value|new|old))?[0-9]?"

_SEPARATOR = (
    r"(?P<quote>\"|')?[^\S\n]{0,64}"
    r"(?::[^\S\n]{0,8}(?:str|string|SecretStr|bytes)[^\S\n]{0,8}=(?!=)|=>|:=|=(?!=)|:(?!:))"
)
_VALUE = (
    r"(?:\s{0,256}\[(?!REDACTED:|WITHHELD:)(?P<array>(?:\s*+(?:\"(?:[^\"\\\n]|\\.)*+\"|[^\s\"'`\[\]{},\\]++)\s*+,?+)++)\]"
    r"|\s{0,256}[fbru]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.)*+)\""
    r"|\s{0,256}[fbru]{0,2}'(?P<single>(?:[^'\"\\\n]|\\.)*+)['\"]"
    r"|[^\S\n]{0,64}(?P<bare>(?:[^\s\"'`<>&;,\\]|[;,](?!\s|\w{1,64}\s{0,8}[=:]|\Z)|\\(?![nrtbfu\"'/\\]))++))"
)
_ELEMENT = re.compile(r"\"((?:[^\"\\\n]|\\.)*+)\"|([^\s\"',]++)")
_PLACEHOLDER = re.compile(
    r"(?i:null|none|nil|undefined|true|false|yes|no|str|string|bytes|int|number|object|required|optional|n/?a|\W*|"
    r"x{3,}|\*{3,}|your[_ -].*|<.*>|\$\{.*|\$\(.*|\{\{.*|%[a-z(].*|\$[a-z_]\w*|.*\b(?:getenv|environ|getpass|env)\b.*|"
    r"[\w.]+\(.*)",
    re.DOTALL,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DENSE = re.compile(r"[A-Za-z0-9+/=_.~-]+")
_PATH = re.compile(r"[/~]|[A-Za-z]:[\\/]")

_MIN_BARE = 3
_MIN_CREDENTIAL = 8
_MIN_KEYISH = 16
_MAX_KEYISH = 4096
_MIN_ENTROPY = 2.75
"""Bits a character: sixteen random hexadecimal digits have about 3.3, of base64 3.8; a counter or a padded id less."""
_MIN_ALTERNATIONS = 3
"""Changes between letter and digit in a value of one case: `order20240515` has one."""
_TRAILING = ",;.)]}{[("
_LOOKAHEAD = 64
_BARE = 2
_QUOTES = frozenset("\"'`")
_LONGEST_NAME = 64
"""Characters of a name and what separates it from its value."""


def entropy(value: str) -> float:
    """Shannon entropy of the characters of a non-empty ``value``, in bits a character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands beside a name."""

    text: str
    name: str
    is_bare: bool
    name_quoted: bool
    prose: bool
    """Bare, after a colon, with more words on the same line: most likely a sentence."""


def _is_password(value: _Value) -> bool:
    if not value.is_bare or value.name_quoted:
        return True
    if value.name.lower() == "pwd" and _PATH.match(value.text):
        return False
    return len(value.text) >= _MIN_BARE and (not value.prose or not value.text.isalpha())


def _is_credential(value: _Value) -> bool:
    text = value.text
    return (
        len(text) >= _MIN_CREDENTIAL
        and "://" not in text
        and not any(char.isspace() for char in text)
        and any(char.isdigit() for char in text)
    )


def _is_dense(value: _Value) -> bool:
    text = value.text
    if not _MIN_KEYISH <= len(text) <= _MAX_KEYISH or _UUID.fullmatch(text) or not _DENSE.fullmatch(text):
        return False
    if not any(map(str.isdigit, text)) or entropy(text) < _MIN_ENTROPY:
        return False
    if any(map(str.isupper, text)) and any(map(str.islower, text)):
        return True
    alternations = sum(left.isdigit() != right.isdigit() for left, right in pairwise(text))
    return text.isalnum() and alternations >= _MIN_ALTERNATIONS


@dataclass(frozen=True, slots=True)
class _Names:
    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    admits: Callable[[_Value], bool]

    def find(self, text: str, lowered: str) -> Iterator[Finding]:
        """Every secret beside one of the names."""
        if not any(hint in lowered for hint in self.hints):
            return
        match = self.pattern.search(text)
        while match is not None:
            yield from self._judge(match)
            match = self.pattern.search(text, _resume(match))

    def _judge(self, match: re.Match[str]) -> Iterator[Finding]:
        group = match.lastgroup
        assert group is not None, "one of the values matched"
        if group == "array":
            for element in _ELEMENT.finditer(match.string, *match.span(group)):
                assert element.lastindex is not None, "a literal or a bare word"
                yield from self._one(match, element.span(element.lastindex), is_bare=element.lastindex == _BARE)
        else:
            yield from self._one(match, match.span(group), is_bare=group == "bare")

    def _one(self, match: re.Match[str], span: tuple[int, int], *, is_bare: bool) -> Iterator[Finding]:
        start, stop = span
        text = match.string[start:stop]
        quote = match.groupdict().get("quote") or ""
        rest = without_markers(text)
        if not rest or _PLACEHOLDER.fullmatch(rest):
            return
        if is_bare:
            if quote and text[0] in "[{":
                return  # a JSON container, whose members stand beside their own names
            text = text.rstrip(_TRAILING)
            stop = start + len(text)
        prose = is_bare and match.string[start - 1] != "=" and _has_words(match.string[stop : stop + _LOOKAHEAD])
        value = _Value(text, match.group("name"), is_bare, bool(quote), prose)
        if self.admits(value):
            yield Finding(start, stop, self.kind, quote if is_bare else "")


def _resume(match: re.Match[str]) -> int:
    """Where to look on: a quoted value may hold names, and a bare one may end in the name of the quoted value after it."""
    start, stop = match.span(match.lastgroup or 0)
    if match.lastgroup != "bare":
        return start
    return max(start, stop - _LONGEST_NAME) if match.string[stop : stop + 1] in _QUOTES else stop


def _has_words(rest: str) -> bool:
    return bool(rest.partition("\n")[0].strip())


def _assigned(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?i:(?P<name>{names}){_SUFFIX}){_SEPARATOR}{_VALUE}")


_STRONG_HINTS = ("passw", "pass", "pwd", "secret", "private")
_CREDENTIAL_HINTS = ("key", "token", "secret", "credential", "passw")
_KEYISH_HINTS = ("key", "token", "auth", "session", "cookie", "signature", "nonce")

ASSIGNMENTS: tuple[_Names, ...] = (
    _Names("password", _STRONG_HINTS, _assigned(_STRONG_NAMES), _is_password),
    _Names("credential", _CREDENTIAL_HINTS, _assigned(_CREDENTIAL_NAMES), _is_credential),
    _Names("high-entropy", _KEYISH_HINTS, _assigned(_KEYISH_NAMES), _is_dense),
    _Names(
        "password",
        ("passw", "pwd", "passphrase", "passcode"),
        re.compile(
            r"(?i:(?P<name>passw(?:or)?d|passphrase|passcode|pwd)\s{1,8}(?:is|was)(?:\s{0,4}:)?\s{1,8})[\"'`]?(?P<bare>[^\s\"'`\\]{3,256})"
        ),
        lambda value: any(char.isdigit() for char in value.text),
    ),
    _Names(
        "password",
        ("--",),
        re.compile(
            r"(?<!\S)--?(?i:(?P<name>password|passwd|pass|passphrase|token|api-key|apikey|secret|auth-token))"
            r"[ \t]{1,8}[\"']?(?P<bare>[^\s\"'`\\-][^\s\"'`\\]{2,512})"
        ),
        lambda _: True,
    ),
    _Names(
        "password",
        ("<",),
        re.compile(rf"<[\w:.-]{{0,64}}?(?i:(?P<name>{_STRONG_NAMES})){_SUFFIX}>(?P<double>[^<>\n]{{1,512}})</"),
        lambda _: True,
    ),
)
"""Names, with the test their values must pass."""
