"""From a family, a number and a seed to scenarios."""

from __future__ import annotations

from evals.errors import ScenarioError
from evals.scenarios.base import Scenario
from evals.scenarios.families import FAMILIES, Family, Slot


def generate(family: str, n: int, seed: int, variant: str | None = None) -> tuple[Scenario, ...]:
    """The first ``n`` scenarios of ``family``; a larger ``n`` begins with the same ones.

    Wordings take turns; over the rounds each wording meets every order and variant equally often, and so does every
    prefix up to the last incomplete turn. With ``variant`` all scenarios have that one; the text does not depend on it
    where the family lists it as on request.

    Raises:
        ScenarioError: an unknown family or variant, or a negative number.
    """
    made = FAMILIES.get(family)
    if made is None:
        raise ScenarioError(f"no scenario family {family!r}; choose one of {', '.join(FAMILIES)}")
    if n < 0 or seed < 0:
        raise ScenarioError(f"n = {n} and seed = {seed} must not be negative")
    if variant is not None and variant not in (*made.variants, *made.on_request):
        raise ScenarioError(
            f"family {family} has no variant {variant!r}; choose one of {', '.join((*made.variants, *made.on_request))}"
        )
    return tuple(made.build(_slot(made, family, index, seed, variant)) for index in range(n))


def _slot(made: Family, family: str, index: int, seed: int, variant: str | None) -> Slot:
    turn, place = divmod(index, made.wordings)
    cell = (place + made.shift(turn)) % made.cells
    return Slot(
        family=family,
        seed=seed,
        index=index,
        place=place,
        turn=turn,
        order=made.orders[cell % len(made.orders)],
        variant=variant or made.variants[cell // len(made.orders)],
    )
