"""Raw labels of several attributes, lifted and resolved, with what was counted on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rerankers.collections.lift import lift
from rerankers.values.groups import GroupAlignment

if TYPE_CHECKING:
    from rerankers.values.collection import Counts
    from rerankers.values.labels import Labels


@dataclass(frozen=True, slots=True, eq=False)
class Aligned(Mapping[str, GroupAlignment]):
    """Attribute -> resolved alignment, with what was counted on the way.

    Attributes
    ----------
    alignments
        the mapping.
    counts
        ``{attribute}_documents_without_group`` and so on, the names of `lift` behind the attribute's; of files,
        those of `read_groups` as they are.
    companions
        what documents carry besides (`rerankers.values.companions`); not part of the mapping.
    """

    alignments: Mapping[str, GroupAlignment]
    counts: Counts
    companions: Mapping[str, GroupAlignment] = field(default_factory=dict)

    def __getitem__(self, attribute: str) -> GroupAlignment:
        return self.alignments[attribute]

    def __iter__(self) -> Iterator[str]:
        return iter(self.alignments)

    def __len__(self) -> int:
        return len(self.alignments)


def resolved(
    labels: Mapping[str, Labels], unknown: str, mixed: str, order: Sequence[str] | None, counts: Counts
) -> Aligned:
    """Lift and resolve the labels of each attribute; ``counts`` of the source are taken over.

    Raises
    ------
    ConfigError
        for unknown words, or an order that does not fit.
    """
    out: dict[str, GroupAlignment] = {}
    met: dict[str, int] = dict(counts)
    for attribute, part in labels.items():
        raw, found = lift(part, mixed, order)
        out[attribute] = raw.resolve(unknown)
        met.update({f"{attribute}_{name}": count for name, count in found.items()})
    return Aligned(out, met)
