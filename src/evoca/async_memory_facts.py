"""The library's face on facts for asynchronous programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from evoca.domain.facts import Scalar
from evoca.memory_facts import FactData, FactMethods

if TYPE_CHECKING:
    from evoca.operations.fact_results import (
        ConnectionsResult,
        FindPathResult,
        ForgetEntityResult,
        ForgetResult,
        PredicatesResult,
        RecallResult,
        RememberManyResult,
        RememberResult,
        UpdatedFactResult,
    )


class AsyncFactMethods(ABC):
    """`FactMethods`, each call in a worker thread."""

    @property
    @abstractmethod
    def _facts(self) -> FactMethods: ...

    async def remember(
        self,
        subject: str,
        predicate: str,
        object: Scalar | None = None,
        *,
        value: Scalar | None = None,
        context: str | None = None,
        source: str | None = None,
        confidence: float | None = None,
        valid_from: str | None = None,
    ) -> RememberResult:
        """Tell one fact: `object` is an entity, `value` a literal."""
        return await to_thread.run_sync(
            partial(
                self._facts.remember,
                subject,
                predicate,
                object,
                value=value,
                context=context,
                source=source,
                confidence=confidence,
                valid_from=valid_from,
            )
        )

    async def remember_many(self, facts: Sequence[FactData], *, source: str | None = None) -> RememberManyResult:
        """Tell up to 100 facts: all of them, or none."""
        return await to_thread.run_sync(
            partial(
                self._facts.remember_many,
                facts,
                source=source,
            )
        )

    async def recall(
        self,
        query: str | None = None,
        *,
        predicate: str | None = None,
        predicates: Sequence[str] | None = None,
        entity_type: str | None = None,
        related_to: str | None = None,
        depth: int = 2,
        fuzzy_match: bool = False,
        limit: int = 20,
        offset: int = 0,
        sort_by: str | None = None,
        sort_order: str = "asc",
        as_of: str | None = None,
        include_ended: bool = False,
        cursor: str | None = None,
    ) -> RecallResult:
        """Facts about an entity or on a topic, or those that filters let through."""
        return await to_thread.run_sync(
            partial(
                self._facts.recall,
                query,
                predicate=predicate,
                predicates=predicates,
                entity_type=entity_type,
                related_to=related_to,
                depth=depth,
                fuzzy_match=fuzzy_match,
                limit=limit,
                offset=offset,
                sort_by=sort_by,
                sort_order=sort_order,
                as_of=as_of,
                include_ended=include_ended,
                cursor=cursor,
            )
        )

    async def recall_connections(
        self,
        entity: str,
        *,
        depth: int = 2,
        limit: int = 20,
        offset: int = 0,
        predicates: Sequence[str] | None = None,
        direction: str = "both",
        as_of: str | None = None,
        include_ended: bool = False,
    ) -> ConnectionsResult:
        """The facts around an entity, the nearest first."""
        return await to_thread.run_sync(
            partial(
                self._facts.recall_connections,
                entity,
                depth=depth,
                limit=limit,
                offset=offset,
                predicates=predicates,
                direction=direction,
                as_of=as_of,
                include_ended=include_ended,
            )
        )

    async def find_path(
        self,
        from_: str,
        to: str,
        *,
        max_depth: int = 5,
        predicates: Sequence[str] | None = None,
        direction: str = "both",
        as_of: str | None = None,
        include_ended: bool = False,
    ) -> FindPathResult:
        """A shortest chain of facts between two entities."""
        return await to_thread.run_sync(
            partial(
                self._facts.find_path,
                from_,
                to,
                max_depth=max_depth,
                predicates=predicates,
                direction=direction,
                as_of=as_of,
                include_ended=include_ended,
            )
        )

    async def predicates(self) -> PredicatesResult:
        """The predicates in use, and the single-valued ones."""
        return await to_thread.run_sync(self._facts.predicates)

    async def update_fact(
        self,
        id: int | None = None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: Scalar | None = None,
        value: Scalar | None = None,
        new_subject: str | None = None,
        new_predicate: str | None = None,
        new_object: Scalar | None = None,
        new_value: Scalar | None = None,
        context: str | None = None,
        confidence: float | None = None,
        valid_from: str | None = None,
        ended_at: str | None = None,
    ) -> UpdatedFactResult:
        """Correct a fact, named by its id or by what it says; it keeps its id."""
        return await to_thread.run_sync(
            partial(
                self._facts.update_fact,
                id,
                subject=subject,
                predicate=predicate,
                object=object,
                value=value,
                new_subject=new_subject,
                new_predicate=new_predicate,
                new_object=new_object,
                new_value=new_value,
                context=context,
                confidence=confidence,
                valid_from=valid_from,
                ended_at=ended_at,
            )
        )

    async def forget(
        self,
        id: int | None = None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: Scalar | None = None,
        value: Scalar | None = None,
    ) -> ForgetResult:
        """Delete a fact for good, named by its id or by what it says."""
        return await to_thread.run_sync(
            partial(
                self._facts.forget,
                id,
                subject=subject,
                predicate=predicate,
                object=object,
                value=value,
            )
        )

    async def forget_entity(self, entity: str, *, confirm: bool = False) -> ForgetEntityResult:
        """Delete an entity with all that is known of it. Only tells, unless `confirm` is True."""
        return await to_thread.run_sync(
            partial(
                self._facts.forget_entity,
                entity,
                confirm=confirm,
            )
        )
