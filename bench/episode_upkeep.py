"""What looking after many memories costs. `python -m bench.episode_upkeep [memories]`; CPU seconds, as JSON.

50,000 memories in 500 sessions over a year, a hundredth of them copies, a fifth linked; every one has a vector of a
deterministic stand-in model. Each dry run is timed by itself, then each real run.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.corpus import sentence
from bench.upkeep import cpu
from evoca.domain.clock import DAY, SystemClock
from evoca.domain.episodes import AUTOMATICA, EPISODICA, SEMANTICA, NewEpisode, NewEpisodeLink
from evoca.domain.identity import signature
from evoca.retrieval.embedders import load_embedder
from evoca.retrieval.index import pack_vectors
from evoca.runtime import Runtime
from evoca.settings import load_settings
from evoca.storage.contract import NewVector, Session

DIM = 384
SESSIONS = 500
COPIES = 0.01
LINKED = 0.2
LEVELS = (EPISODICA,) * 8 + (SEMANTICA, AUTOMATICA)
BATCH = 1_000


def fill(opened: Runtime, memories: int) -> None:
    chance = random.Random(7)
    collection = opened.services().collection
    now = SystemClock().now()
    texts: list[tuple[str, str]] = []
    ids: list[int] = []
    for begin in range(0, memories, BATCH):

        def work(session: Session, begin: int = begin) -> None:
            for number in range(begin, min(begin + BATCH, memories)):
                text, session_id = f"{sentence(chance)}, {number}", f"s{number % SESSIONS}"
                if texts and chance.random() < COPIES:
                    text, session_id = texts[chance.randrange(len(texts))]
                texts.append((text, session_id))
                row = NewEpisode(
                    text,
                    signature(text),
                    session_id=session_id,
                    nivel=LEVELS[number % len(LEVELS)],
                    critico=not number % 50,
                    categories=("uno", "dos") if not number % 3 else (),
                )
                ids.append(session.episodes.insert(collection, row, now - (memories - number) * 365 * DAY // memories))
            for _ in range(int(BATCH * LINKED / 2)):
                one, two = chance.sample(ids[-BATCH:], 2)
                session.episode_links.insert(collection, NewEpisodeLink(one, two, "related"), now)

        opened.store.write(work)


def embed(opened: Runtime) -> None:
    embedder = load_embedder(f"hash:{DIM}")

    def work(session: Session) -> int:
        session.documents.register_model(embedder.model_id, SystemClock().now())
        batch = session.documents.claim(embedder.model_id, BATCH, "bench", 1, 2)
        packed = pack_vectors(embedder.embed_passages([each.text for each in batch])) if batch else []
        rows = [NewVector(each.id, each.content_hash, vector) for each, vector in zip(batch, packed, strict=True)]
        session.documents.store_vectors(embedder.model_id, rows)
        return len(batch)

    while opened.store.write(work):
        pass


def once(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return round(time.process_time() - began, 3)


def main() -> None:
    memories = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(store=str(Path(folder) / "m.db"), embedder=f"hash:{DIM}", indexer=False)
        opened = Runtime(settings)
        fill(opened, memories)
        embed(opened)
        services = opened.services()
        collection = services.collection
        processes: dict[str, Callable[[bool], object]] = {
            "consolidate_hipocampo": lambda dry: services.forgetting.consolidate(collection, 7 * DAY, dry),
            "review_automatica": lambda dry: services.forgetting.review_rules(collection, 30 * DAY, dry),
            "decay_hipocampo": lambda dry: services.forgetting.decay(collection, 30 * DAY, dry),
            "hipocampo_dedup": lambda dry: services.episode_upkeep.deduplicate(collection, 0.92, dry),
        }
        first = services.episode_links.overview(collection, 1).nodes[0].episode.id
        found: dict[str, object] = {"memories": memories}
        found |= {f"{name}, dry run": cpu(lambda run=run: run(True)) for name, run in processes.items()}
        found |= {
            "hipocampo_stats": cpu(lambda: services.episode_upkeep.stats(collection)),
            "graph_hipocampo, overview": cpu(lambda: services.episode_links.overview(collection, 50)),
            "graph_hipocampo, depth 5": cpu(lambda: services.episode_links.graph(collection, first, 5, 500)),
        }
        order = ("hipocampo_dedup", "review_automatica", "decay_hipocampo", "consolidate_hipocampo")
        found |= {f"{name}, real": once(lambda name=name: processes[name](False)) for name in order}
        opened.close()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
