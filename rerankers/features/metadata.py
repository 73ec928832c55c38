"""Facts about documents and their authors as features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.features.base import Columns
from rerankers.features.gather import bounds_of, spread, sums
from rerankers.features.values import finite, is_count, log_count
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext
    from rerankers.values import Authors


@dataclass(frozen=True, slots=True)
class Metadata:
    """``document.FIELD``: numeric facts about documents, such as the year; ``document.FIELD.log`` of counts.

    A count x (``features.log_fields`` says which fields are counts) enters as log(1 + x); a negative one is missing.
    """

    name: ClassVar[str] = "metadata"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.collection.fields else "numeric facts about documents"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        values: dict[str, NDArray[np.float64]] = {}
        sources: dict[str, tuple[str, ...]] = {}
        counts: dict[str, int] = {}
        for field, known in sorted(context.collection.fields.items()):
            column = known[context.candidates.doc]
            name = f"document.{field}"
            if is_count(field, context.options.log_fields):
                name, column = f"{name}.log", log_count(column)
            values[name], found = finite(name, column)
            sources[name] = (f"document:{field}",)
            counts |= found
        return Columns(values, sources, counts=counts)


@dataclass(frozen=True, slots=True)
class AuthorStatistics:
    """``authors.count`` and, of each fact about authors, ``author.FIELD.min``, ``.mean`` and ``.max``.

    Authors without an id count, but nothing is known about them; the statistics are over the known values. Counts
    (see `Metadata`) are logarithms first: ``author.FIELD.log.mean`` is the mean of log(1 + x). A document without
    authors has no values at all.
    """

    name: ClassVar[str] = "authors"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.collection.authors is not None else "author lists"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        authors, doc = context.collection.authors, context.candidates.doc.astype(np.int64)
        if authors is None:
            return Columns({}, {})
        number = np.diff(authors.indptr)[doc].astype(np.float64)
        values = {"authors.count": np.where(number > 0, number, np.nan)}
        sources: dict[str, tuple[str, ...]] = {"authors.count": ("authors",)}
        counts = {"pairs_without_authors": int(np.sum(number == 0))}
        used, back = np.unique(doc, return_inverse=True)
        for field, known in sorted(authors.fields.items()):
            name = f"author.{field}"
            if is_count(field, context.options.log_fields):
                name, known = f"{name}.log", log_count(known)
            known, found = finite(name, known)
            counts[f"authors_without_{name}"] = found.get(f"pairs_without_{name}", 0)
            counts[f"infinite_{name}"] = found.get(f"infinite_{name}", 0)
            for word, column in author_statistics(authors, known, used).items():
                values[f"{name}.{word}"] = column[back]
                sources[f"{name}.{word}"] = ("authors", f"author:{field}")
            counts[f"pairs_without_{name}"] = int(np.isnan(values[f"{name}.mean"]).sum())
        return Columns(values, sources, counts=met(**counts))


def author_statistics(
    authors: Authors, known: NDArray[np.float64], docs: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Return ``min``, ``mean`` and ``max`` of an author fact over the authors of documents.

    Parameters
    ----------
    known
        float64 (A,), NaN where it is not known.
    docs
        int64 (T,), document codes.

    Returns
    -------
    dict
        float64 (T,) each; NaN where no author's value is known.
    """
    owner, place = spread(authors.indptr, docs)
    author = authors.author[place]
    value = np.append(known, np.nan)[author]  # author -1 has no id
    kept = ~np.isnan(value)
    owner, value = owner[kept], value[kept]
    indptr = bounds_of(owner, len(docs))
    number = np.diff(indptr)
    filled = number > 0
    out = {word: np.full(len(docs), np.nan) for word in ("min", "mean", "max")}
    if filled.any():
        starts = indptr[:-1][filled]
        out["min"][filled] = np.minimum.reduceat(value, starts)
        out["max"][filled] = np.maximum.reduceat(value, starts)
        # Each share first, so that no sum of finite numbers can overflow; rounding may step over an end.
        mean = sums(value / number[owner], indptr)[filled]
        out["mean"][filled] = np.clip(mean, out["min"][filled], out["max"][filled])
    return out
