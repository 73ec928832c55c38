"""Facts about documents and their authors as features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError
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
    Ratios of facts (``features.ratios``) follow, see `facts`.
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
        for fact in facts(context.collection.fields, context):
            name = f"document.{fact.name}"
            values[name], found = finite(name, fact.known[context.candidates.doc])
            sources[name] = tuple(f"document:{field}" for field in fact.fields)
            counts |= found
        return Columns(values, sources, counts=counts)


@dataclass(frozen=True, slots=True)
class AuthorStatistics:
    """``authors.count`` and, of each fact about authors, ``author.FIELD.min``, ``.mean`` and ``.max``.

    Authors without an id count, but nothing is known about them; the statistics are over the known values. Counts
    (see `Metadata`) are logarithms first: ``author.FIELD.log.mean`` is the mean of log(1 + x). Ratios of facts are
    taken of each author before the statistics, see `facts`. A document without authors has no values at all.
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
        for fact in facts(authors.fields, context):
            name = f"author.{fact.name}"
            known, found = finite(name, fact.known)
            counts[f"authors_without_{name}"] = found.get(f"pairs_without_{name}", 0)
            counts[f"infinite_{name}"] = found.get(f"infinite_{name}", 0)
            for word, column in author_statistics(authors, known, used).items():
                values[f"{name}.{word}"] = column[back]
                sources[f"{name}.{word}"] = ("authors", *(f"author:{field}" for field in fact.fields))
            counts[f"pairs_without_{name}"] = int(np.isnan(values[f"{name}.mean"]).sum())
        return Columns(values, sources, counts=met(**counts))


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A number known of documents or authors: its name, its values with NaN where missing, and what it is made of."""

    name: str
    known: NDArray[np.float64]
    fields: tuple[str, ...]


def facts(fields: Mapping[str, NDArray[np.float64]], context: FeatureContext) -> Iterator[Fact]:
    """Yield the facts, by name, and after them the ratios that ``features.ratios`` asks for and ``fields`` has.

    ``A/B`` is a of A over b of B, such as citations a paper: missing where b is not above 0. It is logarithmic,
    log(1 + a / b), where A is a count.
    """
    counts = context.options.log_fields
    for field, known in sorted(fields.items()):
        log = is_count(field, counts)
        yield Fact(f"{field}.log" if log else field, log_count(known) if log else known, (field,))
    for ratio in context.options.ratios:
        above, _, below = ratio.partition("/")
        if above in fields and below in fields:
            known = np.full(len(fields[above]), np.nan)
            with np.errstate(over="ignore"):  # what is infinite then is counted as that
                np.divide(fields[above], fields[below], out=known, where=fields[below] > 0)
            log = is_count(above, counts)
            yield Fact(f"{ratio}.log" if log else ratio, log_count(known) if log else known, (above, below))


def check_ratios(context: FeatureContext) -> None:
    """Raise `ConfigError` for a ratio of facts that neither documents nor authors have."""
    authors = context.collection.authors
    known = (context.collection.fields, {} if authors is None else authors.fields)
    for ratio in context.options.ratios:
        above, _, below = ratio.partition("/")
        if not any(above in fields and below in fields for fields in known):
            there = ", ".join(sorted({field for fields in known for field in fields})) or "none"
            raise ConfigError(
                f"features.ratios: found {ratio!r}; expected A/B of two facts about documents or two about authors, "
                f"of: {there}"
            )


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
