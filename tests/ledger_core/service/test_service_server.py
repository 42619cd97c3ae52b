"""Where the service listens, TLS, and a ledger whose events a database server keeps."""

from __future__ import annotations

import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ledger_core.service import calls
from ledger_core.service.errors import ConfigurationError
from ledger_core.service.server import Binding, require_loopback, serve
from ledger_core.stores.place import Place
from tests.ledger_core.service.drafts import entry, put, sealed, verdict
from tests.ledger_core.service.served import config_of, served

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_the_loopback_needs_no_leave(host):
    require_loopback(Binding(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1", "169.254.1.1"])
def test_any_other_address_is_refused_unless_it_is_meant(host):
    with pytest.raises(ConfigurationError, match="--allow-remote"):
        require_loopback(Binding(host=host))
    require_loopback(Binding(host=host, allow_remote=True))


def test_what_does_not_start_says_why(tmp_path):
    with served(config_of(tmp_path / "one")) as running:
        port = int(running.url.rpartition(":")[2])
        with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1:{port}"):
            serve(config_of(tmp_path / "two"), Binding(port=port), print)
    with pytest.raises(ConfigurationError, match="give both or neither"):
        serve(config_of(tmp_path), Binding(port=0, private_key=tmp_path / "key"), print)


def pair(folder):
    """A certificate of this machine's loopback, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


@pytest.mark.slow
def test_with_a_certificate_it_speaks_tls(tmp_path):
    certificate, key = pair(tmp_path)
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.ledger_core.service.serving", str(tmp_path), str(certificate), str(key)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = running.stdout.readline().strip().replace("127.0.0.1", "localhost")
        assert url.startswith("https://localhost:")
        trust = ssl.create_default_context(cafile=str(certificate))
        assert httpx.get(f"{url}/healthz", verify=trust).json() == {"status": "ok"}
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/healthz".replace("https", "http"))
    finally:
        running.kill()
        running.wait(timeout=20)
        running.stdout.close()


@pytest.mark.slow
def test_events_in_a_database_server_and_content_under_keys(tmp_path, postgres, scope):
    place = Place(tmp_path / "home", store=postgres.create("service"), keys=tmp_path / "keys")
    with served(config_of(tmp_path / "home", place=place)) as service:
        sealer = service.as_role("sealer", scope)
        target = sealed(sealer, "The tower is 310 m.", step=1, host="alpha.example")
        for step, host in ((2, "beta.example"), (3, "gamma.example")):
            candidate = sealed(sealer, f"330 m, says {host}", step=step, host=host)
            filed = service.as_role("verifier", scope).post("/verdict", json=verdict(target, candidate)).json()
        assert filed["fired"]
        agent = service.as_role("agent", scope)
        request = entry(put(agent, b"a note"))
        assert [agent.post("/entry", json=request).status_code for _ in range(2)] == [201, 200]
        assert agent.post("/entry", json=entry(put(agent, b"another"))).status_code == 409
        assert agent.get(f"/entry/{target}").json()["status"] == "invalidated"
        assert service.client("auditor", scope).send(calls.events()).checkpoint
        size = service.client("auditor", scope).send(calls.head()).evidence.size
        postgres.kill_backends("service")
        request = entry(put(agent, b"after the connection broke"), key="2")
        made = service.client("agent", scope)
        assert made.send(calls.commit_entry(draft_of(request))).events[0].position.committed_offset == str(size + 1)
    stored = [path.read_bytes() for path in (tmp_path / "home" / "ledgers").rglob("*") if path.is_file()]
    assert stored
    assert not any(b"The tower is 310 m." in data for data in stored)


def draft_of(request):
    import json

    from ledger_core.service.requests import EntryDraft

    return EntryDraft.model_validate_json(json.dumps(request))
