"""Memories of real processes: killed between save and vector, saving one text at once, errors as the contract says."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.process.support.client import DEADLINE
from tests.process.support.launch import start_evoca
from tests.surfaces.waiting import until

WAITING = {"EVOCA_EMBEDDER": "hash", "EVOCA_INDEXER": "false", "EVOCA_CATCH_UP": "0"}
"""A server that saves and never embeds: what it leaves is between save and vector."""


def test_a_kill_between_save_and_vector_loses_neither_memory_nor_links(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with start_evoca(tmp_path, store, env=WAITING) as server:
        texts = ["El faro parpadea de noche", "El faro parpadea por la noche", "El faro parpadea de noche junto al mar"]
        pending = [
            server.post("save_hipocampo", {"content": text, "session_id": "s", "auto_link": True}) for text in texts
        ]
        ids = sorted(int(call.reply().number("id")) for call in pending)
        assert server.ok("link_hipocampo", {"source_id": ids[0], "target_id": ids[1]}).data["status"]
        assert server.ok("hipocampo_stats").data["by_tier"] == {"HOT": 0, "WARM": 3, "COLD": 0}
        server.kill()
    with start_evoca(tmp_path, store, env={"EVOCA_EMBEDDER": "hash"}) as server:
        found = server.ok("search_hipocampo", {"query": "faro noche"})
        assert sorted(int(str(hit["id"])) for hit in found.objects("memories")) == ids

        def caught_up() -> bool:
            stats = server.ok("hipocampo_stats")
            return stats.number("pending") == 0 and stats.number("to_examine") == 0

        until(caught_up, "what was left is taken up")
        assert server.ok("hipocampo_stats").data["by_tier"] == {"HOT": 3, "WARM": 0, "COLD": 0}
        links = server.ok("get_hipocampo", {"id": ids[0]}).objects("links")
        assert {str(link["relation_type"]) for link in links} == {"related", "similar"}


def test_processes_that_save_one_text_at_once_make_one_memory(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with (
        start_evoca(tmp_path / "a", store) as one,
        start_evoca(tmp_path / "b", store) as two,
        start_evoca(tmp_path / "c", store) as three,
    ):
        for server in (one, two, three):
            server.ok("search_hipocampo")
        start = threading.Barrier(3)
        statuses: list[str] = []

        def save(name: str, number: int) -> None:
            server = {"one": one, "two": two, "three": three}[name]
            start.wait(DEADLINE)
            statuses.append(str(server.ok("save_hipocampo", {"content": f"Nota {number}"}).data["status"]))

        for number in range(10):
            threads = [threading.Thread(target=save, args=(name, number)) for name in ("one", "two", "three")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sorted(statuses) == ["duplicate"] * 20 + ["saved"] * 10
        assert one.ok("search_hipocampo").number("total") == 10


def test_errors_are_spanish_sentences_in_both_places(tmp_path: Path) -> None:
    with start_evoca(tmp_path, tmp_path / "memory.db") as server:
        blank = server.call("save_hipocampo", {"content": " "})
        unknown = server.call("get_hipocampo", {"id": 99})
        for reply, sentence in (
            (blank, "❌ El contenido no puede estar vacío."),
            (unknown, "❌ No se encontró recuerdo"),
        ):
            assert reply.is_error
            assert str(reply.data["result"]).startswith(sentence)
            assert reply.data["error"] == reply.data["result"]
            assert reply.data["status"] == "error"
        refused = server.call("save_hipocampo", {"content": "x", "contnet": "y"})
        assert refused.is_error
        assert "contnet" in str(refused.data["error"])
        saved = server.ok("save_hipocampo", {"content": "Clave", "critico": True})
        kept = server.call("delete_hipocampo", {"id": saved.number("id")})
        assert (kept.is_error, kept.data["status"]) == (False, "protected")
