"""What a job is at: bars on a terminal for all that takes longer than two seconds, lines in the log everywhere.

Bars are for people who look on. They are left out where the output goes to a file or a pipe, on terminals that cannot
move the cursor, and in continuous integration (the variable CI is set there).
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

DELAY = 2.0
"""Seconds after which something counts as long: it gets a bar, and a line in the log."""
EVERY = 60.0
"""Seconds between the lines about one thing in the log."""

logger = logging.getLogger("rerankers.progress")
T = TypeVar("T")


def quiet() -> bool:
    """Return whether nobody looks on."""
    continuous = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return continuous or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty()


class Bar:
    """Counts what is done.

    Parameters
    ----------
    what
        is done, for instance ``search``.
    unit
        one of them, for instance ``query``.
    total
        how many there are; None where nobody knows.
    """

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        from tqdm import tqdm

        self._what, self._unit, self._total = what, unit, total
        self._start = self._told = perf_counter()
        self._done = 0
        _inner.append(self)
        self._bar: Any = tqdm(total=total, desc=what, unit=f" {unit}", disable=quiet(), delay=DELAY, leave=False)

    def update(self, number: int = 1) -> None:
        """Count some more."""
        self._done += number
        self._bar.update(number)
        now = perf_counter()
        if now - self._told >= EVERY:
            self._told = now
            self._tell(now)

    def say(self, **values: object) -> None:
        """Show values beside the bar, for instance a loss."""
        self._bar.set_postfix(values, refresh=False)

    def close(self) -> None:
        """Take the bar away; what took long is told in the log."""
        self._bar.close()
        _inner.remove(self)
        now = perf_counter()
        if now - self._start >= DELAY:
            self._tell(now)

    def _tell(self, now: float) -> None:
        share = f" of {self._total:,}" if self._total is not None else ""
        logger.info("%s: %s%s (%s), %.1f s", self._what, f"{self._done:,}", share, self._unit, now - self._start)


@contextmanager
def bar(what: str, unit: str, total: int | None = None) -> Iterator[Bar]:
    """Yield a bar for steps of different sizes; see `Bar`."""
    shown = Bar(what, unit, total)
    try:
        yield shown
    finally:
        shown.close()


def steps(items: Iterable[T], what: str, unit: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, counting each when the next one is asked for; see `Bar`."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(what, unit, total) as shown:
        for item in items:
            yield item
            shown.update()


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show the time that something without steps takes, for instance a search inside Java.

    Where one thing is part of another, and where a bar tells more, the inner one is shown.
    """
    start, over = perf_counter(), threading.Event()
    clock = None if quiet() else threading.Thread(target=_tick, args=(what, over), daemon=True)
    _inner.append(over)
    if clock is not None:
        clock.start()
    try:
        yield
    finally:
        _inner.remove(over)
        over.set()
        if clock is not None:
            clock.join()
        if perf_counter() - start >= DELAY:
            logger.info("%s: %.1f s", what, perf_counter() - start)


_inner: list[object] = []
"""What is going on, the innermost last."""


def _tick(what: str, over: threading.Event) -> None:
    from tqdm import tqdm

    if over.wait(DELAY):
        return
    with tqdm(desc=what, bar_format="{desc}: {elapsed}", leave=False) as shown:
        shown.start_t -= DELAY
        while not over.wait(0.5):
            if _inner and _inner[-1] is over:
                shown.refresh()
            else:
                shown.clear()
