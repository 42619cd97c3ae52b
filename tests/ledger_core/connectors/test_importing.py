"""Importing: again, grown, interrupted, broken; and no secret in any byte."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger_core.connectors import ImportReport, import_transcripts
from ledger_core.connectors import writing as writing_module
from ledger_core.kernel.errors import ConnectorError, StorageFullError
from ledger_core.stores import Ledger
from ledger_core.stores.verify import verify
from tests.ledger_core.connectors.conftest import new_ledger
from tests.shared import SHARED, shared_path

Write = Callable[..., Path]
SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
INSPECT = SHARED / "data" / "inspect-logs"


def talk(word: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Say {word}."}, {"role": "assistant", "content": f"{word}. Done."}]


def summary(report: ImportReport) -> tuple[int, int, int, int]:
    return report.records, report.fresh, report.replayed, len(report.rejects)


@pytest.mark.invariant("EVENT-01")
def test_importing_again_adds_nothing(ledger: Ledger, jsonl: Write) -> None:
    path = jsonl(talk("One"), {"messages": talk("Two")}, talk("Three"))
    assert summary(import_transcripts(ledger, "chat", path)) == (3, 12, 0, 0)
    head = ledger.head()
    assert summary(import_transcripts(ledger, "chat", path)) == (3, 0, 12, 0)
    assert ledger.head() == head
    verify(ledger).require()


def test_a_file_that_grew_by_three_adds_exactly_three(ledger: Ledger, jsonl: Write) -> None:
    old = [talk("One"), talk("Two")]
    import_transcripts(ledger, "chat", jsonl(*old))
    new = [talk("Three"), talk("One"), talk("Four")]  # an equal record is another record
    report = import_transcripts(ledger, "chat", jsonl(*old, *new, name="renamed.jsonl"))
    assert summary(report) == (5, 12, 8, 0)


def test_layout_and_order_of_keys_do_not_make_another_record(ledger: Ledger, jsonl: Write) -> None:
    import_transcripts(ledger, "chat", jsonl({"messages": talk("One"), "x": 1.0}))
    line = json.dumps({"x": 1, "messages": talk("One")}, indent=None, separators=(" , ", " :  ")).encode()
    assert summary(import_transcripts(ledger, "chat", jsonl(line))) == (1, 0, 4, 0)


def test_equal_inputs_give_equal_heads(jsonl: Write) -> None:
    path = jsonl(*map(talk, ("One", "Two", "Three")))
    heads = set()
    for group in (1, 2, 32):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing_module, "_GROUP_RECORDS", group)
            fresh = new_ledger()
            import_transcripts(fresh, "chat", path)
            heads.add(fresh.head())
    assert len(heads) == 1


def test_a_record_cut_into_transactions_is_the_same_record(
    ledger: Ledger, jsonl: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jsonl([message for word in "abcdefgh" for message in talk(word)], talk("End"))
    import_transcripts(ledger, "chat", path)
    monkeypatch.setattr(writing_module, "_MAX_STATEMENTS", 5)
    cut = new_ledger()
    import_transcripts(cut, "chat", path)
    assert cut.head() == ledger.head()


@pytest.mark.parametrize("survived", range(0, 24, 3))
def test_an_import_that_was_killed_is_finished_by_the_next(
    ledger: Ledger, jsonl: Write, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    """Let ``survived`` transactions through, then fail as a full disk would."""
    path = jsonl(*([message for word in (a, "b", "c") for message in talk(word)] for a in "uvwxyz"))
    import_transcripts(ledger, "chat", path)
    monkeypatch.setattr(writing_module, "_MAX_STATEMENTS", 4)
    monkeypatch.setattr(writing_module, "_GROUP_RECORDS", 2)
    killed = new_ledger()
    append, left = killed.append, iter(range(survived))

    def failing(*args: object, **kwargs: object) -> object:
        if next(left, None) is None:
            raise StorageFullError("no space left")
        return append(*args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(killed, "append", failing)
        if survived < 18:
            with pytest.raises(StorageFullError):
                import_transcripts(killed, "chat", path)
        else:
            import_transcripts(killed, "chat", path)
    import_transcripts(killed, "chat", path)
    assert killed.head() == ledger.head()
    verify(killed).require()


def test_a_broken_record_is_rejected_with_its_place_and_the_rest_is_imported(ledger: Ledger, jsonl: Write) -> None:
    deep = b"[" * 5000 + b"]" * 5000
    path = jsonl(
        talk("One"),
        b'{"messages": [{"role": "user", "content": "cut',
        b"",
        {"messages": []},
        {"conversation": 1},
        [{"role": "narrator", "content": "x"}],
        [{"role": "user", "content": 5}],
        [{"role": "assistant", "tool_calls": [{"id": "x"}]}],
        b'[{"role": "user", "role": "system", "content": "x"}]',
        deep,
        "just text",
        talk("Two"),
    )
    report = import_transcripts(ledger, "chat", path)
    assert report.records == 2
    assert [reject.place for reject in report.rejects] == [f"line {n}" for n in (2, 4, 5, 6, 7, 8, 9, 10, 11)]
    reasons = [reject.reason for reject in report.rejects]
    for reason, part in zip(
        reasons,
        (
            "unterminated string at character",
            "holds no messages",
            "without `messages`",
            "message 0: its role is 'narrator'; known: system",
            "message 0: its content is a number",
            "message 0: a tool call's function name is missing",
            "duplicate key 'role' at character",
            "nesting deeper than 256",
            "is a string without `messages`",
        ),
        strict=True,
    ):
        assert part in reason
        assert "\n" not in reason


def test_rejects_tell_no_secrets(ledger: Ledger, jsonl: Write) -> None:
    report = import_transcripts(ledger, "chat", jsonl(talk("One"), [{"role": "password=hunter22", "content": ""}]))
    assert report.rejects[0].reason.startswith("message 0: its role is 'password=[REDACTED:password]'")


def test_a_message_over_the_limits_rejects_its_record_alone(ledger: Ledger, jsonl: Write) -> None:
    endless = [{"role": "assistant", "content": "Yes. " * 5000}]
    report = import_transcripts(ledger, "chat", jsonl(talk("One"), endless, talk("Two")))
    assert report.records == 2
    assert report.rejects[0].place == "line 2"
    assert report.rejects[0].reason.startswith("message 0: claims")


def test_a_known_id_with_other_content_is_rejected_and_the_rest_is_imported(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "tau.json"
    trials = [{"task_id": n, "trial": 0, "reward": 1.0, "info": {}, "traj": talk(f"W{n}")} for n in range(3)]
    path.write_text(json.dumps(trials[:2]))
    assert summary(import_transcripts(ledger, "tau-bench", path)) == (2, 8, 0, 0)
    trials[1]["traj"] = talk("Other")
    trials[0]["reward"] = 0.0  # not part of any statement
    path.write_text(json.dumps(trials))
    report = import_transcripts(ledger, "tau-bench", path)
    assert summary(report) == (2, 4, 4, 1)
    assert report.rejects[0].place == "record 1 (task 1, trial 0)"
    assert report.rejects[0].reason.startswith("the ledger holds another record under the id 1/0; ")


@pytest.mark.invariant("EVID-09")
def test_erased_content_stays_out(ledger: Ledger, jsonl: Write) -> None:
    import_transcripts(ledger, "chat", jsonl(talk("Erased")))
    given = next(iter(ledger.events())).statement
    ledger.blobs.erase(given.body.content.digest)
    again = [*talk("Erased"), {"role": "user", "content": "More."}]
    report = import_transcripts(ledger, "chat", jsonl(talk("One"), again, talk("Two")))
    assert report.records == 2
    assert report.rejects[0].place == "line 2"
    assert "was erased on purpose" in report.rejects[0].reason


REFUSED = [
    (b"", "is empty"),
    (b" \n\n", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    ("[]\n".encode("utf-16"), "is UTF-16; convert it first"),
    (b"\x1f\x8b\x08\x00", "is gzip; unpack it first"),
    (b'[{"role": "user", "content": "caf\xe9"}]', "is not UTF-8 at byte "),
    (b'[{"role": "user", "con', "unterminated string"),
]


@pytest.mark.parametrize("format_name", ["chat", "tau-bench", "inspect"])
@pytest.mark.parametrize(("data", "reason"), REFUSED)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(
    ledger: Ledger, tmp_path: Path, format_name: str, data: bytes, reason: str
) -> None:
    path = tmp_path / "input"
    path.write_bytes(data)
    with pytest.raises(ConnectorError) as refused:
        import_transcripts(ledger, format_name, path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert reason in message
    assert "\n" not in message
    assert ledger.count() == 0


def test_not_utf8_far_inside_names_the_byte(ledger: Ledger, jsonl: Write) -> None:
    line = json.dumps([{"role": "user", "content": "é" * 700_000}], ensure_ascii=False).encode()
    with pytest.raises(ConnectorError, match=f"is not UTF-8 at byte {len(line) + 3} "):
        import_transcripts(ledger, "chat", jsonl(line, b'["\xff"]'))


@pytest.mark.parametrize("format_name", ["chat", "tau-bench", "inspect"])
def test_a_missing_file_and_a_folder_are_refused(ledger: Ledger, tmp_path: Path, format_name: str) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(ConnectorError, match=r"cannot be read .*; check the path"):
            import_transcripts(ledger, format_name, path)


def test_an_unknown_format_lists_the_known_ones(ledger: Ledger, jsonl: Write) -> None:
    with pytest.raises(ConnectorError, match="no transcript format is called 'csv'; known: chat, tau-bench, inspect"):
        import_transcripts(ledger, "csv", jsonl(talk("One")))


def test_progress_counts_to_the_end(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "tau.json"
    path.write_text(json.dumps([{"task_id": n, "trial": 0, "traj": talk(str(n))} for n in range(3)]))
    seen: list[tuple[int, int | None]] = []
    import_transcripts(ledger, "tau-bench", path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


SECRETS = (
    b"walnut7harbour", b"quiet-river-88", b"copper-spoon-19", b"tangerine-42-lamp", b"IOSFODNN7EXAMPLE", b"violet",
    b"RkFLRUtFWUZBS0VL",
)  # fmt: skip


@pytest.mark.invariant("EVID-05")
def test_no_secret_of_the_sample_reaches_a_blob_or_a_statement(ledger: Ledger) -> None:
    path = SAMPLES / "secrets-chat.jsonl"
    assert all(secret in path.read_bytes() for secret in SECRETS)
    stored: list[bytes] = []
    put_all = ledger.blobs.put_all

    def recording(many: object) -> object:
        blobs = list(many)  # type: ignore[call-overload]
        stored.extend(blobs)
        return put_all(blobs)

    ledger.blobs.put_all = recording  # type: ignore[method-assign, assignment]
    report = import_transcripts(ledger, "chat", path)
    everything = b"\n".join([*stored, *(event.encoded for event in ledger.events())])
    assert [secret for secret in SECRETS if secret in everything] == []
    assert len(stored) > 10
    assert report.redactions == {"aws-access-key": 1, "password": 6, "private-key": 1, "url-userinfo": 1}
    assert report.withheld == 0
    assert {event.statement.representation.redaction_policy for event in ledger.events()} == {"secrets-v1"}


@pytest.mark.invariant("EVID-05")
def test_what_cannot_be_cleaned_is_withheld(ledger: Ledger, jsonl: Write) -> None:
    token = "sk-\u200b" + "a1B2" * 10
    report = import_transcripts(ledger, "chat", jsonl([{"role": "user", "content": f"Use {token}"}]))
    (event,) = ledger.events()
    assert ledger.read_blob(event.statement.body.content) == b"[WITHHELD:secrets-v1]"
    assert report.withheld == 1


def test_a_secret_stays_one_for_the_rest_of_its_record(ledger: Ledger, jsonl: Write) -> None:
    revealing = [{"role": "user", "content": "password=tangerine-42"}, {"role": "assistant", "content": "tangerine-42"}]
    import_transcripts(ledger, "chat", jsonl(revealing, [{"role": "user", "content": "tangerine-42"}]))
    texts = [
        ledger.read_blob(event.statement.body.content)
        for event in ledger.events()
        if event.statement.kind != "generation.recorded"
    ]
    assert texts == [b"password=[REDACTED:password]", b"[REDACTED:repeated]", b"tangerine-42"]


def test_the_planted_sample_lists_its_edges_by_call(ledger: Ledger) -> None:
    report = import_transcripts(ledger, "chat", SAMPLES / "planted-chat.jsonl")
    assert summary(report)[0::3] == (4, 0)
    assert report.redactions == {}
    conversations = [json.loads(line)["messages"] for line in (SAMPLES / "planted-chat.jsonl").open()]
    responses = [
        ledger.read_blob(event.statement.body.response).decode()
        for event in ledger.events()
        if event.statement.kind == "generation.recorded" and event.statement.body.claims[0].form == "sentence"
    ]
    edges = [json.loads(line) for line in (SAMPLES / "planted-chat.edges.jsonl").open()]
    assert len(edges) == sum(response.count(". ") + 1 for response in responses) == 6
    for edge in edges:
        messages = conversations[edge["conversation"]]
        (cause,) = edge["rests_on"]
        (result,) = (message["content"] for message in messages if message.get("tool_call_id") == cause)
        sentence = messages[edge["message"]]["content"].split(". ")[edge["sentence"]].rstrip(".")
        assert sentence.casefold() in result.casefold()


def test_a_tau_bench_file_that_grew_by_three_adds_exactly_three(ledger: Ledger, tmp_path: Path) -> None:
    trials = json.loads(shared_path("data/tau-bench/gpt-4o-airline-a.json").read_bytes())
    path = tmp_path / "trials.json"
    path.write_text(json.dumps(trials[:9]))
    old = import_transcripts(ledger, "tau-bench", path)
    path.write_text(json.dumps(trials[:12]))
    new = import_transcripts(ledger, "tau-bench", path)
    assert (old.records, new.records, new.replayed, new.rejects) == (9, 12, old.fresh, ())
    objects = {event.statement.source_fact.object for event in ledger.events(after=old.fresh)}
    generations = {event.event_id for event in ledger.events() if event.statement.kind == "generation.recorded"}
    assert objects - generations == {f"{trial['task_id']}/{trial['trial']}" for trial in trials[9:12]}
    verify(ledger).require()


@pytest.mark.slow
def test_every_tau_bench_transcript_is_imported(ledger: Ledger) -> None:
    path = shared_path("data/tau-bench/gpt-4o-airline-a.json")
    begin = time.process_time()
    report = import_transcripts(ledger, "tau-bench", path)
    assert time.process_time() - begin < 60
    assert (report.records, report.fresh, report.rejects, report.redactions) == (120, 8639, (), {})
    kinds: dict[str, int] = {}
    for event in ledger.events():
        kinds[event.statement.kind] = kinds.get(event.statement.kind, 0) + 1
    assert (kinds["entry.given"], kinds["seal.minted"], kinds["entry.observed"]) == (950, 718, 718)
    assert kinds["generation.recorded"] == 1428
    errors = [event for event in ledger.events() if getattr(event.statement.body, "outcome", "ok") != "ok"]
    assert len(errors) == 18
    again = import_transcripts(ledger, "tau-bench", path)
    assert summary(again) == (120, 0, 8639, 0)
    verify(ledger).require()


def test_every_inspect_log_is_imported_or_refused_in_one_line() -> None:
    shared_path("data/inspect-logs")
    outcomes: dict[str, object] = {}
    for path in sorted(path for path in INSPECT.rglob("*") if path.is_file()):
        fresh = new_ledger()
        try:
            report = import_transcripts(fresh, "inspect", path)
        except ConnectorError as error:
            outcomes[path.name] = str(error).removeprefix(f"{path}: ").partition(" (")[0]
            assert fresh.count() == 0
        else:
            assert report.rejects == ()
            outcomes[path.name] = (report.records, report.fresh)
            assert import_transcripts(fresh, "inspect", path).fresh == 0
            verify(fresh).require()
    assert not any("\n" in str(outcome) for outcome in outcomes.values())
    assert outcomes == {
        "2024-08-29T15-11-17+00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json": "holds no samples",
        "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": (10, 40),
        "2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": (10, 40),
        "2025-05-12T20-27-36-04-00_browser.json": (1, 25),
        "2025-05-12T20-28-13-04-00_no-samples.json": "holds no samples",
        "2025-05-12T20-28-13-04-00_popularity.json": (3, 12),
        "custom.eval": (1, 6),
        "log_formats.json": (1, 4),
        "log_images_tc.json": (1, 4),
        "log_length_stop_reason.txt": (1, 3),
        "log_read_sample.eval": (1, 4),
        "log_read_sample.json": (1, 4),
        "log_tool_call_error.json": (1, 22),
        "log_version_3.txt": "holds no samples",
    }
