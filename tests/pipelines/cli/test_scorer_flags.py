"""Who scores a response, from options and the environment."""

from __future__ import annotations

import pytest

from attribution.library import Completions, Regenerate
from attribution.scorers.rationed import RationedConnection
from pipelines.cli.scorer_flags import Scoring
from pipelines.errors import UsageError
from tests.ledger_core.providers.local_server import KEY

SERVER = {"base_url": "http://127.0.0.1:9/v1", "model_name": "m"}


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_nothing_said_is_the_model_here():
    assert Scoring().chosen() is None
    assert Scoring(scorer="model").chosen() is None


@pytest.mark.usefixtures("key")
def test_each_server_is_chosen_with_what_it_needs(monkeypatch):
    scorer = Scoring(scorer="completions", server_dtype="bfloat16", dialect="echo", **SERVER).chosen()
    assert isinstance(scorer, Completions)
    assert (scorer.name, scorer.dtype, scorer.dialect) == ("m", "bfloat16", "echo")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8/v1")
    several = Scoring(scorer="regenerate", model_name="m", samples=3, value="17", max_requests=5).chosen()
    assert isinstance(several, Regenerate)
    assert (several.samples, several.value, several.llm.model) == (3, "17", "m")
    assert several.llm._options == {"temperature": 1.0}
    assert isinstance(several.llm._connection, RationedConnection)
    assert several.llm._connection.base_url == "http://127.0.0.1:8/v1"


@pytest.mark.usefixtures("key")
def test_no_key_is_shown():
    assert KEY not in repr(Scoring(scorer="completions", server_dtype="float32", **SERVER).chosen())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scorer": "guess"}, "--scorer 'guess' is unknown; choose model, completions or regenerate"),
        ({"samples": 2}, "--samples is for --scorer regenerate; leave it out with model"),
        ({"scorer": "regenerate", "dialect": "echo"}, "--dialect is for --scorer completions; leave it out"),
        ({"scorer": "completions", "base_url": "http://x/v1"}, "--scorer completions needs --model-name"),
        ({"scorer": "regenerate", "model_name": "m"}, "--scorer regenerate needs --base-url"),
        ({"scorer": "completions", **SERVER}, "--scorer completions needs --server-dtype"),
        ({"scorer": "completions", "dialect": "x", "server_dtype": "float32", **SERVER}, "--dialect 'x' is unknown"),
    ],
)
@pytest.mark.usefixtures("key")
def test_what_does_not_fit_is_named(options, says):
    with pytest.raises(UsageError, match=says):
        Scoring(**options).chosen()


def test_a_key_comes_from_the_environment_alone(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="needs a key in OPENAI_API_KEY"):
        Scoring(scorer="regenerate", **SERVER).chosen()
