"""A trained model as a folder: written once, read back only if every byte is as it was."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.files import write_text
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers._base.own_files import own_yaml
from rerankers.learning.calibration import calibrator_from_plain
from rerankers.learning.card import CALIBRATION, QUERIES, Card
from rerankers.learning.cross_fit import FINAL, NO_FOLD, fold_name
from rerankers.values import Relevance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.base import FeatureTable
    from rerankers.learning.calibration import Calibrator
    from rerankers.learning.cross_fit import CrossFit
    from rerankers.learning.learner import Scorer
    from rerankers.values import Candidates, Ragged, Topics

CARD = "model.yaml"
SCORERS = {
    "additive": "rerankers.learning.additive:AdditiveScorer",
    "lightgbm": "rerankers.learning.boosting:TreeScorer",
    "neural": "rerankers.learning.neural:NeuralScorer",
}
"""Kind of a scorer -> where its class is: nothing else is ever read from a model's folder."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel:
    """A model that has been read back.

    Attributes
    ----------
    folder
        where it was read from, for messages.
    card
        what it remembers.
    final
        the scorer of all training queries.
    parts
        the scorers without a fold each.
    fold_of
        key of a training query (`query_keys`) -> its fold, -1 where there are no folds.
    calibrator
        from the scores to probabilities of relevance; None without.
    """

    folder: Path
    card: Card
    final: Scorer
    parts: tuple[Scorer, ...]
    fold_of: Mapping[str, int]
    calibrator: Calibrator | None

    @property
    def source(self) -> str:
        """What beliefs of this model are called."""
        return f"model:{fingerprint(self.card.plain())[:12]}"

    def estimates(self, features: FeatureTable, candidates: Candidates, keys: Sequence[str]) -> Relevance:
        """Return beliefs about candidates; a training query is scored by the model that did not see it.

        Parameters
        ----------
        features
            of exactly these candidates, by the card's options.
        candidates
            B rows.
        keys
            B keys of the queries (`query_keys`).

        Raises
        ------
        ConfigError
            for other features, and for training queries where there are no folds.
        """
        self.card.check_features(features.names, f"method.model={self.folder}")
        fold = np.array([self.fold_of.get(key, len(self.parts)) for key in keys], dtype=np.int64)
        seen = int(np.sum(fold == NO_FOLD))
        if seen:
            raise ConfigError(
                f"method.model={self.folder}: {seen} of the {len(keys)} queries were trained on, and their scores "
                "would repeat what was learnt; expected other queries. Use collection.split=eval, or train with "
                "validation.folds=5, which keeps a model that has not seen each query"
            )
        return self._believed(self._scores(features.values, candidates, fold), candidates.indptr)

    def _scores(
        self, features: NDArray[np.float64], candidates: Candidates, fold: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        score = np.empty(candidates.nnz)
        place = candidates.with_columns(place=np.arange(candidates.nnz))
        for number, scorer in enumerate((*self.parts, self.final)):
            rows = place.take(np.nonzero(fold == number)[0])
            pick = rows.columns["place"]
            if len(pick):
                score[pick] = scorer.score(features[pick], rows.indptr)
        return score

    def _believed(self, score: NDArray[np.float64], indptr: NDArray[np.int64]) -> Relevance:
        probability = None if self.calibrator is None else self.calibrator.probabilities(score, indptr)
        if probability is None and self.card.scores == "log_odds":
            probability = 0.5 * (1.0 + np.tanh(0.5 * score))
        return Relevance(score, "logit" if self.card.scores == "logit" else "score", self.source, probability)


def query_keys(topics: Topics, candidates: Ragged, features: FeatureTable) -> list[str]:
    """Return what makes the query of each row this query and no other: its id and text.

    A query without a text is known by the features of its candidates, whatever their order and its id.
    """
    names = topics.ids.names.to_pylist()
    keys = []
    for row, code in enumerate(candidates.query.tolist()):
        if topics.text[code]:
            keys.append(fingerprint(names[code], topics.text[code]))
        else:
            values = features.values[candidates.row(row)]
            keys.append(fingerprint(values[np.lexsort(values.T)] if len(values) else names[code]))
    return keys


def write_model(folder: Path, card: Card, fit: CrossFit, qids: Sequence[str], keys: Sequence[str]) -> Card:
    """Write a model into a folder that is there, and return its card with the fingerprints of the files.

    Parameters
    ----------
    folder
        of the model.
    card
        its facts, without files.
    fit
        the scorers, folds and calibrator.
    qids, keys
        of the B training queries.
    """
    for name, part in [*((fold_name(n), part) for n, part in enumerate(fit.parts)), (FINAL, fit.final)]:
        (folder / name).mkdir()
        part.scorer.write(folder / name)
    table = pa.table({"qid": list(qids), "key": list(keys), "fold": pa.array(fit.fold, pa.int32())})
    pq.write_table(table, folder / QUERIES, compression="zstd")
    plain = None if fit.calibrator is None else fit.calibrator.to_plain()
    write_text(folder / CALIBRATION, yaml.safe_dump(plain, sort_keys=False))
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / CARD)
    known = replace(card, files={path.relative_to(folder).as_posix(): file_fingerprint(path) for path in files})
    write_text(folder / CARD, yaml.safe_dump(known.plain(), sort_keys=False, allow_unicode=True, width=1000))
    return known


def read_model(folder: Path) -> TrainedModel:
    """Read a model.

    Raises
    ------
    MissingError
        when there is no model, or a file of it is gone.
    InputError
        when a file is not as it was written.
    """
    card = _card(folder)
    changed = []
    for name, mark in card.files.items():
        path = _inside(folder, name)
        if not path.is_file():
            raise MissingError(f"{path}: no such file, but the model's {CARD} names it. Train the model again")
        if file_fingerprint(path) != mark:
            changed.append(name)
    if changed:
        found = f"{', '.join(changed)} changed since training"
        raise InputError.one(str(folder), found, "the files as they were written", mend="Train the model again")
    kind = _scorer(card.learner, folder)
    table = pq.read_table(folder / QUERIES)
    fold_of = dict(zip(table["key"].to_pylist(), table["fold"].to_pylist(), strict=True))
    parts = max(fold_of.values(), default=NO_FOLD) + 1
    plain = own_yaml(folder / CALIBRATION, "a calibration, as training writes it", mend="Train the model again")
    return TrainedModel(
        folder,
        card,
        kind.read(folder / FINAL),
        tuple(kind.read(folder / fold_name(number)) for number in range(parts)),
        fold_of,
        None if plain is None else calibrator_from_plain(plain),
    )


def _card(folder: Path) -> Card:
    path = folder / CARD
    if not path.is_file():
        raise MissingError(
            f"{folder}: no model there ({CARD} is missing). Type: fair-rerank train output={folder}, or give the "
            "output folder of such a job"
        )
    return Card.of_plain(own_yaml(path, "the YAML that training writes", mend="Train the model again"), str(path))


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError.one(str(folder / CARD), f"a file {name!r}", "files inside the model's folder")
    return path


def _scorer(kind: str, folder: Path) -> Any:
    if kind not in SCORERS:
        raise InputError.one(str(folder / CARD), f"learner {kind!r}", f"one of {', '.join(SCORERS)}")
    module, _, name = SCORERS[kind].partition(":")
    return cast("Any", getattr(importlib.import_module(module), name))
