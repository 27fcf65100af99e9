"""Structured logs, on stderr and, if asked for, in a file. Nothing is ever logged to stdout.

`get_logger(name).info("store opened", location=…)`: an event, and fields that are numbers, names of things of ours and
locations. Contents, queries and keys are never logged; what an exception says is shown at level debug only, since
it may repeat them. Nothing is imported for it before something is logged.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from structlog.typing import Processor

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "json"]
ROOT = "evoca"
_FIELDS = "evoca_fields"


class Log:
    """Where one part of Evoca logs."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"{ROOT}.{name}")

    def debug(self, event: str, **fields: object) -> None:
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._log(logging.ERROR, event, fields)

    def failure(self, event: str, error: BaseException, **fields: object) -> None:
        """Log an unexpected exception: its class and where it was raised."""
        if self._logger.isEnabledFor(logging.ERROR):
            described = (type(error), error, error.__traceback__)
            self._logger.error(event, exc_info=described, extra={_FIELDS: fields})

    def _log(self, level: int, event: str, fields: Mapping[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={_FIELDS: fields})


def get_logger(name: str = "server") -> Log:
    return Log(name)


def configure(level: Level, form: Format = "auto", file: Path | None = None) -> None:
    """Send the logs of the whole process to stderr, and as JSON lines to `file`. Replaces an earlier call's choice.

    Other packages' messages below warning are dropped, for they may hold contents. Raises OSError when `file` cannot
    be opened.
    """
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(handler)
        handler.close()
    console = form == "console" or (form == "auto" and sys.stderr is not None and sys.stderr.isatty())
    if sys.stderr is not None:
        root.addHandler(_Handler(sys.stderr, _Renderer(console, show_messages=level == "debug")))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        stream = file.open("a", encoding="utf-8", errors="backslashreplace")
        root.addHandler(_Handler(stream, _Renderer(False, show_messages=level == "debug"), owned=True))
    root.setLevel(logging.WARNING)
    logging.getLogger(ROOT).setLevel(level.upper())


class _Handler(logging.Handler):
    """Writes rendered records to a stream; closes it if it is its own."""

    def __init__(self, stream: TextIO, formatter: logging.Formatter, owned: bool = False) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self._stream = stream
        self._owned = owned

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._stream.write(self.format(record) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            return  # the log's reader is gone or the disk is full: the work goes on

    def close(self) -> None:
        super().close()
        if self._owned:
            self._stream.close()


class _Renderer(logging.Formatter):
    """Renders a record through structlog, which is imported for the first one."""

    def __init__(self, console: bool, show_messages: bool) -> None:
        super().__init__()
        self._console = console
        self._show_messages = show_messages

    @cached_property
    def _processor(self) -> Processor:
        import structlog

        if self._console:
            return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
        return structlog.processors.JSONRenderer(ensure_ascii=False, default=str)

    def format(self, record: logging.LogRecord) -> str:
        event: MutableMapping[str, object] = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **getattr(record, _FIELDS, {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            event["error"] = type(error).__name__
            event["exception"] = self._traceback(error)
        rendered = self._processor(None, record.levelname.lower(), event)
        return rendered if isinstance(rendered, str) else str(rendered)

    def _traceback(self, error: BaseException) -> str:
        if self._show_messages:
            return "".join(traceback.format_exception(error)).rstrip()
        return "".join([*traceback.format_tb(error.__traceback__), type(error).__name__])
