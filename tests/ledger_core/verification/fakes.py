"""Language models for tests: they read the two records out of the question and answer by rule."""

from __future__ import annotations

import json
import re

from ledger_core.kernel.types import EventId
from ledger_core.providers.fake import FakeLlm
from ledger_core.verification import Text

_RECORDS = re.compile(r"\n(===== [0-9a-f]{24} =====)\n(.*)\n\1\nRecord B .*\n\1\n(.*)\n\1\n", re.DOTALL)


def records(messages):
    """The records A and B of a question."""
    found = _RECORDS.search(messages[-1].content)
    return found.group(2), found.group(3)


def says(relation, quote_a="", quote_b=""):
    return json.dumps({"relation": relation, "quote_a": quote_a, "quote_b": quote_b})


def always(relation):
    """Quotes both records whole."""
    return FakeLlm(lambda messages: says(relation, *records(messages)))


def scripted(*answers, **options):
    """Gives ``answers`` one after the other; a callable one gets the two records."""
    waiting = list(answers)

    def answer(messages):
        said = waiting.pop(0)
        return said(*records(messages)) if callable(said) else said

    return FakeLlm(answer, **options)


def text(content, name="aa"):
    return Text(EventId(name * 32), "dd" * 32, content)
