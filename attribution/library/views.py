"""An attribution on a terminal and as a page: every claim with its sources, shaded by effect."""

from __future__ import annotations

from html import escape

from attribution.library.result import Attribution, ClaimAttribution, SourceVerdict

_BAR = 12
"""Cells of the longest bar."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #16181d; background: #fff; }
h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid #d8dbe2; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
p.note { color: #4a5060; margin: .25rem 0; }
"""


def shade(effect: float | None, largest: float) -> float:
    """Share of the largest absolute effect of a claim, 0 to 1; 0 where nothing moves or nothing is defined."""
    if effect is None or largest <= 0:
        return 0.0
    return abs(effect) / largest


def largest_effect(claim: ClaimAttribution) -> float:
    """The largest absolute effect on ``claim``, nats; 0 where none is defined."""
    return max((abs(v.effect_nats) for v in claim.verdicts if v.effect_nats is not None), default=0.0)


def headline(claim: ClaimAttribution) -> str:
    """Result of a claim in a few words."""
    score = "odds against the claim with another value" if claim.contrasted else "bare log-probability: no foil"
    if claim.tier == "regenerated":
        score = "regenerated, the lower tier: log-odds that an answer makes the claim"
    return f"{claim.result}; {score}; {claim.passes} ablations"


def print_attribution(attribution: Attribution) -> None:
    """Print to standard output, in colours where it is a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for number, claim in enumerate(attribution.claims):
        console.print(Text(f"{number}. {claim.text}", style="bold"))
        console.print(Text(f"   {headline(claim)}"))
        if claim.reason:
            console.print(Text(f"   no verdict: {claim.reason}"))
        table = Table("effect", "", "verdict", "source", box=None, padding=(0, 1))
        table.columns[0].justify = "right"
        largest = largest_effect(claim)
        for verdict in claim.verdicts:
            cells = round(_BAR * shade(verdict.effect_nats, largest))
            bar = Text("█" * cells, style="red" if (verdict.effect_nats or 0.0) < 0 else "green")
            table.add_row(Text(_nats(verdict)), bar, Text(_words(verdict)), Text(verdict.source.text))
        console.print(table)
        for cut in claim.cuts:
            names = " + ".join(source.key for source in cut.sources)
            console.print(Text(f"   lost only together: {names} (weight {cut.weight:.3f})"))
        console.print()
    console.print(Text(_about(attribution)))


def html_page(attribution: Attribution) -> str:
    """A page that needs nothing else: no script, no network."""
    sections = "".join(_section(number, claim) for number, claim in enumerate(attribution.claims))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>What the response rests on</title><style>{_STYLE}</style></head><body>"
        f"<h1>What the response rests on</h1><p>{escape(attribution.response)}</p>{sections}"
        f'<p class="note">{escape(_about(attribution))}</p></body></html>\n'
    )


def _section(number: int, claim: ClaimAttribution) -> str:
    largest = largest_effect(claim)
    rows = "".join(_row(verdict, largest) for verdict in claim.verdicts)
    cuts = "".join(
        f"<li>{escape(' + '.join(source.text for source in cut.sources))} (weight {cut.weight:.3f})</li>"
        for cut in claim.cuts
    )
    reason = f'<p class="note">No verdict: {escape(claim.reason)}</p>' if claim.reason else ""
    together = f"<p>Lost only together:</p><ul>{cuts}</ul>" if cuts else ""
    table = (
        '<table><thead><tr><th scope="col">Source</th><th scope="col">Verdict</th>'
        f'<th scope="col">Effect, nats</th></tr></thead><tbody>{rows}</tbody></table>'
        if rows
        else '<p class="note">No source was given.</p>'
    )
    return (
        f'<section id="claim-{number}"><h2>{escape(claim.text)}</h2><p class="note">{escape(headline(claim))}</p>'
        f"{reason}{table}{together}</section>"
    )


def _row(verdict: SourceVerdict, largest: float) -> str:
    colour = "200, 30, 60" if (verdict.effect_nats or 0.0) < 0 else "20, 140, 80"
    # At most 0.35 opaque, so that the text keeps its contrast on every shade.
    opacity = 0.35 * shade(verdict.effect_nats, largest)
    return (
        f'<tr><td style="background: rgba({colour}, {opacity:.3f})">{escape(verdict.source.text)}</td>'
        f'<td>{escape(_words(verdict))}</td><td class="number">{escape(_nats(verdict))}</td></tr>'
    )


def _nats(verdict: SourceVerdict) -> str:
    if verdict.effect_nats is None:
        return "–"
    if verdict.interval is None:
        return f"{verdict.effect_nats:+.2f}"
    low, high = verdict.interval
    return f"{verdict.effect_nats:+.2f}" if low == high else f"{verdict.effect_nats:+.2f} [{low:+.2f}, {high:+.2f}]"


def _words(verdict: SourceVerdict) -> str:
    labels = f" ({', '.join(verdict.labels)})" if verdict.labels else ""
    weight = "" if verdict.weight is None else f" {verdict.weight:.3f}"
    return f"{verdict.verdict}{weight}{labels}"


def _about(attribution: Attribution) -> str:
    if any(claim.tier == "regenerated" for claim in attribution.claims):
        return f"{attribution.model} was asked anew under every ablation: what stands here says what moves its answers."
    if attribution.generated:
        return f"Scored by {attribution.model}, which wrote the response."
    return f"Scored by {attribution.model}; the response was given, so an edge says what moves this scorer."
