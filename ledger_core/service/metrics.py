"""What `/metrics` tells: requests, commits, waiting; nothing by which one tenant could be told from another."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE: Final = CONTENT_TYPE_LATEST
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_GROUPS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The figures of one service, in a registry of their own so that two services in a process do not mix."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.requests = Counter(
            "veritas_http_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self.seconds = Histogram(
            "veritas_http_request_seconds",
            "Time from a request's first byte to its answer's last.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge("veritas_http_requests_in_flight", "Requests being answered.", registry=registry)
        self.statements = Counter(
            "veritas_statements", "Statements acknowledged.", ("kind", "outcome"), registry=registry
        )
        self.refusals = Counter("veritas_problems", "Problems answered, by kind.", ("kind",), registry=registry)
        self.group_size = Histogram(
            "veritas_commit_requests", "Requests that shared a commit.", buckets=_GROUPS, registry=registry
        )
        self.open_ledgers = Gauge("veritas_open_ledgers", "Ledgers held open.", registry=registry)
        self.blob_bytes = Counter("veritas_blob_bytes", "Bytes of content received.", registry=registry)

    def exposition(self) -> bytes:
        """The figures in Prometheus's text format."""
        return generate_latest(self._registry)
