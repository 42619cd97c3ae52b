"""The process dies or is asked to end while sixteen clients write: what was acknowledged is there, once, at its place."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger_core.belief.policies import STRICT_CLUSTERS, STRICT_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.service import calls
from ledger_core.service.client import Client, Retries
from ledger_core.service.errors import Unavailable
from ledger_core.service.requests import EntryDraft
from ledger_core.service.tokens import TokenStore
from ledger_core.stores import Ledger
from ledger_core.stores.verify import verify
from tests.ledger_core.service.drafts import entry
from tests.ledger_core.service.served import NOW, fresh_scope

pytestmark = [pytest.mark.slow, pytest.mark.invariant("§2.6", "§2.8", "EVENT-03")]

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = 16
ONCE = Retries(attempts=1)


@contextmanager
def process(home):
    """A serving process and its URL; killed on leaving, if it still lives."""
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.ledger_core.service.serving", str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = running.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), "the service did not start"
        yield running, url
    finally:
        running.kill()
        running.wait(timeout=20)
        running.stdout.close()


class Load:
    """Clients that each write notes of their own, one after the other, until the service is gone."""

    def __init__(self, token, content):
        self._token = token
        self._content = content
        self.acknowledged = {}
        """Number of client and note -> event id and offset."""
        self.next = [0] * CLIENTS

    def draft(self, number, note):
        return EntryDraft.model_validate(entry(self._content, key=f"{number}/{note}"), strict=False)

    def run(self, url, stop):
        """Write until ``stop`` is called, which ends the service, and every client has noticed."""
        threads = [threading.Thread(target=self._write, args=(url, number)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        before = len(self.acknowledged)
        deadline = time.monotonic() + 20
        while len(self.acknowledged) < before + 3 * CLIENTS and time.monotonic() < deadline:
            time.sleep(0.005)
        stop()
        for thread in threads:
            thread.join(timeout=30)
            assert not thread.is_alive()

    def _write(self, url, number):
        with Client(url, self._token, retries=ONCE) as client:
            while True:
                note = self.next[number]
                try:
                    (event,) = client.send(calls.commit_entry(self.draft(number, note))).events
                except Unavailable:
                    return
                self.acknowledged[number, note] = (event.event_id, event.position.committed_offset)
                self.next[number] += 1


@pytest.fixture
def scene(tmp_path):
    scope = fresh_scope()
    tokens = TokenStore(tmp_path)
    _, token = tokens.create(scope, "agent", now=NOW)
    tokens.close()
    with Ledger.open(tmp_path, scope, now=NOW, policy=STRICT_CLUSTERS, policy_name=STRICT_CLUSTERS_NAME) as ledger:
        content = ledger.put_blob(b"a note", TEXT).model_dump()
    return tmp_path, scope, Load(token, content)


def events(home, scope):
    with Ledger.open(home, scope, now=NOW, policy=STRICT_CLUSTERS, policy_name=STRICT_CLUSTERS_NAME) as ledger:
        report = verify(ledger)
        assert report.first_divergence is None, report.first_divergence
        return {event.event_id: event.position.committed_offset for event in ledger.events()}


def test_a_kill_loses_nothing_that_was_acknowledged_and_repeating_appends_nothing_twice(scene):
    home, scope, load = scene
    chance = random.Random(7)
    for _ in range(3):
        with process(home) as (running, url):

            def kill(running=running):
                time.sleep(chance.uniform(0, 0.2))
                running.send_signal(signal.SIGKILL)

            load.run(url, kill)
        there = events(home, scope)
        assert {event_id: there.get(event_id) for event_id, _ in load.acknowledged.values()} == dict(
            load.acknowledged.values()
        )
        # One request of each client may have been committed and cut off before its answer.
        assert len(there) - len(load.acknowledged) <= CLIENTS
    with process(home) as (running, url), Client(url, load._token) as client:
        for number, note in enumerate(load.next):
            (event,) = client.send(calls.commit_entry(load.draft(number, note))).events
            load.acknowledged[number, note] = (event.event_id, event.position.committed_offset)
    assert events(home, scope) == dict(load.acknowledged.values())


def test_asked_to_end_it_answers_what_it_has_begun_and_appends_nothing_unsaid(scene):
    home, scope, load = scene
    for ending in (signal.SIGTERM, signal.SIGINT):
        with process(home) as (running, url):
            load.run(url, lambda running=running, ending=ending: running.send_signal(ending))
            assert running.wait(timeout=30) in {0, -ending}
        assert events(home, scope) == dict(load.acknowledged.values())
