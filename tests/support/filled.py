"""A store with something in every table."""

from __future__ import annotations

from contextlib import closing

from evoca import Memory
from evoca.domain.clock import FrozenClock
from evoca.domain.graph import NewEdge, NewEntity
from evoca.domain.tenancy import NewKey, Scope
from evoca.storage import open_store
from evoca.storage.contract import Session
from evoca.storage.tables import TABLES

FACT = "Grace escribió el primer compilador"
SELDOM = {"unindexed_edges", "enrichments", "pending"}
"""Tables of work that the background may have done by now."""


def fill(place: str, entities: int = 3) -> None:
    """Fill the empty store at `place`, with vectors of a toy model."""
    with Memory(place, embedder="hash:32") as memory:
        memory.create_entities([{"name": f"Ada {n}", "observations": [f"number {n}", ""]} for n in range(entities)])
        memory.create_entities([{"name": "Niño", "entityType": "persona", "status": "pausado"}])
        memory.create_relations([{"from": "Ada 0", "to": "Niño", "relationType": "knows"}])
        memory.create_relations([{"from": "Ada 0", "to": "Niño", "relationType": "contiene"}])
        memory.end_relation(from_="Ada 0", to="Niño", relationType="knows")
        memory.rename_entity("Niño", "Niña", dry_run=False)
        memory.add_observations(["otra"], name="Ada 0")
        memory.add_reflection("entity", "prose", target_name="Ada 0", mood="duda")
        texts = (FACT, f"{FACT}.", "Grace no escribió el primer compilador", "Llueve 🌧 en Múnich", "x" * 3_000)
        saved = [memory.save_hipocampo(each, session_id="s", categories=["Uno", "dos"], force=True) for each in texts]
        first, second = (each["id"] for each in saved[3:] if "id" in each)
        memory.link_hipocampo(first, second, relation_type="causa")
        memory.update_hipocampo(first, content="Nieva 🌨 en Múnich", force=True)
        memory.hipocampo_dedup(dry_run=False)
        memory.search_semantic("number 1", limit=5)
    with closing(open_store(place, FrozenClock(1_000))) as store:
        store.write(_fill_the_rest)
        kept = {table.name: len(store.read(lambda session, t=table: session.rows.page(t, None, 9))) for table in TABLES}
    assert not [name for name, count in kept.items() if not count and name not in SELDOM], kept


def _fill_the_rest(session: Session) -> None:
    entity, other = (row.id for row in session.entities.page(1)[:2])
    session.observations.supersede(session.observations.find(entity, ["otra"])["otra"], 7)
    session.edges.insert(1, [NewEdge(entity, "edad", value=36), NewEdge(entity, "lema", value="36", ended_at=9)], 5)
    made = session.collections.create("work", "Work", "for pay", 9)
    session.entities.insert(made.id, [NewEntity("Ada 0")], 9)
    number = session.keys.insert(NewKey("robot", b"\x00\xff" * 16, Scope.READ, frozenset({made.id})), 9)
    session.keys.used(number, 11)
    session.accesses.record([entity, other], 12, pairs=True)
    session.metadata.set("ñ", "metadata")
