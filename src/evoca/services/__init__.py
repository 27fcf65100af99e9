"""Use cases: what each operation means, over the store's repositories and the retrieval stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoca.domain.tenancy import Caller
    from evoca.services.collections import CollectionService
    from evoca.services.editing import EditingService
    from evoca.services.embedding import Embedding
    from evoca.services.episode_links import EpisodeLinkService
    from evoca.services.episode_upkeep import EpisodeUpkeepService
    from evoca.services.episodes import EpisodeService
    from evoca.services.exporting import ExportService
    from evoca.services.fact_recall import FactRecallService
    from evoca.services.forgetting import ForgettingService
    from evoca.services.graph import GraphService
    from evoca.services.importing import ImportService
    from evoca.services.indexing import IndexingService
    from evoca.services.keys import KeyService
    from evoca.services.reading import ReadingService
    from evoca.services.recalling import RecallService
    from evoca.services.reflections import ReflectionService
    from evoca.services.remembering import RememberingService
    from evoca.services.searching import SearchService
    from evoca.services.splitting import SplittingService
    from evoca.services.status import StatusService
    from evoca.services.tracking import TrackingService
    from evoca.services.transfer import TransferService
    from evoca.services.upkeep import UpkeepService
    from evoca.services.walking import WalkingService
    from evoca.settings import Limits


@dataclass(frozen=True, slots=True)
class Services:
    """What operations work with: one store's use cases, who calls, and the collection that the call works in.

    Before `within` the collection is the process's own.
    """

    collection: int
    caller: Caller
    collections: CollectionService
    keys: KeyService
    limits: Limits
    track: bool
    graph: GraphService
    reading: ReadingService
    editing: EditingService
    reflections: ReflectionService
    search: SearchService
    transfer: TransferService
    exporting: ExportService
    importing: ImportService
    tracking: TrackingService
    status: StatusService
    splitting: SplittingService
    upkeep: UpkeepService
    episodes: EpisodeService
    recall: RecallService
    episode_links: EpisodeLinkService
    forgetting: ForgettingService
    episode_upkeep: EpisodeUpkeepService
    facts: RememberingService
    fact_recall: FactRecallService
    walking: WalkingService
    embedding: Embedding
    indexing: IndexingService

    def by(self, caller: Caller) -> Services:
        """The same for another caller."""
        return self if caller is self.caller else replace(self, caller=caller)

    def within(self, code: str | None) -> Services:
        """The same in the collection with this code; None: where the caller works when it names none.

        Raises NotFound when there is none, or none for this caller.
        """
        collection = self.collections.locate(self.caller, code, self.collection)
        return self if collection == self.collection else replace(self, collection=collection)
