"""What is written comes back; what does not fit is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from values_strategies import Pairs, pairs, ragged_of, rankings

from rerankers._base.errors import InputError, MissingError
from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Ragged, Rankings
from rerankers.values.storage import (
    RaggedWriter,
    count_blocks,
    read_groups,
    read_ids,
    read_ragged,
    read_rankings,
    write_groups,
    write_ids,
    write_ragged,
    write_rankings,
)
from rerankers.values.table import ParquetWriter

DOCS = Ids.of(list("abcdef"))
OTHER = Ids.of(list("abcdeg"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storage")


def check_same(left: Ragged, right: Ragged) -> None:
    assert type(left) is type(right)
    assert list(left.columns) == list(right.columns)
    arrays = [(left.query, right.query), (left.indptr, right.indptr), (left.doc, right.doc)]
    for one, two in arrays + [(left.columns[name], right.columns[name]) for name in left.columns]:
        assert one.dtype == two.dtype
        assert one.tobytes() == two.tobytes()


@given(pairs(), st.sampled_from([Ragged, Candidates, Judgments]), st.sampled_from("dfhlHQ?b"))
def test_ragged(folder: Path, value: Pairs, cls: type[Ragged], code: str) -> None:
    plain = {query: {doc: abs(x) for doc, x in row.items()} for query, row in value.items()}
    ragged = ragged_of(plain, cls, "value", np.dtype(code)).with_columns(second=np.arange(ragged_of(plain).nnz) / 3)
    write_ragged(folder / "r.parquet", ragged, DOCS)
    check_same(read_ragged(folder / "r.parquet", cls, DOCS), ragged)


def test_special_floats(folder: Path) -> None:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324])
    ragged = Ragged(np.array([3]), np.array([0, 6]), np.arange(6), {"x": values})
    write_ragged(folder / "r.parquet", ragged, DOCS)
    check_same(read_ragged(folder / "r.parquet", Ragged, DOCS), ragged)


@given(pairs(queries=6), st.lists(st.integers(0, 6), max_size=4))
def test_blocks(folder: Path, value: Pairs, cuts: list[int]) -> None:
    ragged = ragged_of(value, Candidates)
    bounds = [0, *sorted(min(cut, len(ragged)) for cut in cuts), len(ragged)]
    blocks = [ragged.rows(low, high) for low, high in pairwise(bounds)]
    with RaggedWriter(folder / "r.parquet", DOCS) as writer:
        for block in blocks:
            writer.write(block)
    assert count_blocks(folder / "r.parquet") == len(blocks)
    check_same(read_ragged(folder / "r.parquet", Candidates, DOCS), ragged)
    for index, block in enumerate(blocks):
        check_same(read_ragged(folder / "r.parquet", Candidates, DOCS, index), block)
    with pytest.raises(IndexError, match=f"it has {len(blocks)}"):
        read_ragged(folder / "r.parquet", Candidates, DOCS, len(blocks))


@given(rankings())
def test_rankings(folder: Path, value: Rankings) -> None:
    write_rankings(folder / "k.parquet", value, DOCS)
    again = read_rankings(folder / "k.parquet", Candidates, DOCS)
    check_same(again.over, value.over)
    for name in ("query_ptr", "item_ptr", "item", "weight", "label"):
        assert getattr(again, name).dtype == getattr(value, name).dtype
        assert getattr(again, name).tolist() == getattr(value, name).tolist()


@given(st.lists(st.text(alphabet="a\u00e9\n"), unique=True))
def test_ids(folder: Path, names: list[str]) -> None:
    write_ids(folder / "i.parquet", Ids.of(names))
    again = read_ids(folder / "i.parquet")
    assert again.names.to_pylist() == names
    assert again.fingerprint == Ids.of(names).fingerprint


@pytest.mark.parametrize("resolved", [False, True])
@pytest.mark.parametrize("doc", [[0, 2, 0], []])
def test_groups(folder: Path, doc: list[int], resolved: bool) -> None:
    groups = GroupAlignment.of_entries(
        "h-index", ("é", "b"), np.array(doc, np.int64), np.arange(len(doc)) % 2, np.arange(len(doc)) / 3, 6, "share"
    )
    groups = groups.resolve("count") if resolved else groups
    write_groups(folder / "g.parquet", groups, DOCS)
    again = read_groups(folder / "g.parquet", DOCS)
    assert (again.attribute, again.groups, again.kind, again.resolved) == ("h-index", groups.groups, "share", resolved)
    for name in ("indptr", "group", "weight", "unknown"):
        assert getattr(again, name).dtype == getattr(groups, name).dtype
        assert getattr(again, name).tolist() == getattr(groups, name).tolist()


READERS: list[Callable[[Path, Ids], object]] = [
    lambda path, docs: read_ragged(path, Ragged, docs),
    lambda path, docs: read_rankings(path, Ragged, docs),
    read_groups,
    lambda path, _: read_ids(path),
]


def test_other_ids_are_refused(folder: Path) -> None:
    value = Rankings.of_matrix(ragged_of({0: {1: 1}}), [np.zeros((1, 1), np.int32)])
    write_ragged(folder / "r.parquet", value.over, DOCS)
    write_rankings(folder / "k.parquet", value, DOCS)
    write_groups(
        folder / "g.parquet",
        GroupAlignment.of_entries("x", ("a",), np.array([0]), np.array([0]), np.ones(1), 6),
        DOCS,
    )
    for read, name in zip(READERS, ("r", "k", "g"), strict=False):
        with pytest.raises(InputError, match=f"expected document ids with fingerprint {OTHER.fingerprint}"):
            read(folder / f"{name}.parquet", OTHER)
        read(folder / f"{name}.parquet", DOCS)


@pytest.mark.parametrize("read", READERS)
def test_broken_missing_and_foreign_files(folder: Path, read: Callable[[Path, Ids], object]) -> None:
    path = folder / "broken.parquet"
    path.unlink(missing_ok=True)
    with pytest.raises(MissingError, match="no such file"):
        read(path, DOCS)
    for data in (b"", b"PAR1", b"PAR1 nothing PAR1"):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"broken\.parquet: found a file that cannot be read"):
            read(path, DOCS)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match="found a parquet file of 'no kind'"):
        read(path, DOCS)


def test_tampered_ids_are_refused(folder: Path) -> None:
    write_ids(folder / "i.parquet", Ids.of(["a", "b"]))
    schema = pq.read_schema(folder / "i.parquet")
    pq.write_table(pa.table([["a", "c"]], schema=schema), folder / "i.parquet")
    with pytest.raises(InputError, match="expected ids with fingerprint"):
        read_ids(folder / "i.parquet")


def write(path: Path, *blocks: Ragged, stop: bool = False) -> None:
    with RaggedWriter(path, DOCS) as writer:
        for block in blocks:
            writer.write(block)
        if stop:
            raise RuntimeError("stop")


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    one, two = ragged_of({0: {1: 1}}, column="one"), ragged_of({1: {1: 1}}, column="two")
    with pytest.raises(RuntimeError, match="stop"):
        write(path, one, stop=True)
    with pytest.raises(ValueError, match="nothing was written"):
        write(path)
    with pytest.raises(ValueError, match="columns named doc cannot be stored"):
        write(path, Ragged.empty().with_columns(doc=np.empty(0)))
    with pytest.raises(ValueError, match=r"columns .* as before"):
        write(path, one, two)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=6), st.integers(1, 4))
def test_row_groups_do_not_depend_on_the_pieces(folder: Path, pieces: list[list[int]], rows: int) -> None:
    schema = pa.schema({"x": pa.int64(), "name": pa.large_string()})
    whole = [x for piece in pieces for x in piece]

    def write(name: str, parts: list[list[int]]) -> bytes:
        with ParquetWriter(folder / name, schema=schema, rows=rows, typed=False) as writer:
            for part in parts:
                writer.write(pa.table([part, [str(x) for x in part]], schema=schema))
        return (folder / name).read_bytes()

    assert write("one.parquet", [whole]) == write("two.parquet", pieces)
    file = pq.ParquetFile(folder / "two.parquet")
    assert file.read()["x"].to_pylist() == whole
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [
        len(whole[low : low + rows]) for low in range(0, len(whole), rows)
    ]
