"""The browsing model a measure is meant with: its own parameters over the evaluation's default."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from rerankers._base.errors import ConfigError
from rerankers.exposure.browsing import MODELS, BrowsingModel, Positions, TopKSet, TrecDiscount
from rerankers.measures.definition import Parameter

if TYPE_CHECKING:
    from rerankers.measures.names import Measure

PARAMETERS = (
    Parameter(
        "umodel",
        str,
        "browsing model; the evaluation's unless given. dcg weighs rank i 1/log2(1+i), wptrec 1/log2(max(i, 2))",
        choices=("gerr", "rbp", "err", "dcg", "wptrec", "topk_set"),
        aliases=("browsing",),
    ),
    Parameter("p", float, "patience: probability of going on", low=0.0, high=1.0, aliases=("patience", "persistence")),
    Parameter(
        "u",
        float,
        "satisfaction: probability of stopping after a relevant document",
        low=0.0,
        high=1.0,
        aliases=("satisfaction",),
    ),
    Parameter("max_grade", int, "highest grade of the scale, for err", low=1, high=2**15 - 1),
)

WORDS = {**MODELS, TrecDiscount.word: TrecDiscount}
"""The words of ``umodel``, and those that need weights."""
_FIELD = {"p": "patience", "u": "satisfaction", "max_grade": "max_grade"}


def browsing_of(measure: Measure, default: BrowsingModel, max_grade: int | None = None) -> BrowsingModel:
    """Return the browsing model of a measure.

    Parameters
    ----------
    measure
        with any of `PARAMETERS` and maybe a cutoff, which overrides the default's.
    default
        the evaluation's model, its cutoff included.
    max_grade
        highest grade of the collection, for err models that do not state it.

    Raises
    ------
    ConfigError
        for a parameter that the model does not have, or topk_set without a cutoff.
    """
    given = {name: value for name, value in measure.params if name in _FIELD}
    word = measure.get("umodel")
    spec: Any = default
    if word == TopKSet.word:
        if measure.cutoff is None:
            raise ConfigError(f"measure {measure}: topk_set needs a cutoff; write {measure}@10")
        spec = TopKSet(measure.cutoff)
    elif word is not None:
        spec = cast("Any", WORDS[str(word)])(**_cutoff_of(default))
    known = {item.name for item in fields(spec)}
    for name in given:
        if _FIELD[name] not in known:
            raise ConfigError(f"measure {measure}: found {name}, which {spec} does not have; name a model with umodel=")
    if given:
        spec = replace(spec, **{_FIELD[name]: value for name, value in given.items()})
    spec = spec if measure.cutoff is None else with_cutoff(spec, measure.cutoff)
    return cast("BrowsingModel", spec if max_grade is None else spec.completed([max_grade]))


def with_cutoff(spec: BrowsingModel, cutoff: int) -> BrowsingModel:
    """Return the model whose users look at no rank beyond ``cutoff``.

    Raises
    ------
    ConfigError
        when ``cutoff`` is no whole number, or below 1.
    """
    if not isinstance(cutoff, int) or cutoff < 1:
        raise ConfigError(f"measures.cutoff: found {cutoff!r}; expected a whole number, 1 or more, or null")
    if isinstance(spec, TopKSet):
        return TopKSet(min(spec.k, cutoff))
    if isinstance(spec, Positions):
        return Positions(spec.weights[:cutoff])
    return cast("BrowsingModel", replace(cast("Any", spec), cutoff=cutoff))


def _cutoff_of(spec: BrowsingModel) -> dict[str, int]:
    cutoff = getattr(spec, "cutoff", None)
    return {} if cutoff is None else {"cutoff": cutoff}
