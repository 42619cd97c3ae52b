"""The policy `secrets-v1`: shapes and near misses, nested JSON, laws."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ledger_core.redaction import redact, scan
from ledger_core.redaction.findings import WITHHELD, without_markers
from tests.shared import shared_path

MIXED = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3cD5eF7hJ9kL1nP3qR5sT7uV9wX1yZ3"
HEX = "0123456789abcdef" * 4

# Written in halves, so that no scanner takes this file for a leak.
TOKENS = [
    ("aws-access-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("aws-access-key", "ASIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "github_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("slack-token", "xoxb-" + "123456789012-" + MIXED[:24]),
    ("stripe-key", "sk_live_" + MIXED[:24]),
    ("anthropic-key", "sk-ant-" + "api03-" + MIXED[:40]),
    ("openai-key", "sk-proj-" + MIXED[:48]),
    ("openai-key", "sk-" + MIXED[:48]),
    ("google-key", "AIza" + MIXED[:35]),
    ("google-token", "ya29." + MIXED[:40]),
    ("huggingface-token", "hf_" + MIXED[:34]),
    ("npm-token", "npm_" + MIXED[:36]),
    ("pypi-token", "pypi-AgE" + MIXED[:60]),
    ("sendgrid-key", "SG." + MIXED[:22] + "." + MIXED[:43]),
    ("twilio-key", "SK" + HEX[:32]),
    ("mailgun-key", "key-" + HEX[:32]),
    ("digitalocean-token", "dop_v1_" + HEX),
    ("telegram-token", "123456789:AA" + MIXED[:33]),
    ("shopify-token", "shpat_" + HEX[:32]),
    ("databricks-token", "dapi" + HEX[:32]),
    ("vault-token", "hvs." + MIXED[:30]),
    ("llm-key", "gsk_" + MIXED[:52]),
    ("langsmith-key", "lsv2_pt_" + HEX[:32] + "_" + HEX[:10]),
    ("veritas-token", "vt_reader1_" + MIXED[:32]),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + MIXED[:43]),
]


@pytest.mark.parametrize(("kind", "token"), TOKENS, ids=[f"{kind}-{token[:6]}" for kind, token in TOKENS])
@pytest.mark.parametrize("frame", ["{}", "the value {} was", '{{"x": "{}"}}', "({})", "https://a.example/?k={}&l=1"])
def test_a_vendor_token_goes_wherever_it_stands(kind: str, token: str, frame: str) -> None:
    result = redact(frame.format(token))
    assert result.text == frame.format(f"[REDACTED:{kind}]")
    assert result.found == ((kind, 1),)
    assert result.withheld is None


PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + ("MIIEpAIBAAKCAQEAabcdefghijklmnop\n" * 3) + "-----END RSA PRIVATE KEY-----"

BESIDE_NAMES = [
    ("password=hunter2 next", "password=[REDACTED:password] next"),
    ("DB_PASSWORD=hunter2\nDB_HOST=h", "DB_PASSWORD=[REDACTED:password]\nDB_HOST=h"),
    ("password: swordfish\nnext", "password: [REDACTED:password]\nnext"),
    ("?user=bob&password=a%20b&x=1", "?user=bob&password=[REDACTED:password]&x=1"),
    ("Server=s;Password=ab,c!d;Database=d", "Server=s;Password=[REDACTED:password];Database=d"),
    ("userPassword := 'it''s'", "userPassword := '[REDACTED:password]''s'"),
    ("passwd = 'a b c'", "passwd = '[REDACTED:password]'"),
    ('{"password": "a \\"b\\" c", "n": 1}', '{"password": "[REDACTED:password]", "n": 1}'),
    ('{"password":12345,"n":1}', '{"password":"[REDACTED:password]","n":1}'),
    ('{"passwords": ["one", "two"], "n": 1}', '{"passwords": ["[REDACTED:password]", "[REDACTED:password]"], "n": 1}'),
    ('{"passwords": [null, 1234567, "b"]}', '{"passwords": [null, "[REDACTED:password]", "[REDACTED:password]"]}'),
    ("{'client_secret': 'abc'}", "{'client_secret': '[REDACTED:password]'}"),
    ("password: str = 'abc'", "password: str = '[REDACTED:password]'"),
    ("the password is hunter2, ok", "the password is [REDACTED:password], ok"),
    ("login --password hunter2 --host h", "login --password [REDACTED:password] --host h"),
    ("<db:password>abc</db:password>", "<db:password>[REDACTED:password]</db:password>"),
    ('"api_key": "abc12345"', '"api_key": "[REDACTED:credential]"'),
    ("X-Api-Key: abc12345", "X-Api-Key: [REDACTED:credential]"),
    (f'"token": "{MIXED[:24]}"', '"token": "[REDACTED:high-entropy]"'),
    (f"session={HEX[:32]}", "session=[REDACTED:high-entropy]"),
    (f"Authorization: Bearer {MIXED[:30]}", "Authorization: Bearer [REDACTED:bearer-token]"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED:authorization]"),
    ("https://bob:pw@host.example/x", "https://[REDACTED:url-userinfo]@host.example/x"),
    (f"https://{MIXED[:20]}@host.example", "https://[REDACTED:url-userinfo]@host.example"),
    ("postgres://u:p%40ss@h:5432/d", "postgres://[REDACTED:url-userinfo]@h:5432/d"),
    (f"before {PEM} after", "before [REDACTED:private-key] after"),
    (PEM.partition("-----END")[0], "[REDACTED:private-key]"),
    (json.dumps({"key": PEM}), '{"key": "[REDACTED:private-key]"}'),
    (f"AccountName=a;AccountKey={MIXED}==;Suffix=x", "AccountName=a;AccountKey=[REDACTED:credential];Suffix=x"),
]


@pytest.mark.parametrize(("text", "expected"), BESIDE_NAMES)
def test_a_secret_beside_its_name_goes(text: str, expected: str) -> None:
    assert redact(text).text == expected


NEAR_MISSES = [
    "",
    "Your password: must have eight characters",
    "password_policy: strong-2024",
    "passwordless=true",
    '{"password": null, "has_password": true, "password_required": "yes"}',
    'password = os.environ["DB_PASSWORD"]',
    "password=${DB_PASSWORD} password={{ secret }} password=<your password>",
    '{"properties": {"password": {"type": "string"}}}',
    "PWD=/home/user/project",
    "if password == other:",
    "max_tokens=4096, token_count: 123456, tokens: 17",
    '"key": "reservation-2024-05-15"',
    '"key": "123e4567-e89b-12d3-a456-426614174000"',
    '"id": "call_MY94XAcnfHzfAZcVHqt5FRRQ"',
    '"key": "20240515150000000000"',
    '"payment_id": "credit_card_2929732"',
    "sk-learn-is-a-long-name-for-a-library",
    "task-1234567890abcdefghij1234",
    "AKIAXXX and AKIAIOSFODNN7EXAMPLEX9",
    "ghp_short",
    "git clone ssh://git@github.com/x/y and mailto:bob@host.example",
    "https://host.example/a@b?c=d@e",
    "monkey: banana-4711-banana-4711",
    "The file begins with -----BEGIN PRIVATE KEY----- and so on.",
    "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEAabcdefghijklmnop\n-----END PUBLIC KEY-----",
    "The bearer of this letter, bearer authentication-mechanisms",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "C:\\new\\table\\unit",
    "secret: it is a surprise",
]


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_near_miss_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_secret_inside_json_inside_json_goes_and_both_stay_json() -> None:
    inner = {"password": 'a"b\\c', "pin": 1, "note": "x\ny"}
    text = json.dumps({"body": json.dumps({"body": json.dumps(inner)}), "n": [1]})
    outer = json.loads(redact(text).text)
    assert json.loads(json.loads(outer["body"])["body"]) == {**inner, "password": "[REDACTED:password]"}
    assert outer["n"] == [1]


def test_a_number_deep_inside_becomes_a_string_there() -> None:
    text = json.dumps({"body": json.dumps({"password": 1234, "n": 5})})
    assert json.loads(json.loads(redact(text).text)["body"]) == {"password": "[REDACTED:password]", "n": 5}


@pytest.mark.parametrize("spelling", ["sk\\u002d{}", "sk%2D{}", "\\u0073k-{}"])
def test_an_escaped_token_goes(spelling: str) -> None:
    token = MIXED[:40]
    assert redact(json.dumps("x ")[:-1] + spelling.format(token) + '"').text == '"x [REDACTED:openai-key]"'


@pytest.mark.parametrize("invisible", ["\u200b", "\u2060", "\ufeff", "\u00ad"])
def test_a_token_that_cannot_be_cut_out_withholds_the_text(invisible: str) -> None:
    result = redact(f"note sk-{invisible}{MIXED[:40]}")
    assert result.text == WITHHELD
    assert result.withheld == "secrets-v1: a secret of kind openai-key remained after redaction"


def test_a_secret_found_once_goes_everywhere() -> None:
    assert redact("try tangerine-42 first; password=tangerine-42").text == (
        "try [REDACTED:repeated] first; password=[REDACTED:password]"
    )
    assert redact("say tangerine-42", ("tangerine-42",)).text == "say [REDACTED:repeated]"


def test_real_transcripts_hold_no_false_positive() -> None:
    trials = json.loads(shared_path("data/tau-bench/gpt-4o-airline-a.json").read_bytes())
    texts = {
        text
        for trial in trials
        for message in trial["traj"]
        for text in (message["content"] or "", json.dumps(message.get("tool_calls")))
    }
    assert len(texts) > 1000
    assert [scan(text) for text in texts if scan(text)] == []


SECRETS = st.sampled_from([token for _, token in TOKENS]).map(lambda token: (token, token)) | st.text(
    "abcdefghij0123456789!#$", min_size=6, max_size=20
).map(lambda word: (f"password='Zq9{word}'", f"Zq9{word}"))
NOISE = (
    st.sampled_from(["password:", "password=", "token='"])
    | st.text(st.characters(codec="utf-8"), max_size=30)
    | st.text('\\"{}[]:=,%@ \nun0/-', max_size=30)
)


@settings(max_examples=300, deadline=None)
@given(st.lists(NOISE | SECRETS.map(lambda pair: pair[0]), max_size=6).map("".join))
@example("password=[REDACTED:password]]")
@example("password=\\\\\\")
@example('password="\\')
@example("password: [WITHHELD:secrets-v1]")
def test_redaction_is_idempotent(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert (twice.text, twice.found, twice.withheld) == (once.text, (), None)


@pytest.mark.invariant("EVID-05")
@settings(max_examples=200, deadline=None)
@given(NOISE, SECRETS, NOISE)
def test_no_byte_of_a_planted_secret_survives(before: str, secret: tuple[str, str], after: str) -> None:
    text, value = secret
    assert value not in redact(f"{before} {text} {after}").text


LEAVES = st.none() | st.booleans() | st.integers(-9999, 9999) | NOISE | SECRETS.map(lambda pair: pair[0])
KEYS = (
    st.sampled_from(
        ["a", "password", "password:", "x password='", "api_key", "token", "note", "https://u:p@h", 'q"uote']
    )
    | NOISE
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3) | inner.map(json.dumps)  # JSON in JSON
    ),
    max_leaves=8,
)


def inside(text: str) -> object:
    """The JSON that a string holds; None where it holds no object or array."""
    try:
        value = json.loads(text, object_pairs_hook=pairs_kept)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def has_shape_of(after: object, before: object) -> bool:
    """Whether redaction kept the structure: containers, and JSON inside of strings that were not replaced whole."""
    if isinstance(before, (dict, list)):
        if type(after) is not type(before) or len(after) != len(before):
            return False
        pairs = (
            zip(after.values(), before.values(), strict=True)
            if isinstance(before, dict)
            else zip(after, before, strict=True)
        )
        return all(has_shape_of(a, b) for a, b in pairs)
    if not isinstance(before, str) or inside(before) is None:
        return not isinstance(after, (dict, list))
    assert isinstance(after, str)
    return not without_markers(after) or has_shape_of(inside(after), inside(before))


def pairs_kept(pairs: list[tuple[str, object]]) -> dict[int, object]:
    """An object whose members are kept though redaction may give two keys one name."""
    return {index: value for index, (_, value) in enumerate(pairs)}


@settings(max_examples=400, deadline=None)
@given(value=VALUES, ascii_only=st.booleans())
@example(value={"password": 'x"}\\'}, ascii_only=True)
@example(value={"password": "0\\", "a": None}, ascii_only=True)
@example(value={"password": [None]}, ascii_only=True)
@example(value={"password": [[1], {"x": 2}]}, ascii_only=True)
@example(value={"token": {"a": 1}}, ascii_only=True)
@example(value=["password:", 1, "a"], ascii_only=True)
@example(value={"password='a": "b'"}, ascii_only=True)
@example(value=[[{"password": 1}], [2]], ascii_only=True)
def test_json_stays_json_of_the_same_shape(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    result = redact(text)
    if result.withheld is None:
        after, before = (json.loads(each, object_pairs_hook=pairs_kept) for each in (result.text, text))
        assert has_shape_of(after, before), result.text


PATHOLOGICAL = [
    "a", "\\", '\\"', "password=", 'password="', "password='\"", 'password": ["a",', "eyJ", "eyJaaaaa.", "sk-", "a://",
    "a:", "://b@", "\\u0041", "%41", "<", "<password>", "Bearer ", "--password ", "key=", "token=,", "password is ",
    "-----BEGIN PRIVATE KEY-----", "-", " ", "\n", "password\t\t", "{", "M" * 24 + ".", "password=;,", "[REDACTED:x]",
]  # fmt: skip


@pytest.mark.parametrize("piece", PATHOLOGICAL)
def test_time_is_linear(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        begin = time.process_time()
        redact(text)
        return time.process_time() - begin

    small = max(seconds(20_000), 0.005)
    assert seconds(160_000) < 8 * small * 4, "eight times the text took more than 32 times the time"
