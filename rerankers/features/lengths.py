"""How long queries, texts and lists of candidates are, in words and documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.features.base import Columns
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext


@dataclass(frozen=True, slots=True)
class Lengths:
    """``length.candidates`` of a query; with texts ``length.query`` and ``length.FIELD``, in words.

    A text or a query without a word has no length: it is missing. The first two say nothing about a candidate, but
    let a model's probabilities depend on the query.
    """

    name: ClassVar[str] = "lengths"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        over = context.candidates
        values: dict[str, NDArray[np.float64]] = {
            "length.candidates": np.repeat(over.lengths, over.lengths).astype(np.float64)
        }
        sources: dict[str, tuple[str, ...]] = {"length.candidates": ("candidates",)}
        counts: dict[str, int] = {}
        if context.store is not None:
            words = np.diff(context.texts.queries.indptr)
            values["length.query"] = np.repeat(np.where(words > 0, words, np.nan), over.lengths)
            sources["length.query"] = ("query",)
            counts["queries_without_words"] = int(np.sum(words == 0))
            for field, texts in context.texts.fields.items():
                place = texts.find(over.doc)
                lengths = np.append(texts.lengths, 0)[place].astype(np.float64)
                values[f"length.{field}"] = np.where(place >= 0, lengths, np.nan)
                sources[f"length.{field}"] = tuple(f"text:{each}" for each in context.fields_of(field))
                counts[f"pairs_without_length.{field}"] = int(np.sum(place < 0))
        return Columns(values, sources, frozenset({"length.candidates", "length.query"}), met(**counts))
