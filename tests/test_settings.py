"""Settings: where they come from, what they mean, how bad ones are explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.clock import from_iso
from evoca.errors import InvalidInput
from evoca.settings import (
    DEFAULT_COLLECTION,
    TOOLSETS,
    Limits,
    Settings,
    collection_code,
    load_settings,
    unknown_variables,
    variable_of,
)


def test_defaults_are_the_contract_s() -> None:
    settings = load_settings()
    assert settings.limits == Limits(items=10_000, text=100_000, query=4_000, name=500, type=128, limit=200)
    assert (settings.collection, settings.toolsets, settings.embedder) == ("default", TOOLSETS, "auto")
    assert (settings.busy_timeout, settings.catch_up, settings.now, settings.memory_path) == (30.0, 1.5, None, None)


def test_every_setting_is_described_and_has_a_variable() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert variable_of(name) == ("MEMORY_FILE_PATH" if name == "memory_file" else f"EVOCA_{name.upper()}")


def test_variables_are_read_and_options_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_COLLECTION", "work")
    monkeypatch.setenv("EVOCA_TOOLSETS", " facts, graph ,")
    monkeypatch.setenv("EVOCA_NOW", "2026-04-14T22:47:23Z")
    monkeypatch.setenv("EVOCA_MAX_LIMIT", "50")
    monkeypatch.setenv("EVOCA_INDEXER", "false")
    settings = load_settings(collection=None)
    assert (settings.collection, settings.toolsets, settings.indexer) == ("work", ("graph", "facts"), False)
    assert settings.now == from_iso("2026-04-14T22:47:23Z")
    assert settings.limits.limit == 50
    assert load_settings(collection="home").collection == "home"


@pytest.mark.parametrize(
    ("text", "names"), [(" jefe, Mascota,,jefe ", ("jefe", "Mascota")), ("None", ()), ("vive_en", ("vive_en",))]
)
def test_single_valued_predicates_are_a_list(
    monkeypatch: pytest.MonkeyPatch, text: str, names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("EVOCA_SINGLE_VALUED", text)
    assert load_settings().single_valued == names


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.setenv(variable_of(name), "")
    assert load_settings() == Settings()


@pytest.mark.parametrize("code", ["", "default", "none", "NULL", "nil", "undefined", " Default "])
def test_many_words_mean_the_default_collection(code: str) -> None:
    assert collection_code(code) == DEFAULT_COLLECTION


@given(st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True))
def test_a_code_is_kept(code: str) -> None:
    meant = collection_code(code)
    assert meant in (code, DEFAULT_COLLECTION)


@pytest.mark.parametrize("code", ["-a", "a_b", "Año", "a b", "a" * 64, "a\n", "../a"])
def test_what_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="is not a collection code"):
        collection_code(code)


def test_a_long_wrong_code_is_shortened_and_the_way_out_is_not() -> None:
    with pytest.raises(ValueError, match=r"^'A{80}…' is not .* beginning with a letter or a digit$"):
        collection_code("A" * 1000)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EVOCA_COLLECTION", "A"),
        ("EVOCA_TOOLSETS", "graphs"),
        ("EVOCA_EMBEDDER", "best"),
        ("EVOCA_NOW", "noon"),
        ("EVOCA_LOG_LEVEL", "loud"),
        ("EVOCA_MAX_ITEMS", "0"),
        ("EVOCA_BUSY_TIMEOUT", "long"),
        ("EVOCA_INDEXER_BATCH", "1.5"),
        ("EVOCA_TRACK", "perhaps"),
    ],
)
def test_a_bad_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidInput, match=f"^{variable}: "):
        load_settings()


def test_a_bad_option_names_the_option() -> None:
    with pytest.raises(InvalidInput, match=r"^--collection: "):
        load_settings(collection="A")


def test_paths_are_expanded_and_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    assert load_settings(store="data/../m.db").store_location == str(tmp_path / "m.db")
    assert load_settings(store="~/m.db").store_location == "/home/ada/m.db"
    assert load_settings(store="$HOME/m.db").store_location == "/home/ada/m.db"
    monkeypatch.setenv("MEMORY_FILE_PATH", "memory.jsonl")
    assert load_settings().memory_path == tmp_path / "memory.jsonl"


def test_the_default_store_is_in_the_user_s_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    location = Path(load_settings().store_location)
    assert location.is_relative_to(tmp_path)
    assert location.name == "evoca.db"


def test_a_url_is_kept_and_shown_without_its_password() -> None:
    settings = load_settings(store="postgresql://ada:s3cret@127.0.0.1:5432/memory")
    assert settings.store_location == "postgresql://ada:s3cret@127.0.0.1:5432/memory"
    assert settings.shown_location == "postgresql://ada@127.0.0.1:5432/memory"


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_EMBEDDER_KEY", "s3cret")
    assert "s3cret" not in repr(load_settings())


def test_the_official_file_cannot_be_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "m"))
    with pytest.raises(InvalidInput, match="the same file"):
        load_settings(store=str(tmp_path / "m"))


def test_misspelt_variables_are_found() -> None:
    surroundings = {"EVOCA_STORE": "a", "EVOCA_STOER": "b", "PATH": "c", "EVOCA_LIMIT": "d"}
    assert unknown_variables(surroundings) == ["EVOCA_LIMIT", "EVOCA_STOER"]
