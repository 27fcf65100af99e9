"""Facts told by several processes at once, in time zones of their own, and by a process that is killed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.process.support.client import DEADLINE, Server
from tests.process.support.launch import start_evoca

PLACES = ("Lugo", "Gijón", "Vigo")


def homes(server: Server, include_ended: bool = False) -> list[str]:
    given = {"query": "Marta", "predicate": "vive_en", "depth": 0, "limit": 200, "include_ended": include_ended}
    facts = server.ok("recall", given)
    return [str(fact["object"]) for fact in facts.objects("facts")]


def test_processes_that_tell_homes_at_once_leave_one_current(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with start_evoca(tmp_path / "a", store) as one, start_evoca(tmp_path / "b", store) as two:
        servers = (one, two)
        for server in servers:
            server.ok("recall", {"query": "Marta"})
        start = threading.Barrier(2)

        def tell(server: Server, first: int) -> None:
            start.wait(DEADLINE)
            for number in range(20):
                server.ok(
                    "remember", {"subject": "Marta", "predicate": "vive_en", "object": PLACES[(number + first) % 3]}
                )

        threads = [threading.Thread(target=tell, args=(server, number)) for number, server in enumerate(servers)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert homes(one) == homes(two)
        assert len(homes(one)) == 1
        history = homes(one, include_ended=True)
        assert set(history) == set(PLACES)
        assert homes(two, include_ended=True) == history


@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid", "America/Bogota"])
def test_times_are_the_same_in_every_time_zone(tmp_path: Path, zone: str) -> None:
    """Case: also in the night in which the clocks of Madrid go forward."""
    with start_evoca(tmp_path, tmp_path / "memory.db", env={"TZ": zone}) as server:
        told = ["2026-03-29T02:30:00+01:00", "2026-03-29T00:30:00Z", "2026-03-29", "2026-03-29T00:45:00"]
        for number, when in enumerate(told):
            fact = {"subject": "Ada", "predicate": "status", "value": number, "valid_from": when}
            server.ok("remember", fact)
        facts = server.ok("recall", {"query": "Ada", "include_ended": True}).objects("facts")
        spans = sorted((str(fact["valid_from"]), fact["value"]) for fact in facts)
        assert spans == [
            ("2026-03-29T00:00:00Z", 2),
            ("2026-03-29T00:30:00Z", 1),
            ("2026-03-29T00:45:00Z", 3),
            ("2026-03-29T01:30:00Z", 0),
        ]
        as_of = server.ok("recall", {"query": "Ada", "as_of": "2026-03-29T03:15:00+02:00"}).objects("facts")
        assert [fact["value"] for fact in as_of] == [3]


def test_what_was_told_survives_a_kill(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with start_evoca(tmp_path, store) as server:
        for place in PLACES:
            server.ok("remember", {"subject": "Marta", "predicate": "vive_en", "object": place})
        server.kill()
    with start_evoca(tmp_path, store) as server:
        assert homes(server) == ["Vigo"]
        assert homes(server, include_ended=True) == list(PLACES)
        path = server.ok("find_path", {"from": "Lugo", "to": "Vigo", "include_ended": True}).data["path"]
        assert path == ["Lugo", "Marta", "Vigo"]
