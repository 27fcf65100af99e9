"""Collections as a whole, and which of them a call works in."""

from __future__ import annotations

from dataclasses import dataclass

from evoca.domain.clock import Clock
from evoca.domain.graph import Collection
from evoca.domain.tenancy import DEFAULT_COLLECTION_ID, Caller
from evoca.errors import Conflict, Forbidden, InvalidInput, NotFound
from evoca.settings import DEFAULT_COLLECTION
from evoca.storage.contract import Session, Store
from evoca.storage.tenancy_contract import CollectionCounts


@dataclass(frozen=True, slots=True)
class DescribedCollection:
    """A collection and what it holds."""

    collection: Collection
    counts: CollectionCounts


@dataclass(frozen=True, slots=True)
class DeletedCollection:
    """What a deletion has removed, or, not `confirmed`, would remove."""

    collection: Collection
    counts: CollectionCounts
    confirmed: bool


class CollectionService:
    """What a caller does not see is unknown to it, in the same words as what does not exist."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def locate(self, caller: Caller, code: str | None, own: int) -> int:
        """The collection that a call works in. `code`: the one it names; `own`: the process's, for who names none.

        A key that sees a single collection works in that one. Raises NotFound.
        """
        if code is None:
            return self._unnamed(caller, own)
        if code == DEFAULT_COLLECTION:
            found = DEFAULT_COLLECTION_ID
        else:
            there = self._store.read(lambda session: session.collections.find(code))
            found = 0 if there is None else there.id
        if not found or not caller.sees(found):
            raise unknown_collection(code)
        return found

    def create(self, caller: Caller, code: str, name: str, description: str) -> Collection:
        """Raises Conflict when the code is taken, Forbidden for who does not see all collections."""
        if caller.collections is not None:
            raise Forbidden(
                "This key is bound to its collections and makes no others.",
                "Use a key for every collection: evoca keys create NAME --scope admin",
            )

        def work(session: Session) -> Collection:
            if session.collections.find(code) is not None:
                raise Conflict(
                    f"Collection already exists: {code}", "Choose another code, or use the one that is there."
                )
            return session.collections.create(code, name or code, description, self._clock.now())

        return self._store.write(work)

    def all(self, caller: Caller) -> list[Collection]:
        """The collections that the caller sees, oldest first."""
        there = self._store.read(lambda session: session.collections.all())
        return [each for each in there if caller.sees(each.id)]

    def describe(self, caller: Caller, code: str) -> DescribedCollection:
        def work(session: Session) -> DescribedCollection:
            found = _visible(session, caller, code)
            return DescribedCollection(found, session.collections.counts(found.id))

        return self._store.read(work)

    def delete(self, caller: Caller, code: str, confirmed: bool) -> DeletedCollection:
        """Remove a collection with all that is in it; unless `confirmed`, only tell what that would be.

        Raises InvalidInput for the default collection, which always exists.
        """
        if code == DEFAULT_COLLECTION:
            raise InvalidInput(
                "code: the default collection cannot be deleted.",
                "Name another collection; list_collections shows them.",
                field="code",
            )

        def work(session: Session) -> DeletedCollection:
            found = _visible(session, caller, code)
            counts = session.collections.counts(found.id)
            if confirmed:
                session.collections.delete(found.id)
            return DeletedCollection(found, counts, confirmed)

        return self._store.write(work) if confirmed else self._store.read(work)

    def _unnamed(self, caller: Caller, own: int) -> int:
        visible = caller.collections
        if visible is not None:
            if len(visible) == 1:
                return next(iter(visible))
            if own not in visible:
                raise NotFound(
                    "Collection not found: the call names none, and this key has no default one.",
                    "Name one in `collection`; list_collections shows them.",
                )
        if own != DEFAULT_COLLECTION_ID and not self._store.read(lambda session: session.collections.exists(own)):
            raise NotFound(
                "Collection not found: this process's own one has been deleted.",
                "Name another in `collection`, or start it again, which makes it anew.",
            )
        return own


def unknown_collection(code: str) -> NotFound:
    """The error for a code that leads nowhere, or to what the caller does not see."""
    return NotFound(
        f"Collection not found: {code}", "list_collections shows what there is; create_collection makes one."
    )


def _visible(session: Session, caller: Caller, code: str) -> Collection:
    found = session.collections.find(code)
    if found is None or not caller.sees(found.id):
        raise unknown_collection(code)
    return found
