"""Short ways to put things into a store."""

from __future__ import annotations

from evoca.domain.graph import NewEdge, NewEntity, NewObservation
from evoca.storage.contract import Session, Store


def entity(store: Store, home: int, name: str, entity_type: str = "Generic", *texts: str, at: int = 1) -> int:
    """A new entity with observations; its id."""

    def work(session: Session) -> int:
        (made,) = session.entities.insert(home, [NewEntity(name, entity_type)], at)
        session.observations.insert(home, [NewObservation(made, text) for text in texts], at)
        return made

    return store.write(work)


def observation(store: Store, home: int, owner: int, text: str, kind: str = "generic", at: int = 1) -> int:
    return store.write(lambda s: s.observations.insert(home, [NewObservation(owner, text, kind)], at)[0])


def edge(store: Store, home: int, subject: int, predicate: str, target: int, at: int = 1) -> int:
    return store.write(lambda s: s.edges.insert(home, [NewEdge(subject, predicate, target)], at)[0])


def healthy(store: Store) -> bool:
    return store.check()["integrity"] == "ok"
