"""Fairness under query variability as ``variants.json`` has it: means, intervals, every topic, paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.stages.variants_numbers import Bootstrap, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.fairness_under_variants import TopicExposure
    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets

    Floats = NDArray[np.float64]

FIRST_STAGE = "first_stage"
LOSSES = ("loss", "mean_loss", "worst_loss")
MOST_GROUPS = 50  # of an attribute that are listed one by one


def told(one: TopicExposure, groups: tuple[str, ...], sets: Sets, found: Found, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return one set under one system for one attribute: means with intervals, and every topic.

    Means are over the topics that have a target, all of them alike, since users of the others go on longer; where no
    topic has one, they are over all.
    """
    due = ~np.isnan(one.target).any(axis=1)
    counted = due if due.any() else np.ones_like(due)
    parts = {
        "between": one.between.sum(axis=1),
        "within": one.within.sum(axis=1),
        "between_sample": one.between_sample.sum(axis=1),
        "second_moment": one.second_moment,
    }
    columns = {name: getattr(one, name) for name in LOSSES} | parts
    out: dict[str, Any] = {name: bootstrap.mean(np.where(counted, values, np.nan)) for name, values in columns.items()}
    between, within = parts["between"], parts["within"]
    known = counted & ~np.isnan(between + within)
    total = math.fsum((between + within)[known])  # whatever the order of the topics
    out["between_share"] = math.fsum(between[known]) / total if total > 0 else None
    shown = groups[:MOST_GROUPS]
    out["by_group"] = {
        group: {
            "exposure": bootstrap.mean(np.where(counted, one.expected[:, place], np.nan)),
            "target": bootstrap.mean(np.where(one.variants > 0, one.target[:, place], np.nan)),
            "between_sd": bootstrap.mean(np.where(counted, np.sqrt(np.maximum(one.between[:, place], 0.0)), np.nan)),
        }
        for place, group in enumerate(shown)
    }
    out["topics"] = {sets.topics[row]: _topic(one, row, shown, found, columns) for row in _answered(one)}
    return out


def _answered(one: TopicExposure) -> Iterator[int]:
    yield from np.flatnonzero(one.variants > 0).tolist()


def _topic(
    one: TopicExposure, row: int, groups: tuple[str, ...], found: Found, columns: Mapping[str, Floats]
) -> dict[str, Any]:
    worst = int(one.worst[row])
    return {
        "variants": int(one.variants[row]),
        "exposure": dict(zip(groups, listed(one.expected[row]), strict=False)),
        "between": dict(zip(groups, listed(one.between[row]), strict=False)),
        "target": dict(zip(groups, listed(one.target[row]), strict=False)) if worst >= 0 else None,
        "worst_variant": found.topics.text[worst] if worst >= 0 else None,
        "totals": {name: listed(values[row : row + 1])[0] for name, values in columns.items()},
    }


def differences(
    found: Mapping[str, Mapping[str, Mapping[str, TopicExposure]]], sets: Sets, bootstrap: Bootstrap
) -> list[dict[str, Any]]:
    """Return paired differences of the loss: sets minus the reference, and the method minus the first stage."""
    out: list[dict[str, Any]] = []
    for system, by_set in found.items():
        for name, by_attribute in by_set.items():
            pairs = [("set", sets.reference, by_set[sets.reference])] if name != sets.reference else []
            if system != FIRST_STAGE:
                pairs.append(("system", FIRST_STAGE, found[FIRST_STAGE][name]))
            for kind, other, against in pairs:
                for attribute, one in by_attribute.items():
                    gap = one.loss - against[attribute].loss
                    row = {"system": system, "set": name, "attribute": attribute, "against": kind, "other": other}
                    out.append({**row, "loss": bootstrap.mean(gap)})
    return out
