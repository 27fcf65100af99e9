"""One step along the graph's unwritten links: entities that the best finds' texts name.

What answers a question is often not like it: it is named in what is. Measured on questions that need two texts,
recall@10 rose from .81 to .95 and from .95 to .98, and on questions that need up to four from .65 to .66. Names that
texts give the other way round (who names the best finds?) measured worse than nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.text import folded_words
from evoca.retrieval.index import ShardView
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.3
"""Of its evidence a find gives to what it names."""
_GIVERS = 5
_TAKERS = 150
_TEXTS = 6
"""Passages of a giver that are read: the one closest in meaning and its neighbours."""
_SHORTEST = 4
"""Letters of a name that is looked for: shorter ones stand in texts by accident."""
_REMEMBERED = 65_536
"""Names that are kept with a shard."""
_REMARK = re.compile(r"\s*\([^)]*\)\s*$")


def pass_on(
    session: Session,
    shard: ShardView,
    entities: NDArray[np.int64],
    evidence: NDArray[np.float32],
    best: NDArray[np.int64],
    remember: bool,
) -> NDArray[np.float32]:
    """The evidence of entities (numbers) with what the five best give to those that their texts name.

    `best`: the document row that each was found by. An entity takes the largest gift only. `remember`: the session
    sees what the shard holds, so that names may be kept with it.
    """
    order = np.lexsort((shard.entity_ids[entities], -evidence))[:_TAKERS]
    givers = [at for at in order[:_GIVERS].tolist() if evidence[at] > 0]
    texts = _texts(session, shard, {at: int(entities[at]) for at in givers}, best)
    everything = "".join(texts.values())
    ids = shard.entity_ids[entities[order]].tolist()
    names = _names(session, shard, ids, remember)
    given = evidence.copy()
    for at, entity in zip(order.tolist(), ids, strict=True):
        name = names.get(entity, "")
        if name and name in everything:
            gifts = [float(evidence[giver]) for giver in givers if giver != at and name in texts[giver]]
            given[at] += SHARE * max(gifts, default=0.0)
    return given


def _names(session: Session, shard: ShardView, ids: list[int], remember: bool) -> dict[int, str]:
    """Entity ids → names as `_folded_name` has them, for these at least."""
    names = shard.names if remember else {}
    missing = [entity for entity in ids if entity not in names]
    if missing:
        if len(names) > _REMEMBERED:
            names.clear()
            missing = ids
        names.update((entity, _folded_name(row.name)) for entity, row in session.entities.by_ids(missing).items())
    return names


def _texts(session: Session, shard: ShardView, givers: dict[int, int], best: NDArray[np.int64]) -> dict[int, str]:
    """Position of each giver → its folded words."""
    wanted = np.zeros(len(shard.entity_ids), np.bool_)
    wanted[list(givers.values())] = True
    rows = np.flatnonzero(wanted[shard.entities] & shard.passages)
    owners = shard.entities[rows]
    documents = {
        at: shard.ids[_nearest(rows[owners == entity], int(best[at]))].tolist() for at, entity in givers.items()
    }
    found = session.documents.texts([document for each in documents.values() for document in each])
    return {at: "".join(_folded(found.get(document, "")) for document in each) for at, each in documents.items()}


def _nearest(rows: NDArray[np.int64], best: int) -> NDArray[np.int64]:
    return rows[np.argsort(np.abs(rows - best), kind="stable")[:_TEXTS]]


def _folded_name(name: str) -> str:
    """As it stands in a folded text, without a remark at its end (`(city)`); empty when too short."""
    folded = _folded(_REMARK.sub("", name))
    return folded if len(folded) >= _SHORTEST + 2 else ""


def _folded(text: str) -> str:
    return f" {' '.join(folded_words(text))} "
