"""Attribution without a ledger: a context, a question and a response in, measured edges out.

The public name is :func:`attribution.attribute`.
"""

from attribution.library.attribute import attribute
from attribution.library.regenerating import Regenerate
from attribution.library.result import Attribution, ClaimAttribution, Cut, Edge, Source, SourceVerdict
from attribution.library.served import Completions

__all__ = [
    "Attribution",
    "ClaimAttribution",
    "Completions",
    "Cut",
    "Edge",
    "Regenerate",
    "Source",
    "SourceVerdict",
    "attribute",
]
