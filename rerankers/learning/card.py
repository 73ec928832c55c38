"""What a trained model remembers of how it came about, and what it refuses because of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rerankers._base.errors import ConfigError, InputError

FORMAT = "model-1"
QUERIES, CALIBRATION = "queries.parquet", "calibration.yaml"
SCORES = ("score", "logit", "log_odds")


@dataclass(frozen=True, slots=True)
class Card:
    """The plain facts of ``model.yaml``.

    Attributes
    ----------
    learner
        kind of the scorer's files, for instance ``lightgbm``.
    scores
        how scores are to be read: ``score``, ``logit`` (of a Plackett-Luce policy) or ``log_odds``.
    tier
        the information that the features take.
    feature_names
        F names, in the order of the scorer's columns.
    features, model, objective, calibration, validation
        the options that they were made with.
    browsing
        the browsing model that the objective or the monitor aimed at, as text; None where none did.
    groups
        ``attribute`` and ``groups`` that the objective or the monitor looked at; None where none did.
    collection
        name of the training collection.
    data
        fingerprint of the training queries: ids, documents, grades, features, groups.
    seed
        of splits and fits.
    versions
        of the libraries that results depend on.
    counts
        what was met in training.
    files
        file -> fingerprint of its bytes.
    """

    learner: str
    scores: str
    tier: str
    feature_names: list[str]
    features: Mapping[str, Any]
    model: Mapping[str, Any]
    objective: Mapping[str, Any]
    calibration: Mapping[str, Any]
    validation: Mapping[str, Any]
    browsing: str | None
    groups: Mapping[str, Any] | None
    collection: str
    data: str
    seed: int
    versions: Mapping[str, str]
    counts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    format: str = FORMAT

    @classmethod
    def of_plain(cls, plain: object, where: str) -> Card:
        """Build from what a YAML file holds.

        Raises
        ------
        InputError
            for anything that is no card of this version.
        """
        names = [item.name for item in dataclasses.fields(cls)]
        if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
            found = plain.get("format") if isinstance(plain, Mapping) else type(plain).__name__
            raise InputError.one(where, f"format {found!r}", f"{FORMAT!r}", mend="Train the model again")
        missing = [name for name in names if name not in plain]
        if missing:
            raise InputError.one(where, f"no {', '.join(missing)}", "a complete card", mend="Train the model again")
        for name, fits in _FITS.items():
            if not fits(plain[name]):
                raise InputError.one(where, f"{name}: {plain[name]!r}", "what training writes", mend="Train again")
        return cls(**{name: plain[name] for name in names})

    def plain(self) -> dict[str, Any]:
        """Return what `of_plain` reads."""
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}

    def check_features(self, names: Sequence[str], where: str) -> None:
        """Raise `ConfigError` unless the features are those of the training, in their order."""
        if list(names) == list(self.feature_names):
            return
        lacking = [name for name in self.feature_names if name not in names]
        extra = [name for name in names if name not in self.feature_names]
        said = [f"without {_some(lacking)}"] * bool(lacking) + [f"with {_some(extra)}"] * bool(extra)
        raise ConfigError(
            f"{where}: found features {' and '.join(said) or 'in another order'}; expected the "
            f"{len(self.feature_names)} that the model was trained on. A model can be used on collections that have "
            "the same fields; for others train one with fewer features: features.families=[…]"
        )

    def check_browsing(self, browsing: str, where: str) -> None:
        """Raise `ConfigError` when the objective aimed at another browsing model."""
        if self.browsing is not None and self.browsing != browsing:
            raise ConfigError(
                f"{where}: the model was trained for {self.browsing}, the job has {browsing}; expected the same. Set "
                "browsing=… alike, or train a model for this one"
            )

    def check_groups(self, groups: Mapping[str, Sequence[str]], where: str) -> None:
        """Raise `ConfigError` when the objective looked at groups that the job does not have: attribute -> names."""
        if self.groups is None:
            return
        attribute, names = str(self.groups["attribute"]), list(self.groups["groups"])
        if attribute not in groups:
            raise ConfigError(
                f"{where}: the model was trained for the groups of {attribute!r}, the job has "
                f"{', '.join(map(repr, groups)) or 'none'}; expected {attribute!r} among them. Set groups=… alike"
            )
        if not set(groups[attribute]) >= set(names) - {"unknown"}:
            raise ConfigError(
                f"{where}: the model was trained for the groups {', '.join(names)} of {attribute!r}, the job has "
                f"{', '.join(groups[attribute])}; expected the same groups"
            )


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _files(value: object) -> bool:
    fits = isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)
    return fits and {QUERIES, CALIBRATION} <= set(value)  # type: ignore[call-overload]


def _groups(value: object) -> bool:
    named = isinstance(value, Mapping) and isinstance(value.get("attribute"), str) and _texts(value.get("groups"))
    return value is None or named


def _counts(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("queries"), int)


_FITS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("learner", "tier", "collection", "data"), lambda value: isinstance(value, str)),
    "scores": lambda value: value in SCORES,
    "feature_names": _texts,
    **dict.fromkeys(("features", "model", "objective", "versions"), lambda value: isinstance(value, Mapping)),
    "browsing": lambda value: value is None or isinstance(value, str),
    "groups": _groups,
    "counts": _counts,
    "files": _files,
}


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
