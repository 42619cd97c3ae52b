"""The whole way: a ledger on disk, an embedding and a chat model behind real HTTP, two verdicts, one retraction."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4, fold
from ledger_core.belief.policies import SEED_V4_NAME
from ledger_core.harness.checking import Checker
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import ProviderUnavailableError
from ledger_core.providers import Message, OpenAiEmbedder, OpenAiLlm
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.verify import verify
from ledger_core.verification import Verifier
from tests.ledger_core.belief.book import SCOPE, Book
from tests.ledger_core.providers.local_server import Server, chat, error, vectors
from tests.ledger_core.verification.fakes import records, says

NOW = "2026-01-02T00:00:00.000000000Z"


def serve(request):
    """A server with two models: words as vectors, and a chat that sees that 350 is not 400."""
    if request.path.endswith("/embeddings"):
        return vectors(*FakeEmbedder().embed(request.body["input"]).tolist())
    a, b = records([Message(**turn) for turn in request.body["messages"]])
    return chat(says("contradict" if ("350" in a) != ("350" in b) else "support", a, b))


@pytest.fixture
def server():
    running = Server()
    running.rule = serve
    yield running
    running.close()


@pytest.fixture
def told(tmp_path):
    book = Book()
    target = book.seal(
        "t.example", "According to this shop the antique brass lamp costs 400 euros, delivery not included."
    )
    book.seal(
        "a.example", "We sell an antique lamp of brass for 350 euros; that is its price since March, says the owner."
    )
    book.seal(
        "b.example", "350 euros is what the lamp costs. Brass, antique, and delivered by our own van on Saturdays."
    )
    with Ledger.open(tmp_path, SCOPE, now=NOW, policy=SEED_V4, policy_name=SEED_V4_NAME) as ledger:
        for data in book.blobs.values():
            ledger.put_blob(data, TEXT)
        ledger.append(book.statements, role="sealer")
        yield ledger, target


def checker(ledger, connection):
    embedder = OpenAiEmbedder(connection, "e")
    return Checker(ledger, Verifier(OpenAiLlm(connection, "m"), embedder), VerdictDesk(ledger, embedder))


def test_two_sources_retract_a_third_through_a_server_that_is_busy_at_first(server, told):
    ledger, target = told
    server.replies = [error(503), error(429, retry_after="2")]
    with server.connection() as connection:
        checked = checker(ledger, connection).check(target)
    assert [each.outcome for each in checked] == ["filed", "filed"]
    assert [each.filed.value for each in checked] == ["contradict", "contradict"]
    assert [each.filed.fired for each in checked] == [False, True]
    assert server.waits == [0.5, 2.0]
    assert fold((event.statement for event in ledger.events()), ledger.policy()).entries[target].retracted
    assert verify(ledger).first_divergence is None


def test_a_server_that_stays_busy_files_nothing(server, told):
    ledger, target = told
    server.rule = lambda _: error(503)
    head = ledger.head()
    with server.connection() as connection, pytest.raises(ProviderUnavailableError, match="503 to each of 4 attempts"):
        checker(ledger, connection).check(target)
    assert ledger.head() == head
