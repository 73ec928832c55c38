"""Groups from the annotations of TREC Fair Ranking 2020, over any documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers.collections.aligned import Aligned, resolved
from rerankers.collections.annotations import ATTRIBUTES, read_annotations
from rerankers.collections.lift import MIXED_POLICIES
from rerankers.values.groups import UNKNOWN_POLICIES

if TYPE_CHECKING:
    from rerankers.values.collection import Collection
    from rerankers.values.ids import Ids
    from rerankers.values.labels import Labels


@dataclass(frozen=True, slots=True)
class AnnotationGroups:
    """Groups of ``merged-annotations.json`` or ``doc-annotations.csv``.

    Parameters
    ----------
    path
        the file; its content says which it is.
    attribute
        ``level`` (economy of the authors' countries), ``h_class`` (h-index below 10 or not), or a list of both; None
        is ``level``.
    unknown, mixed
        as of `CollectionGroups`.
    order
        the groups from low to high, for ``mixed=up`` and ``down``; None: Developing, Advanced and L, H.
    """

    path: str
    attribute: Any = None
    unknown: str = "count"
    mixed: str = "own_group"
    order: list[str] | None = None

    def __post_init__(self) -> None:
        choose("groups.unknown", self.unknown, UNKNOWN_POLICIES)
        choose("groups.mixed", self.mixed, MIXED_POLICIES)
        if isinstance(self.attribute, list | tuple) and not self.attribute:
            raise ConfigError("groups.attribute: found an empty list; expected names, null for level, or groups=none")

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment of each chosen attribute; raises as `align_documents`."""
        return self.align_documents(collection.docs)

    def align_documents(self, docs: Ids) -> Aligned:
        """Return the resolved alignment over documents.

        Raises
        ------
        InputError
            with every problem of the file.
        ConfigError
            for another attribute, or an order that does not fit.
        """
        given = "level" if self.attribute is None else self.attribute
        names = [str(name) for name in given] if isinstance(given, list | tuple) else [str(given)]
        found: dict[str, Aligned] = {}
        for name in names:
            labels, counts = read_annotations(self.path, name).labels(docs)
            own: dict[str, Labels] = {name: labels}
            found[name] = resolved(own, self.unknown, self.mixed, self.order or ATTRIBUTES[name], counts)
        alignments = {name: one.alignments[name] for name, one in found.items()}
        return Aligned(alignments, {key: count for one in found.values() for key, count in one.counts.items()})
