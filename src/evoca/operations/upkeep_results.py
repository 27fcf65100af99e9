"""What the upkeep operations answer, as JSON (seed 000, tools 11 to 16; contract, Graph 8 to 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from evoca.domain.clock import DAY, to_iso

if TYPE_CHECKING:
    from evoca.domain.duplicates import Judged
    from evoca.domain.graph import Observation
    from evoca.services.splitting import ExecutedSplit, SplitAnalysis, SplitProposal
    from evoca.services.upkeep import ConsolidationReport, Crowded, DuplicateReport, Stale

NOT_NEEDED = "Entity does not need splitting"
_NEAR = 1.5
"""Up to so many times its threshold an entity may wait."""


class AnalysisJson(TypedDict):
    """`topics`: name → texts; empty for an entity within its threshold."""

    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    needs_split: bool
    topics: dict[str, list[str]]
    split_score: float


class AnalyzeSplitResult(TypedDict):
    analysis: AnalysisJson


class EntityRef(TypedDict):
    name: str
    entity_type: str


class SplitJson(TypedDict):
    name: str
    entity_type: str
    observations: list[str]


ProposedRelation = TypedDict("ProposedRelation", {"from": str, "to": str, "type": str})


class ProposalAnalysis(TypedDict):
    """`num_topics`: how many children are proposed."""

    observation_count: int
    threshold: int
    split_score: float
    num_topics: int


class ProposalJson(TypedDict):
    original_entity: EntityRef
    suggested_splits: list[SplitJson]
    relations_to_create: list[ProposedRelation]
    analysis: ProposalAnalysis


class ProposeSplitResult(TypedDict):
    """`proposal` is null, with a `message`, for an entity within its threshold."""

    proposal: ProposalJson | None
    message: NotRequired[str]


class SplitOutcome(TypedDict):
    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class ExecuteSplitResult(TypedDict):
    result: SplitOutcome


class SplitCandidatesResult(TypedDict):
    candidates: list[AnalysisJson]


class PairJson(TypedDict):
    """`similarity_score`: null while a vector is missing. `containment_score`: for texts of unlike length.

    `suggest_delete`: the one of the two texts that says nothing of its own.
    """

    obs_text_a: str
    obs_text_b: str
    similarity_score: float | None
    match_type: str
    differs_in: list[str]
    containment_score: NotRequired[float]
    suggest_delete: NotRequired[str]


class ClusterMember(TypedDict):
    observation_id: int
    content: str
    similarity_flag: int


class ClusterJson(TypedDict):
    """`differs_in`: of all its pairs that are shown."""

    observations: list[ClusterMember]
    size: int
    differs_in: list[str]


class DuplicatesResult(TypedDict):
    """`duplicates_found`: all pairs, of which the strongest are shown."""

    entity_name: str
    total_observations: int
    duplicate_pairs: list[PairJson]
    duplicates_found: int
    clusters: list[ClusterJson]
    warnings: NotRequired[list[str]]


class ReportSummary(TypedDict):
    total_entities: int
    total_observations: int
    split_candidates_count: int
    flagged_observations_count: int
    stale_entities_count: int
    large_entities_count: int


class SplitCandidate(TypedDict):
    """`topic_diversity`: the public implementation's name for `split_score`."""

    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    split_score: float
    topic_diversity: NotRequired[float]
    recommendation: NotRequired[str]


class FlaggedObservation(TypedDict):
    entity_name: str
    observation_text: str
    similarity_flag: int
    id: NotRequired[int]


class StaleEntity(TypedDict):
    entity_name: str
    entity_type: str
    last_accessed_days_ago: int
    access_count: int
    observation_count: int
    status: NotRequired[str]
    last_access: NotRequired[str]
    days_since_access: NotRequired[int]
    recommendation: NotRequired[str]


