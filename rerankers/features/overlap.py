"""How much of a query is in a text: words, pairs of words, the whole phrase, triples of characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rerankers.features.base import Columns
from rerankers.features.gather import row_chunks
from rerankers.features.matches import FORMULAS, Comparison, Matches
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext
    from rerankers.features.texts import FieldTexts

_TRIPLES_A_STEP: Final = 2_000_000  # of characters, of the texts of the pairs that are looked at together
_TABLE_SHARE: Final = 16  # bytes of a table that take as much memory as what is made of a triple


@dataclass(frozen=True, slots=True)
class Overlap:
    """Ten comparisons of a query with each text field; Q and D are the sets of their stems (`words.stem`).

    - ``coverage``: share of Q in D;
    - ``idf_coverage``: the same with each stem weighted by its idf in the field (`texts.Frequencies`);
    - ``idf_precision``: share of the idf of the text's stems that those in Q have, which tells a title about the query
      from one that mentions it;
    - ``cosine``: of the tf-idf vectors of the query and the text, (1 + log tf) · idf (Salton and Buckley 1988);
    - ``jaccard``: stems in both over stems in either;
    - ``density``: share of the text's words that are in Q;
    - ``first_match``: 1 / (1 + words before the first one in Q), 0 without one;
    - ``phrase``: 1 where the words of the query stand in the text in a row and in their order, else 0;
    - ``bigrams``: share of the query's distinct pairs of neighbouring words that are neighbours in the text; missing
      for a query of one word;
    - ``trigrams``: Dice's coefficient (1945) of the sets of triples of characters of Q and D, which sees word forms.

    All lie in [0, 1]; all are missing where the document has no word in the field or the query none.
    """

    name: ClassVar[str] = "overlap"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.store is not None else "document texts"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        values: dict[str, NDArray[np.float64]] = {}
        sources: dict[str, tuple[str, ...]] = {}
        counts: dict[str, int] = {}
        for field, texts in context.texts.fields.items():
            place = np.where(context.asked, texts.find(context.candidates.doc), -1)
            found = _of_field(context, texts, context.frequencies[field].idf, place)
            for formula, column in found.items():
                values[f"{formula}.{field}"] = column
                sources[f"{formula}.{field}"] = context.sources_of(field)
            counts[f"pairs_without_overlap.{field}"] = int(np.sum(place < 0))
        return Columns(values, sources, counts=met(**counts))


def _of_field(
    context: FeatureContext, texts: FieldTexts, idf: NDArray[np.float64], place: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Return every formula for one field, float64 (nnz,) each."""
    over, row = context.candidates, context.candidates.row_index
    between = Comparison(context.texts.queries, texts.words, idf)
    # A pair looks at each triple of its text; each row of a step has a table of the triples that there are.
    work = np.append(np.diff(between.texts.distinct_triples.indptr), 0)[place]
    work[over.indptr[:-1][over.lengths > 0]] += between.texts.distinct_triples.width // _TABLE_SHARE
    out = {name: np.full(over.nnz, np.nan) for name in FORMULAS}
    for first, last in row_chunks(over.indptr, work, _TRIPLES_A_STEP):
        pairs = np.arange(over.indptr[first], over.indptr[last])
        pairs = pairs[place[pairs] >= 0]
        if len(pairs):
            matches = Matches(between, row[pairs], place[pairs])
            for name, formula in FORMULAS.items():
                out[name][pairs] = formula(matches)
    return out
