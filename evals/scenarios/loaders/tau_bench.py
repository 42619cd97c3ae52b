"""tau-bench results: a fact in a record that a tool returned, planted wrongly and put right.

A fact is a field of the JSON object that a tool answered about one thing (a reservation, an order), whose value stands once
in that answer and takes at least four values over the file. The premise is the answer with another value in the field; the
corrections are the answer as it was and one sentence of ours. Clusters are tasks: facts of one task are not independent.

Source: Yao, Shinn, Razavi and Narasimhan, tau-bench (2024), `EnvRunResult` of github.com/sierra-research/tau-bench.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.mentions import ValueKind
from evals.scenarios.draw import Draw
from evals.scenarios.loaders.planting import (
    LOADER_VERSION,
    Passage,
    Planted,
    draw_values,
    exchanged,
    kind_of,
    states,
)
from evals.scenarios.loaders.source import Row, Unusable, cluster_name, one_line
from ledger_core.connectors.messages import read_messages

FACTS_OF_A_TASK = 4
"""Most facts that are taken of one task: the number of trials that such files have of it."""

_LONGEST_RESULT = 1500
"""Characters of a tool's answer beyond which it is no record of one thing but a list."""

_DEPTH = 2
_LEAST_CHARACTERS = 3
"""A shorter value, such as the code of a state, may be a word of any sentence ("in", "or")."""
_LEAST_VALUES = 5
"""The true value, the false one, two third ones and the one of matched swaps."""


class TauBenchRow(Row):
    """One trial of one task."""

    task_id: int | str
    trial: int
    reward: float
    info: dict[str, Any]
    traj: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of what a tool said about one thing."""

    cluster: str
    place: str
    """The trial that showed it."""
    tool: str
    subject: str
    field: str
    value: str
    text: str
    """The tool's whole answer."""


Pools = Mapping[tuple[str, str], Mapping[str, ValueKind]]
"""(tool, field) -> every value that the field takes in the file, with its kind."""


def choose(found: Iterable[Fact], seed: int) -> tuple[list[Fact], Pools]:
    """At most :data:`FACTS_OF_A_TASK` facts of each task, drawn by seed, and the values of all fields."""
    tasks: dict[str, dict[tuple[str, str, str], Fact]] = defaultdict(dict)
    pools: dict[tuple[str, str], dict[str, ValueKind]] = defaultdict(dict)
    for fact in found:
        # The first trial to show a thing shows it before the agent could change it.
        tasks[fact.cluster].setdefault((fact.tool, fact.subject, fact.field), fact)
        pools[fact.tool, fact.field].setdefault(fact.value, kind_of((fact.value,)))
    chosen: list[Fact] = []
    for cluster, each in tasks.items():
        usable = [fact for fact in each.values() if len(pools[fact.tool, fact.field]) >= _LEAST_VALUES]
        draw = Draw(LOADER_VERSION, "tau-bench", cluster, seed)
        chosen += draw.distinct(usable, min(len(usable), FACTS_OF_A_TASK), lambda a, b: a == b)
    return chosen, pools


def facts_of(row: TauBenchRow) -> Iterator[Fact]:
    """Everything a tool said in a trial about one thing, field by field.

    Raises:
        RecordError: the messages cannot be read.
    """
    messages = read_messages(row.traj)
    system = next((message.text for message in messages if message.role == "system"), "")
    cluster = cluster_name("task", str(row.task_id), system)
    place = f"task {row.task_id}, trial {row.trial}"
    calls = {call.call_id: call for message in messages for call in message.calls}
    for message in messages:
        call = calls.get(message.answers) if message.role == "tool" else None
        if call is None or len(message.text) > _LONGEST_RESULT:
            continue
        subject = _subject(call.arguments)
        record = _record(message.text)
        if subject is None or record is None:
            continue
        text = one_line(message.text)
        for field, value in _fields(record, ()):
            if _stands_once(text, value) and not states(subject, value):
                yield Fact(cluster, place, call.name, subject, field, value, text)


def _subject(arguments: object) -> str | None:
    """What a call is about: its only argument, if that is a name."""
    if not isinstance(arguments, dict) or len(arguments) != 1:
        return None
    (only,) = arguments.values()
    return one_line(only) if isinstance(only, str) and only.strip() else None


def _record(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _fields(record: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(name in words, value) of the plain fields, down to :data:`_DEPTH` names."""
    for name, value in record.items():
        path = (*above, name)
        if isinstance(value, dict) and len(path) < _DEPTH:
            yield from _fields(value, path)
        elif isinstance(value, str | int) and not isinstance(value, bool):
            yield one_line(" ".join(path).replace("_", " ")), one_line(str(value))


def _stands_once(text: str, value: str) -> bool:
    if len(value) < _LEAST_CHARACTERS and not value.isdigit():
        return False
    return len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE)) == 1


def plant(fact: Fact, pools: Pools, seed: int) -> Planted:
    """What ``fact`` plants; the false value and the further ones are what other things have in that field.

    Raises:
        Unusable: too few other values that the tool's answer does not state anyway.
    """
    draw = Draw(LOADER_VERSION, "tau-bench", fact.cluster, fact.tool, fact.subject, fact.field, seed)
    pool = pools[fact.tool, fact.field]
    kind = kind_of((fact.value,))
    others = [value for value, its_kind in pool.items() if its_kind is kind and not states(fact.text, value)]
    if not others:
        raise Unusable(f"no other thing has another value of its kind in the field “{fact.field}”")
    values = draw_values(
        draw, false=draw.pick(others), true=fact.value, pool=pool, absent_from=(fact.text, fact.subject)
    )
    return Planted(
        wording=fact.cluster,
        premise=Passage(_with(fact, values.false), _with(fact, values.swap), values.false),
        claim=values.claim(lambda value: f"Noted for {fact.subject}: the {fact.field} is {value}."),
        corrections=(
            Passage(fact.text, _with(fact, values.swap), fact.value),
            Passage(_reread(fact, values.true), _reread(fact, values.swap), fact.value),
        ),
        question=values.question(f"What is the {fact.field} of {fact.subject}?"),
    )


def _with(fact: Fact, value: str) -> str:
    return exchanged(fact.text, fact.value, value)


def _reread(fact: Fact, value: str) -> str:
    return (
        f"The record of {fact.subject} was read again at the desk because two printouts of it did not agree; "
        f"the {fact.field} that the desk found in it is {value}."
    )
