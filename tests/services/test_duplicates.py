"""find_duplicate_observations, and the flag on what repeats another text (seed 000, tool 15; contract, Graph 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca import Memory
from evoca.domain.clock import FrozenClock
from evoca.domain.duplicates import contained_words, containment
from evoca.errors import EntityNotFound, InvalidInput, ModelUnavailable
from evoca.operations.catalogue import CATALOGUE
from evoca.operations.upkeep_results import ConsolidationResult, DuplicatesResult
from evoca.retrieval.calibration import Calibration
from evoca.runtime import Runtime
from evoca.services.duplicates import Thresholds, match
from evoca.services.vectors import ObservationVectors
from evoca.settings import load_settings

OPERATIONS = {operation.name: operation for operation in CATALOGUE}
STACK = "Stack: FastMCP + SQLite + ONNX Runtime para embeddings"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="hash") as opened:
        yield opened


class Steady:
    """A process whose vectors are waited for as long as they take."""

    def __init__(self, path: Path, **settings: object) -> None:
        given = {"store": str(path), "embedder": "hash", **settings}
        self.runtime = Runtime(load_settings(**given), FrozenClock(1_000_000))

    def call(self, operation: str, /, **arguments: object) -> Mapping[str, object]:
        return self.runtime.call(OPERATIONS[operation], arguments)

    def settle(self) -> None:
        services = self.runtime.services()
        assert services.indexing.catch_up(services.collection, timeout=30) == 0

    def flags(self, name: str) -> dict[str, int]:
        """Text → its flag, once everything is embedded."""
        self.settle()
        store, collection = self.runtime.store, self.runtime.services().collection
        entity = store.read(lambda session: session.entities.by_names(collection, [name])[name])
        rows = store.read(lambda session: session.observations.of([entity.id])[entity.id])
        return {row.content: int(row.similarity_flag) for row in rows}


@pytest.fixture
def steady(tmp_path: Path) -> Iterator[Steady]:
    opened = Steady(tmp_path / "steady.db")
    yield opened
    opened.runtime.close()


def found(memory: Memory, *observations: str, threshold: float = 0.85) -> DuplicatesResult:
    memory.create_entities([{"name": "Mi Proyecto", "observations": list(observations)}])
    return memory.find_duplicate_observations("Mi Proyecto", threshold=threshold)


def test_the_answer_has_the_contract_s_shape(memory: Memory) -> None:
    cosine = ("Desplegado en Vercel con dominio personalizado", "desplegado en vercel, con dominio personalizado.")
    result = found(memory, cosine[0], STACK, "FastMCP", cosine[1])
    assert result["entity_name"] == "Mi Proyecto"
    assert result["total_observations"] == 4
    assert result["duplicates_found"] == 2
    similar, contained = result["duplicate_pairs"]
    if similar["match_type"] != "cosine":
        similar, contained = contained, similar
    assert similar == {
        "obs_text_a": cosine[0],
        "obs_text_b": cosine[1],
        "similarity_score": similar["similarity_score"],
        "match_type": "cosine",
        "differs_in": [],
        "suggest_delete": cosine[1],
    }
    assert similar["similarity_score"] == pytest.approx(1.0, abs=0.01)
    assert contained == {
        "obs_text_a": STACK,
        "obs_text_b": "FastMCP",
        "similarity_score": contained["similarity_score"],
        "match_type": "containment",
        "differs_in": [],
        "containment_score": 1.0,
        "suggest_delete": "FastMCP",
    }
    assert isinstance(contained["similarity_score"], float)
    assert [[row["content"] for row in cluster["observations"]] for cluster in result["clusters"]] == [
        list(cosine),
        [STACK, "FastMCP"],
    ]
    assert [cluster["size"] for cluster in result["clusters"]] == [2, 2]


def test_two_facts_are_shown_and_never_offered_for_deletion(memory: Memory) -> None:
    result = found(
        memory,
        "El servidor de la oficina nueva tiene 16 GB de memoria",
        "El servidor de la oficina nueva tiene 32 GB de memoria",
        threshold=0.7,
    )
    (pair,) = result["duplicate_pairs"]
    assert pair["differs_in"] == ["number"]
    assert "suggest_delete" not in pair
    assert result["clusters"][0]["differs_in"] == ["number"]


def test_another_word_in_the_same_sentence_is_not_offered_either(memory: Memory) -> None:
    result = found(
        memory,
        "La puerta principal de la casa del pueblo está pintada de rojo",
        "La puerta principal de la casa del pueblo está pintada de verde",
        threshold=0.5,
    )
    (pair,) = result["duplicate_pairs"]
    assert pair["differs_in"] == []
    assert "suggest_delete" not in pair


def test_all_suggestions_can_be_taken_together(memory: Memory) -> None:
    observations = [f"{'muy ' * many}Ana vive en Lugo con su familia{'.' * many}" for many in range(6)]
    result = found(memory, *observations, threshold=0.5)
    doomed = {pair["suggest_delete"] for pair in result["duplicate_pairs"] if "suggest_delete" in pair}
    assert doomed
    memory.delete_observations(name="Mi Proyecto", observations=sorted(doomed))
    left = memory.open_nodes(["Mi Proyecto"])["entities"][0]["observations"]
    assert left
    assert set(left) == set(observations) - doomed


def test_pairs_stand_once_the_strongest_first_and_agree_with_clusters(memory: Memory) -> None:
    result = found(memory, *(f"copia de seguridad número {number}" for number in range(12)), threshold=0.6)
    pairs = result["duplicate_pairs"]
    assert len(pairs) == result["duplicates_found"]
    assert len({frozenset((pair["obs_text_a"], pair["obs_text_b"])) for pair in pairs}) == len(pairs)
    scores = [pair["similarity_score"] or 0.0 for pair in pairs]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0.6
    in_pairs = {text for pair in pairs for text in (pair["obs_text_a"], pair["obs_text_b"])}
    in_clusters = {row["content"] for cluster in result["clusters"] for row in cluster["observations"]}
    assert in_pairs == in_clusters
    assert memory.find_duplicate_observations("Mi Proyecto", threshold=0.6) == result


def test_too_many_pairs_are_counted_and_the_strongest_shown(steady: Steady) -> None:
    observations = [f"copia de seguridad terminada sin errores {'x' * number}" for number in range(60)]
    steady.call("create_entities", entities=[{"name": "E", "observations": observations}])
    steady.settle()
    result = cast("DuplicatesResult", steady.call("find_duplicate_observations", entity_name="E", threshold=0))
    assert len(result["duplicate_pairs"]) == 1_000
    assert result["duplicates_found"] > 1_000
    assert [cluster["size"] for cluster in result["clusters"]] == [60]
    assert "1000 strongest" in result.get("warnings", [""])[0]


@pytest.mark.parametrize("observations", [[], ["una sola"]])
def test_fewer_than_two_have_no_pairs(memory: Memory, observations: list[str]) -> None:
    assert found(memory, *observations) == {
        "entity_name": "Mi Proyecto",
        "total_observations": len(observations),
        "duplicate_pairs": [],
        "duplicates_found": 0,
        "clusters": [],
    }


def test_superseded_observations_are_not_compared(memory: Memory) -> None:
    memory.create_entities([{"name": "E", "observations": ["Vive en Lugo", "Tiene un perro"]}])
    details = memory.open_nodes(["E"], details=True)["entities"][0].get("observation_details", [])
    memory.add_observations(["Vive en lugo"], name="E", supersedes=details[0]["id"])
    result = memory.find_duplicate_observations("E")
    assert (result["total_observations"], result["duplicates_found"]) == (2, 0)


def test_long_texts_are_compared_whole(memory: Memory) -> None:
    """Several passages each: the end counts as much as the beginning."""
    sentences = [f"La frase número {number} habla de {chr(97 + number) * 5}." for number in range(26)]
    whole = " ".join(sentences)
    other = " ".join([*sentences[:13], *(f"Algo muy distinto ocurrió en {number}." for number in range(20))])
    result = found(memory, whole, whole + " Fin.", other, threshold=0.95)
    (pair,) = [each for each in result["duplicate_pairs"] if each["match_type"] == "cosine"]
    assert (pair["obs_text_a"], pair["obs_text_b"]) == (whole, whole + " Fin.")


def test_an_unknown_entity_is_named(memory: Memory) -> None:
    with pytest.raises(EntityNotFound) as error:
        memory.find_duplicate_observations("Nadie")
    assert error.value.message == "Entity not found: Nadie"


def test_without_a_model_the_contract_s_sentence(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        memory.create_entities([{"name": "E", "observations": ["uno", "dos"]}])
        with pytest.raises(ModelUnavailable) as error:
            memory.find_duplicate_observations("E")
    assert error.value.message.startswith("Embedding model not available.")


@pytest.mark.parametrize("threshold", [-0.1, 1.1])
def test_thresholds_are_shares(memory: Memory, threshold: float) -> None:
    memory.create_entities([{"name": "E"}])
    with pytest.raises(InvalidInput) as error:
        memory.find_duplicate_observations("E", threshold=threshold)
    assert "threshold" in error.value.message
    with pytest.raises(InvalidInput):
        memory.find_duplicate_observations("E", containment_threshold=threshold)


def test_what_has_no_vector_yet_is_compared_by_words(tmp_path: Path) -> None:
    opened = Steady(tmp_path / "m.db", indexer=False)
    opened.call("create_entities", entities=[{"name": "E", "observations": [STACK, "FastMCP"]}])
    opened.runtime.services().indexing.close()
    result = cast("DuplicatesResult", opened.call("find_duplicate_observations", entity_name="E"))
    opened.runtime.close()
    (pair,) = result["duplicate_pairs"]
    assert (pair["match_type"], pair["similarity_score"], pair.get("containment_score")) == ("containment", None, 1.0)
    assert result.get("warnings") == ["2 observations have no vector yet: they are compared by their words only."]


# -- the flag ---------------------------------------------------------------------------------------


def test_a_new_observation_that_repeats_another_is_flagged(steady: Steady) -> None:
    steady.call(
        "create_entities", entities=[{"name": "E", "observations": ["Vive en Lugo con su perro", "Toca el oboe"]}]
    )
    assert set(steady.flags("E").values()) == {0}
    steady.call("add_observations", name="E", observations=["vive en lugo, con su perro", "Sabe nadar"])
    assert steady.flags("E") == {
        "Vive en Lugo con su perro": 0,
        "Toca el oboe": 0,
        "vive en lugo, con su perro": 1,
        "Sabe nadar": 0,
    }


def test_every_live_observation_is_compared_not_only_the_nearest(steady: Steady) -> None:
    steady.call("create_entities", entities=[{"name": "E", "observations": [STACK, "FastMCP server", "Usa FastMCP 2"]}])
    steady.call("add_observations", name="E", observations=["FastMCP"])
    assert steady.flags("E")["FastMCP"] == 1


def test_observations_of_one_call_are_compared_with_each_other(steady: Steady) -> None:
    texts = ["Ana toca el oboe", "Ana toca el oboe.", "Ana toca el oboe!"]
    steady.call("create_entities", entities=[{"name": "E", "observations": texts}])
    assert list(steady.flags("E").values()) == [0, 1, 1]


def test_the_same_text_at_another_entity_is_no_duplicate(steady: Steady) -> None:
    entities = [{"name": name, "observations": ["Toca el oboe"]} for name in ("E", "F")]
    steady.call("create_entities", entities=entities)
    assert (steady.flags("E"), steady.flags("F")) == ({"Toca el oboe": 0}, {"Toca el oboe": 0})


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_flags_do_not_depend_on_how_embedding_went(tmp_path: Path, batch: int) -> None:
    """The newest text is embedded first, in batches of any size: the later one of a pair is flagged all the same."""
    opened = Steady(tmp_path / "m.db", indexer_batch=batch)
    texts = [f"copia {at} de la nota{'.' * again}" for again in range(3) for at in ("uno", "dos", "tres")]
    opened.call("create_entities", entities=[{"name": "E", "observations": texts}])
    flags = list(opened.flags("E").values())
    opened.runtime.close()
    assert flags == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_a_flagged_observation_is_saved_like_any_other(steady: Steady) -> None:
    steady.call("create_entities", entities=[{"name": "E", "observations": ["Toca el oboe", "toca el oboe"]}])
    assert list(steady.flags("E")) == ["Toca el oboe", "toca el oboe"]
    report = cast("ConsolidationResult", steady.call("consolidation_report"))
    (flagged,) = report["flagged_observations"]
    assert flagged == {
        "entity_name": "E",
        "observation_text": "toca el oboe",
        "similarity_flag": 1,
        "id": flagged.get("id"),
    }


# -- the comparison itself --------------------------------------------------------------------------

texts = st.lists(st.text("ab .", max_size=12), min_size=1, max_size=12)


@given(texts, st.integers(0, 2**32 - 1), st.data())
def test_matches_are_those_that_comparing_one_by_one_finds(
    observations: list[str], seed: int, data: st.DataObject
) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(len(observations), 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    known = chance.random(len(observations)) < 0.8
    rows[~known] = 0
    only = data.draw(st.none() | st.lists(st.integers(0, len(observations) - 1), unique=True))
    thresholds = Thresholds(0.8, 0.7)
    found_ = match(observations, ObservationVectors(rows, known), Calibration.none(3), thresholds, only)
    expected: set[tuple[int, int]] = set()
    for i, one in enumerate(observations):
        for j in range(i + 1, len(observations)):
            other = observations[j]
            short, long = sorted((one, other), key=len)
            similar = known[i] and known[j] and float(rows[i] @ rows[j]) >= 0.8
            unlike = len(long) >= 2 * max(1, len(short))
            contained = unlike and containment(contained_words(short), contained_words(long)) >= 0.7
            if (similar or contained) and (only is None or i in only or j in only):
                expected.add((i, j))
    assert list(zip(found_.first.tolist(), found_.second.tolist(), strict=True)) == sorted(expected)
