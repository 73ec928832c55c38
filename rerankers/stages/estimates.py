"""Beliefs of a trained model: about the candidates of a job, and about its own training queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError
from rerankers._conf import build
from rerankers.features import FeatureSet
from rerankers.learning.store import CARD, TrainedModel, query_keys, read_model
from rerankers.methods import TIERS
from rerankers.values import Relevance

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.features import FeatureTable
    from rerankers.learning.cross_fit import CrossFit
    from rerankers.values import Candidates, Collection, GroupAlignment


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What a model says about candidates.

    Attributes
    ----------
    relevance
        the beliefs.
    tier
        the information that they take.
    counts
        of the features, and how many queries were training queries.
    words
        for the report.
    """

    relevance: Relevance
    tier: str
    counts: Mapping[str, int]
    words: str


def model_estimates(
    folder: Path,
    collection: Collection,
    candidates: Candidates,
    groups: Mapping[str, GroupAlignment],
    source: object,
    browsing: BrowsingModel,
    cache: Path,
    allowed: Sequence[str] = (),
) -> Estimates:
    """Return a trained model's beliefs about the candidates of a collection; ``source`` is where groups come from.

    Raises
    ------
    ConfigError
        when the model was trained for something else: other features, groups or another browsing model.
    MissingError, InputError
        when there is no model, or its files are not as they were written.
    """
    model = read_model(folder)
    where = f"method.model={folder}"
    model.card.check_browsing(str(browsing), where)
    model.card.check_groups({name: one.groups for name, one in groups.items()}, where)
    features = build(model.card.features, allowed, f"{where}: features")
    if not isinstance(features, FeatureSet):
        raise InputError.one(f"{where}/{CARD}", f"features of {type(features).__name__}", "a FeatureSet")
    table = features.compute(collection, candidates, cache, allowed)
    keys = query_keys(collection.topics, candidates, table)
    relevance = model.estimates(table, candidates, keys)
    seen = sum(key in model.fold_of for key in keys)
    counts = {**table.counts, **({"training_queries_scored_by_models_that_did_not_see_them": seen} if seen else {})}
    return Estimates(relevance, tier_of_features(table, source), counts, _words(model, seen))


def tier_of_features(table: FeatureTable, groups: object) -> str:
    """Return the tier of features: that of given groups where a number that makes the groups is among them.

    ``groups`` is the config object of the groups; those of a number about authors say which (``field``).
    """
    field = getattr(groups, "field", None)
    made_of = any(f"author:{field}" in facts for facts in table.sources.values())
    return "given_groups" if field is not None and made_of else table.tier


def higher_tier(one: str, other: str) -> str:
    """Return the tier that takes more information."""
    return max(one, other, key=TIERS.index)


def beliefs_of_training(fit: CrossFit, scores: str) -> Relevance | None:
    """Return beliefs about the training pairs by models that did not see them; None without folds."""
    if fit.score is None:
        return None
    return Relevance(fit.score, "logit" if scores == "logit" else "score", "model:folds", fit.probability)


def model_folder(node: Mapping[str, Any]) -> Path | None:
    """Return the folder that ``method.model`` names, None for null.

    Raises
    ------
    ConfigError
        for anything but a path or null.
    """
    value = node.get("model")
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise ConfigError(f"method.model: found {value!r}; expected the folder of a trained model, or null")
    return Path(value).expanduser()


def _words(model: TrainedModel, seen: int) -> str:
    card = model.card
    text = f"{model.source}, {card.learner} trained on {card.collection} ({card.counts['queries']:,} queries)"
    return f"{text}; {seen:,} of them ranked here, by models that did not see them" if seen else text
