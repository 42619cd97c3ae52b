"""Every operation as a value: what to send and what comes back. A client sends it, in this thread or in an event loop.

>>> client.send(calls.head()).evidence.size
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.statements import LogFamily
from ledger_core.service import answers
from ledger_core.service.requests import (
    Body,
    CheckpointRequest,
    EntryDraft,
    ErasureRequest,
    GenerationRequest,
    MeasurementDraft,
    PolicyRequest,
    ReplayAuditRequest,
    ReversalRequest,
    SealRequest,
    TokenRequest,
    VerdictRequest,
)

AnswerT = TypeVar("AnswerT")
EntryAnswer = answers.EntryStatus | answers.EntryView | answers.EntryReport
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Call(Generic[AnswerT]):
    """One request."""

    method: Literal["GET", "PUT", "POST"]
    path: str
    answer: TypeAdapter[AnswerT] | None
    """How to read the answer; None: its plain bytes."""
    params: Mapping[str, str | int] = field(default_factory=dict)
    content: bytes | None = None
    media_type: str | None = None
    repeatable: bool = True
    """Whether sending it twice does no more than sending it once: all but making a token."""


def _get(path: str, answer: type[AnswerT], **params: str | int | None) -> Call[AnswerT]:
    given = {name: value for name, value in params.items() if value is not None}
    return Call("GET", path, TypeAdapter(answer), given)


def _post(path: str, answer: type[AnswerT], body: Body | None = None, *, repeatable: bool = True) -> Call[AnswerT]:
    content = None if body is None else body.model_dump_json().encode()
    media_type = None if body is None else JSON
    return Call("POST", path, TypeAdapter(answer), {}, content, media_type, repeatable)


def whoami() -> Call[answers.WhoAmI]:
    """What the token says of its bearer."""
    return _get("/whoami", answers.WhoAmI)


def head() -> Call[answers.HeadAnswer]:
    """Both ends of the log, and the policy in force."""
    return _get("/head", answers.HeadAnswer)


def put_blob(data: bytes, media_type: str) -> Call[ContentRef]:
    """Store content."""
    return Call("PUT", "/blob", TypeAdapter(ContentRef), {}, data, media_type)


def get_blob(ref: ContentRef) -> Call[bytes]:
    """The bytes of ``ref``."""
    return Call("GET", f"/blob/{ref.digest}", None, {"byte_length": ref.byte_length})


def seal(request: SealRequest) -> Call[answers.Appended]:
    """Seal a tool call and mint its observations."""
    return _post("/seal", answers.Appended, request)


def replay_audit(seal_id: str, request: ReplayAuditRequest) -> Call[answers.AuditOutcomeAnswer]:
    """Look at a seal again."""
    return _post(f"/replay-audit/{seal_id}", answers.AuditOutcomeAnswer, request)


def record_generation(request: GenerationRequest) -> Call[answers.Appended]:
    """Record a model call."""
    return _post("/generation", answers.Appended, request)


def generations(after: int = 0, limit: int = 100) -> Call[answers.GenerationPage]:
    """Recorded generations in log order."""
    return _get("/generation", answers.GenerationPage, after=after, limit=limit)


def generation(generation_id: str) -> Call[answers.GenerationAnswer]:
    """One generation with its context and claims."""
    return _get(f"/generation/{generation_id}", answers.GenerationAnswer)


def commit_entry(draft: EntryDraft) -> Call[answers.Appended]:
    """Commit a claim."""
    return _post("/entry", answers.Appended, draft)


def entry(entry_id: str) -> Call[EntryAnswer]:
    """What has become of an entry: as an agent may see it, or a reader."""
    return Call("GET", f"/entry/{entry_id}", TypeAdapter(EntryAnswer))


def context(renderer: Literal["v1", "v2"] = "v2") -> Call[answers.ContextAnswer]:
    """The working set, rendered."""
    return _get("/context", answers.ContextAnswer, renderer=renderer)


def file_verdict(request: VerdictRequest) -> Call[answers.FiledVerdictAnswer]:
    """File whether a candidate contradicts a target."""
    return _post("/verdict", answers.FiledVerdictAnswer, request)


def file_measurement(draft: MeasurementDraft) -> Call[answers.Appended]:
    """File a claim's measurement."""
    return _post("/edges/measured", answers.Appended, draft)


def edges(claim_id: str) -> Call[answers.EdgesAnswer]:
    """What a claim rests on."""
    return _get(f"/edges/{claim_id}", answers.EdgesAnswer)


def activate_policy(request: PolicyRequest) -> Call[answers.Appended]:
    """Put a policy in force."""
    return _post("/policy", answers.Appended, request)


def reverse_verdict(verdict_id: str, request: ReversalRequest) -> Call[answers.Appended]:
    """Withdraw a verdict."""
    return _post(f"/verdict/{verdict_id}/reverse", answers.Appended, request)


def erase(request: ErasureRequest) -> Call[answers.Appended]:
    """Destroy content and refuse its digest from now on."""
    return _post("/erasure", answers.Appended, request)


def sign_checkpoint(request: CheckpointRequest) -> Call[answers.CheckpointsAnswer]:
    """Sign the log as it stands."""
    return _post("/checkpoint", answers.CheckpointsAnswer, request)


def checkpoint(family: LogFamily = "evidence") -> Call[answers.CheckpointAnswer]:
    """The last checkpoint that is kept."""
    return _get("/checkpoint", answers.CheckpointAnswer, family=family)


def prove_inclusion(event_id: str, size: int | None = None) -> Call[answers.ProofAnswer]:
    """That an event stands in the log at a size."""
    return _get("/proof/inclusion", answers.ProofAnswer, event_id=event_id, size=size)


def prove_consistency(
    first: int, second: int | None = None, family: LogFamily = "evidence"
) -> Call[answers.ProofAnswer]:
    """That the log at one size begins with the log at a smaller one."""
    return _get("/proof/consistency", answers.ProofAnswer, first=first, second=second, family=family)


def audit() -> Call[answers.AuditAnswer]:
    """What fell, why, and what was refused."""
    return _get("/audit", answers.AuditAnswer)


def events(
    after: int = 0, limit: int = 100, family: LogFamily = "evidence", size: int | None = None
) -> Call[answers.EventsPage]:
    """A page of the log up to one signed size."""
    return _get("/events", answers.EventsPage, after=after, limit=limit, family=family, size=size)


def create_token(request: TokenRequest) -> Call[answers.NewTokenAnswer]:
    """Make a token; twice makes two, so that this call is never repeated by itself."""
    return _post("/token", answers.NewTokenAnswer, request, repeatable=False)


def tokens() -> Call[answers.TokensAnswer]:
    """The tokens of the admin's scope."""
    return _get("/token", answers.TokensAnswer)


def revoke_token(token_id: str) -> Call[answers.TokenAnswer]:
    """Take a token out of service."""
    return _post(f"/token/{token_id}/revoke", answers.TokenAnswer)
