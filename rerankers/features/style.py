"""How a text is written, whatever is asked: how rare its words are, and how much of it stands in capitals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.features.base import Columns
from rerankers.features.gather import sums
from rerankers.features.texts import documents_of, joined_name
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext
    from rerankers.features.texts import FieldTexts


@dataclass(frozen=True, slots=True)
class Style:
    """Two facts about the form of each text field; its length is among the lengths.

    - ``rarity``: mean idf of the text's words (`texts.Frequencies`), repeated ones counted each time;
    - ``capitals``: share of the text's letters that are upper case, which title case, acronyms and names raise.

    Missing where the document has no word in the field, or no letter.
    """

    name: ClassVar[str] = "style"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.store is not None else "document texts"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        values: dict[str, NDArray[np.float64]] = {}
        sources: dict[str, tuple[str, ...]] = {}
        doc = context.candidates.doc
        capitals = capital_shares(context)
        for field, texts in context.texts.fields.items():
            rarity = mean_idf(texts, context.frequencies[field].idf)
            place = texts.find(doc)
            values[f"rarity.{field}"] = np.append(rarity, np.nan)[place]
            values[f"capitals.{field}"] = capitals[field][doc]
            for name in (f"rarity.{field}", f"capitals.{field}"):
                sources[name] = tuple(f"text:{each}" for each in context.fields_of(field))
        counts = {f"pairs_without_{name}": int(np.isnan(column).sum()) for name, column in values.items()}
        return Columns(values, sources, counts=met(**counts))


def mean_idf(texts: FieldTexts, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean idf of the words of each text, float64 (T,); idf is float64 (V,)."""
    words = texts.words
    mean: NDArray[np.float64] = sums(idf[words.word], words.indptr) / texts.lengths
    return mean


def capital_shares(context: FeatureContext) -> dict[str, NDArray[np.float64]]:
    """Return field (and the joined fields) -> share of upper-case letters, float64 (documents,), NaN where unknown."""
    store, fields, docs = context.store, context.fields, context.collection.docs
    wanted = np.zeros(len(docs), dtype=bool)
    wanted[context.candidates.doc] = True
    upper, letters = np.zeros((2, len(fields), len(docs)), dtype=np.int64)
    for code, texts in documents_of(store, fields, docs) if store is not None else ():
        if code >= 0 and wanted[code]:
            for place, text in enumerate(texts):
                upper[place, code] = sum(map(str.isupper, text))
                letters[place, code] = sum(map(str.isalpha, text))
    out = {field: _share(upper[place], letters[place]) for place, field in enumerate(fields)}
    if len(fields) > 1:
        out[joined_name(fields)] = _share(upper.sum(axis=0), letters.sum(axis=0))
    return out


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = np.full(len(whole), np.nan)
    # Roman numerals and the like are upper case without being letters: never more than all.
    np.divide(np.minimum(part, whole), whole, out=out, where=whole > 0)
    return out
