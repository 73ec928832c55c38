"""Write small collection folders for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import InputError, Problem
from rerankers.collections import Jsonl
from rerankers.values import Collection

DOCS: list[Any] = [{"id": "b", "title": "two words"}, {"id": "a", "title": "one", "abstract": "more"}]
QUERIES: list[Any] = [{"qid": "1", "query": "words"}]


def lines(records: list[Any]) -> bytes:
    """Return records as JSON lines; text and bytes are taken as they are."""
    out = b""
    for record in records:
        if isinstance(record, bytes):
            out += record + b"\n"
        else:
            out += (record if isinstance(record, str) else json.dumps(record)).encode() + b"\n"
    return out


def folder(path: Path, docs: list[Any] = DOCS, queries: list[Any] = QUERIES, **files: str | bytes) -> Path:
    """Write ``docs.jsonl``, ``queries.jsonl`` and more files, named with ``__`` for the dot."""
    (path / "docs.jsonl").write_bytes(lines(docs))
    (path / "queries.jsonl").write_bytes(lines(queries))
    more: Mapping[str, str | bytes] = files
    for name, content in more.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (path / name.replace("__", ".")).write_bytes(raw)
    return path


def load(path: Path, **options: Any) -> Collection:
    return Jsonl(str(path), **options).load()


def problems_of(path: Path, **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        load(path, **options)
    return caught.value.problems


def by_line(path: Path, **options: Any) -> dict[int | None, str]:
    return {problem.line: f"{problem.found}; {problem.expected}" for problem in problems_of(path, **options)}
