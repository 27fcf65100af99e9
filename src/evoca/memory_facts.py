"""The library's face on facts: the methods that `Memory` has for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from evoca.domain.facts import Scalar

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


class FactData(TypedDict):
    """A fact to tell: `object` is an entity, `value` a literal; one of them is given."""

    subject: str
    predicate: str
    object: NotRequired[Scalar]
    value: NotRequired[Scalar]
    context: NotRequired[str]
    source: NotRequired[str]
    confidence: NotRequired[float]
    valid_from: NotRequired[str]


class FactMethods(ABC):
    """Each method is the operation of that name in the catalogue."""

    @abstractmethod
    def _call(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]: ...

    def remember(
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
        given: dict[str, object] = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "value": value,
            "context": context,
            "source": source,
            "confidence": confidence,
            "valid_from": valid_from,
        }
        return cast("RememberResult", self._call("remember", given))

    def remember_many(self, facts: Sequence[FactData], *, source: str | None = None) -> RememberManyResult:
        """Tell up to 100 facts: all of them, or none."""
        given: dict[str, object] = {
            "facts": facts,
            "source": source,
        }
        return cast("RememberManyResult", self._call("remember_many", given))

    def recall(
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
        given: dict[str, object] = {
            "query": query,
            "predicate": predicate,
            "predicates": predicates,
            "entity_type": entity_type,
            "related_to": related_to,
            "depth": depth,
            "fuzzy_match": fuzzy_match,
            "limit": limit,
            "offset": offset,
            "sort_by": sort_by,
            "sort_order": sort_order,
            "as_of": as_of,
            "include_ended": include_ended,
            "cursor": cursor,
        }
        return cast("RecallResult", self._call("recall", given))

    def recall_connections(
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
        given: dict[str, object] = {
            "entity": entity,
            "depth": depth,
            "limit": limit,
            "offset": offset,
            "predicates": predicates,
            "direction": direction,
            "as_of": as_of,
            "include_ended": include_ended,
        }
        return cast("ConnectionsResult", self._call("recall_connections", given))

    def find_path(
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
        given: dict[str, object] = {
            "from": from_,
            "to": to,
            "max_depth": max_depth,
            "predicates": predicates,
            "direction": direction,
            "as_of": as_of,
            "include_ended": include_ended,
        }
        return cast("FindPathResult", self._call("find_path", given))

    def predicates(self) -> PredicatesResult:
        """The predicates in use, and the single-valued ones."""
        return cast("PredicatesResult", self._call("predicates", {}))

    def update_fact(
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
        given: dict[str, object] = {
            "id": id,
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "value": value,
            "new_subject": new_subject,
            "new_predicate": new_predicate,
            "new_object": new_object,
            "new_value": new_value,
            "context": context,
            "confidence": confidence,
            "valid_from": valid_from,
            "ended_at": ended_at,
        }
        return cast("UpdatedFactResult", self._call("update_fact", given))

    def forget(
        self,
        id: int | None = None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: Scalar | None = None,
        value: Scalar | None = None,
    ) -> ForgetResult:
        """Delete a fact for good, named by its id or by what it says."""
        given: dict[str, object] = {
            "id": id,
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "value": value,
        }
        return cast("ForgetResult", self._call("forget", given))

    def forget_entity(self, entity: str, *, confirm: bool = False) -> ForgetEntityResult:
        """Delete an entity with all that is known of it. Only tells, unless `confirm` is True."""
        given: dict[str, object] = {
            "entity": entity,
            "confirm": confirm,
        }
        return cast("ForgetEntityResult", self._call("forget_entity", given))
