"""`generation.recorded`: exactly what the model saw and said."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.statements.sealing import Attestation
from ledger_core.kernel.types import ContractId, Count, Digest, ForeignName, Items


class ContextRegion(Record):
    """A stretch of the prompt, in order: an entry's text or template text.

    Token bounds are half-open and tile the prompt where its ids are known; both are null in a foreign generation.
    """

    entry: Digest | None
    """The entry whose text this is; null for template text."""
    token_start: Count | None
    token_stop: Count | None
    unit: Count | None
    """Number of the unit that is ablated together (a tool call and its result share one); null is never ablated."""

    @model_validator(mode="after")
    def _is_consistent(self) -> ContextRegion:
        if (self.token_start is None) != (self.token_stop is None):
            raise ValueError("a region has both token bounds or neither")
        if self.token_start is not None and self.token_stop is not None and self.token_start > self.token_stop:
            raise ValueError(f"token range {self.token_start}..{self.token_stop} runs backwards")
        if self.unit is not None and self.entry is None:
            raise ValueError("template text is never ablated: a unit names an entry")
        return self


class ClaimRange(Record):
    """Where in the response a claim stands."""

    byte_start: Count
    byte_stop: Count
    form: Literal["sentence", "tool_call"]


class GenerationRecordedBody(Record):
    """One model call."""

    attestation: Attestation
    claims: Items[ClaimRange]
    context: Items[ContextRegion]
    decoding: Literal["greedy", "sampled", "constrained", "unknown"]
    model: ForeignName
    policy: Digest | None
    """Digest of the policy under which the context was rendered."""
    prompt_tokens: ContentRef | None
    renderer: ContractId | None
    response: ContentRef
    response_tokens: ContentRef | None
    splitter: ContractId
    weights_digest: Digest | None

    @model_validator(mode="after")
    def _claims_lie_in_the_response(self) -> GenerationRecordedBody:
        position = 0
        for claim in self.claims:
            if claim.byte_start < position or claim.byte_stop <= claim.byte_start:
                raise ValueError(f"claim {claim.byte_start}..{claim.byte_stop} is empty or overlaps the one before it")
            position = claim.byte_stop
        if position > self.response.byte_length:
            raise ValueError(f"a claim ends at byte {position}, the response at {self.response.byte_length}")
        return self

    @model_validator(mode="after")
    def _context_tiles_the_prompt(self) -> GenerationRecordedBody:
        if self.prompt_tokens is None:
            if any(region.token_start is not None for region in self.context):
                raise ValueError("a generation without prompt tokens has no token bounds")
            return self
        position = 0
        for region in self.context:
            if region.token_start != position or region.token_stop is None:
                raise ValueError(f"the context does not tile the prompt at token {position}")
            position = region.token_stop
        if position * 4 != self.prompt_tokens.byte_length:
            raise ValueError(
                f"the context covers {position} tokens, the prompt has {self.prompt_tokens.byte_length // 4}"
            )
        return self

    @property
    def is_exact(self) -> bool:
        """Whether prompt ids, response ids and weights are known, so that what is scored is what the agent saw."""
        return None not in (self.prompt_tokens, self.response_tokens, self.weights_digest)


class GenerationRecorded(Envelope):
    """`generation.recorded`."""

    kind: Literal["generation.recorded"]
    body: GenerationRecordedBody
