"""A fitted additive model: it scores, and is written as JSON that a person can read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import write_text
from rerankers._base.fingerprint import fingerprint
from rerankers._base.json_text import parse_json
from rerankers.learning.additive.terms import Curve, Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
_FILE = "scorer.json"
_ARRAYS = ("knots", "fill", "centre", "inverse", "weight")
_REST = "Train the model again, or copy its folder again."


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveScorer:
    """Score = intercept + the sum of the weighted terms.

    Attributes
    ----------
    names
        F names of the features, for readers of the file.
    terms
        the terms, T in all.
    weight
        float64 (T,).
    intercept
        the same for all pairs.
    """

    names: tuple[str, ...]
    terms: Terms
    weight: NDArray[np.float64]
    intercept: float
    kind: ClassVar[str] = "additive"

    def score(self, features: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every pair, float64 (nnz,); the bits of a row's scores depend on that row alone.

        Parameters
        ----------
        features
            (nnz, F), NaN where a value is missing.
        indptr
            int64 (B + 1,), the rows.

        Raises
        ------
        InputError
            for shapes that do not fit, and values that are infinite or beyond all bounds.
        """
        # Term by term, so that each pair's sum has one order whatever the number of pairs.
        score = np.full(len(features), self.intercept)
        for weight, term in zip(self.weight, self.terms(features, indptr), strict=True):
            score += weight * term
        return score

    def write(self, folder: Path) -> None:
        """Write ``scorer.json`` into a folder that is there: the curves by feature, their weights, the intercept.

        Raises
        ------
        ConfigError
            when it cannot be written.
        """
        ends = np.cumsum([0, *(curve.terms for curve in self.terms.curves)])
        features = [
            {
                "name": name,
                "level": curve.level,
                "mean": curve.mean,
                "deviation": curve.deviation,
                "knots": curve.knots.tolist(),
                "fill": curve.fill.tolist(),
                "centre": curve.centre.tolist(),
                "inverse": curve.inverse.tolist(),
                "weight": self.weight[low:high].tolist(),
            }
            for name, curve, low, high in zip(self.names, self.terms.curves, ends, ends[1:], strict=False)
        ]
        body: dict[str, Any] = {
            "kind": self.kind,
            "version": VERSION,
            "clip": self.terms.clip,
            "intercept": self.intercept,
            "features": features,
        }
        body["digest"] = fingerprint(body)
        write_text(folder / _FILE, json.dumps(body, indent=1, allow_nan=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> AdditiveScorer:
        """Read what `write` wrote; its scores have the same bits.

        Raises
        ------
        MissingError
            when the file is not there.
        InputError
            for a file of another kind or version, and one that was changed or damaged.
        """
        path = folder / _FILE
        body = _body(path)
        curves, weights, names = [], [], []
        try:
            for feature in body["features"]:
                arrays = {key: np.array(feature[key], dtype=np.float64) for key in _ARRAYS}
                weights.append(arrays.pop("weight"))
                curves.append(Curve(feature["level"], float(feature["mean"]), float(feature["deviation"]), **arrays))
                names.append(str(feature["name"]))
            terms = Terms(tuple(curves), float(body["clip"]))
            return cls(tuple(names), terms, np.concatenate(weights), float(body["intercept"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError.one(str(path), f"no curves ({error})", "those of an additive model", mend=_REST) from error


def _body(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingError(f"{path}: no such file. Name the folder of a trained additive model") from None
    except UnicodeDecodeError as error:
        raise InputError.one(str(path), f"no UTF-8 ({error})", "a scorer's description", mend=_REST) from error
    try:
        body: Any = parse_json(text)
    except ValueError as error:
        raise InputError.one(str(path), f"no JSON ({error})", "a scorer's description", mend=_REST) from error
    kind, version = (body.get("kind"), body.get("version")) if isinstance(body, dict) else (None, None)
    if (kind, version) != (AdditiveScorer.kind, VERSION):
        expected = f"kind {AdditiveScorer.kind!r}, version {VERSION}"
        raise InputError.one(str(path), f"kind {kind!r}, version {version!r}", expected)
    if body.pop("digest", None) != fingerprint(body):
        raise InputError.one(str(path), "a description that was changed or damaged", "it as written", mend=_REST)
    return dict(body)
