"""An agent behind any server that speaks OpenAI's chat completions.

Whatever goes wrong at the server is an outcome of one trial and never the end of a run. Every answer is kept the moment it
is there, so that a run that is killed asks nothing twice and re-rolls nothing: one that is empty, cut or wrong stands
like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from evals.agents.accounting import Account, Pace
from evals.agents.answer_cache import AnswerCache
from evals.agents.base import Answer, Choice, Fault
from evals.agents.local import first_sentence
from evals.agents.text_prompt import Asked, TextTokenizer, asked, without_stem
from evals.errors import AgentError
from evals.prompts import AssembledPrompt
from evals.trials import ForcedChoice
from ledger_core.kernel import digests
from ledger_core.kernel.claims import SPLITTER
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.errors import ProviderError
from ledger_core.kernel.text import MAX_FOREIGN_NAME_BYTES
from ledger_core.providers import Completion, Message, OpenAiConnection, OpenAiLlm, Usage

_FORM = "chat-v1"
"""Part of every key: how a prompt becomes messages. Other words need another name."""

_LONGEST_REASON = 300

_THOUGHT = re.compile(r"\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
"""What some models think aloud before they answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How a server is asked: everything of it is part of an answer's key."""

    model: str
    temperature: float | None = 0.0
    """None for models that refuse one."""
    seed: int | None = 0
    """None for servers that refuse one; repeat r is asked with seed + r."""
    max_answer_tokens: int = 64
    """Room for the stem and one sentence."""
    max_summary_tokens: int = 160
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the server calls the limit: `max_tokens` or `max_completion_tokens`."""

    def __post_init__(self) -> None:
        """Refuse what no server could take.

        Raises:
            AgentError: no model, no room for an answer, an unknown name of the limit.
        """
        if not self.model:
            raise AgentError("an agent needs the model's name as its server calls it")
        if self.max_answer_tokens < 1 or self.max_summary_tokens < 1:
            raise AgentError("an answer and a summary need at least one token each")
        if self.limit not in {"max_tokens", "max_completion_tokens"}:
            raise AgentError(f"the limit is called max_tokens or max_completion_tokens, not {self.limit!r}")


class OpenAiAgent:
    """Answers of a chat model; an :class:`~evals.agents.base.Agent` that can also sum up notes.

    Its prompts are assembled with :attr:`tokenizer`.
    """

    tokenizer = TextTokenizer()

    def __init__(
        self,
        connection: OpenAiConnection,
        settings: ChatSettings,
        *,
        cache: AnswerCache | None = None,
        account: Account | None = None,
        pace: Pace | None = None,
        repeat: int = 0,
    ) -> None:
        """Ask ``connection`` as ``settings`` say.

        Args:
            connection: the server; it retries what is worth it.
            settings: model and parameters.
            cache: answers by everything that decides them; in memory alone where None.
            account: counts, shared by repeats.
            pace: limits that the user knows of.
            repeat: index of the repeat. Repeats share no answers.

        Raises:
            AgentError: a negative repeat, or a name that no trial could hold.
        """
        if repeat < 0:
            raise AgentError(f"repeat {repeat} is negative; the first one is 0")
        self._connection = connection
        self.settings = settings
        self.account = account or Account()
        self.repeat = repeat
        self._cache = cache or AnswerCache()
        self._pace = pace or Pace()
        self._llm = OpenAiLlm(
            connection,
            settings.model,
            temperature=settings.temperature,
            seed=None if settings.seed is None else settings.seed + repeat,
            limit=settings.limit,
        )
        if len(self.name.encode()) > MAX_FOREIGN_NAME_BYTES:
            raise AgentError(
                f"{self.name!r} is longer than the {MAX_FOREIGN_NAME_BYTES} bytes that a trial can name its agent with; "
                "reach the server under a shorter address"
            )

    @property
    def name(self) -> str:
        """Model, server and decoding, without credentials."""
        chosen = self.settings
        decoding = (
            f"temperature {_shown(chosen.temperature)}, seed {_shown(chosen.seed)}, {chosen.max_answer_tokens} tokens"
        )
        return f"openai {chosen.model} at {self.server}, {decoding}"

    @property
    def server(self) -> str:
        """The base URL without a user's name and password."""
        return address_of(self._connection)

    def of_repeat(self, repeat: int) -> OpenAiAgent:
        """The same agent for another repeat; counts and limits are shared, answers are not."""
        return OpenAiAgent(
            self._connection, self.settings, cache=self._cache, account=self.account, pace=self._pace, repeat=repeat
        )

    def answer(self, prompt: AssembledPrompt) -> Answer | Fault:
        """One sentence, without the stem it was asked to begin with; an empty answer is an answer."""
        said = self._said("answer", prompt, self.settings.max_answer_tokens)
        return said if isinstance(said, Fault) else replace(said, text=first_sentence(said.text))

    def summarise(self, prompt: AssembledPrompt) -> Answer | Fault:
        """A few sentences on one line."""
        return self._said("summary", prompt, self.settings.max_summary_tokens)

    def forced_choice(
        self,
        prompt: AssembledPrompt,  # noqa: ARG002 - one signature for all agents
        own_stem: str,  # noqa: ARG002
        candidates: Mapping[ForcedChoice, Sequence[str]],  # noqa: ARG002
    ) -> Choice | Fault:
        """Never: a chat server does not say how likely a text is that it did not write."""
        return Fault("a chat server gives no log-probability of a value that it did not write itself")

    def _said(self, purpose: str, prompt: AssembledPrompt, max_tokens: int) -> Answer | Fault:
        try:
            chat = asked(prompt)
        except AgentError as error:
            return self._fault(error)
        key = self.key(purpose, chat.messages, max_tokens)
        document = self._cache.get(key)
        known = _kept(document)
        if known is not None:
            self.account.from_cache += 1
            completion, attempts = known
        else:
            failed, before = _failed(document), self._connection.retries
            self._pace.wait()
            try:
                completion = self._llm.complete(chat.messages, max_tokens=max_tokens)
            except ProviderError as error:
                attempts = failed + self._attempts_since(before)
                self._cache.put(key, {"failed": attempts})
                return self._fault(error, attempts)
            attempts = failed + self._attempts_since(before)
            self._pace.took(completion)
            self.account.took(completion)
            self._cache.put(key, _document(completion, attempts))
        return Answer(_words(completion.text, chat), (), attempts)

    def _attempts_since(self, before: int) -> int:
        again = self._connection.retries - before
        self.account.retries += again
        return again + 1

    def _fault(self, error: Exception, attempts: int = 1) -> Fault:
        self.account.faults[type(error).__name__] += 1
        said = " ".join(str(error).replace(self._connection.base_url, self.server).split())
        return Fault(f"{type(error).__name__}: {said}"[:_LONGEST_REASON], attempts)

    def key(self, purpose: str, messages: Sequence[Message], max_tokens: int) -> DigestHex:
        """The key of an answer: everything that may decide it, and nothing secret."""
        chosen = self.settings
        parts = [
            *("openai", _FORM, SPLITTER, purpose, self.server, chosen.model, f"repeat {self.repeat}"),
            *(f"temperature {chosen.temperature!r}", f"seed {chosen.seed!r}", f"{chosen.limit} {max_tokens}"),
            *(text for message in messages for text in (message.role, message.content)),
        ]
        return digests.framed_hex(Prefix.CONFIG, [part.encode("utf-8", "replace") for part in parts])


