"""A trained scorer: bits of a row depend on that row alone; written, read and refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from neural_cases import Net, rows

from rerankers._base.errors import InputError, MissingError
from rerankers.learning.neural import MLP, Attention, Linear, Training
from rerankers.learning.neural.scorer import NeuralScorer

DATA = rows(queries=30, features=6, lengths=[1, 0, 50, 2, 7, 7, 120, 33, 1, 4, 0, 9])
SPECS = (
    Linear(epochs=2),
    MLP(epochs=2),
    Attention(epochs=1, dtype="float32"),
    Attention(epochs=1, width=8, feed_forward=4, blocks=1),
)
IDS = ("linear", "mlp", "attention32", "attention64")


@pytest.fixture(params=SPECS, ids=IDS, scope="module")
def scorer(request: pytest.FixtureRequest) -> NeuralScorer:
    spec: Training = request.param
    return spec.fit(DATA, Net()).scorer


def test_bits_of_a_row_depend_on_that_row_alone(scorer: NeuralScorer) -> None:
    whole = scorer.score(DATA.features, DATA.indptr)
    assert whole.shape == (DATA.over.nnz,)
    assert whole.dtype == np.float64
    for low, high in pairwise(DATA.indptr):
        alone = scorer.score(np.asfortranarray(DATA.features[low:high]), np.array([0, high - low]))
        np.testing.assert_array_equal(alone, whole[low:high])
    order = np.random.default_rng(0).permutation(len(DATA))
    mixed = DATA.take(order)
    found = scorer.score(mixed.features, mixed.indptr)
    for place, row in enumerate(order):
        np.testing.assert_array_equal(found[mixed.over.row(place)], whole[DATA.over.row(row)])
    torch.set_num_threads(2)
    np.testing.assert_array_equal(scorer.score(DATA.features, DATA.indptr), whole)
    assert torch.get_num_threads() == 2


def test_order_within_a_row_does_not_matter(scorer: NeuralScorer) -> None:
    low, high = DATA.indptr[6:8]
    values, order = DATA.features[low:high], np.random.default_rng(1).permutation(high - low)
    bounds = np.array([0, high - low])
    limit = 1e-12 if next(scorer.network.parameters()).dtype == torch.float64 else 1e-5
    np.testing.assert_allclose(scorer.score(values[order], bounds), scorer.score(values, bounds)[order], atol=limit)


def test_nothing_to_score(scorer: NeuralScorer) -> None:
    for indptr in ([0], [0, 0, 0]):
        assert scorer.score(np.empty((0, 6)), np.array(indptr)).shape == (0,)


def test_wrong_features(scorer: NeuralScorer) -> None:
    with pytest.raises(InputError, match=r"features: found shape \(5, 6\); expected \(4, 6\)"):
        scorer.score(np.zeros((5, 6)), np.array([0, 4]))
    with pytest.raises(InputError, match=r"expected \(pairs, 6\), as in training"):
        scorer.score(np.zeros((4, 5)), np.array([0, 4]))
    with pytest.raises(InputError, match="infinite"):
        scorer.score(np.full((1, 6), np.inf), np.array([0, 1]))


def test_scores_that_overflow_are_an_error() -> None:
    scorer = Linear(epochs=1, dtype="float32").fit(DATA, Net()).scorer
    with pytest.raises(InputError, match="scores are not finite"):
        scorer.score(np.full((1, 6), 1e200), np.array([0, 1]))


def test_written_and_read_gives_the_same_bits(scorer: NeuralScorer, tmp_path: Path) -> None:
    scorer.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scorer.json", "scorer.safetensors"]
    again = NeuralScorer.read(tmp_path)
    np.testing.assert_array_equal(again.score(DATA.features, DATA.indptr), scorer.score(DATA.features, DATA.indptr))
    assert (again.architecture, again.made) == (scorer.architecture, scorer.made)
    before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    again.write(tmp_path)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    MLP(epochs=1, hidden=[3]).fit(DATA, Net()).scorer.write(tmp_path)
    return tmp_path


@pytest.mark.parametrize("place", [0, 9, 200, -1])
def test_one_changed_byte_of_the_weights_is_refused(folder: Path, place: int) -> None:
    path = folder / "scorer.safetensors"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"scorer\.safetensors: found weights that were changed or damaged"):
        NeuralScorer.read(folder)


def test_a_cut_file_and_a_missing_one_are_refused(folder: Path) -> None:
    path = folder / "scorer.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="changed or damaged"):
        NeuralScorer.read(folder)
    path.unlink()
    with pytest.raises(MissingError, match=r"scorer\.safetensors: no such file"):
        NeuralScorer.read(folder)
    with pytest.raises(MissingError, match=r"scorer\.json: no such file"):
        NeuralScorer.read(folder / "nowhere")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("[1]", "kind None, version None; expected kind 'neural', version 1"),
        ('{"kind": "lightgbm", "version": 1}', "kind 'lightgbm'"),
        ('{"kind": "neural", "version": 99}', "version 99"),
        ('{"kind": "neural", "version": 1}', "changed or damaged"),
    ],
)
def test_foreign_descriptions_are_refused(folder: Path, text: str, message: str) -> None:
    (folder / "scorer.json").write_text(text)
    with pytest.raises(InputError, match=message):
        NeuralScorer.read(folder)


def test_an_edited_description_is_refused_and_weights_must_fit_it(folder: Path) -> None:
    from rerankers._base.fingerprint import fingerprint

    path = folder / "scorer.json"
    body = json.loads(path.read_text())
    body["architecture"]["activation"] = "tanh"
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match="a description that was changed or damaged"):
        NeuralScorer.read(folder)
    del body["digest"]
    for change in ({"hidden": [4]}, {"shape": 1}, {"kind": "forest"}, {"activation": "sine"}):
        forged = {**body, "architecture": {**body["architecture"], **change}}
        path.write_text(json.dumps({**forged, "digest": fingerprint(forged)}))
        with pytest.raises(InputError, match="no weights of this architecture"):
            NeuralScorer.read(folder)
