"""A real HTTP server on loopback that answers what a test tells it to, in order."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ledger_core.providers import OpenAiConnection

KEY = "key-that-no-message-may-hold"


@dataclass
class Reply:
    """One answer; ``hang`` holds it back until the test is over, ``drop`` closes the connection without one."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    drop: bool = False
    cut: bool = False
    """Promise more bytes than are sent."""
    drip: float = 0.0
    """Seconds between one byte and the next."""


@dataclass
class Request:
    path: str
    key: str | None
    body: dict
    headers: dict[str, str]


class Server:
    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.rule: Callable[[Request], Reply] | None = None
        """Answers what ``replies`` do not."""
        self.requests: list[Request] = []
        self.waits: list[float] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.requests.append(
                    Request(self.path, self.headers["authorization"], json.loads(body), dict(self.headers))
                )
                reply = outer.replies.pop(0) if outer.replies else outer.rule(outer.requests[-1])
                if reply.hang:
                    outer.over.wait(10)
                if reply.hang or reply.drop:
                    self.close_connection = True
                    return
                data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                self.send_header("content-length", str(len(data) + (10 if reply.cut else 0)))
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self._send(data, reply.drip)
                self.close_connection = reply.cut

            def _send(self, data, drip):
                if not drip:
                    self.wfile.write(data)
                    return
                with contextlib.suppress(OSError):
                    for byte in data:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        if outer.over.wait(drip):
                            return

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def connection(self, **options):
        options = {"sleep": self.waits.append, "now": lambda: 1_000_000_000.0, "jitter": lambda: 0.0} | options
        return OpenAiConnection(self.url, KEY, **options)

    def close(self) -> None:
        self.over.set()
        self.http.shutdown()
        self.http.server_close()


def chat(text: str | None = "yes", finish: str = "stop", **more):
    message = {"role": "assistant", "content": text}
    return Reply(
        body={
            "id": "c",
            "model": "m-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            **more,
        }
    )


def error(status: int, code: str | None = None, message: str = "no", **headers: str):
    return Reply(
        status, {"error": {"message": message, "code": code}}, {k.replace("_", "-"): v for k, v in headers.items()}
    )


def vectors(*rows, indexes=None):
    numbers = indexes or range(len(rows))
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in zip(numbers, rows, strict=True)]
    return Reply(body={"object": "list", "model": "e", "data": data})
