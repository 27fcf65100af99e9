"""What Prometheus reads. No label holds anything that a caller sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from evoca import __version__
from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError
from evoca.operations.base import Operation
from evoca.storage.contract import Cancelled
from evoca.surfaces.backend import Backend
from evoca.surfaces.http.health import Condition
from evoca.surfaces.http.replies import http_face

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS"})


class Metrics:
    """The process's numbers, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        at = self.registry
        self._requests = Counter(
            "evoca_http_requests", "Requests answered.", ("method", "route", "status"), registry=at
        )
        self._durations = Histogram(
            "evoca_http_request_seconds", "Time to the end of the answer.", ("route",), buckets=_SECONDS, registry=at
        )
        self._in_flight = Gauge("evoca_http_requests_in_flight", "Requests being answered.", registry=at)
        self._operations = Counter(
            "evoca_operations",
            "Operations done, or refused with a code.",
            ("operation", "surface", "outcome"),
            registry=at,
        )
        self._operation_durations = Histogram(
            "evoca_operation_seconds", "Time of an operation.", ("operation",), buckets=_SECONDS, registry=at
        )
        self._sessions = Gauge("evoca_mcp_sessions", "MCP sessions open.", registry=at)
        Gauge("evoca_info", "The version that runs.", ("version",), registry=at).labels(__version__).set(1)
        self._pending = Gauge("evoca_documents_pending", "Texts that wait for their vectors.", registry=at)
        self._size = Gauge("evoca_store_bytes", "Bytes of the store on disk.", registry=at)
        self._model = Gauge("evoca_indexer_state", "1 for the state that the indexer is in.", ("state",), registry=at)

    def watch_sessions(self, count: Callable[[], int]) -> None:
        """Where the number of open MCP sessions comes from."""
        self._sessions.set_function(count)

    def began(self) -> None:
        self._in_flight.inc()

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        self._in_flight.dec()
        shown = method if method in _METHODS else "other"
        self._requests.labels(shown, route, str(status)).inc()
        self._durations.labels(route).observe(seconds)

    def operation(self, name: str, surface: str, outcome: str, seconds: float) -> None:
        self._operations.labels(name, surface, outcome).inc()
        self._operation_durations.labels(name).observe(seconds)

    def exposition(self, condition: Condition | None) -> bytes:
        """The numbers as text. `condition` None: the store cannot be read, what it would tell is left as it was."""
        if condition is not None:
            self._pending.set(condition.pending)
            self._size.set(condition.size)
            self._model.clear()
            self._model.labels(condition.model).set(1)
        return generate_latest(self.registry)


class CountedBackend:
    """A backend whose operations are counted for one surface."""

    def __init__(self, backend: Backend, metrics: Metrics, surface: Literal["rest", "mcp"]) -> None:
        self._backend = backend
        self._metrics = metrics
        self._surface = surface

    @property
    def catalogue(self) -> tuple[Operation, ...]:
        return self._backend.catalogue

    def call(self, operation: Operation, raw: Mapping[str, object], caller: Caller = LOCAL) -> Mapping[str, object]:
        began, outcome = time.perf_counter(), "internal"
        try:
            result = self._backend.call(operation, raw, caller)
            outcome = "ok"
        except EvocaError as error:
            outcome = http_face(error).code
            raise
        except Cancelled:
            outcome = "cancelled"
            raise
        else:
            return result
        finally:
            self._metrics.operation(operation.name, self._surface, outcome, time.perf_counter() - began)

    def graph_version(self, caller: Caller = LOCAL) -> int:
        return self._backend.graph_version(caller)

    def authenticate(self, secret: str) -> Caller | None:
        return self._backend.authenticate(secret)

    def keys_in_place(self) -> bool:
        return self._backend.keys_in_place()

    def close(self) -> None:
        self._backend.close()
