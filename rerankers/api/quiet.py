"""What a job prints, kept for the caller: only what the calling thread prints, and only while it is at work."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass
class Said:
    """What was printed meanwhile."""

    out: str = ""
    err: str = ""


class _Tee(io.StringIO):
    """Keeps what is written and lets it through as well."""

    def __init__(self, real: TextIO) -> None:
        super().__init__()
        self._real = real

    def write(self, text: str) -> int:
        self._real.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._real.flush()

    def isatty(self) -> bool:
        return self._real.isatty()


@dataclass
class _Door:
    """Stands in for ``sys.stdout`` or ``sys.stderr`` while any thread is at work, and lets everybody else through."""

    name: str
    real: TextIO | None = None
    kept: dict[int, io.StringIO] = field(default_factory=dict)

    @property
    def stream(self) -> Any:
        """Where the calling thread writes."""
        return self.kept.get(threading.get_ident(), self.real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __enter__(self) -> Any:
        return self.stream.__enter__()

    def __exit__(self, *exception: object) -> Any:
        return self.stream.__exit__(*exception)

    def __iter__(self) -> Any:
        return iter(self.stream)

    def open(self, shown: bool) -> None:
        """Begin to keep what the calling thread writes; ``shown``: and to let it through as well."""
        if not self.kept:
            self.real = getattr(sys, self.name)
            setattr(sys, self.name, self)
        real = self.real
        self.kept[threading.get_ident()] = _Tee(real) if shown and real is not None else io.StringIO()

    def close(self) -> str:
        """Return what it wrote; the last one to leave puts the real stream back, unless somebody replaced the door."""
        text = self.kept.pop(threading.get_ident()).getvalue()
        if not self.kept and getattr(sys, self.name) is self:
            setattr(sys, self.name, self.real)
        return text


_LOCK = threading.Lock()
_DOORS = (_Door("stdout"), _Door("stderr"))


@contextmanager
def kept(shown: bool = False) -> Iterator[Said]:
    """Keep what the calling thread prints; other threads print as ever. A call inside such a call is kept with it.

    Parameters
    ----------
    shown
        print it as well.
    """
    said = Said()
    if threading.get_ident() in _DOORS[0].kept:
        yield said
        return
    with _LOCK:
        for door in _DOORS:
            door.open(shown)
    try:
        yield said
    finally:
        with _LOCK:
            said.out, said.err = (door.close() for door in _DOORS)
