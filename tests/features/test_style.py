"""The form of texts: rarity of words and share of capitals, against plain twins."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from feature_worlds import Store, collection, made_up

from rerankers.features import FeatureSet
from rerankers.features.words import stem, words_of
from rerankers.values import Candidates

FIELDS = {"title": ["title"], "abstract": ["abstract"], "all": ["title", "abstract"]}


@pytest.mark.parametrize("seed", range(3))
def test_style_is_its_twin(seed: int, tmp_path: Path) -> None:
    world, candidates = made_up(seed)
    table = FeatureSet(families=["style"], relative=[]).compute(world, candidates, tmp_path)
    assert table.tier == "blind"
    assert table.names == tuple(f"{kind}.{field}" for field in FIELDS for kind in ("rarity", "capitals"))
    store = world.documents
    assert isinstance(store, Store)
    for field, parts in FIELDS.items():
        texts = {docno: " ".join(row.get(part, "") for part in parts) for docno, row in store.rows.items()}
        words = {docno: [stem(word) for word in words_of(text)] for docno, text in texts.items()}
        every = [found for found in words.values() if found]
        rarity, capitals = (table.values[:, table.names.index(f"{kind}.{field}")] for kind in ("rarity", "capitals"))
        for pair, doc in enumerate(candidates.doc.tolist()):
            text, own = texts.get(world.docs.name(doc), ""), words.get(world.docs.name(doc), [])
            having = [sum(word in other for other in every) for word in own]
            idf = [math.log(1 + (len(every) - n + 0.5) / (n + 0.5)) for n in having]
            np.testing.assert_allclose(rarity[pair], np.mean(idf) if idf else math.nan, rtol=1e-12)
            letters = [letter for letter in text if letter.isalpha()]
            share = np.mean([letter.isupper() for letter in letters]) if letters else math.nan
            np.testing.assert_allclose(capitals[pair], share, rtol=1e-12)
        missing = int(np.isnan(rarity).sum())
        assert table.counts.get(f"pairs_without_rarity.{field}", 0) == missing


@pytest.mark.parametrize(
    ("text", "share"),
    [("A rare Box", 2 / 8), ("DNA", 1.0), ("dna", 0.0), ("1950 - 60", math.nan), ("", math.nan), ("ÜBER ßä", 4 / 6)],
)
def test_capitals_by_hand(text: str, share: float, tmp_path: Path) -> None:
    world = collection({"a": {"title": text}, "b": {"title": "x"}}, ["x"], ["c"], ("title",))
    candidates = Candidates(np.array([0]), np.array([0, 3]), np.array([0, 1, 2]))
    table = FeatureSet(families=["style"], relative=[]).compute(world, candidates, tmp_path)
    assert table.names == ("rarity.title", "capitals.title")
    np.testing.assert_allclose(table.values[:, 1], [share, 0.0, math.nan])
    assert table.counts["pairs_without_capitals.title"] == 1 + math.isnan(share)
