"""What `evoca doctor` finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca import __version__
from evoca.errors import ModelUnavailable
from evoca.surfaces.rendering import sentence

if TYPE_CHECKING:
    from evoca.runtime import Runtime
    from evoca.storage.contract import Session


@dataclass(frozen=True, slots=True)
class Findings:
    """`report`: JSON-shaped. `problems`: a sentence each; empty when all is well."""

    report: Mapping[str, object]
    problems: tuple[str, ...]


def examine(runtime: Runtime) -> Findings:
    """Look at the store, its contents, the backlog and the model. Raises StoreError when there is no usable store."""
    services = runtime.services()
    store = runtime.store
    health = dict(store.check())
    model, missing = _model(runtime)
    collection = services.collection

    def count(session: Session) -> dict[str, int]:
        return {
            "entities": session.entities.count(collection),
            "observations": session.observations.count(collection),
            "relations": session.edges.count(collection),
            "pending": 0 if model is None else session.documents.pending(collection, model),
        }

    integrity = health.get("integrity", "")
    problems = [missing] if missing else []
    if integrity != "ok":
        problems.append(f"the store reports damage: {integrity} Restore a copy, or export what can still be read.")
    report: dict[str, object] = {
        "version": __version__,
        "store": store.location,
        "collection": runtime.settings.collection,
        "health": health,
        "counts": store.read(count),
        "model": model,
    }
    return Findings(report, tuple(problems))


def _model(runtime: Runtime) -> tuple[str | None, str]:
    """The model's id, and what is wrong with it."""
    embedding = runtime.services().embedding
    if not embedding.wanted:
        return None, ""
    try:
        return embedding.load().model_id, ""
    except ModelUnavailable as error:
        return None, sentence(error)
