"""Any series of looks at a seal against a model of two facts: what the origin last said, and whether the bytes are whole."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.sealing import Returned
from tests.ledger_core.sealing.test_replay_audit import Scene, tier

pytestmark = pytest.mark.invariant("§2.2", "§2.4")

SEALED = "330 m"
LATER = "2027-01-01T00:00:00.000000000Z"
ANSWERS = {
    "same": SEALED,
    "other": "310 m",
    "changed": Returned("324 m", modified_at=LATER),
    "down": OSError("down"),
}


@dataclass
class Model:
    """What the ledger should hold of the seal."""

    said: str | None = None
    """`match`, `mismatch` or `stale`: the last that a re-fetch found, since the bytes were last found damaged or whole."""
    damaged: bool = False
    found_damaged: bool = False

    def refetch(self, answer):
        if self.damaged:
            self.found_damaged = True
        elif answer == "down":
            self.rehash()
        else:
            self.said = {"same": "match", "other": "mismatch", "changed": "stale"}[answer]
            self.found_damaged = False

    def rehash(self):
        if self.damaged:
            self.found_damaged = True
        elif self.found_damaged and self.said in {None, "match"}:
            self.found_damaged, self.said = False, None

    @property
    def tier(self):
        suspended = self.found_damaged or self.said == "mismatch"
        verified = self.said == "match" and not self.found_damaged
        return ("sealed_verified" if verified else "sealed_unverified", suspended)


acts = st.lists(st.sampled_from(["same", "other", "changed", "down", "rehash", "damage", "repair"]), max_size=12)


@settings(max_examples=120, deadline=None)
@given(acts=acts)
def test_belief_follows_the_origins_last_word_and_the_state_of_the_bytes(acts):
    scene, model = Scene(SEALED), Model()
    for act in acts:
        match act:
            case "damage" | "repair":
                model.damaged = act == "damage"
                scene.damage(b"forged" if model.damaged else SEALED.encode())
            case "rehash":
                scene.rehash()
                model.rehash()
            case _:
                scene.function.results = [ANSWERS[act]]
                scene.audit()
                model.refetch(act)
        assert tier(scene) == model.tier, acts


@settings(max_examples=60, deadline=None)
@given(acts=st.lists(st.sampled_from(["down", "rehash", "damage", "repair"]), max_size=10))
def test_nothing_is_verified_and_no_suspension_lifted_without_asking_the_origin(acts):
    for first in ("other", None):
        scene = Scene(SEALED)
        if first:
            scene.function.results = [ANSWERS[first]]
            scene.audit()
        scene.function.results = [ANSWERS["down"]]
        for act in acts:
            if act in {"damage", "repair"}:
                scene.damage(b"forged" if act == "damage" else SEALED.encode())
            else:
                (scene.audit if act == "down" else scene.rehash)()
            found, suspended = tier(scene)
            assert found == "sealed_unverified"
            assert suspended or first is None
