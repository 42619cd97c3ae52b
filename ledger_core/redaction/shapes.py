"""Secrets that are known by their own shape: vendors' prefixes, key blocks, signed tokens, credentials in a URL.

Every pattern is linear: it starts only at a literal or at the edge of a run, repeats single-character classes
possessively, and never nests repetition over the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ledger_core.redaction.findings import Finding, without_markers

_EDGE = r"(?<![A-Za-z0-9_-])"
_HARMLESS_USERS = frozenset({"", "git", "hg", "svn", "ssh", "anonymous", "user", "username"})
"""URL users that are no credential where they stand without a password."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret; group 1 of the pattern is the secret itself."""

    kind: str
    hints: tuple[str, ...]
    """Lower-case literals of which one must occur before the pattern is tried at all."""
    pattern: re.Pattern[str]
    admits: Callable[[str], bool] = lambda _: True
    """Whether a match is a secret after all."""

    def find(self, text: str, lowered: str) -> Iterator[Finding]:
        """Every place of this shape in ``text``; ``lowered`` is the same text in lower case."""
        if any(hint in lowered for hint in self.hints):
            for match in self.pattern.finditer(text):
                if self.admits(match.group(1)):
                    yield Finding(match.start(1), match.end(1), self.kind)


def _token(kind: str, prefixes: str, body: str, *hints: str) -> Shape:
    """A vendor's token: a prefix at the edge of a word, then the body."""
    return Shape(kind, hints, re.compile(f"{_EDGE}((?:{prefixes})(?:{body}))"))


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _is_userinfo(value: str) -> bool:
    return without_markers(value).strip(":").lower() not in _HARMLESS_USERS


TOKENS: tuple[Shape, ...] = (
    _token("aws-access-key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", "akia", "asia", "abia", "acca"),
    _token("github-token", "gh[pousr]_|github_pat_", r"[A-Za-z0-9_]{22,255}+", "gh", "github_pat_"),
    _token("gitlab-token", "gl(?:pat|oas|dt|rt|ptt|soat)-", r"[A-Za-z0-9_.-]{20,}+", "gl"),
    _token("slack-token", "xox[abeoprs]-|xapp-", r"[A-Za-z0-9-]{10,}+", "xox", "xapp-"),
    _token(
        "stripe-key",
        "[rs]k_(?:live|test|prod)_|whsec_",
        r"[A-Za-z0-9]{16,}+",
        "k_live_",
        "k_test_",
        "k_prod_",
        "whsec_",
    ),
    _token("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,}+", "sk-ant-"),
    _token("openai-key", "sk-(?:proj|svcacct|admin|None|service)-", r"[A-Za-z0-9_-]{20,}+", "sk-"),
    _token("openai-key", "sk-(?:or-v1-|lf-|litellm-)?", r"[A-Za-z0-9]{20,}+", "sk-"),
    _token("google-key", "AIza", r"[A-Za-z0-9_-]{35}", "aiza"),
    _token("google-token", r"ya29\.|GOCSPX-|1//0", r"[A-Za-z0-9_-]{20,}+", "ya29.", "gocspx-", "1//0"),
    _token("huggingface-token", "hf_|api_org_", r"[A-Za-z0-9]{30,}+", "hf_", "api_org_"),
    _token("npm-token", "npm_", r"[A-Za-z0-9]{36}", "npm_"),
    _token("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}+", "pypi-age"),
    _token("sendgrid-key", r"SG\.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", "sg."),
    _token("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9a-zA-Z])", "sk"),
    _token("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9a-zA-Z])", "key-"),
    _token("digitalocean-token", "do[opr]_v1_", r"[a-f0-9]{64}", "_v1_"),
    _token("telegram-token", "[0-9]{8,10}:AA", r"[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])", ":aa"),
    _token(
        "discord-token", "[MNO]", r"[A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])", "."
    ),
    _token("shopify-token", "shp(?:at|ca|pa|ss)_", r"[a-fA-F0-9]{32}", "shp"),
    _token("databricks-token", "dapi", r"[a-f0-9]{32}(?:-[0-9])?", "dapi"),
    _token("vault-token", r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,}+", "hv"),
    _token("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}+", "lin_api_"),
    _token("notion-token", "ntn_|secret_", r"[A-Za-z0-9]{40,50}(?![A-Za-z0-9])", "ntn_", "secret_"),
    _token(
        "llm-key",
        "gsk_|xai-|r8_|pplx-|tvly-(?:dev-|prod-)?|fw_|nvapi-",
        r"[A-Za-z0-9_-]{24,}+",
        "gsk_",
        "xai-",
        "r8_",
        "pplx-",
        "tvly-",
        "fw_",
        "nvapi-",
    ),
    _token("langsmith-key", "lsv2_(?:pt|sk)_", r"[a-f0-9]{32}_[a-f0-9]{10}", "lsv2_"),
    _token("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{50,}+", "atatt3"),
    _token("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", "age-secret-key-1"),
    _token("veritas-token", "vt_[a-z0-9]{1,64}_", r"[A-Za-z0-9_-]{16,}+", "vt_"),
    _token("jwt", r"eyJ", r"[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+(?:\.[A-Za-z0-9_-]*+){1,3}", "eyj"),
)
"""Prefixes that give a secret away wherever it stands."""

PRIVATE_KEY = Shape(
    "private-key",
    ("private key",),
    re.compile(
        r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?=(?:\\{1,64}[nrt]|\s){0,8}(?:Proc-Type|DEK-Info|Version|Comment|[A-Za-z0-9+/]{16}))"
        r"(?:[A-Za-z0-9+/=\s:,.]|-(?!----)|\\++[nrt])*+"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?+)"
    ),
)
"""A PEM or PGP block with a body; one without its last line is taken as far as it looks like one."""

CREDENTIALS: tuple[Shape, ...] = (
    Shape(
        "slack-webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,}+)"),
    ),
    Shape("bearer-token", ("bearer",), re.compile(r"(?i:\bbearer)\s{1,8}([A-Za-z0-9._~+/-]{16,}+=*+)"), _has_digit),
    Shape(
        "authorization",
        ("authorization",),
        re.compile(
            r"(?i:authorization)[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?i:basic|token|digest|apikey|key)\s{1,8}([^\s\"'\\,]{6,}+)"
        ),
        lambda value: bool(without_markers(value)),
    ),
    Shape(
        "url-userinfo",
        ("://",),
        re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,31}+://([^\s/?#,()\"'`<>\\]{1,1024})@"),
        _is_userinfo,
    ),
    Shape(
        "storage-key",
        ("accountkey=", "sharedaccesskey="),
        re.compile(r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{30,}+={0,2})"),
    ),
    Shape(
        "url-signature",
        ("sig=", "signature="),
        re.compile(r"[?&](?:sig|X-Amz-Signature|Signature|X-Goog-Signature)=([A-Za-z0-9%+/_-]{20,}+={0,2})"),
    ),
)
"""Credentials known by what stands before or after them."""

SHAPES: tuple[Shape, ...] = (*TOKENS, PRIVATE_KEY, *CREDENTIALS)
STRONG: tuple[Shape, ...] = (*TOKENS, PRIVATE_KEY)
"""Shapes that need no context: searched also where a text was obfuscated."""
