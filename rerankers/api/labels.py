"""Group labels in memory, aligned with documents exactly as those of a group file are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import ConfigError, InputError, Problems, choose
from rerankers.api.frames import columns, is_table, nameless, rows
from rerankers.collections.aligned import Aligned, resolved
from rerankers.collections.group_files import GroupTable
from rerankers.collections.group_rows import RowsBuilder
from rerankers.collections.lift import MIXED_POLICIES
from rerankers.values import Collection, Ids
from rerankers.values.groups import UNKNOWN_POLICIES

ATTRIBUTE = "group"
Row = tuple[str, str, str, Any]
"""docno, attribute, group, weight; an empty group is an unknown one, an empty weight is none."""


def label_rows(source: Any, attribute: str = ATTRIBUTE) -> Iterator[Row]:
    """Yield the rows of ``{docno: group | [groups] | {group: weight} | None}`` or of a frame with docno and group.

    Parameters
    ----------
    source
        the labels; a frame may have the columns ``attribute`` and ``weight`` as well.
    attribute
        of labels that name none.

    Raises
    ------
    InputError
        for anything else, and for a document without a name.
    """
    if isinstance(source, Mapping) and not _is_columns(source):
        yield from _of_mapping(source, attribute)
        return
    if not is_table(source):
        expected = "a frame with docno and group, or {docno: group | [groups] | {group: weight} | None}"
        raise InputError.one("groups", f"a {type(source).__name__}", expected)
    found = columns(source, ("docno", "group"), "groups", ("attribute", "weight"))
    for values in rows(found):
        row = dict(zip(found, values, strict=True))
        if row["docno"] is None:
            raise InputError.one("groups", "a row without a docno", "a docno in every row")
        yield str(row["docno"]), str(row.get("attribute") or attribute), _text(row["group"]), _weight(row.get("weight"))


def _is_columns(source: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is columns by name, not labels by document, which may be lists too."""
    return is_table(source) and "group" in source and any(name in source for name in ("docno", "doc_id", "id"))


def _of_mapping(source: Mapping[Any, Any], attribute: str) -> Iterator[Row]:
    for docno, given in source.items():
        if nameless(docno):
            raise InputError.one("groups", f"a document called {docno!r}", "a docno of every label")
        given = given.tolist() if hasattr(given, "tolist") else given  # of numpy, which frames have in cells
        if isinstance(given, Mapping):
            for group, weight in given.items():
                yield str(docno), attribute, str(group), weight
        elif isinstance(given, list | tuple | set | frozenset):
            if any(nameless(group) for group in given):
                expected = "groups, or None alone where none is known"
                raise InputError.one("groups", f"{given!r} for document {str(docno)!r}", expected)
            for group in sorted(map(str, given)) or [""]:
                yield str(docno), attribute, group, ""
        else:
            yield str(docno), attribute, _text(given), ""


def _text(value: Any) -> str:
    return "" if nameless(value) else str(value)


def _weight(value: Any) -> Any:
    return "" if nameless(value) else value


@dataclass(frozen=True, eq=False)
class HeldGroups:
    """Labels in memory in the place of ``groups=file``, with its options.

    Parameters
    ----------
    source
        as `label_rows` takes it.
    attribute
        a name or a list of names of the attributes to take; None takes all. The name of labels that name none.
    unknown, mixed, order
        as of `rerankers.collections.FileGroups`.

    Raises
    ------
    ConfigError
        for other words.
    """

    source: Any
    attribute: Any = None
    unknown: str = "count"
    mixed: str = "own_group"
    order: list[str] | None = None

    def __post_init__(self) -> None:
        choose("groups.unknown", self.unknown, UNKNOWN_POLICIES)
        choose("groups.mixed", self.mixed, MIXED_POLICIES)

    def table(self) -> GroupTable:
        """Return the labels by name.

        Raises
        ------
        InputError
            with everything that is wrong with them.
        """
        problems = Problems("groups")
        usual = self.attribute if isinstance(self.attribute, str) else ATTRIBUTE
        parts: dict[str, RowsBuilder] = {}
        for number, (docno, attribute, group, weight) in enumerate(label_rows(self.source, usual), start=1):
            parts.setdefault(attribute, RowsBuilder()).add(number, docno, group, str(weight), problems)
        if not parts:
            problems.add(None, "no label", "at least one")
        problems.raise_if_any()
        found = {name: part.rows(name, problems) for name, part in parts.items()}
        problems.raise_if_any()
        return GroupTable("document", found, {"group_rows": sum(part.size for part in parts.values())})

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment of each chosen attribute over a collection's documents."""
        return self.align_documents(collection.docs)

    def align_documents(self, docs: Ids) -> Aligned:
        """Return the resolved alignment of each chosen attribute.

        Raises
        ------
        ConfigError
            for an attribute that no label is about.
        InputError
            as `table`.
        """
        table = self.table()
        chosen = _chosen(self.attribute, table)
        labels, counts = table.labels(docs, None, "groups", chosen)
        return resolved(labels, self.unknown, self.mixed, self.order, counts)

    def docs(self) -> list[str]:
        """Return the documents that have a label, in any order, each maybe several times."""
        return [name for part in self.table().rows.values() for name in part.name.to_pylist()]


def _chosen(attribute: Any, table: GroupTable) -> list[str]:
    if attribute is None:
        return list(table.rows)
    names = list(attribute) if isinstance(attribute, list | tuple) else [attribute]
    if not names:
        raise ConfigError("groups.attribute: found an empty list; expected names, or None for all")
    return [choose("groups.attribute", str(name), table.rows) for name in names]
