"""Attribution without a ledger: a context, a question and a response in, measured edges out.

The public name is :func:`attribution.attribute`.
"""

from attribution.library.attribute import attribute
from attribution.library.result import Attribution, ClaimAttribution, Cut, Edge, Source, SourceVerdict

__all__ = ["Attribution", "ClaimAttribution", "Cut", "Edge", "Source", "SourceVerdict", "attribute"]
