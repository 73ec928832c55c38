"""Files that are nearly right, and what a reader may do with them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rerankers._base.errors import FairRerankersError

ODD = [
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b",", b"\t", b'"', b"'", b"#", b" ", b":", b"- "),
    *(b"nan", b"inf", b"1e400", b"-1", b"0", b"-0", b"9" * 20, b"1e-320", b"1_000", b"0x10", b"1.0", b"1e40"),
    *(b"\xed\xa0\x80", "\u2028".encode(), "\u0663".encode(), "\u202e".encode(), b"\x0b", b"\x1a", b"\x85"),
    *(b"{", b"}", b"[", b"]", b"null", b"true", b'{"a":1}', b"[[]]", b"*a", b"&a", b"!!python/object:os.system"),
]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a file that is nearly the given one."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(found) + 1)
        kind = chance.randrange(8)
        lines = bytes(found).split(b"\n")
        if kind == 0 and found:
            found[min(at, len(found) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            found[at : at + chance.randrange(8)] = chance.choice(ODD)
        elif kind == 2:
            del found[at:]
        elif kind == 3:
            del found[at : at + chance.randrange(1, 30)]
        elif kind == 4:
            found[at:at] = found[at : at + chance.randrange(1, 60)]
        elif kind == 5:
            chance.shuffle(lines)
            found = bytearray(b"\n".join(lines))
        elif kind == 6:
            lines[at % len(lines) : at % len(lines) + 1] = [lines[at % len(lines)]] * chance.randrange(3)
            found = bytearray(b"\n".join(lines))
        elif words := list(re.finditer(rb"[A-Za-z0-9.+-]+", bytes(found))):
            word = chance.choice(words)
            found[word.start() : word.end()] = chance.choice(ODD)
    return bytes(found)


def told(read: Callable[[Path], Any], path: Path) -> Any:
    """Return what is read, or the text of the error; None for an error that says nothing, or no end of things."""
    try:
        return read(path)
    except FairRerankersError as error:
        return str(error) if 0 < len(str(error).strip()) < 1_000_000 else None
