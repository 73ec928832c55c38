"""Documents on their way into an index: checked, and gathered into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import InputError

_LONGEST_DOCNO: Final = 32_766  # bytes of a sorted value in Lucene
_BATCH_DOCUMENTS: Final = 5_000
_BATCH_CHARACTERS: Final = 8_000_000


def batches(documents: Iterable[tuple[str, str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield docnos and contents, at most 5,000 documents or about eight million characters at a time."""
    names: list[str] = []
    contents: list[str] = []
    characters = 0
    for number, (docno, text) in enumerate(documents, start=1):
        _check_docno(number, docno)
        if not isinstance(text, str):
            raise InputError.one(f"document {docno!r}", f"contents {text!r}", "text")
        names.append(docno)
        contents.append(encodable(text))
        characters += len(text)
        if len(names) >= _BATCH_DOCUMENTS or characters >= _BATCH_CHARACTERS:
            yield names, contents
            names, contents, characters = [], [], 0
    if names:
        yield names, contents


def _check_docno(number: int, docno: object) -> None:
    where = f"document number {number}"
    if not isinstance(docno, str) or not docno:
        raise InputError.one(where, f"docno {docno!r}", "a docno, text of at least one character")
    try:
        size = len(docno) if docno.isascii() else len(docno.encode())
    except UnicodeEncodeError as error:
        raise InputError.one(where, f"docno {docno!r}", "a docno that can be written as UTF-8") from error
    if size > _LONGEST_DOCNO:
        raise InputError.one(where, f"a docno of {size} bytes", f"at most {_LONGEST_DOCNO} bytes")


def encodable(text: str) -> str:
    """Return ``text`` with U+FFFD for halves of surrogate pairs, which Java text cannot take over."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sorted_unique(chunks: list[pa.LargeStringArray]) -> pa.LargeStringArray:
    """Return the docnos in the order of their UTF-8 bytes, which is that of Lucene and of code points."""
    names = pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())
    names = names.take(pc.sort_indices(names))
    twice = names[1:].filter(pc.equal(names[1:], names[:-1])).unique()
    if len(twice):
        some = ", ".join(repr(docno) for docno in twice[:5].to_pylist())
        raise InputError.one("documents", f"{len(twice)} docnos more than once: {some}", "each docno once")
    return names
