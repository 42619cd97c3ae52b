"""The tree that `veritas why` prints: every line begins with the id of the event it is about."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from rich.tree import Tree

from ledger_core.harness.why import Cause, Link, MeasurementInForce, Why
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.types import EventId, U
from pipelines.cli.output import SHORT, parts_of_u, printable, snippet, weight
from pipelines.cli.snapshot import KINDS


def why_tree(found: Why, read: Callable[[ContentRef], str | None]) -> Tree:
    """``found`` as a tree; an entry that several rest on is unfolded where it is met first."""
    root = Tree(_entry(found.links[found.claim], read))
    waiting: list[tuple[Tree, EventId]] = [(root, found.claim)]
    unfolded: set[EventId] = set()
    while waiting:
        branch, key = waiting.pop()
        link = found.links[key]
        if key in unfolded:
            if _facts(link) or link.causes:
                branch.add(Text(f"{key[:SHORT]} as unfolded elsewhere in this tree", style="dim"))
            continue
        unfolded.add(key)
        for line in _facts(link):
            branch.add(Text(line, style="dim"))
        met: list[tuple[Tree, EventId]] = []
        for cause in link.causes:
            below = branch
            if len(cause.parents) > 1:
                members = " + ".join(parent[:SHORT] for parent in cause.parents)
                below = branch.add(Text(f"{members} only together, at {weight(cause.ppm)}: {_grounds(cause)}"))
            for parent in cause.parents:
                label = _entry(found.links[parent], read)
                if len(cause.parents) == 1:
                    label.append(f" — at {weight(cause.ppm)}: {_grounds(cause)}", style="cyan")
                met.append((below.add(label), parent))
        waiting.extend(reversed(met))
    return root


def _entry(link: Link, read: Callable[[ContentRef], str | None]) -> Text:
    state, text = link.state, read(link.content)
    words = [link.role or KINDS[state.kind]]
    if state.belief is not None:
        words.append(f"{state.tier}, belief {parts_of_u(state.belief)}")
    if state.attenuation < U:
        words.append(f"attenuated to {parts_of_u(state.attenuation)}")
    label = Text(link.entry[:SHORT], style="bold")
    label.append(f" {', '.join(words)}", style="")
    for flag, name in (
        (state.retracted, "RETRACTED"),
        (state.suspended, "SUSPENDED"),
        (state.invalidated, "INVALIDATED"),
    ):
        if flag:
            label.append(f" {name}", style="bold red")
    label.append(" (its content is gone)" if text is None else f" {snippet(text)}", style="not bold")
    return label


def _facts(link: Link) -> list[str]:
    """What is known about an entry, besides what it rests on."""
    lines: list[str] = []
    if link.generation is not None:
        lines.append(f"{link.generation[:SHORT]} generation of {_name(link.model)} that says it ({link.attestation})")
    if link.seal is not None and link.sealed is not None:
        sealed = link.sealed
        host = "" if sealed.origin_host is None else f" at {printable(sealed.origin_host)}"
        lines.append(
            f"{link.seal[:SHORT]} seal of tool {printable(sealed.tool)}{host}: origin {link.state.cluster},"
            f" {sealed.attestation}, {sealed.runner} {sealed.reach}, outcome {sealed.outcome}"
        )
    if link.retraction is not None:
        lines.extend(f"{member[:SHORT]} contradicts it, counted in the quorum" for member in link.retraction.members)
    lines.extend(_measurement(measurement) for measurement in link.measurements)
    lines.extend(f"{parent[:SHORT]} declared, but measured to make no difference" for parent in link.released)
    if link.generation is not None and not link.causes and not link.measurements:
        lines.append(f"{link.entry[:SHORT]} declares nothing and is not measured; `veritas attribute` measures it")
    return lines


def _measurement(measurement: MeasurementInForce) -> str:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in measurement.verdicts.items())
    power = "" if measurement.may_lower else ", only adds or raises"
    flags = f", {' '.join(measurement.flags)}" if measurement.flags else ""
    return f"{measurement.event_id[:SHORT]} measured: {measurement.result} ({measurement.gate}; {counts}{flags}{power})"


def _grounds(cause: Cause) -> str:
    return ", ".join(
        f"{ground.basis} {weight(ground.ppm)} by {ground.event_id[:SHORT]}"
        + (f" ({' '.join(ground.labels)})" if ground.labels else "")
        for ground in cause.grounds
    )


def _name(name: str | None) -> str:
    return "an unrecorded model" if name is None else printable(name)