def address_of(connection: OpenAiConnection) -> str:
    """The base URL of a server without a user's name and password."""
    parts = urlsplit(connection.base_url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _words(text: str, chat: Asked) -> str:
    """What counts of an answer: without thoughts and without the stem, on one line."""
    return " ".join(without_stem(_THOUGHT.sub("", text, count=1), chat.stem).split())


def _document(completion: Completion, attempts: int) -> dict[str, object]:
    usage = completion.usage
    return {
        "text": completion.text,
        "finish": completion.finish,
        "model": completion.model,
        "usage": None if usage is None else [usage.prompt_tokens, usage.completion_tokens],
        "attempts": attempts,
    }


def _kept(document: Mapping[str, object] | None) -> tuple[Completion, int] | None:
    """A kept answer with its attempts; None where there is none, or its file says something else."""
    if document is None:
        return None
    text, finish, model, attempts = (document.get(name) for name in ("text", "finish", "model", "attempts"))
    usage = document.get("usage")
    if not isinstance(text, str) or not isinstance(model, str) or not isinstance(attempts, int):
        return None
    counts = Usage(*usage) if isinstance(usage, list) and len(usage) == 2 else None  # noqa: PLR2004 - two counts
    return Completion(
        text, "length" if finish == "length" else "stop" if finish == "stop" else "other", model, counts
    ), attempts


def _failed(document: Mapping[str, object] | None) -> int:
    """Attempts of this answer that failed before, in this run or in one that was killed."""
    failed = (document or {}).get("failed")
    return failed if isinstance(failed, int) and failed > 0 else 0


def _shown(value: float | None) -> str:
    return "unset" if value is None else f"{value:g}"
