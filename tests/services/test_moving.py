"""Export and import: what goes out comes in again, once, and all of it or nothing (case B008)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given, settings

from evoca.domain.clock import FrozenClock
from evoca.domain.graph import CoOccurrence, Edge, Entity, Observation
from evoca.domain.reflections import Reflection
from evoca.errors import Conflict, InvalidInput, NotFound
from evoca.services.exporting import ExportService
from evoca.services.importing import Imported, ImportService
from evoca.services.portable import KINDS, Ending, Envelope, Row, ending_json, envelope_json, line, row_json
from evoca.services.transfer import TransferService
from evoca.settings import Limits
from evoca.storage import open_store
from evoca.storage.contract import Store
from evoca.storage.transfer_contract import FormerName, Use, WholeEntity, WholeEpisode
from tests.services.portable_rows import collections

ENVELOPE = Envelope(5, "default", "Ñandú", "what it is for")


class Shelf:
    """A store with its two services, and the default collection."""

    def __init__(self, path: Path, now: int = 77) -> None:
        clock = FrozenClock(now)
        self.store: Store = open_store(path, clock)
        self._exporting = ExportService(self.store, clock)
        self._importing = ImportService(self.store, TransferService(self.store, clock, Limits()))
        self._folder = path.parent
        home = self.store.read(lambda session: session.collections.find("default"))
        assert home is not None
        self.home = home.id

    def take(self, path: Path, dry_run: bool = False) -> Imported:
        report = self._importing.import_from(self.home, path, dry_run)
        assert isinstance(report, Imported)
        return report

    def exported(self) -> list[bytes]:
        """The lines of an export behind its envelope."""
        return self.export().read_bytes().splitlines()[1:]

    def export(self) -> Path:
        path = self._folder / "export.jsonl"
        self._exporting.export_to(self.home, path, overwrite=True)
        return path

    @property
    def healthy(self) -> bool:
        return self.store.check()["integrity"] == "ok"


@contextmanager
def shelf(path: Path, now: int = 77) -> Generator[Shelf]:
    opened = Shelf(path, now)
    try:
        yield opened
    finally:
        opened.store.close()


def written(path: Path, rows: Sequence[Row], envelope: Envelope = ENVELOPE) -> Path:
    counts = dict.fromkeys(KINDS.values(), 0) | Counter(KINDS[type(row)] for row in rows)
    records = [envelope_json(envelope), *map(row_json, rows), ending_json(Ending(counts))]
    path.write_bytes(b"".join(map(line, records)))
    return path


@settings(max_examples=40)
@given(collections())
def test_what_comes_in_goes_out_the_same_and_only_once(rows: list[Row]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = written(folder / "in.jsonl", rows)
        with shelf(folder / "one.db") as one:
            report = one.take(file)
            assert sum(report.added.values()) == len(rows)
            assert not any(report.known.values())
            out = one.exported()
            assert out == file.read_bytes().splitlines()[1:]
            again = one.take(file)
            assert sum(again.known.values()) == len(rows)
            assert one.exported() == out
            assert one.healthy


@settings(max_examples=15)
@given(collections(), collections())
def test_two_exports_come_together_in_one_store(first: list[Row], second: list[Row]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [written(folder / f"{place}.jsonl", rows) for place, rows in enumerate((first, second))]
        with shelf(folder / "both.db") as both:
            for file in files:
                both.take(file)
            held = both.exported()
            for file in files:
                assert not any(both.take(file).added.values())
            assert both.exported() == held
            assert both.healthy
    told = [{*map(said, rows)} for rows in (first, second)]
    assert {*map(record_said, held)} >= (told[0] | told[1]) - {None}


def said(row: Row) -> tuple[object, ...] | None:
    """What no import may lose: texts with their times."""
    match row:
        case Observation():
            return "observation", row.content, row.superseded_at is None
        case WholeEpisode(episode=episode):
            return "episode", episode.session_id, episode.content
        case Reflection():
            return "reflection", row.author, row.content
        case _:
            return None


def record_said(raw: bytes) -> tuple[object, ...] | None:
    record = cast("dict[str, str]", json.loads(raw))
    match record["type"]:
        case "observation":
            return "observation", record["content"], "superseded_at" not in record
        case "episode":
            return "episode", record.get("session_id", ""), record["content"]
        case "reflection":
            return "reflection", record["author"], record["content"]
        case _:
            return None


# -- a file that is not as it was written ------------------------------------------------------------------

PLAIN: list[Row] = [
    WholeEntity(Entity(1, "Ana", "person", "activo", 1, 1)),
    Observation(2, 1, "uno", "generic", None, None, False, 1),
    Reflection(0, "entity", 1, "sofia", "prose", None, 1),
]


Lines = list[bytes]


def change(old: str, new: str) -> Callable[[Lines], Lines]:
    def changed(lines: Lines) -> Lines:
        text = b"\n".join(lines)
        assert old.encode() in text
        return text.replace(old.encode(), new.encode()).split(b"\n")

    return changed


SPOILED: list[tuple[Callable[[Lines], Lines], str]] = [
    (lambda lines: lines[:-1], "it ends early, after line 4: the end record is missing"),
    (lambda lines: [*lines[:2], *lines[3:]], "1 records of type observation are told, 0 are there"),
    (lambda lines: [*lines, lines[2]], "line 6: stands after the end record"),
    (lambda lines: [*lines[:2], lines[2][:20], *lines[3:]], "line 3: not JSON"),
    (lambda lines: [*lines[:2], lines[2] + lines[2], *lines[3:]], "line 3: not JSON"),
    (lambda lines: [*lines[:2], b"\xff", *lines[3:]], "line 3: not UTF-8 text"),
    (lambda lines: [*lines[:2], b"[1]", *lines[3:]], "line 3: not a JSON object"),
    (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "line 2: refers to entity 1, which does not stand"),
    (lambda lines: [lines[0], lines[1], *lines[1:]], "line 3: id 1 was given before"),
    (lambda lines: [lines[0][:-9], *lines[1:]], "line 1: not JSON"),
    (change('"version":1', '"version":2'), "line 1: the format is version 2; this Evoca reads version 1"),
    (change('"content":"uno"', '"content":7'), "line 3: content is not a text"),
    (change('"content":"uno"', '"content":"a\\u0000"'), "line 3: content holds a NUL"),
    (change('"content":"uno"', '"text":"uno"'), "line 3: content is missing"),
    (change('"content":"uno"', '"content":"uno","extra":1'), "line 3: unknown key 'extra'"),
    (change('"type":"observation"', '"type":"note"'), "line 3: unknown type 'note'"),
    (change('"content":"uno"', '"content":"uno","supersedes":9'), "line 3: refers to observation 9, which is not"),
    (change('"name":"Ana"', '"name":" "'), "line 2: name is blank"),
    (
        change('"created_at":"1970-01-01T00:00:00.000001Z","updated', '"created_at":"then","updated'),
        "is not a time",
    ),
    (change('"target_type":"entity"', '"target_type":"thing"'), "line 4: target_type is 'thing'"),
]


@pytest.mark.parametrize(("spoil", "reason"), SPOILED)
def test_a_broken_line_is_told_and_nothing_is_imported(
    tmp_path: Path, spoil: Callable[[Lines], Lines], reason: str
) -> None:
    file = written(tmp_path / "in.jsonl", PLAIN)
    file.write_bytes(b"\n".join(spoil(file.read_bytes().splitlines())) + b"\n")
    with shelf(tmp_path / "m.db") as one:
        before = one.exported()
        with pytest.raises(InvalidInput, match="cannot be imported") as error:
            one.take(file)
        assert reason in error.value.message
        assert "Nothing was imported" in error.value.hint
        assert one.exported() == before


def test_many_broken_lines_are_told_at_once(tmp_path: Path) -> None:
    file = written(tmp_path / "in.jsonl", PLAIN)
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join([lines[0], *[b"x"] * 30, *lines[1:]]))
    with shelf(tmp_path / "m.db") as one, pytest.raises(InvalidInput) as error:
        one.take(file)
    assert error.value.message.count("not JSON") == 20
    assert error.value.message.endswith("and 10 more.")


def test_a_dry_run_tells_and_changes_nothing(tmp_path: Path) -> None:
    file = written(tmp_path / "in.jsonl", PLAIN)
    with shelf(tmp_path / "m.db") as one:
        before = one.exported()
        report = one.take(file, dry_run=True)
        assert report.dry_run
        assert report.added["observation"] == 1
        assert one.exported() == before
        assert one.take(file).added == report.added


def test_an_export_overwrites_only_what_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    with shelf(tmp_path / "m.db") as one:
        exporting = ExportService(one.store, FrozenClock(1))
        with pytest.raises(Conflict):
            exporting.export_to(one.home, tmp_path / "precious")
        with pytest.raises(InvalidInput, match="cannot be written"):
            exporting.export_to(one.home, tmp_path / "no" / "folder")
        with pytest.raises(NotFound):
            exporting.export_to(99, tmp_path / "other")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"
    assert {each.name for each in tmp_path.iterdir()} == {"m.db", "precious"}


# -- into a collection that holds something ----------------------------------------------------------------


def row_kinds(report: Imported) -> dict[str, tuple[int, int]]:
    """(new, known) of each kind that the file has."""
    counts = {kind: (report.added[kind], report.known[kind]) for kind in KINDS.values()}
    return {kind: count for kind, count in counts.items() if any(count)}


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    ours = [
        WholeEntity(Entity(1, "Ana", "person", "activo", 10, 10), use=Use(5, 50, ((3, 5),))),
        Observation(2, 1, "uno", "generic", None, None, False, 20),
        Edge(3, 1, "", "edad", None, None, 30, None, None, 1.0, True, 20, None, None),
    ]
    theirs = [
        WholeEntity(Entity(1, "Ana", "robot", "pausado", 99, 99), use=Use(1, 99, ((4, 1),))),
        Observation(2, 1, "uno", "decision", None, None, True, 99),
        Observation(3, 1, "dos", "generic", 2, None, False, 99),
        Edge(4, 1, "", "edad", None, None, 30, "told", None, 0.5, True, 99, None, None),
        Edge(5, 1, "", "edad", None, None, 30.0, None, None, 1.0, True, 99, None, None),
        Edge(6, 1, "", "edad", None, None, "30", None, None, 1.0, True, 99, None, None),
        Edge(7, 1, "", "edad", None, None, 30, None, None, 1.0, False, 5, 5, 9),
    ]
    with shelf(tmp_path / "m.db") as one:
        one.take(written(tmp_path / "ours.jsonl", ours))
        report = one.take(written(tmp_path / "theirs.jsonl", theirs))
        assert row_kinds(report) == {"entity": (0, 1), "observation": (1, 1), "edge": (3, 1)}
        records = [cast("dict[str, object]", json.loads(raw)) for raw in one.exported()]
    assert records[0]["entity_type"] == "person"
    assert records[0]["use"] == {"count": 5, "last": "1970-01-01T00:00:00.000050Z", "days": [[3, 5]]}
    uno, dos = records[1:3]
    assert "kind" not in uno
    assert dos["supersedes"] == uno["id"]
    edges = [record for record in records if record["type"] == "edge"]
    assert [edge["value"] for edge in edges] == [30, 30.0, "30", 30]
    assert [type(edge["value"]) for edge in edges] == [int, float, str, int]
    assert "context" not in edges[0]


def test_a_former_name_leads_to_the_entity_that_had_it(tmp_path: Path) -> None:
    ours: list[Row] = [
        WholeEntity(Entity(1, "Ana María", "person", "activo", 1, 1), (FormerName("Ana", 1),)),
        Observation(2, 1, "uno", "generic", None, None, False, 1),
    ]
    theirs: list[Row] = [
        WholeEntity(Entity(1, "Ana", "person", "activo", 1, 1)),
        WholeEntity(Entity(2, "Ana María", "person", "activo", 1, 1)),
        WholeEntity(Entity(3, "Bob", "person", "activo", 1, 1)),
        Observation(4, 1, "uno", "generic", None, None, False, 5),
        Observation(5, 2, "uno", "generic", None, None, False, 6),
        Observation(6, 2, "dos", "generic", None, None, False, 7),
        Edge(7, 3, "", "knows", 1, None, None, None, None, 1.0, True, 1, None, None),
        Edge(8, 3, "", "knows", 2, None, None, None, None, 1.0, True, 2, None, None),
        CoOccurrence(1, 2, 3, 4),
        CoOccurrence(2, 3, 3, 4),
    ]
    with shelf(tmp_path / "m.db") as one:
        one.take(written(tmp_path / "ours.jsonl", ours))
        file = written(tmp_path / "theirs.jsonl", theirs)
        assert row_kinds(one.take(file)) == {"entity": (1, 2), "observation": (1, 2), "edge": (1, 1), "company": (1, 1)}
        held = one.exported()
        assert not any(one.take(file).added.values())
        assert one.exported() == held
        assert one.healthy


def test_an_import_waits_for_nothing_in_the_index(tmp_path: Path) -> None:
    texts = [f"observation number {number}" for number in range(2_500)]
    rows: list[Row] = [WholeEntity(Entity(1, "Ana", "person", "activo", 1, 1))]
    rows += [Observation(2 + place, 1, text, "generic", None, None, False, 1) for place, text in enumerate(texts)]
    with shelf(tmp_path / "m.db") as one:
        one.take(written(tmp_path / "in.jsonl", rows))
        home = one.home
        assert one.store.read(lambda session: session.substrings.entities(home, "number 2499")) == [1]
        (found,) = one.store.read(lambda session: session.documents.postings(home, [["2499"]]))
        assert len(found) == 1
        assert one.healthy
