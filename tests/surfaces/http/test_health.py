"""Health and metrics."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families

from evoca.errors import EvocaError, StoreBusy, StoreReadOnly, StoreUnopenable
from evoca.settings import load_settings
from evoca.surfaces.http.app import HttpApp
from evoca.surfaces.http.health import Condition
from tests.surfaces.http.asgi import Client, Keyed, Well, bearer, client
from tests.surfaces.toy import Toy
from tests.surfaces.waiting import DEADLINE

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Ill(Well):
    """A store that fails when it is read, or only when it is written."""

    def __init__(self, reading: EvocaError | None = None, writing: EvocaError | None = None) -> None:
        self.reading = reading
        self.writing = writing
        self.asked = 0

    def condition(self) -> Condition:
        self.asked += 1
        if self.reading is not None:
            raise self.reading
        return super().condition()

    def try_writing(self) -> None:
        if self.writing is not None:
            raise self.writing


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


async def test_a_well_server_is_ready(toy: Toy) -> None:
    async with client(toy) as http:
        assert (await http.ask("GET", "/healthz")).json == {"status": "ok"}
        assert (await http.ask("GET", "/readyz")).json == {"status": "ready", "backlog": 3, "model": "idle"}
        assert (await http.ask("HEAD", "/readyz")).status == 200


@pytest.mark.parametrize(
    ("ill", "code"),
    [
        (
            Ill(reading=StoreUnopenable("/home/ana/secret.db cannot be opened", "Look at /home/ana.")),
            "store_unopenable",
        ),
        (Ill(writing=StoreReadOnly("/home/ana/secret.db cannot be written")), "store_read_only"),
        (Ill(writing=StoreBusy("/home/ana/secret.db is busy")), "store_busy"),
    ],
)
async def test_an_ill_store_is_told_without_its_place(toy: Toy, ill: Ill, code: str) -> None:
    app = HttpApp(toy, ill, load_settings())
    async with app.running():
        answer = await Client(app).ask("GET", "/readyz")
        assert (answer.status, answer.code) == (503, code)
        assert b"ana" not in answer.body
        assert (await Client(app).ask("GET", "/healthz")).status == 200


async def test_asking_often_costs_nothing(toy: Toy) -> None:
    ill = Ill()
    app = HttpApp(toy, ill, load_settings())
    async with app.running():
        for _ in range(5):
            assert (await Client(app).ask("GET", "/readyz")).status == 200
    assert ill.asked == 1


class Stuck(Well):
    """A store that does not answer before it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def condition(self) -> Condition:
        self.free.wait(DEADLINE)
        return super().condition()


async def test_a_store_that_does_not_answer_holds_nobody_up(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evoca.surfaces.http.health.PATIENCE", 0.05)
    stuck = Stuck()
    app = HttpApp(toy, stuck, load_settings())
    async with app.running():
        with anyio.fail_after(DEADLINE / 2):
            for _ in range(3):
                answer = await Client(app).ask("GET", "/readyz")
                assert (answer.status, answer.code) == (503, "store_busy")
            assert (await Client(app).ask("GET", "/metrics")).status == 200
        stuck.free.set()
        with anyio.fail_after(DEADLINE):
            while (await Client(app).ask("GET", "/readyz")).status != 200:  # noqa: ASYNC110 - only asking tells it
                await anyio.sleep(0.01)


def numbers(text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


async def test_metrics_count_what_happened(toy: Toy) -> None:
    async with client(toy) as http:
        await http.call("echo", {"text": "a"})
        await http.call("repeat", {"text": "a"})
        await http.call("echo", {})
        await http.call("busy", {})
        await http.ask("BREW", "/secreto")
        answer = await http.ask("GET", "/metrics")
        found = numbers(answer.body)

    def requests(method: str, route: str, status: str) -> float:
        return found["evoca_http_requests_total", (("method", method), ("route", route), ("status", status))]

    def operations(name: str, outcome: str) -> float:
        return found["evoca_operations_total", (("operation", name), ("outcome", outcome), ("surface", "rest"))]

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert requests("POST", "/v1/echo", "200") == requests("POST", "/v1/repeat", "200") == 1
    assert requests("POST", "/v1/echo", "400") == 1
    assert requests("other", "other", "404") == 1
    assert operations("echo", "ok") == 2
    assert operations("echo", "invalid_request") == operations("busy", "store_busy") == 1
    assert found["evoca_http_requests_in_flight", ()] == 1
    assert found["evoca_documents_pending", ()] == 3
    assert found["evoca_store_bytes", ()] == 4096
    assert found["evoca_indexer_state", (("state", "idle"),)] == 1
    assert b"secreto" not in answer.body


async def test_metrics_are_there_when_the_store_is_not(toy: Toy) -> None:
    app = HttpApp(toy, Ill(reading=StoreBusy("busy")), load_settings())
    async with app.running():
        assert (await Client(app).ask("GET", "/metrics")).status == 200


async def test_metrics_are_for_keys_of_every_collection(tmp_path: Path) -> None:
    async with client(Keyed(tmp_path)) as http:
        assert (await http.ask("GET", "/metrics")).status == 401
        assert (await http.ask("GET", "/metrics", bearer("evoca_lectura"))).status == 200
        refused = await http.ask("GET", "/metrics", bearer("evoca_casa"))
        assert (refused.status, refused.code) == (403, "forbidden")
