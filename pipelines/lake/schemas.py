"""The lake's tables: one schema source, from which files, checks and documentation are made.

Every table has a key: rows are written sorted by it and no two rows share it. Floats are nats unless a column's name says
otherwise; ppm, parts of 10⁹ and micro-nats are integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TEXT = pa.string()
INTEGER = pa.int64()
NUMBER = pa.float64()
FLAG = pa.bool_()
TEXTS = pa.list_(pa.string())


@dataclass(frozen=True, slots=True)
class Table:
    """A table's columns, sort key and meaning."""

    name: str
    description: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, pa.DataType], ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, in column order."""
        return pa.schema(self.columns)


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "scenarios",
            "Generated scenarios: what is planted, what must happen, where the text comes from.",
            ("scenario",),
            (
                ("scenario", TEXT),
                ("family", TEXT),
                ("wording", TEXT),
                ("premise_order", TEXT),
                ("variant", TEXT),
                ("document", TEXT),
            ),
        ),
        Table(
            "scenario_events",
            "Which ledger event each part of a scenario became.",
            ("scenario", "part"),
            (
                ("scenario", TEXT),
                ("part", TEXT),
                ("event_id", TEXT),
                ("kind", TEXT),
                ("free_continuation_differs", FLAG),
            ),
        ),
        Table(
            "ledger_events",
            "The evidence log as replayed, without what this pipeline itself appends (measurements and trials).",
            ("offset",),
            (
                ("offset", INTEGER),
                ("event_id", TEXT),
                ("kind", TEXT),
                ("namespace", TEXT),
                ("object", TEXT),
                ("fact_key", TEXT),
                ("role", TEXT),
                ("statement", TEXT),
            ),
        ),
        Table(
            "entries",
            "Context entries with their text and what the belief function makes of them.",
            ("entry",),
            (
                ("entry", TEXT),
                ("kind", TEXT),
                ("record", TEXT),
                ("text", TEXT),
                ("tier", TEXT),
                ("belief", INTEGER),
                ("attenuation", INTEGER),
                ("retracted", FLAG),
                ("invalidated", FLAG),
                ("generation", TEXT),
            ),
        ),
        Table(
            "edges",
            "Declared dependence: claim, parent, weight.",
            ("claim", "parent"),
            (("claim", TEXT), ("parent", TEXT), ("ppm", INTEGER)),
        ),
        Table(
            "generations",
            "Model calls in order: what each saw and said.",
            ("record", "step"),
            (
                ("record", TEXT),
                ("step", INTEGER),
                ("generation", TEXT),
                ("model", TEXT),
                ("attestation", TEXT),
                ("exact", FLAG),
                ("decoding", TEXT),
                ("response", TEXT),
                ("context", TEXTS),
                ("claims", TEXTS),
            ),
        ),
        Table(
            "ablation_scores",
            "Score of each claim under each ablation that was run: log-odds against its foils, or its log-probability without any.",
            ("claim", "states"),
            (
                ("trajectory", TEXT),
                ("claim", TEXT),
                ("states", TEXT),
                ("value", NUMBER),
            ),
        ),
        Table(
            "surrogate_weights",
            "ContextCite surrogate weights per claim, context unit and seed.",
            ("claim", "seed", "unit"),
            (("claim", TEXT), ("seed", INTEGER), ("unit", TEXT), ("weight", NUMBER)),
        ),
        Table(
            "loo_effects",
            "Leave-one-out effects per claim and context unit.",
            ("claim", "unit"),
            (("claim", TEXT), ("unit", TEXT), ("effect", NUMBER)),
        ),
        Table(
            "stability_report",
            "Per claim: the specification's gate and the default gate on the same scores, with the figures of both.",
            ("claim",),
            (
                ("trajectory", TEXT),
                ("claim", TEXT),
                ("units", INTEGER),
                ("runs", INTEGER),
                ("rho_seeds", NUMBER),
                ("rho_loo", NUMBER),
                ("seed_v4_passes", FLAG),
                ("seed_v4_edges", TEXTS),
                ("cuts_v1_result", TEXT),
                ("cuts_v1_edges", TEXTS),
                ("agree", FLAG),
            ),
        ),
        Table(
            "measured_edges",
            "The measurement of each claim: a verdict for every ablatable context entry, and the minimal cuts.",
            ("claim",),
            (
                ("trajectory", TEXT),
                ("generation", TEXT),
                ("claim", TEXT),
                ("result", TEXT),
                ("reason", TEXT),
                ("total_effect_micro_nats", INTEGER),
                ("flags", TEXTS),
                ("gate", TEXT),
                ("entries", TEXT),
                ("cuts", TEXT),
                ("recipe", TEXT),
                ("rows_digest", TEXT),
            ),
        ),
        Table(
            "edges_upsert",
            "What each measurement became in the ledger.",
            ("claim",),
            (("claim", TEXT), ("event_id", TEXT), ("supersedes", TEXT)),
        ),
        Table(
            "trials",
            "One answer of one agent in one arm on one scenario.",
            ("scenario", "arm", "repeat"),
            (
                ("scenario", TEXT),
                ("arm", TEXT),
                ("repeat", INTEGER),
                ("family", TEXT),
                ("outcome", TEXT),
                ("answer", TEXT),
                ("prompt", TEXT),
                ("prompt_digest", TEXT),
                ("answer_ids", pa.list_(pa.int64())),
                ("event_id", TEXT),
                ("row", TEXT),
            ),
        ),
        Table(
            "answer_attribution",
            "Which context entries each persisted falsehood rests on. A leaf: never written back to the ledger.",
            ("scenario", "arm", "entry"),
            (
                ("scenario", TEXT),
                ("arm", TEXT),
                ("entry", TEXT),
                ("label", TEXT),
                ("role", TEXT),
                ("verdict", TEXT),
                ("effect", NUMBER),
                ("low", NUMBER),
                ("high", NUMBER),
                ("labels", TEXTS),
                ("result", TEXT),
                ("reason", TEXT),
                ("text", TEXT),
            ),
        ),
        Table(
            "weight_pairs",
            "Measured claims of a suite said again with a cut, or as a placebo a unit without effect, deleted. A leaf.",
            ("claim", "absent"),
            (
                ("claim", TEXT),
                ("absent", TEXTS),
                ("wording", TEXT),
                ("placebo", FLAG),
                ("loss", NUMBER),
                ("margin", NUMBER),
                ("lost", FLAG),
            ),
        ),
        Table(
            "metrics",
            "Every metric with its interval, method and counts.",
            ("name", "arm", "stratum"),
            (
                ("name", TEXT),
                ("arm", TEXT),
                ("stratum", TEXT),
                ("value", NUMBER),
                ("low", NUMBER),
                ("high", NUMBER),
                ("method", TEXT),
                ("n", INTEGER),
                ("undefined", TEXT),
            ),
        ),
        Table(
            "kill_report",
            "The verdict on each registered criterion.",
            ("criterion",),
            (("criterion", TEXT), ("verdict", TEXT), ("reason", TEXT), ("document", TEXT)),
        ),
    )
}
"""Asset name -> table."""
