"""Which definition of fairness a config stands for, in plain words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rerankers._base.docstrings import first_sentence
from rerankers.measures.names import parse
from rerankers.methods.names import NAMES
from rerankers.stages.definition import Definition, Setting
from rerankers.stages.definition_words import WORDS

__all__ = ["Definition", "definition_of", "name_of_method"]

UNFITTED = "deterministic", "uniform"
DEFINED_BY = {
    "EEL": ("merit", "equal exposure for equal relevance (Diaz et al. 2020)"),
    "group_EEL": ("merit", "the exposure that groups would have if equally relevant documents shared it equally"),
    "AWRF": ("proportional", "exposure of groups in proportion to their documents"),
}
"""Measure that options may be fitted to (it has a better direction) -> the definition that it is of."""


def definition_of(
    method: Any,
    target: Any = None,
    fit: Any = None,
    groups: Iterable[str] = (),
    browsing: Any = None,
    beliefs: str | None = None,
) -> Definition:
    """Say what is fair under the parts of a run.

    Parameters
    ----------
    method
        as built from its config.
    target
        the target spec; only methods that aim at a target are described by it.
    fit
        how options were chosen, `rerankers.stages.fit_spec`: a method that aims at nothing by itself stands for what
        its options were fitted to.
    groups
        the attributes that are measured.
    browsing
        the browsing model.
    beliefs
        where relevance comes from, for instance "the model in DIR"; None: the scores of the first stage.

    Returns
    -------
    Definition
        of the name ``unknown`` for a method of the user's own.
    """
    setting = Setting(target, tuple(groups))
    if browsing is not None:
        setting = Setting(target, setting.groups, str(browsing))
    if beliefs is not None:
        setting = Setting(target, setting.groups, setting.browsing, beliefs)
    name = name_of_method(method)
    if name is None:
        kind = type(method)
        own = first_sentence(kind)
        says = f"{kind.__name__} says of itself: {own}. " if own else ""
        return Definition("unknown", f"{says}What {kind.__name__} takes for fair is for its makers to say.")
    found = WORDS[name](method, setting)
    return found if found.name != "none" or name in UNFITTED else _fitted(found, fit, setting)


def name_of_method(method: Any) -> str | None:
    """Return the name of a method of the package by its class, None for any other."""
    name = type(method).__module__.removeprefix("rerankers.methods.")
    known = name in NAMES and type(method).__name__ == name.title().replace("_", "")
    return name if known else None


def _fitted(own: Definition, fit: Any, setting: Setting) -> Definition:
    """Return what options that were fitted to the best value of a measure aim at."""
    wanted = getattr(fit, "measure", None)
    if wanted is None or getattr(fit, "level", None) is not None:
        return own  # nothing is fitted, or so that a measure has a value that somebody wants
    measure = parse(wanted)
    by_groups = measure.name in ("EEL", "group_EEL") and any(key == "group" for key, _ in measure.params)
    name, words = DEFINED_BY.get("group_EEL" if by_groups else measure.name, ("", ""))
    if not name:
        return own
    keep = getattr(fit, "keep", 0.0)
    price = f", keeping {100 * keep:.3g} % of the static ranking's utility there" if keep else ""
    sentence = (
        f"{own.sentence.removesuffix(' No definition says how much.')} The options are those of which the rankings of "
        f"training queries come nearest to {words}{price}. {setting.exposure}"
    )
    return Definition(name, sentence, "What came nearest there need not come near; the measures say how far it is.")
