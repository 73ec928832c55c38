"""Answers of servers have bounds: neither one that never ends nor one that unpacks to gigabytes holds up a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST_BYTES = 16 << 20
"""Of the body of an answer, unpacked; the longest completions have some hundred kilobytes."""
_PACKED = frozenset(("", "identity", "gzip", "deflate"))
_ASKED = "rerankers_asked"


class TooSlowError(Exception):
    """An answer is not complete in time."""


class TooLargeError(Exception):
    """An answer is longer than any completion, or packed in a way that was not asked for."""


def bounding(seconds: float) -> Mapping[str, list[Callable[[Any], None]]]:
    """Return the event hooks of an HTTP client that keep its answers within bounds.

    The client's own time-outs are for each piece of an answer: a server that sends one byte at a time never meets them.

    Parameters
    ----------
    seconds
        from the request to the end of its answer.
    """

    def asked(request: Any) -> None:
        request.extensions = {**request.extensions, _ASKED: time.monotonic()}
        request.headers["Accept-Encoding"] = "gzip, deflate"

    def answered(response: Any) -> None:
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in _PACKED:
            raise TooLargeError(f"an answer packed as {packed[:40]}, which was not asked for")
        end = response.request.extensions[_ASKED] + seconds
        response.iter_raw = _in_time(response.iter_raw, end)
        response.iter_bytes = _in_size(response.iter_bytes)

    return {"request": [asked], "response": [answered]}


def _in_time(pieces: Callable[..., Iterator[bytes]], end: float) -> Callable[..., Iterator[bytes]]:
    def bounded(*given: Any, **named: Any) -> Iterator[bytes]:
        for piece in pieces(*given, **named):
            if time.monotonic() > end:
                raise TooSlowError
            yield piece

    return bounded


def _in_size(pieces: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
    def bounded(*given: Any, **named: Any) -> Iterator[bytes]:
        size = 0
        for piece in pieces(*given, **named):
            size += len(piece)
            if size > MOST_BYTES:
                raise TooLargeError(f"an answer of more than {MOST_BYTES >> 20} MiB")
            yield piece

    return bounded
