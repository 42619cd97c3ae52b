"""Foils and swaps of a transcript that nobody planned: made from its own words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attribution.foils import claim_foils, exchanged_entity, matched_swap
from attribution.trajectory.records import Wording


def wording_of_texts(texts: Mapping[str, str], claims: Collection[str]) -> Wording:
    """Foils of the claims and matched swaps of all entries of one record.

    A swap exchanges the very entities that the record's claims state as their value, so that an entry which carries a
    claim loses it under the swap. Calibration on null claims makes its wording here as well: a floor is the floor of
    exactly this procedure.

    Args:
        texts: entry to text, the whole record; foils name nothing that occurs in it.
        claims: which of the entries are claims.
    """
    present = " ".join(texts.values())
    foils = {key: tuple(foil.text for foil in claim_foils(texts[key], present)) for key in claims}
    exchanged = (exchanged_entity(texts[key], present) for key in claims)
    values = dict(pair for pair in exchanged if pair is not None)
    swaps = {key: matched_swap(text, values) for key, text in texts.items()}
    return Wording(
        foils={key: found for key, found in foils.items() if found},
        swaps={key: text for key, text in swaps.items() if text is not None},
    )
