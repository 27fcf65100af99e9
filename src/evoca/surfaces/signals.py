"""How a serving process hears that it should end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Generator[None]:
    """Call `stop` in the loop at SIGTERM or SIGINT; a second one ends the process at once."""
    came = False

    def on_signal() -> None:
        nonlocal came
        if came:
            os._exit(1)
        came = True
        stop()

    previous = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in previous:
        try:
            loop.add_signal_handler(number, on_signal)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(on_signal) and None)
    try:
        yield
    finally:
        for number, handler in previous.items():
            try:
                loop.remove_signal_handler(number)
            except NotImplementedError:
                signal.signal(number, handler)
