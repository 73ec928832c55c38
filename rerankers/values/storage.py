"""Values in parquet files: one row a query (or document) with list columns, a row group a block.

Documents are stored as codes. The file carries the fingerprint of the `Ids` that gave them, and is not read under
other ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.values.groups import GroupAlignment
from rerankers.values.ids import Ids
from rerankers.values.ragged import Ragged
from rerankers.values.rankings import Rankings
from rerankers.values.table import ParquetWriter, from_lists, one_array, open_table, reading, to_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

R = TypeVar("R", bound=Ragged)
_RANKINGS = ("weight", "label", "items")


def write_ids(path: Path, ids: Ids) -> None:
    """Write ids in their order."""
    with ParquetWriter(path, {"kind": "ids", "ids": ids.fingerprint}) as writer:
        writer.write(pa.table({"name": ids.names}))


def read_ids(path: Path) -> Ids:
    """Read ids.

    Raises
    ------
    InputError
        when the file is broken or its names are not those of its fingerprint.
    """
    file, facts = open_table(path, "ids")
    with file, reading(path):
        ids = Ids.of(one_array(file.read()["name"]))
    _check(path, "ids", facts.get("ids"), ids)
    return ids


class RaggedWriter:
    """Writes ragged rows block by block, each a row group, whole or not at all; a context manager.

    Every block must have the columns of the first. At least one block must be written, be it empty.
    """

    def __init__(self, path: Path, docs: Ids) -> None:
        self._writer = ParquetWriter(path, {"kind": "ragged", "ids": docs.fingerprint})

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def write(self, block: Ragged) -> None:
        """Add a block; ValueError where its columns are not those of the first."""
        self._writer.write(pa.table(_ragged_columns(block)))

    def __exit__(self, *exception: Any) -> None:
        self._writer.__exit__(*exception)


def write_ragged(path: Path, ragged: Ragged, docs: Ids) -> None:
    """Write ragged rows as one block."""
    with RaggedWriter(path, docs) as writer:
        writer.write(ragged)


def count_blocks(path: Path) -> int:
    """Return how many blocks a file of ragged rows has."""
    file, _ = open_table(path, "ragged")
    with file:
        return int(file.num_row_groups)


def read_ragged(path: Path, cls: type[R], docs: Ids, block: int | None = None) -> R:
    """Read ragged rows as a `Ragged`, `Candidates` or `Judgments`; one block of the file, or all of it.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when the file is broken or was written under other ids.
    IndexError
        when there is no such block.
    """
    file, facts = open_table(path, "ragged")
    with file:
        _check(path, "document ids", facts.get("ids"), docs)
        if block is not None and not 0 <= block < file.num_row_groups:
            raise IndexError(f"block {block} of {path}; it has {file.num_row_groups}")
        with reading(path):
            return _ragged(file.read() if block is None else file.read_row_group(block), cls)


def write_rankings(path: Path, rankings: Rankings, docs: Ids) -> None:
    """Write rankings together with the rows they are over."""
    table = pa.table(_ragged_columns(rankings.over) | {f"ranking_{k}": v for k, v in ranking_lists(rankings).items()})
    with ParquetWriter(path, {"kind": "rankings", "ids": docs.fingerprint}) as writer:
        writer.write(table)


def read_rankings(path: Path, cls: type[Ragged], docs: Ids) -> Rankings:
    """Read rankings over rows of class ``cls``; errors as `read_ragged`."""
    file, facts = open_table(path, "rankings")
    with file, reading(path):
        _check(path, "document ids", facts.get("ids"), docs)
        table = file.read()
        names = [f"ranking_{name}" for name in _RANKINGS]
        return rankings_of(_ragged(table.drop(names), cls), *(table[name] for name in names))


def ranking_lists(rankings: Rankings) -> dict[str, pa.LargeListArray]:
    """Return the rankings of each row as list columns ``weight``, ``label`` and ``items`` (lists of positions)."""
    ptr = rankings.query_ptr
    items = to_lists(rankings.item_ptr, rankings.item)
    return dict(
        zip(_RANKINGS, (to_lists(ptr, column) for column in (rankings.weight, rankings.label, items)), strict=True)
    )


def rankings_of(over: Ragged, weight: pa.ChunkedArray, label: pa.ChunkedArray, items: pa.ChunkedArray) -> Rankings:
    """Return the rankings of list columns, the opposite of `ranking_lists`."""
    query_ptr, inner = from_lists(items)
    item_ptr, item = from_lists(pa.chunked_array([inner]))
    values = [from_lists(column)[1].to_numpy() for column in (weight, label)]
    return Rankings(over, query_ptr, item_ptr, item.to_numpy(), *values)


def write_groups(path: Path, groups: GroupAlignment, docs: Ids) -> None:
    """Write an alignment, one row a document."""
    columns = {
        "group": to_lists(groups.indptr, groups.group),
        "weight": to_lists(groups.indptr, groups.weight),
        "unknown": pa.array(groups.unknown),
    }
    facts = {
        "kind": "groups",
        "ids": docs.fingerprint,
        "attribute": groups.attribute,
        "groups": groups.groups,
        "alignment": groups.kind,
        "resolved": groups.resolved,
    }
    with ParquetWriter(path, facts) as writer:
        writer.write(pa.table(columns))


def read_groups(path: Path, docs: Ids) -> GroupAlignment:
    """Read an alignment; errors as `read_ragged`."""
    file, facts = open_table(path, "groups")
    with file, reading(path):
        _check(path, "document ids", facts.get("ids"), docs)
        table = file.read()
        indptr, group = from_lists(table["group"])
        weight = from_lists(table["weight"])[1]
        return GroupAlignment(
            facts["attribute"],
            tuple(facts["groups"]),
            facts["alignment"],
            indptr,
            group.to_numpy(),
            weight.to_numpy(),
            one_array(table["unknown"]).to_numpy(),
            facts["resolved"],
        )


def _ragged_columns(ragged: Ragged) -> dict[str, pa.Array]:
    taken = {"query", "doc", *(f"ranking_{name}" for name in _RANKINGS)} & ragged.columns.keys()
    if taken:
        raise ValueError(f"columns named {', '.join(sorted(taken))} cannot be stored; expected other names")
    lists = {name: to_lists(ragged.indptr, column) for name, column in ragged.columns.items()}
    return {"query": pa.array(ragged.query), "doc": to_lists(ragged.indptr, ragged.doc)} | lists


def _ragged(table: pa.Table, cls: type[R]) -> R:
    indptr, doc = from_lists(table["doc"])
    columns = {
        name: _numbers(from_lists(table[name])[1]) for name in table.column_names if name not in ("query", "doc")
    }
    return cls(one_array(table["query"]).to_numpy(), indptr, doc.to_numpy(), columns)


def _numbers(items: pa.Array) -> NDArray[Any]:
    numbers: NDArray[Any] = items.to_numpy(zero_copy_only=not pa.types.is_boolean(items.type))
    return numbers


def _check(path: Path, what: str, found: Any, ids: Ids) -> None:
    if found != ids.fingerprint:
        raise InputError.one(
            str(path),
            f"{what} with fingerprint {found}",
            f"{what} with fingerprint {ids.fingerprint}",
            mend="It belongs to another collection or state: delete it and run the stage that writes it again.",
        )
