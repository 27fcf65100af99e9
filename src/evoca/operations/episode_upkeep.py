"""Looking after memories as tools: ageing, copies, figures (seed 002; contract, Hipocampo 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from pydantic import AliasChoices, Field

from evoca.domain.clock import DAY
from evoca.operations.base import Hints, Id, Input, Operation, operation

if TYPE_CHECKING:
    from evoca.services import Services
    from evoca.services.forgetting import Upkeep

Days = Annotated[int, Field(ge=0, le=100_000)]
_SHOWN = 20
"""So many candidates are told of in a sentence; the keys have all."""
_DRY = "false: do it."


class ConsolidateInput(Input):
    min_age_days: Days = 7
    dry_run: bool = Field(default=True, description=_DRY)


class ReviewInput(Input):
    max_age_days: Days = 30
    dry_run: bool = Field(default=True, description=_DRY)


class DecayInput(Input):
    dry_run: bool = Field(default=True, description=_DRY)
    min_age_days: Days = 30


class RestoreInput(Input):
    id: Id = Field(validation_alias=AliasChoices("id", "historica_id"))


class DedupInput(Input):
    dry_run: bool = Field(default=True, description=_DRY)
    threshold: Annotated[float, Field(ge=0.85, le=1)] = Field(
        default=0.92, description="Least similarity of near-identical memories."
    )


class UndoDedupInput(Input):
    id: Id | None = Field(default=None, description="A memory merged away, or its survivor. Omitted: the last run.")
    dry_run: bool = Field(default=False, description="true: only tell.")


class NoInput(Input):
    pass


class CandidateJson(TypedDict):
    id: int
    action: str
    reason: str
    survivor: NotRequired[int]


class UpkeepResult(TypedDict):
    """`changed`: ids, of a real run only."""

    result: str
    status: str
    dry_run: bool
    candidates: list[CandidateJson]
    changed: NotRequired[list[int]]


class FlaggedJson(TypedDict):
    id: int
    duplicate_of: int
    similarity: float | None
    reason: str


class DedupResult(UpkeepResult):
    flagged: list[FlaggedJson]


class RestoreResult(TypedDict):
    result: str
    status: str
    id: int
    tier: str
    warnings: list[str]


class StatsResult(TypedDict):
    result: str
    status: str
    total: int
    by_nivel: dict[str, int]
    by_tier: dict[str, int]
    critico: int
    superseded: int
    expired: int
    possible_duplicates: int
    merged: int
    links: dict[str, int]
    sessions: int
    pending: int
    to_examine: int


class CheckJson(TypedDict):
    name: str
    ok: bool
    detail: str


class HealthResult(TypedDict):
    result: str
    status: str
    checks: list[CheckJson]


def _reply(found: Upkeep, none: str, would: str, done: str) -> UpkeepResult:
    """`would`, `done`: sentences about `{n}` memories."""
    count = len(found.candidates)
    told = ", ".join(f"#{each.id} ({each.reason})" for each in found.candidates[:_SHOWN])
    more = "" if count <= _SHOWN else f" … y {count - _SHOWN} más"
    if not count:
        result = none
    elif found.dry_run:
        result = f"🔎 {would.format(n=count)} No se cambió nada (dry_run=true): {told}{more}"
    else:
        result = done.format(n=count)
    candidates: list[CandidateJson] = []
    for each in found.candidates:
        shown: CandidateJson = {"id": each.id, "action": each.action, "reason": each.reason}
        if each.survivor is not None:
            shown["survivor"] = each.survivor
        candidates.append(shown)
    reply: UpkeepResult = {
        "result": result,
        "status": "dry_run" if found.dry_run else ("changed" if count else "unchanged"),
        "dry_run": found.dry_run,
        "candidates": candidates,
    }
    if not found.dry_run:
        reply["changed"] = list(found.changed)
    return reply


def _consolidate(services: Services, given: ConsolidateInput) -> UpkeepResult:
    found = services.forgetting.consolidate(services.collection, given.min_age_days * DAY, given.dry_run)
    return _reply(
        found,
        "✅ No hay recuerdos episódicos antiguos para consolidar.",
        "{n} recuerdos pasarían de episódica → semántica.",
        "✅ {n} recuerdos promovidos de episódica → semántica.",
    )


def _review(services: Services, given: ReviewInput) -> UpkeepResult:
    found = services.forgetting.review_rules(services.collection, given.max_age_days * DAY, given.dry_run)
    return _reply(
        found,
        "✅ No hay reglas automatica inactivas.",
        "{n} reglas automatica pasarían a semantica por inactividad.",
        "✅ {n} reglas automatica degradadas a semantica por inactividad.",
    )


def _decay(services: Services, given: DecayInput) -> UpkeepResult:
    found = services.forgetting.decay(services.collection, given.min_age_days * DAY, given.dry_run)
    return _reply(
        found,
        "✅ No hay recuerdos que archivar.",
        "{n} recuerdos pasarían a COLD.",
        "✅ {n} recuerdos archivados (COLD). restaurar_historica los devuelve.",
    )


def _restore(services: Services, given: RestoreInput) -> RestoreResult:
    restored = services.forgetting.restore(services.collection, given.id)
    warnings: list[str] = []
    if restored.renewed:
        warnings.append("Había caducado: ya no tiene fecha de caducidad.")
    if restored.twins:
        same = ", ".join(str(number) for number in restored.twins)
        warnings.append(f"Dice lo mismo que id={same}; hipocampo_dedup los fusiona.")
    if restored.already:
        result = f"✅ El recuerdo #{given.id} no estaba archivado."
    else:
        result = f"✅ Memoria restaurada: #{given.id} vuelve con el mismo id."
    return {
        "result": result,
        "status": "unchanged" if restored.already else "restored",
        "id": given.id,
        "tier": restored.view.tier,
        "warnings": warnings,
    }


def _dedup(services: Services, given: DedupInput) -> DedupResult:
    found = services.episode_upkeep.deduplicate(services.collection, given.threshold, given.dry_run)
    reply = _reply(
        found.upkeep,
        "✅ No hay recuerdos duplicados que fusionar.",
        "{n} recuerdos duplicados se fusionarían.",
        "✅ {n} recuerdos duplicados fusionados. undo_hipocampo_dedup lo deshace.",
    )
    flagged: list[FlaggedJson] = [
        {
            "id": each.id,
            "duplicate_of": each.of,
            "similarity": None if each.similarity is None else round(each.similarity, 4),
            "reason": each.reason,
        }
        for each in found.flagged
    ]
    if flagged:
        reply["result"] += f" {len(flagged)} más se parecen y solo quedan señalados (flagged)."
    return {**reply, "flagged": flagged}


def _undo_dedup(services: Services, given: UndoDedupInput) -> UpkeepResult:
    found = services.episode_upkeep.undo_deduplication(services.collection, given.id, given.dry_run)
    return _reply(
        found,
        "✅ No hay fusiones que deshacer.",
        "{n} fusiones se desharían.",
        "✅ {n} fusiones deshechas; los recuerdos vuelven con su id, enlaces y categorías.",
    )


def _stats(services: Services, _given: NoInput) -> StatsResult:
    stats = services.episode_upkeep.stats(services.collection)
    tiers = ", ".join(f"{tier} {count}" for tier, count in stats.by_tier.items())
    return {
        "result": f"📊 {stats.total} recuerdos ({tiers}), {sum(stats.links.values())} enlaces.",
        "status": "ok",
        "total": stats.total,
        "by_nivel": dict(stats.by_nivel),
        "by_tier": {str(tier): count for tier, count in stats.by_tier.items()},
        "critico": stats.critical,
        "superseded": stats.superseded,
        "expired": stats.expired,
        "possible_duplicates": stats.flagged,
        "merged": stats.merged,
        "links": dict(stats.links),
        "sessions": stats.sessions,
        "pending": stats.pending,
        "to_examine": stats.to_examine,
    }


def _health(services: Services, _given: NoInput) -> HealthResult:
    health = services.episode_upkeep.health(services.collection)
    marks = {"ok": "✅", "degraded": "⚠️", "error": "❌"}
    told = "; ".join(f"{each.name}: {each.detail}" for each in health.checks)
    return {
        "result": f"{marks[health.status]} Hipocampo {health.status}. {told}",
        "status": health.status,
        "checks": [{"name": each.name, "ok": each.fine, "detail": each.detail} for each in health.checks],
    }


_READS = Hints(read_only=True, destructive=False, idempotent=True)
_CHANGES = Hints(read_only=False, destructive=False, idempotent=True)
_DESTROYS = Hints(read_only=False, destructive=True, idempotent=True)

EPISODE_UPKEEP_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _consolidate,
        input=ConsolidateInput,
        result=UpkeepResult,
        name="consolidate_hipocampo",
        title="Consolidate Memories",
        doc=(
            "Raise episodic memories of at least min_age_days to semantica, so that they are kept. Critical ones stay "
            "as they are. Shows what would happen unless dry_run is false."
        ),
        toolset="hipocampo-upkeep",
        hints=_CHANGES,
    ),
    operation(
        _review,
        input=ReviewInput,
        result=UpkeepResult,
        name="review_automatica",
        title="Review Rules",
        doc=(
            "Lower rules (automatica) that nobody used in max_age_days to semantica; critical ones stay. Shows what "
            "would happen unless dry_run is false."
        ),
        toolset="hipocampo-upkeep",
        hints=_CHANGES,
    ),
    operation(
        _decay,
        input=DecayInput,
        result=UpkeepResult,
        name="decay_hipocampo",
        title="Archive Old Memories",
        doc=(
            "Archive (COLD) episodic memories of at least min_age_days (0: all) that are neither critical nor linked, "
            "and expired ones. Shows what would happen unless dry_run is false."
        ),
        toolset="hipocampo-upkeep",
        hints=_DESTROYS,
    ),
    operation(
        _restore,
        input=RestoreInput,
        result=RestoreResult,
        name="restaurar_historica",
        title="Restore an Archived Memory",
        doc="Bring an archived (COLD) memory back under the same id, with its links, categories and history.",
        toolset="hipocampo-upkeep",
        hints=_CHANGES,
    ),
    operation(
        _dedup,
        input=DedupInput,
        result=DedupResult,
        name="hipocampo_dedup",
        title="Merge Duplicate Memories",
        doc=(
            "Merge memories of one session scope that say the same in the same words; others that are alike are only "
            "flagged. undo_hipocampo_dedup takes it back. Shows what would happen unless dry_run is false."
        ),
        toolset="hipocampo-upkeep",
        hints=_DESTROYS,
    ),
    operation(
        _undo_dedup,
        input=UndoDedupInput,
        result=UpkeepResult,
        name="undo_hipocampo_dedup",
        title="Undo a Merge",
        doc="Take merges of hipocampo_dedup back: those of one memory, or the whole last run.",
        toolset="hipocampo-upkeep",
        hints=_CHANGES,
    ),
    operation(
        _stats,
        input=NoInput,
        result=StatsResult,
        name="hipocampo_stats",
        title="Memory Figures",
        doc="How many memories there are by level and tier, which are superseded, merged or waiting, and their links.",
        toolset="hipocampo-upkeep",
        hints=_READS,
    ),
    operation(
        _health,
        input=NoInput,
        result=HealthResult,
        name="hipocampo_health",
        title="Memory Health",
        doc="Whether the store, the model, the background work and the disk are well: ok, degraded or error.",
        toolset="hipocampo-upkeep",
        hints=_READS,
    ),
)
