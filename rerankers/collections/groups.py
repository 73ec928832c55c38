"""What the config word ``groups`` can be: where the labels of documents come from, and how they are aligned."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.collections.aligned import Aligned, resolved
from rerankers.collections.group_files import read_groups
from rerankers.collections.group_rows import spread
from rerankers.collections.lift import MIXED_POLICIES
from rerankers.values.groups import UNKNOWN_POLICIES
from rerankers.values.labels import NO_LABEL

if TYPE_CHECKING:
    from rerankers.values.authors import Authors
    from rerankers.values.collection import Collection
    from rerankers.values.ids import Ids

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class NoGroups:
    """No attribute: group measures are left out."""

    def align(self, collection: Collection) -> Aligned:
        """Return no alignment."""
        return Aligned({}, {})


@dataclass(frozen=True, slots=True)
class CollectionGroups:
    """The attributes that the collection brings.

    Parameters
    ----------
    attribute
        a name or a list of names; None takes all.
    unknown
        what becomes of documents without a group: ``count``, ``drop``, ``spread`` (`GroupAlignment.resolve`).
    mixed
        what becomes of documents of several groups: ``own_group``, ``full``, ``split``, ``drop``, ``up``, ``down``
        (`lift`).
    order
        the groups from low to high, for ``mixed=up`` and ``down``.

    Raises
    ------
    ConfigError
        for other words.
    """

    attribute: Any = None
    unknown: str = "count"
    mixed: str = "own_group"
    order: list[str] | None = None

    def __post_init__(self) -> None:
        _check(self.unknown, self.mixed)

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment of each chosen attribute.

        Raises
        ------
        ConfigError
            for an attribute that the collection does not have, or an order that does not fit.
        """
        chosen = _chosen(collection.groups, self.attribute, f"the collection {collection.name!r}")
        return resolved(chosen, self.unknown, self.mixed, self.order, {})


@dataclass(frozen=True, slots=True)
class FileGroups:
    """The attributes of a CSV or TSV file with header ``docno,group`` or ``author_id,group`` (`read_groups`).

    Parameters
    ----------
    path
        the file.
    attribute
        a name or a list of names of its column ``attribute``, None takes all; for a file without that column, what
        to call its only attribute.
    unknown, mixed, order
        as of `CollectionGroups`.
    """

    path: str
    attribute: Any = None
    unknown: str = "count"
    mixed: str = "own_group"
    order: list[str] | None = None

    def __post_init__(self) -> None:
        _check(self.unknown, self.mixed)

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment of each chosen attribute.

        Raises
        ------
        InputError
            with every problem of the file.
        ConfigError
            for an attribute that the file does not have, a file of authors for a collection without author lists,
            or an order that does not fit.
        """
        return self._align(collection.docs, collection.authors)

    def align_documents(self, docs: Ids) -> Aligned:
        """Return the resolved alignment over documents whose authors are not known; raises as `align`."""
        return self._align(docs, None)

    def _name(self) -> str | None:
        """Return what to call the only attribute of a file without a column for it."""
        return None if self.attribute is None or isinstance(self.attribute, list | tuple) else str(self.attribute)

    def _align(self, docs: Ids, authors: Authors | None) -> Aligned:
        table = read_groups(self.path, self._name())
        chosen = _chosen(table.rows, self.attribute, self.path)
        labels, counts = table.labels(docs, authors, f"groups.path={self.path}", chosen)
        return resolved(labels, self.unknown, self.mixed, self.order, counts)


@dataclass(frozen=True, slots=True)
class AuthorField:
    """Two groups of authors by a number in the collection's author table; NaN is unknown.

    Parameters
    ----------
    attribute
        what to call the attribute.
    field
        the number, for instance ``n_papers`` or ``h_index``.
    at_least
        an author with this much or more belongs to the second group.
    groups
        names of the two groups, low first; also the order for ``mixed=up`` and ``down``.
    unknown, mixed
        as of `CollectionGroups`.
    """

    attribute: str
    field: str
    at_least: float
    groups: list[str] = dataclasses.field(default_factory=lambda: ["below", "at_least"])
    unknown: str = "count"
    mixed: str = "own_group"

    def __post_init__(self) -> None:
        _check(self.unknown, self.mixed)
        if len(self.groups) != 2 or self.groups[0] == self.groups[1]:
            raise ConfigError(f"groups.groups: found {self.groups}; expected two names, low first")

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment.

        Raises
        ------
        ConfigError
            when the collection has no author lists, or no such number about authors.
        """
        authors = collection.authors
        if authors is None:
            raise ConfigError(f"groups.field={self.field}: the collection {collection.name!r} has no author lists")
        if not authors.fields:
            raise ConfigError(
                f"groups.field={self.field}: the collection {collection.name!r} has no author table; expected "
                "authors.jsonl or authors.csv in its folder"
            )
        choose("groups.field", self.field, sorted(authors.fields))
        value = authors.fields[self.field]
        label = np.where(np.isnan(value), NO_LABEL, value >= self.at_least).astype(np.int32)
        names = (self.groups[0], self.groups[1])
        labels = spread(authors, self.attribute, names, np.arange(len(label) + 1, dtype=np.int64), label)
        counts = {f"{self.attribute}_authors_{names[code]}": int((label == code).sum()) for code in (0, 1)}
        return resolved({self.attribute: labels}, self.unknown, self.mixed, self.groups, counts)


def _check(unknown: str, mixed: str) -> None:
    choose("groups.unknown", unknown, UNKNOWN_POLICIES)
    choose("groups.mixed", mixed, MIXED_POLICIES)


def _chosen(parts: Mapping[str, _Part], attribute: Any, where: str) -> dict[str, _Part]:
    many = isinstance(attribute, list | tuple)
    if many and not attribute:
        raise ConfigError("groups.attribute: found an empty list; expected names, null for all, or groups=none")
    names = list(parts) if attribute is None else [str(one) for one in (attribute if many else [attribute])]
    if names and not parts:
        raise ConfigError(f"groups.attribute: found {', '.join(names)}, but {where} brings no attribute")
    return {name: parts[choose(f"groups.attribute ({where})", name, parts)] for name in names}
