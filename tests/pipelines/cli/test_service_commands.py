"""`veritas token` and `veritas serve`: who may speak, and a service that only this machine reaches."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest

from ledger_core.service.permissions import ROLES
from tests.pipelines.cli.conftest import ROOT

SCOPE = ("--tenant", "acme", "--project", "support")
TOKEN = re.compile(r"vt_[0-9a-f]{16}_[0-9a-f]{64}")


class TestToken:
    @pytest.mark.parametrize("role", ROLES)
    def test_create_prints_the_token_alone_on_standard_output(self, veritas, role):
        done = veritas("token", "create", "--role", role, *SCOPE)
        assert done.code == 0
        assert TOKEN.fullmatch(done.out.strip())
        assert f"{role} of acme/support, for good" in done.err
        assert done.out.strip() not in done.err

    def test_json_says_everything_once(self, veritas):
        made = veritas(
            "token", "create", "--role", "agent", *SCOPE, "--principal", "agent.one", "--days", "3", "--json"
        ).json
        assert TOKEN.fullmatch(made["token"])
        assert (made["tenant"], made["project"], made["principal"]) == ("acme", "support", "agent.one")
        (listed,) = veritas("token", "list", "--json").json["tokens"]
        assert listed == {name: value for name, value in made.items() if name != "token"}
        assert listed["expires_at"] > listed["created_at"]

    def test_list_names_scopes_and_states_and_never_a_secret(self, veritas):
        texts = [veritas("token", "create", "--role", role, *SCOPE).out.strip() for role in ("agent", "sealer")]
        veritas("token", "create", "--role", "agent", "--tenant", "other")
        veritas("token", "revoke", texts[0].split("_")[1])
        everything, ours = veritas("token", "list").out, veritas("token", "list", *SCOPE).out
        assert everything.count("\n") == 3
        assert ours.count("\n") == 2
        assert re.search(r"revoked +agent +acme/support", ours)
        assert re.search(r"valid +sealer +acme/support", ours)
        assert not any(text.rpartition("_")[2] in everything for text in texts)

    def test_what_cannot_be_is_refused_in_one_line(self, veritas):
        assert "no role is called 'root'" in veritas("token", "create", "--role", "root").refused(2)
        assert "--tenant 'A'" in veritas("token", "create", "--role", "agent", "--tenant", "A").refused(2)
        assert "principal 'A'" in veritas("token", "create", "--role", "agent", "--principal", "A").refused(2)
        assert "no token has the id 'x'" in veritas("token", "revoke", "x").refused(1)


class TestServe:
    @pytest.mark.parametrize("host", ["0.0.0.0", "::"])
    def test_an_address_that_others_reach_needs_a_flag(self, veritas, host):
        assert "--allow-remote" in veritas("serve", "--host", host, "--port", "0").refused(2)

    def test_what_cannot_be_is_refused_in_one_line(self, veritas, tmp_path):
        assert "no policy is called 'lax'" in veritas("serve", "--port", "0", "--policy", "lax").refused(2)
        assert "is no address" in veritas("serve", "--host", "no.such.host.example", "--port", "0").refused(2)
        assert "both the certificate" in veritas("serve", "--port", "0", "--certificate", tmp_path / "x").refused(2)

    @pytest.mark.slow
    def test_a_service_serves_a_token_that_was_made_while_it_ran_and_stops_when_asked(self, home, veritas):
        running = subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli", "--home", str(home), "serve", "--port", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            line = running.stdout.readline()
            url = line.split()[0]
            assert line == f"{url} serves {home} (Ctrl-C stops it)\n"
            token = veritas("token", "create", "--role", "auditor", *SCOPE).out.strip()
            with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
                assert http.get("/head").json()["policy"]["name"] == "strict"
                veritas("token", "revoke", token.split("_")[1])
                assert http.get("/head").status_code == 401
            running.send_signal(signal.SIGTERM)
            _, errors = running.communicate(timeout=30)
            assert running.returncode in {0, -signal.SIGTERM}
            assert errors == ""
        finally:
            running.kill()
            running.wait(timeout=20)
