"""Keeping the graph in shape: splits, duplicates, the consolidation report (seed 000, tools 11 to 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AliasChoices, Field, model_validator

from evoca.domain.clock import DAY
from evoca.domain.duplicates import CONTAINED, SIMILAR
from evoca.errors import InvalidInput
from evoca.operations.base import AtMost, Hints, Input, Limit, Name, Operation, TypeName, operation
from evoca.operations.upkeep_results import (
    AnalyzeSplitResult,
    ConsolidationResult,
    DuplicatesResult,
    ExecuteSplitResult,
    ProposeSplitResult,
    SplitCandidatesResult,
    analysis_json,
    duplicates_json,
    executed_json,
    proposal_json,
    report_json,
)

if TYPE_CHECKING:
    from evoca.services import Services

KnownName = Annotated[str, AtMost("name")]
"""A name that is only looked up."""
Share = Annotated[float, Field(ge=0, le=1)]


class EntityNameInput(Input):
    entity_name: KnownName


class SplitInput(Input):
    name: Name
    entity_type: TypeName | None = Field(default=None, validation_alias=AliasChoices("entity_type", "entityType"))
    observations: Annotated[list[Annotated[str, AtMost("text")]], AtMost("items")] = Field(min_length=1)


class ExecuteSplitInput(Input):
    entity_name: KnownName
    approved_splits: Annotated[list[SplitInput], AtMost("items")] = Field(
        min_length=1, description="As in suggested_splits: exact texts, each once; what is not named stays."
    )
    parent_entity_name: KnownName | None = Field(
        default=None, description="Entity to hang the parts under; default: the original."
    )


class NoInput(Input):
    pass


class DuplicatesInput(Input):
    entity_name: KnownName
    threshold: Share = SIMILAR
    containment_threshold: Share = Field(
        default=CONTAINED, description="Least share of a short text's words in one twice as long."
    )


class ConsolidationInput(Input):
    stale_days: float = Field(default=90.0, description="Days without use that make an entity stale.")
    limit: Limit | None = Field(default=None, description="Cut each list; counts stay whole.")

    @model_validator(mode="after")
    def _positive(self) -> ConsolidationInput:
        if self.stale_days <= 0:
            raise InvalidInput("stale_days must be above 0", "90 is the usual number of days.", "stale_days")
        return self


def _analyze_entity_split(services: Services, given: EntityNameInput) -> AnalyzeSplitResult:
    return {"analysis": analysis_json(services.splitting.analyse(services.collection, given.entity_name))}


def _propose_entity_split(services: Services, given: EntityNameInput) -> ProposeSplitResult:
    return proposal_json(services.splitting.propose(services.collection, given.entity_name))


def _execute_entity_split(services: Services, given: ExecuteSplitInput) -> ExecuteSplitResult:
    from evoca.services.splitting import Child

    children = [Child(each.name, tuple(each.observations), each.entity_type) for each in given.approved_splits]
    return executed_json(
        services.splitting.execute(services.collection, given.entity_name, children, given.parent_entity_name)
    )


def _find_split_candidates(services: Services, _given: NoInput) -> SplitCandidatesResult:
    return {"candidates": [analysis_json(each) for each in services.splitting.candidates(services.collection)]}


def _find_duplicate_observations(services: Services, given: DuplicatesInput) -> DuplicatesResult:
    from evoca.services.duplicates import Thresholds

    thresholds = Thresholds(given.threshold, given.containment_threshold)
    return duplicates_json(services.upkeep.duplicates(services.collection, given.entity_name, thresholds))


def _consolidation_report(services: Services, given: ConsolidationInput) -> ConsolidationResult:
    return report_json(services.upkeep.report(services.collection, int(given.stale_days * DAY)), given.limit)


_READS = Hints(read_only=True, destructive=False, idempotent=True)

UPKEEP_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _analyze_entity_split,
        input=EntityNameInput,
        result=AnalyzeSplitResult,
        name="analyze_entity_split",
        title="Analyze Entity Split",
        doc=(
            "Say whether an entity holds too many observations (Sesion 15, Proyecto 25, others 20) and which topics "
            "they fall into. Changes nothing. To split it use propose_entity_split next."
        ),
        toolset="graph-upkeep",
        hints=_READS,
    ),
    operation(
        _propose_entity_split,
        input=EntityNameInput,
        result=ProposeSplitResult,
        name="propose_entity_split",
        title="Propose Entity Split",
        doc=(
            "Propose parts for an entity that holds too many observations, named after their topics; null when it "
            "needs no split. Changes nothing: review it, then give the parts to execute_entity_split."
        ),
        toolset="graph-upkeep",
        hints=_READS,
        aliases=("propose_entity_split_tool",),
    ),
    operation(
        _execute_entity_split,
        input=ExecuteSplitInput,
        result=ExecuteSplitResult,
        name="execute_entity_split",
        title="Execute Entity Split",
        doc=(
            "Move observations of an entity to new ones, related by contiene and parte_de. All or nothing; ids, kinds "
            "and times stay. Only after a person or you have approved a proposal."
        ),
        toolset="graph-upkeep",
        hints=Hints(read_only=False, destructive=True, idempotent=False),
        aliases=("execute_entity_split_tool",),
    ),
    operation(
        _find_split_candidates,
        input=NoInput,
        result=SplitCandidatesResult,
        name="find_split_candidates",
        title="Find Split Candidates",
        doc=(
            "List every entity that holds too many observations, with its topics. Changes nothing. For one entity use "
            "analyze_entity_split, for counts only consolidation_report."
        ),
        toolset="graph-upkeep",
        hints=_READS,
    ),
    operation(
        _find_duplicate_observations,
        input=DuplicatesInput,
        result=DuplicatesResult,
        name="find_duplicate_observations",
        title="Find Duplicate Observations",
        doc=(
            "Find observations of one entity that say the same. Changes nothing. A pair with differs_in (number, date, "
            "negation, name, antonym, order) holds two facts: keep both. delete_observations takes suggest_delete."
        ),
        toolset="graph-upkeep",
        hints=_READS,
    ),
    operation(
        _consolidation_report,
        input=ConsolidationInput,
        result=ConsolidationResult,
        name="consolidation_report",
        title="Consolidation Report",
        doc=(
            "Report what needs care: entities to split, observations flagged as similar, entities unused for long, "
            "large ones. Changes nothing. Follow up with propose_entity_split and find_duplicate_observations."
        ),
        toolset="graph-upkeep",
        hints=_READS,
    ),
)