class LargeEntity(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: NotRequired[int]
    recommendation: NotRequired[str]


class ConsolidationResult(TypedDict):
    summary: ReportSummary
    split_candidates: list[SplitCandidate]
    flagged_observations: list[FlaggedObservation]
    stale_entities: list[StaleEntity]
    large_entities: list[LargeEntity]


def analysis_json(analysis: SplitAnalysis) -> AnalysisJson:
    return {
        "entity_name": analysis.entity.name,
        "entity_type": analysis.entity.entity_type,
        "observation_count": analysis.count,
        "threshold": analysis.threshold,
        "needs_split": analysis.needs_split,
        "topics": {topic.name: [analysis.texts[at] for at in topic.members] for topic in analysis.topics},
        "split_score": analysis.score,
    }


def proposal_json(proposal: SplitProposal | None) -> ProposeSplitResult:
    if proposal is None:
        return {"proposal": None, "message": NOT_NEEDED}
    analysis, original = proposal.analysis, proposal.analysis.entity
    relations: list[ProposedRelation] = []
    for child in proposal.children:
        relations.append({"from": original.name, "to": child.name, "type": "contiene"})
        relations.append({"from": child.name, "to": original.name, "type": "parte_de"})
    return {
        "proposal": {
            "original_entity": {"name": original.name, "entity_type": original.entity_type},
            "suggested_splits": [
                {
                    "name": child.name,
                    "entity_type": child.entity_type or original.entity_type,
                    "observations": list(child.observations),
                }
                for child in proposal.children
            ],
            "relations_to_create": relations,
            "analysis": {
                "observation_count": analysis.count,
                "threshold": analysis.threshold,
                "split_score": analysis.score,
                "num_topics": len(proposal.children),
            },
        }
    }


def executed_json(executed: ExecutedSplit) -> ExecuteSplitResult:
    return {
        "result": {
            "new_entities": list(executed.created),
            "moved_observations": executed.moved,
            "relations_created": executed.relations,
            "original_observations_remaining": executed.remaining,
        }
    }


def duplicates_json(report: DuplicateReport) -> DuplicatesResult:
    """Scores with 4 decimals."""
    result: DuplicatesResult = {
        "entity_name": report.entity.name,
        "total_observations": len(report.observations),
        "duplicate_pairs": [_pair_json(judged, report.observations) for judged in report.pairs],
        "duplicates_found": report.found,
        "clusters": [_cluster_json(cluster, report) for cluster in report.clusters],
    }
    warnings: list[str] = []
    if report.found > len(report.pairs):
        warnings.append(f"The {len(report.pairs)} strongest of {report.found} pairs are shown; clusters are whole.")
    if report.waiting:
        warnings.append(f"{report.waiting} observations have no vector yet: they are compared by their words only.")
    if warnings:
        result["warnings"] = warnings
    return result


def _pair_json(judged: Judged, observations: tuple[Observation, ...]) -> PairJson:
    pair = judged.pair
    element: PairJson = {
        "obs_text_a": observations[pair.first].content,
        "obs_text_b": observations[pair.second].content,
        "similarity_score": None if pair.similarity is None else round(pair.similarity, 4),
        "match_type": pair.match,
        "differs_in": list(judged.differs_in),
    }
    if pair.containment is not None:
        element["containment_score"] = round(pair.containment, 4)
    if judged.drop is not None:
        element["suggest_delete"] = observations[judged.drop].content
    return element


def _cluster_json(cluster: tuple[int, ...], report: DuplicateReport) -> ClusterJson:
    members = set(cluster)
    rows = [report.observations[at] for at in cluster]
    differing = (kind for each in report.pairs if each.pair.first in members for kind in each.differs_in)
    return {
        "observations": [
            {"observation_id": row.id, "content": row.content, "similarity_flag": int(row.similarity_flag)}
            for row in rows
        ],
        "size": len(rows),
        "differs_in": sorted(set(differing)),
    }


def report_json(report: ConsolidationReport, most: int | None) -> ConsolidationResult:
    """The counts are of everything; `most` cuts the lists."""
    return {
        "summary": {
            "total_entities": report.entities,
            "total_observations": report.observations,
            "split_candidates_count": len(report.splits),
            "flagged_observations_count": len(report.flagged),
            "stale_entities_count": len(report.stale),
            "large_entities_count": len(report.large),
        },
        "split_candidates": [_candidate_json(each) for each in report.splits[:most]],
        "flagged_observations": [
            {
                "entity_name": name,
                "observation_text": row.content,
                "similarity_flag": int(row.similarity_flag),
                "id": row.id,
            }
            for name, row in report.flagged[:most]
        ],
        "stale_entities": [_stale_json(each) for each in report.stale[:most]],
        "large_entities": [_large_json(each) for each in report.large[:most]],
    }


def _candidate_json(crowded: Crowded) -> SplitCandidate:
    return {
        "entity_name": crowded.entity.name,
        "entity_type": crowded.entity.entity_type,
        "observation_count": crowded.count,
        "threshold": crowded.threshold,
        "split_score": crowded.score,
        "topic_diversity": crowded.score,
        "recommendation": "Split it: propose_entity_split shows how.",
    }


def _large_json(crowded: Crowded) -> LargeEntity:
    if crowded.score < _NEAR:
        advice = "Near its threshold: it can wait."
    elif crowded.diverse:
        advice = "Split it: propose_entity_split shows how."
    else:
        advice = "It has no clear topics: look for duplicates with find_duplicate_observations."
    return {
        "entity_name": crowded.entity.name,
        "entity_type": crowded.entity.entity_type,
        "observation_count": crowded.count,
        "threshold": crowded.threshold,
        "recommendation": advice,
    }


def _stale_json(stale: Stale) -> StaleEntity:
    last = stale.entity.created_at if stale.access.last_access is None else stale.access.last_access
    return {
        "entity_name": stale.entity.name,
        "entity_type": stale.entity.entity_type,
        "last_accessed_days_ago": stale.idle // DAY,
        "access_count": stale.access.count,
        "observation_count": stale.count,
        "status": stale.entity.status,
        "last_access": to_iso(last),
        "days_since_access": stale.idle // DAY,
        "recommendation": "If it is over, set its status to archivado with create_entities.",
    }
