"""`veritas why` and `veritas what-if`: numbers, ids on every line, nothing appended."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rich.tree import Tree

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.types import EventId
from ledger_core.stores import Ledger
from ledger_core.stores.ledger import scope_folder
from pipelines.cli.entries import entry_named
from pipelines.cli.output import print_tree
from pipelines.cli.snapshot import Snapshot
from pipelines.errors import UsageError
from tests.ledger_core.story import NOW, SCOPE, Story
from tests.pipelines.cli.conftest import STORY, Veritas, write_chat

_ID = re.compile(r"\b[0-9a-f]{12}\b")


def _event_ids(home: Path) -> set[str]:
    with Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger:
        return {event.event_id[:12] for event in ledger.events()}


def test_why_goes_from_the_claim_to_the_seal_and_says_where_each_weight_comes_from(veritas: Veritas, story: Story):
    document = veritas("why", story.id("derived"), *STORY, "--json").json
    links = {link["entry"]: link for link in document["entries"]}
    assert document["entries"][0]["entry"] == document["claim"] == story.id("derived")
    assert links.keys() == {story.id(name) for name in ("derived", "observed_alpha", "system", "user")}
    claim = links[story.id("derived")]
    assert (claim["belief"], claim["tier"], claim["text"]) == (500_000_000, "derived", "The tower is 310 m high.")
    (alpha,) = [cause for cause in claim["causes"] if cause["parents"] == [story.id("observed_alpha")]]
    assert alpha["ppm"] == 999_000
    assert [(each["basis"], each["event_id"], each["ppm"]) for each in alpha["grounds"]] == [
        ("declared", story.id("derived"), 900_000),
        ("presumed", story.id("generation"), 1_000_000),
        ("measured", story.id("measured"), 999_000),
    ]
    (measurement,) = claim["measurements"]
    assert (measurement["event_id"], measurement["gate"]) == (story.id("measured"), "cuts-v1")
    assert measurement["verdicts"] == {"edge": 1, "null": 1}
    assert measurement["may_lower"] is True
    seal = links[story.id("observed_alpha")]["seal"]
    assert (seal["event_id"], seal["tool"], seal["cluster"]) == (story.id("seal_alpha"), "search", "alpha.example")
    assert (seal["attestation"], seal["origin_host"]) == ("boundary", "www.alpha.example")


def test_every_line_of_the_tree_names_an_event(veritas: Veritas, story: Story, home: Path):
    done = veritas("why", story.id("derived")[:8], *STORY)
    known = _event_ids(home)
    for line in done.out.splitlines():
        named = _ID.findall(line)
        assert named, line
        assert known.issuperset(named), line
    names = ("derived", "generation", "measured", "system", "user", "observed_alpha", "seal_alpha")
    assert {story.id(name)[:12] for name in names} == set(_ID.findall(done.out))
    assert "at 0.999: declared 0.900 by" in done.out
    assert "measured: grounded (cuts-v1; 1 edge, 1 null, provisional-floor uncalibrated)" in done.out


def test_without_a_claim_all_entries_are_listed_in_the_order_of_the_log(veritas: Veritas, story: Story):
    names = (
        "system",
        "user",
        "observed_alpha",
        "observed_beta",
        "derived",
        "conjectured",
        "observed_gamma",
        "user_again",
    )
    lines = veritas("why", *STORY).out.splitlines()
    assert [line.split()[:2] for line in lines[2:6]] == [
        [story.id("observed_alpha")[:12], "observed"],
        [story.id("observed_beta")[:12], "observed"],
        [story.id("derived")[:12], "claim"],
        [story.id("conjectured")[:12], "claim"],
    ]
    listed = veritas("why", *STORY, "--json").json
    assert [entry["entry"] for entry in listed] == [story.id(name) for name in names]
    assert listed[1]["text"] == "Wie hoch ist der Turm — in Metern?"


def test_what_if_lists_what_falls_by_how_much_and_along_which_path(veritas: Veritas, story: Story):
    before = veritas("verify", "--json").json["ledgers"]
    document = veritas("what-if", "--retract", story.id("observed_alpha")[:9], *STORY, "--json").json
    falls = {fall["entry"]: fall for fall in document["falls"]}
    assert falls.keys() == {story.id(name) for name in ("observed_alpha", "derived", "conjectured")}
    # The tower's claim rests on alpha at 0.999: U − 0.999 · 0.95 · U = 0.05095 · U of its half is left.
    # Conjectured, presumed to rest on all of its context, keeps a twentieth.
    derived = falls[story.id("derived")]
    assert (derived["attenuation_before"], derived["attenuation_after"]) == (1_000_000_000, 50_950_000)
    assert (derived["belief_before"], derived["belief_after"]) == (500_000_000, 25_475_000)
    assert (derived["invalidated_before"], derived["invalidated_after"]) == (False, True)
    assert derived["path"] == [{"entry": story.id("observed_alpha"), "ppm": 999_000}]
    assert falls[story.id("conjectured")]["attenuation_after"] == 50_000_000
    assert [falls[story.id(name)]["by"] for name in ("observed_alpha", "derived")] == ["retracted", "dependence"]
    assert document["hypothesis"] is True
    assert all(fall["hypothesis"] is True for fall in document["falls"])
    assert document["unmeasured"] == [story.id("conjectured")]
    assert veritas("verify", "--json").json["ledgers"] == before


def test_every_line_says_that_it_is_a_hypothesis_and_names_an_event(veritas: Veritas, story: Story, home: Path):
    known = _event_ids(home)
    for options in ((), ("--all",)):
        done = veritas("what-if", "--retract", story.id("observed_alpha"), *STORY, *options)
        for line in done.out.splitlines():
            assert line.startswith("hypothesis: ")
            assert _ID.findall(line), line
            assert known.issuperset(_ID.findall(line))
    assert "nothing appended" in done.out
    path = f"along {story.id('derived')[:12]} → 0.999 {story.id('observed_alpha')[:12]}"
    assert path in done.out


def test_several_entries_fall_together(veritas: Veritas, story: Story):
    both = ("--retract", story.id("observed_alpha"), "--retract", story.id("user"))
    falls = {fall["entry"] for fall in veritas("what-if", *both, *STORY, "--json").json["falls"]}
    assert {story.id("observed_alpha"), story.id("user"), story.id("derived")} <= falls


def test_what_loses_by_reputation_alone_is_one_line_unless_all_is_asked(veritas: Veritas, tmp_path: Path):
    def call(number: int) -> list[dict[str, object]]:
        function = {"name": "lookup", "arguments": f'{{"n": {number}}}'}
        return [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": f"result {number}"},
        ]

    messages = [{"role": "user", "content": "Look them up."}, *(message for n in range(4) for message in call(n))]
    veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", {"messages": messages}))
    entries = [entry for entry in veritas("why", "--json").json if entry["kind"] == "entry.observed"]
    first = entries[0]["entry"]
    short = veritas("what-if", "--retract", first).out
    # Beta(2, 2) loses one of four: 0.7 · 2 / (0.7 · 2 + 0.3 · 3) = 0.6086…
    assert "cost tool:lookup reputation: 3 more of its entries would go from belief 0.700 to 0.608" in short
    assert not any(entry["entry"][:12] in short for entry in entries[1:])
    assert all(entry["entry"][:12] in veritas("what-if", "--retract", first, "--all").out for entry in entries)
    assert "and are not measured" in short or "not measured, although" in short


@pytest.mark.parametrize("name", ["1234567", "not-an-id", "0" * 65, "", "0x123456", "١٢٣٤٥٦٧٨"])
def test_what_can_be_no_id_is_a_usage_error_whatever_the_ledger_holds(veritas: Veritas, home: Path, name: str):
    for command in (("why", name), ("what-if", "--retract", name)):
        refusal = veritas(*command, *STORY).refused(2)
        assert f"{name!r} is no entry id: write its first 8 to 64 hex digits" in refusal
    assert not home.exists()


def test_an_id_that_names_no_entry_is_refused(veritas: Veritas, story: Story):
    del story
    for command in (("why", "00000000"), ("what-if", "--retract", "00000000")):
        refusal = veritas(*command, *STORY).refused()
        assert "begins with 00000000" in refusal
        assert "`veritas why` lists all" in refusal


def test_an_id_that_begins_several_entries_is_answered_with_the_candidates():
    beginning = "ab" * 4
    ids = [EventId(f"{beginning}{digit * 56}") for digit in "012345"]
    seen = Snapshot.__new__(Snapshot)
    seen.__dict__["contents"] = dict.fromkeys(ids)
    with pytest.raises(UsageError, match="begins the ids of 6 entries") as refused:
        entry_named(seen, beginning)
    assert all(key in str(refused.value) for key in ids[:4])
    assert "and 2 more" in str(refused.value)


def test_an_event_that_is_no_entry_is_named_by_its_kind(veritas: Veritas, story: Story):
    assert "`seal.minted`" in veritas("why", story.id("seal_alpha"), *STORY).refused()


def test_a_ledger_that_is_not_there_is_answered_with_those_that_are(veritas: Veritas, story: Story, home: Path):
    refusal = veritas("why", story.id("derived")).refused()
    assert "no ledger default/imported" in refusal
    assert "tests/story" in refusal
    assert not (home / "ledgers" / "default").exists()


def test_what_if_without_an_entry_is_a_usage_error(veritas: Veritas):
    assert "--retract" in veritas("what-if").refused(2)


def test_a_transcript_cannot_speak_to_the_terminal(veritas: Veritas, tmp_path: Path):
    escape = "\x1b[2J\x1b]0;owned\x07 [bold]not markup[/bold] \x9b31m\u202e"
    messages = [{"role": "user", "content": escape}, {"role": "assistant", "content": f"{escape}"}]
    veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", {"messages": messages}))
    user, claim = veritas("why", "--json").json
    assert user["text"] == escape
    for printed in (
        veritas("why").out,
        veritas("why", claim["entry"]).out,
        veritas("what-if", "--retract", claim["entry"]).out,
    ):
        assert not set("\x1b\x07\x9b\u202e") & set(printed)
        assert "[bold]not markup[/bold]" in printed


def test_content_that_is_gone_is_said_to_be(veritas: Veritas, story: Story, home: Path):
    digest = story.named["observed_alpha"].body.content.digest
    next((home / "ledgers").rglob(f"blobs/*/{digest}")).unlink()
    assert "(its content is gone)" in veritas("why", story.id("derived"), *STORY).out
    links = veritas("why", story.id("observed_alpha"), *STORY, "--json").json["entries"]
    assert links[0]["text"] is None


def test_a_flipped_byte_is_answered_with_the_command_that_finds_it(veritas: Veritas, story: Story, home: Path):
    target = story.id("observed_alpha")
    changed = story.named["observed_alpha"].encoded.replace(b'"kind"', b'"Kind"')
    with closing(sqlite3.connect(scope_folder(home, SCOPE) / "ledger.sqlite3")) as connection, connection:
        connection.execute("UPDATE events SET statement = ? WHERE event_id = ?", (changed, target))
    for command in (("why",), ("why", story.id("derived")), ("what-if", "--retract", story.id("derived"))):
        refusal = veritas(*command, *STORY).refused()
        assert "ledger tests/story holds a statement that does not decode" in refusal
        assert "`veritas verify` says which" in refusal
    assert target in veritas("verify", *STORY).out


def test_a_long_story_says_how_much_of_it_is_left_out(veritas: Veritas, tmp_path: Path):
    results = [{"role": "tool", "tool_call_id": f"call_{n}", "content": f"result {n}"} for n in range(120)]
    cited = "".join(f"[{n + 1}]" for n in range(120))
    messages = [{"role": "user", "content": "Sum up."}, *results, {"role": "assistant", "content": f"All of {cited}."}]
    veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", {"messages": messages}))
    (claim,) = [entry["entry"] for entry in veritas("why", "--json").json if entry["kind"] == "entry.derived"]
    short, whole = veritas("why", claim).out.splitlines(), veritas("why", claim, "--all").out.splitlines()
    # The claim and its generation; each result and its seal.
    assert len(whole) == 2 + 120 * 2
    assert short[:200] == whole[:200]
    assert short[200:] == ["… and 42 more lines; --all prints them"]


def test_the_deepest_branch_of_a_long_story_is_as_readable_as_the_first(monkeypatch: pytest.MonkeyPatch, capsys):
    root = branch = Tree("level 0")
    for level in range(1, 40):
        branch = branch.add(f"level {level} of the branch")
    monkeypatch.setattr("pipelines.cli.output._UNWRAPPED", 24)
    print_tree(root, depth=40, most=None)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 40
    assert lines[-1] == "    " * 38 + "└── level 39 of the branch"
    print_tree(root, depth=40, most=39)
    assert capsys.readouterr().out.splitlines()[-1] == "… and 1 more line; --all prints them"


def test_a_run_may_be_named_by_the_beginning_of_its_digest(veritas: Veritas, home: Path):
    for digest in ("aa11", "aa22"):
        scope = SCOPE.model_copy(update={"tenant_namespace": "eval", "project_namespace": f"run-{digest}"})
        Ledger.open(home, scope, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME).close()
    assert veritas("why", "--tenant", "eval", "--project", "run-aa1").code == 0
    for command in (("why",), ("why", "00000000"), ("what-if", "--retract", "00000000"), ("verify",), ("attribute",)):
        refusal = veritas(*command, "--tenant", "eval", "--project", "run-aa").refused(2)
        assert "the beginning of 2 projects (eval/run-aa11, eval/run-aa22); write more of it" in refusal
    assert "no ledger eval/aa11" in veritas("why", "--tenant", "eval", "--project", "aa11").refused()


def test_a_pattern_is_no_digest_of_a_run(veritas: Veritas):
    assert "no beginning of a digest" in veritas("report", "--run", "*").refused(2)
