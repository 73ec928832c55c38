"""Fairness under query variability, for every set and system of a job: numbers by topic, means, intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.progress import steps
from rerankers.execution import block_bounds
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.methods import answered, check_policy
from rerankers.methods.deterministic import Deterministic
from rerankers.queries.fairness_under_variants import (
    TopicExposure,
    VariantExposure,
    exposure_of_variants,
    over_variants,
    target_of_topics,
)
from rerankers.stages.block import seen_by
from rerankers.stages.variants_fairness_told import FIRST_STAGE, differences, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.stages.pool import Pool
    from rerankers.stages.variants_numbers import Bootstrap
    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Judgments

    Floats = NDArray[np.float64]

EQUAL, REPEATS = WEIGHTS = ("equal", "repeats")


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """The function that is mapped over blocks of variants: the groups' exposure under one system."""

    method: Method
    target: Target | None
    options: Options
    pool: Pool

    def __call__(self, bounds: tuple[int, int]) -> tuple[dict[str, VariantExposure], Mapping[str, int], bool]:
        """Return attribute -> exposures of the rows, what the method counted, and whether draws were needed."""
        part = self.pool.part(*bounds)
        block = part.block(seen_by(self.method, self.pool.groups, None), self.options, self.target)
        policy, counts = answered(self.method, block)
        check_policy(policy, self.method, block)
        evaluation = Evaluation(policy, part.judgments, self.pool.groups, self.options)
        model = self.options.model
        found = {attribute: exposure_of_variants(evaluation, attribute, model) for attribute in self.pool.groups}
        return found, counts, evaluation.estimated(model)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What fairness is computed with.

    Attributes
    ----------
    name, method, target
        the reranker of each variant's documents, and what it aims at.
    options
        browsing model, samples and seed.
    weights
        ``equal``: every distinct variant of a topic is as likely as the others; ``repeats``: as often as it stands in
        its set.
    block
        (query, document) pairs of a block.
    """

    name: str
    method: Method
    target: Target | None
    options: Options
    weights: str = EQUAL
    block: int = 1 << 20
    systems: Mapping[str, tuple[Method, Target | None]] = field(init=False)

    def __post_init__(self) -> None:
        own = {} if isinstance(self.method, Deterministic) else {self.name: (self.method, self.target)}
        object.__setattr__(self, "systems", {FIRST_STAGE: (Deterministic(), None), **own})


def fairness(
    asked: Asked, sets: Sets, found: Found, pool: Pool, judged: Judgments, bootstrap: Bootstrap
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return what the groups get under query variability, as in ``variants.json``, and what was counted.

    Parameters
    ----------
    asked
        systems and options.
    sets, found
        the sets, and what their variants retrieve.
    pool
        of `found`, a row a variant; its judgments are those of each variant's topic.
    judged
        the same by topic: ``query`` is the place of the topic in ``sets.topics``.
    bootstrap
        of the intervals over topics.
    """
    counts: Counter[str] = Counter()
    model, topics = asked.options.model, len(sets.topics)
    topic = found.topics.topic
    targets = {
        attribute: target_of_topics(pool.candidates, topic, judged, topics, alignment, model)
        for attribute, alignment in pool.groups.items()
    }
    systems: dict[str, Any] = {}
    per_system: dict[str, dict[str, dict[str, TopicExposure]]] = {}
    estimated = []
    for system, (method, target) in asked.systems.items():
        rows, met, drawn = _exposures(_Task(method, target, asked.options, pool), asked.block, system)
        counts.update(met)
        estimated += [system] if drawn else []
        per_system[system] = {
            name: {
                attribute: _of_set(sets, found, name, rows[attribute], targets[attribute], asked.weights)
                for attribute in pool.groups
            }
            for name in sets.files
        }
        systems[system] = {
            name: {
                attribute: told(one, pool.groups[attribute].groups, sets, found, bootstrap)
                for attribute, one in by_attribute.items()
            }
            for name, by_attribute in per_system[system].items()
        }
    return {
        "options": {"browsing": str(model), "weights": asked.weights, "samples": asked.options.samples},
        "groups": {name: list(alignment.groups) for name, alignment in pool.groups.items()},
        "estimated_from_draws": estimated,
        "systems": systems,
        "differences": differences(per_system, sets, bootstrap),
    }, dict(counts)


def _exposures(task: _Task, block: int, name: str) -> tuple[dict[str, VariantExposure], dict[str, int], bool]:
    bounds = block_bounds(np.maximum(task.pool.candidates.lengths, 1), 1, block)
    done = list(steps(map(task, bounds), name, "block", len(bounds)))
    counts: Counter[str] = Counter()
    for _, met, _ in done:
        counts.update(met)
    joined = {
        attribute: VariantExposure(
            *(
                np.concatenate([getattr(part[attribute], of) for part, _, _ in done])
                for of in ("expected", "within", "noise")
            )
        )
        for attribute in task.pool.groups
    }
    return joined, dict(counts), any(drawn for _, _, drawn in done)


def _of_set(sets: Sets, found: Found, name: str, rows: VariantExposure, target: Floats, weights: str) -> TopicExposure:
    """Return the exposures over the variants of one set; ``worst`` is the row in all of them."""
    texts, rows_of = sets.files[name].variants, found.rows[name]
    # by text and not as a file has them, so that sums have the same bits and of equals the same one is the worst
    variants = sorted(
        (topic, text, row)
        for topic, places in rows_of.items()
        for text, row in zip(texts.distinct(topic), places, strict=True)
    )
    weight = np.ones(len(variants))
    if weights == REPEATS:
        times = {topic: Counter(texts.texts[topic]) for topic in rows_of}
        weight = np.array([float(times[topic][text]) for topic, text, _ in variants])
    chosen = np.array([row for _, _, row in variants], dtype=np.int64)
    picked = VariantExposure(rows.expected[chosen], rows.within[chosen], rows.noise[chosen])
    out = over_variants(picked, found.topics.topic[chosen], weight, target)
    return replace(out, worst=np.where(out.worst >= 0, np.append(chosen, -1)[out.worst], -1))
