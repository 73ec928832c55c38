"""Content fingerprints: equal content has an equal 128-bit name, on every machine and in every process."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DIGEST_BYTES = 16


def fingerprint(*parts: object) -> str:
    """Return the hexadecimal fingerprint of a tuple of values.

    Every field enters with its type and its length, so that ``("ab", "c")`` and ``("a", "bc")``,
    ``1`` and ``"1"``, or ``[1]`` and ``[1, 0]`` differ.

    Parameters
    ----------
    *parts
        None, bool, int, float, str, bytes, paths (by their text), numpy arrays (by dtype, shape and bytes),
        sequences, mappings (independent of key order) and dataclasses of these.

    Raises
    ------
    TypeError
        for any other type, arrays of Python objects included: their fingerprint would depend on memory addresses.
    """
    state = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        _feed(state, part)
    return state.hexdigest()


def file_fingerprint(path: Path) -> str:
    """Return the fingerprint of a file's bytes, read in pieces of one megabyte."""
    state = hashlib.blake2b(digest_size=DIGEST_BYTES)
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            state.update(piece)
    return state.hexdigest()


def _field(state: hashlib.blake2b, kind: bytes, payload: Any) -> None:
    view = memoryview(payload)
    state.update(kind + struct.pack("<q", view.nbytes))
    state.update(view)


def _feed(state: hashlib.blake2b, value: object) -> None:
    if value is None:
        _field(state, b"N", b"")
    elif isinstance(value, bool):
        _field(state, b"B", b"\x01" if value else b"\x00")
    elif isinstance(value, int):
        _field(state, b"I", str(value).encode())
    elif isinstance(value, float):
        _field(state, b"F", struct.pack("<d", value))
    elif isinstance(value, str):
        _field(state, b"S", value.encode())
    elif isinstance(value, bytes | bytearray | memoryview):
        _field(state, b"Y", value)
    elif isinstance(value, Path):
        _field(state, b"P", str(value).encode())
    else:
        _feed_compound(state, value)


def _feed_compound(state: hashlib.blake2b, value: Any) -> None:
    # numpy is recognised by what it offers, so that this module costs nothing at start-up.
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and not value.dtype.hasobject:
        _field(state, b"A", f"{value.dtype.str}{value.shape}".encode())
        _field(state, b"a", value.tobytes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _field(state, b"D", type(value).__qualname__.encode())
        for item in dataclasses.fields(value):
            _feed(state, item.name)
            _feed(state, getattr(value, item.name))
    elif isinstance(value, Mapping):
        _field(state, b"M", str(len(value)).encode())
        for key in sorted(value, key=repr):
            _feed(state, key)
            _feed(state, value[key])
    elif isinstance(value, Sequence):
        _field(state, b"L", str(len(value)).encode())
        for item in value:
            _feed(state, item)
    else:
        raise TypeError(f"no fingerprint for {type(value).__name__}: pass numbers, text, arrays or containers of them")
