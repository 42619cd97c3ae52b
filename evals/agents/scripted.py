"""An agent that says what a test tells it to; never evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evals.agents.base import Answer, Choice, Fault
from evals.prompts import AssembledPrompt
from evals.trials import ForcedChoice


class ScriptedAgent:
    """Answers by a function of the prompt; a test names the fault by raising."""

    name = "scripted (a test's words, never evidence)"
    """In every trial and everywhere an agent is named."""

    def __init__(self, script: Callable[[AssembledPrompt], str]) -> None:
        self._script = script

    def answer(self, prompt: AssembledPrompt) -> Answer | Fault:
        """What the script says; an exception of it is a fault."""
        try:
            return Answer(self._script(prompt), ())
        except Exception as error:  # noqa: BLE001 - whatever a script raises stands for whatever an agent raises
            return Fault(f"{type(error).__name__}: {error}")

    def forced_choice(
        self,
        prompt: AssembledPrompt,
        own_stem: str,  # noqa: ARG002 - a script has no stem
        candidates: Mapping[ForcedChoice, Sequence[str]],
    ) -> Choice | Fault:
        """The label whose value the script's answer names; the first label where it names none."""
        said = self.answer(prompt)
        if isinstance(said, Fault):
            return said
        labels = {label: values for label, values in candidates.items() if values}
        if not labels:
            return Fault("a forced choice needs at least one candidate value")
        scores = {value: float(value in said.text) for values in labels.values() for value in values}
        preferred = max(labels, key=lambda label: max(scores[value] for value in labels[label]))
        return Choice(preferred, scores)
