"""Logs: on stderr, in a file, never with contents."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from evoca.logs import configure, get_logger


@pytest.fixture(autouse=True)
def _leave_logging_as_it_was() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("evoca")
    before = (list(root.handlers), root.level, ours.level)
    yield
    for handler in [each for each in root.handlers if each not in before[0]]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(before[1])
    ours.setLevel(before[2])


def _lines(text: str) -> list[dict[str, object]]:
    return [cast("dict[str, object]", json.loads(line)) for line in text.splitlines()]


def _failed_digging() -> RuntimeError:
    found = "treasure"
    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError(found)
    return caught.value


def test_a_line_is_an_event_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    get_logger("store").info("opened", location=Path("/ñ"), entities=3)
    out, err = capsys.readouterr()
    (line,) = _lines(err)
    assert out == ""
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {"level": "info", "event": "opened", "logger": "evoca.store", "location": "/ñ", "entities": 3}


def test_the_level_decides(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning", "json")
    log = get_logger()
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [line["event"] for line in _lines(capsys.readouterr().err)] == ["c", "d"]


def test_configuring_again_replaces_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    configure("info", "json")
    get_logger().info("once")
    assert len(_lines(capsys.readouterr().err)) == 1


def test_a_failure_tells_where_and_not_what(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    get_logger().failure("failed", _failed_digging(), operation="dig")
    text = capsys.readouterr().err
    (line,) = _lines(text)
    assert (line["error"], line["operation"]) == ("RuntimeError", "dig")
    assert "_failed_digging" in str(line["exception"])
    assert "treasure" not in text


def test_at_debug_a_failure_tells_all(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", "console")
    get_logger().failure("failed", _failed_digging())
    assert "RuntimeError: treasure" in capsys.readouterr().err


def test_other_packages_are_heard_from_warning_on(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", "json")
    logging.getLogger("elsewhere").info("chatter")
    logging.getLogger("elsewhere").warning("watch %s", "out")
    assert [line["event"] for line in _lines(capsys.readouterr().err)] == ["watch out"]


def test_a_file_gets_json_lines_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new" / "evoca.log"
    configure("info", "console", file)
    get_logger().info("kept", text="\ud800 ñ")
    assert "kept" in capsys.readouterr().err
    (line,) = _lines(file.read_text("utf-8"))
    assert line["event"] == "kept"


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        configure("info", "json", tmp_path)
