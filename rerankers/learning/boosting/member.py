"""One model of boosted trees while it grows, from nothing or from trees that are there already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit

from rerankers._base.errors import InputError
from rerankers.learning.boosting.parameters import draws, engine
from rerankers.learning.boosting.text import Forest, plain, settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.learning.boosting.native import NativeTask
    from rerankers.learning.boosting.newton import Newton
    from rerankers.learning.rows import LearningRows

_VALID = "valid"
_LEAST = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """What all members share: training rows, validation rows or None, and the native objective or None."""

    train: LearningRows
    valid: LearningRows | None
    task: NativeTask | None


class Member:
    """A booster of LightGBM with the trees it starts from.

    LightGBM keeps no state besides the scores, which the trees give again to the bit, and where it stands in its random
    numbers. It draws the features of a tree before growing it. So a fit is continued by starting at the scores of the
    trees that are there, and letting LightGBM try as many trees on slopes that are all 0: it draws, finds no split, and
    drops the tree.

    Parameters
    ----------
    data
        rows.
    parameters
        of LightGBM.
    newton
        slopes and curvatures of an objective of our own; None for a native one.
    base, drawn
        trees to start from, and for how many iterations numbers have been drawn; None and 0 to start from nothing.
        After more than 0, `can_be_passed` must hold.

    Raises
    ------
    InputError
        where no feature can be split.
    """

    def __init__(
        self,
        data: Data,
        parameters: Mapping[str, Any],
        newton: Newton | None,
        base: Forest | None = None,
        drawn: int = 0,
    ) -> None:
        self.data, self.newton, self.base = data, newton, base
        made = dict(parameters)
        before = None if base is None else engine().Booster(model_str=str(base))
        label = data.train.grade if data.task is None else data.task.label
        self._train = _dataset(data.train, label, made, before)
        _check_splittable(self._train, data.train, made)
        self.booster = engine().Booster(made, self._train)
        self._valid = None
        if data.valid is not None and not self._transformed:
            self._valid = _dataset(data.valid, data.valid.grade, made, before, self._train)
            self.booster.add_valid(self._valid, _VALID)
        if draws(made):
            for _ in range(drawn):
                self.booster.update(fobj=self._nothing)
        self._passed = int(self.booster.current_iteration())  # a tree without a split stays of them
        self._seen = self._passed
        self._valid_score = np.zeros(0)
        if data.valid is not None:
            self._valid_score = np.zeros(data.valid.over.nnz) if before is None else _raw(before, data.valid)

    def grow(self) -> bool:
        """Grow a tree and say whether it has a split. The first tree stays even without one."""
        found_none = self.booster.update(fobj=None if self.newton is None else self.newton.pair)
        return not found_none

    def train_scores(self) -> NDArray[np.float64]:
        """Return the raw scores of the training pairs, float64 (nnz,).

        Of native objectives of probabilities, whose raw scores LightGBM keeps to itself, they are log-odds of these,
        for the curve: exact to about 1e-16 over p (1 - p), and not beyond the log-odds of the last number below 1.
        """
        shown = self._shown(lambda look: self.booster.eval_train(look))
        return logit(np.clip(shown, _LEAST, 1.0 - _LEAST)) if self._transformed else shown

    def valid_scores(self) -> NDArray[np.float64]:
        """Return the raw scores of the validation pairs, float64 (nnz,)."""
        if self._valid is not None:
            return self._shown(lambda look: self.booster.eval(self._valid, _VALID, look))
        if self.data.valid is None:
            raise ValueError("there are no validation rows")
        for tree in range(self._seen, int(self.booster.current_iteration())):
            self._valid_score = self._valid_score + _raw(self.booster, self.data.valid, tree)
            self._seen = tree + 1
        return self._valid_score

    def text(self, trees: int) -> str:
        """Return the first so many trees as a text that does not tell whether they were grown at a stretch."""
        forest = self.forest(trees)
        return plain(str(forest)) if self.base is None else settled(forest)

    def forest(self, trees: int) -> Forest:
        """Return the first so many trees."""
        have = 0 if self.base is None else len(self.base.trees)
        if self.base is not None and trees <= have:
            return self.base.first(trees)
        text = self.booster.model_to_string(num_iteration=trees - have, start_iteration=self._passed)
        grown = Forest.of(text)
        return grown if self.base is None else self.base.plus(grown)

    @property
    def _transformed(self) -> bool:
        return self.data.task is not None and self.data.task.transformed

    def _nothing(self, *_: object) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        size = self.data.train.over.nnz
        return np.zeros(size, np.float32), np.ones(size, np.float32)

    def _shown(self, evaluate: Any) -> NDArray[np.float64]:
        """Return the scores that LightGBM keeps up to date and shows to functions that evaluate them."""
        seen: list[NDArray[np.float64]] = []

        def look(scores: NDArray[np.float64], _: object) -> tuple[str, float, bool]:
            seen.append(np.array(scores, dtype=np.float64))
            return "look", 0.0, False

        evaluate(look)
        return seen[0]


def _dataset(
    rows: LearningRows, label: NDArray[np.float64], parameters: dict[str, Any], before: Any, reference: Any = None
) -> Any:
    return engine().Dataset(
        rows.features,
        label,
        group=rows.over.lengths,
        init_score=None if before is None else _raw(before, rows),
        reference=reference,
        params=dict(parameters),
    )


def _check_splittable(dataset: Any, rows: LearningRows, parameters: Mapping[str, Any]) -> None:
    """Refuse rows of which no split can be made: LightGBM ends with an internal error on some of them."""
    dataset.construct()
    if any(dataset.feature_num_bin(column) > 1 for column in range(len(rows.names))):
        return
    least = parameters["min_data_in_leaf"]
    raise InputError.one(
        "train",
        f"{len(rows.names)} features of {rows.over.nnz} documents, none with a split that leaves {least} on both sides",
        "at least one such feature",
        mend="Lower model.min_rows, or look for features that are not constant.",
    )


def _raw(booster: Any, rows: LearningRows, tree: int | None = None) -> NDArray[np.float64]:
    """Return raw scores by all trees or by one: float64 (nnz,)."""
    asked = {} if tree is None else {"start_iteration": tree, "num_iteration": 1}
    score: NDArray[np.float64] = booster.predict(rows.features, raw_score=True, num_threads=1, **asked)
    return score
