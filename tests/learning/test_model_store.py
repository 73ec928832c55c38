"""A model that is read back is the one that was written, or is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from training_worlds import rows_of

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.features.base import FeatureTable
from rerankers.learning.calibration import Platt
from rerankers.learning.card import Card
from rerankers.learning.cross_fit import CrossFit, Fitting, Validation, cross_fit
from rerankers.learning.neural import Linear
from rerankers.learning.objectives.binary import Binary
from rerankers.learning.rows import LearningRows
from rerankers.learning.store import read_model, write_model
from rerankers.values import Candidates


def card(rows: LearningRows, **changes: object) -> Card:
    facts = {
        "learner": "neural",
        "scores": "log_odds",
        "tier": "blind",
        "feature_names": list(rows.names),
        "features": {},
        "model": {},
        "objective": {},
        "calibration": {},
        "validation": {},
        "browsing": None,
        "groups": None,
        "collection": "hand-made",
        "data": "mark",
        "seed": 0,
        "versions": {},
        "counts": {"queries": len(rows)},
    }
    return Card(**(facts | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def world() -> tuple[LearningRows, CrossFit]:
    rows = rows_of()
    return rows, cross_fit(rows, Fitting(Linear(epochs=4), Binary(), Platt(), Validation(folds=3)))


def written(folder: Path, world: tuple[LearningRows, CrossFit], folds: bool = True) -> list[str]:
    rows, fit = world
    keys = [f"key of {qid}" for qid in rows.qids]
    kept = fit if folds else CrossFit(fit.final, (), np.full(len(rows), -1), None, None, None)
    write_model(folder, card(rows), kept, rows.qids, keys)
    return keys


def table(rows: LearningRows) -> tuple[FeatureTable, Candidates]:
    over = Candidates(rows.over.query, rows.over.indptr, rows.over.doc)
    return FeatureTable(rows.features, rows.names, "blind"), over


def test_training_queries_get_the_scores_of_models_that_did_not_see_them(
    tmp_path: Path, world: tuple[LearningRows, CrossFit]
) -> None:
    keys = written(tmp_path, world)
    rows, fit = world
    found = read_model(tmp_path).estimates(*table(rows), keys)
    assert fit.score is not None
    np.testing.assert_array_equal(found.value, fit.score)
    assert found.probability is not None
    assert fit.calibrator is not None
    np.testing.assert_allclose(found.probability, fit.calibrator.probabilities(fit.score), rtol=1e-14)


def test_other_queries_get_those_of_the_final_model(tmp_path: Path, world: tuple[LearningRows, CrossFit]) -> None:
    keys = written(tmp_path, world)
    rows, fit = world
    found = read_model(tmp_path).estimates(*table(rows), [f"new {key}" for key in keys])
    np.testing.assert_array_equal(found.value, fit.final.scorer.score(rows.features, rows.indptr))
    assert found.source.startswith("model:")


def test_without_folds_training_queries_are_refused(tmp_path: Path, world: tuple[LearningRows, CrossFit]) -> None:
    keys = written(tmp_path, world, folds=False)
    rows, _ = world
    model = read_model(tmp_path)
    with pytest.raises(ConfigError, match=r"24 of the 24 queries were trained on.*validation\.folds=5"):
        model.estimates(*table(rows), keys)
    found = model.estimates(*table(rows), ["new"] * len(keys))
    assert found.probability is not None  # log-odds of relevance are probabilities without any calibration
    np.testing.assert_allclose(found.probability, 1 / (1 + np.exp(-found.value)), rtol=1e-12)


def test_features_must_be_the_same(tmp_path: Path, world: tuple[LearningRows, CrossFit]) -> None:
    keys = written(tmp_path, world)
    rows, _ = world
    features, over = table(rows)
    for names, said in ((("f1", "g"), "without f2 and with g"), (("f2", "f1"), "in another order")):
        other = FeatureTable(features.values, names, "blind")
        with pytest.raises(ConfigError, match=said):
            read_model(tmp_path).estimates(other, over, keys)


def test_equal_models_are_equal_files(tmp_path: Path, world: tuple[LearningRows, CrossFit]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, world)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) >= 11
    for path in files:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path


@pytest.mark.parametrize("name", ["final/scorer.safetensors", "calibration.yaml", "queries.parquet"])
def test_a_changed_file_is_refused(tmp_path: Path, world: tuple[LearningRows, CrossFit], name: str) -> None:
    written(tmp_path, world)
    data = bytearray((tmp_path / name).read_bytes())
    data[-1] ^= 1
    (tmp_path / name).write_bytes(bytes(data))
    with pytest.raises(InputError, match=rf"{name} changed since training"):
        read_model(tmp_path)


def test_what_is_no_model(tmp_path: Path, world: tuple[LearningRows, CrossFit]) -> None:
    with pytest.raises(MissingError, match="no model there"):
        read_model(tmp_path)
    written(tmp_path, world)
    (tmp_path / "final" / "scorer.json").unlink()
    with pytest.raises(MissingError, match=r"scorer\.json: no such file"):
        read_model(tmp_path)
    path = tmp_path / "model.yaml"
    plain = yaml.safe_load(path.read_text())
    kept = {name: mark for name, mark in plain["files"].items() if (tmp_path / name).is_file()}
    for text, said in (
        ("a: [", "the YAML that training writes"),
        ("- 1", "list"),
        (yaml.safe_dump({**plain, "format": "model-0"}), "model-0"),
        (yaml.safe_dump({key: value for key, value in plain.items() if key != "tier"}), "no tier"),
        (yaml.safe_dump({**plain, "files": plain["files"] | {"../other": "mark"}}), "files inside the model's folder"),
        (yaml.safe_dump({**plain, "learner": "os"} | {"files": kept}), "learner 'os'"),
        (yaml.safe_dump({**plain, "files": {}}), "files: {}"),
        (yaml.safe_dump({**plain, "files": 5}), "files: 5"),
        (yaml.safe_dump({**plain, "learner": ["x"]}), "learner: "),
        (yaml.safe_dump({**plain, "feature_names": None}), "feature_names: None"),
        (yaml.safe_dump({**plain, "groups": 3}), "groups: 3"),
        (yaml.safe_dump({**plain, "counts": {}}), "counts: {}"),
        (yaml.safe_dump({**plain, "scores": "foo"}), "scores: 'foo'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            read_model(tmp_path)


def test_the_card_refuses_other_aims() -> None:
    rows = rows_of()
    aimed = card(rows, browsing="RBP(patience=0.5)", groups={"attribute": "economy", "groups": ["a", "b", "unknown"]})
    aimed.check_browsing("RBP(patience=0.5)", "model")
    aimed.check_groups({"economy": ("b", "a")}, "model")
    with pytest.raises(ConfigError, match=r"trained for RBP.*the job has DCG"):
        aimed.check_browsing("DCG()", "model")
    with pytest.raises(ConfigError, match="the job has none"):
        aimed.check_groups({}, "model")
    with pytest.raises(ConfigError, match="expected the same groups"):
        aimed.check_groups({"economy": ("a", "c")}, "model")
    card(rows).check_browsing("anything", "model")
    card(rows).check_groups({}, "model")
