"""Coverage, family-wise error and power of the comparison statistics on losses of real policies, not of formulas.

The topics of a large run on the generated collection are taken for all topics there are, so that the truth is known;
worlds are samples of them. First leave such a run, then hold the statistics against it:

    fair-rerank run collection.topics=3000 samples=2 measures.resamples=10 groups.attribute=economy output=population
    python benchmarks/evidence_coverage.py population --worlds 1000

Null worlds of groups shuffle the labels within every query: what is left of an excess over the placebo is chance. They
need no population: the collection's own generator makes the topics.

Null worlds for comparisons exchange two systems in every topic by a coin, which makes them equal and keeps everything
else; a planted difference is added to one of them afterwards.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from rerankers._base.streams import query_streams
from rerankers.collections import CollectionGroups, Generated
from rerankers.exposure import GERR
from rerankers.measures import group_exposure_placebo
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.grid import grids
from rerankers.measures.summary import PARQUET_FILE
from rerankers.policies import PlackettLuce, zscore
from rerankers.stages.measured import values_of
from rerankers.stats import mean_intervals
from rerankers.stats.flip_intervals import sign_flip_intervals
from rerankers.stats.paired import paired_intervals
from rerankers.stats.permutation import sign_flip_tests
from rerankers.stats.power import detectable_difference
from rerankers.values import Candidates

SIZES = (20, 50, 200)
SHUFFLES = 200  # of the labels of a query
PAIR = ("anchor:plackett_luce", "anchor:random")
MEASURES = ("utility", "EEL", "group_EEL", "group_EEL_excess")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("population", type=Path, help="folder of the large run")
    parser.add_argument("--worlds", type=int, default=1000)
    options = parser.parse_args()
    table = grids(pq.read_table(options.population / PARQUET_FILE))
    units = sorted(set(table[PAIR[0]].units) & set(table[PAIR[1]].units))
    there = [key for key in MEASURES if key in table[PAIR[0]].keys]
    values = np.array([[values_of(table[name], key, units) for key in there] for name in PAIR])
    values = values[:, :, ~np.isnan(values).any(axis=(0, 1))]
    print(f"population of {values.shape[2]:,} topics, {options.worlds:,} worlds a cell; standard error of a .95: "
          f"{np.sqrt(0.05 * 0.95 / options.worlds):.3f}")  # fmt: skip
    excess = shuffled_excess(Generated(topics=1500))
    for size in SIZES:
        print(f"\n{size} topics a world")
        null_labels(excess, size, options.worlds)
        means(values, there, size, options.worlds)
        comparisons(values, there, size, options.worlds)


def shuffled_excess(collection: Generated) -> np.ndarray:
    """Return the excess of the group loss under shuffled labels, float64 (topics, SHUFFLES), 0 on average."""
    world = collection.load()
    judged, draw = world.judgments, np.random.default_rng(0)
    chance = np.asarray(world.truth["relevance_probability"])
    scored = Candidates(
        judged.query, judged.indptr, judged.doc, {"score": chance + 0.15 * draw.standard_normal(len(chance))}
    )
    logit = 2 * zscore(scored.indptr, scored.score)
    policy = PlackettLuce(scored, logit, query_streams(world.topics.ids.take(scored.query)))
    evaluation, browsing = Evaluation(policy, judged), GERR().completed([int(judged.grade.max())])
    gap = evaluation.exposure(browsing) - evaluation.target(browsing)
    alignment = CollectionGroups(attribute="economy").align(world).alignments["economy"]
    found = np.empty((len(evaluation.over), SHUFFLES))
    for row in range(len(found)):
        part = evaluation.over.row(row)
        item, group, weight = alignment.entries(evaluation.over.doc[part])
        member = np.zeros((part.stop - part.start, len(alignment.groups)))
        np.add.at(member, (item, group), weight)
        orders = draw.permuted(np.tile(gap[part], (SHUFFLES, 1)), axis=1)
        found[row] = np.square(orders @ member).sum(axis=1) - group_exposure_placebo(gap[part], member)
    return found


def null_labels(excess: np.ndarray, size: int, worlds: int) -> None:
    """Print how often the interval of a mean excess holds 0 where labels are by chance."""
    draw = np.random.default_rng(size)
    pick = (draw.integers(0, len(excess), (size, worlds)), draw.integers(0, SHUFFLES, (size, worlds)))
    inside = [one.low <= 0 <= one.high for one in paired_intervals(excess[pick])]
    print(f"  coverage of an excess of 0 under shuffled labels, studentized: {np.mean(inside):.3f}")


def means(values: np.ndarray, keys: list[str], size: int, worlds: int) -> None:
    """Print the coverage of intervals of means of one system."""
    draw = np.random.default_rng(size)
    truth = values[0].mean(axis=1)
    inside = {"bca": np.zeros(len(keys)), "studentized": np.zeros(len(keys))}
    for world in range(worlds):
        sample = values[0][:, draw.integers(0, values.shape[2], size)].T
        for method, count in inside.items():
            find = mean_intervals if method == "bca" else paired_intervals
            count += [one.low <= mean <= one.high for one, mean in zip(find(sample, seed=world), truth, strict=True)]
    for method, count in inside.items():
        told = ", ".join(f"{key} {share:.3f}" for key, share in zip(keys, count / worlds, strict=True))
        print(f"  coverage of means, {method}: {told}")


def comparisons(values: np.ndarray, keys: list[str], size: int, worlds: int) -> None:
    """Print coverage of paired intervals, family-wise error and power under planted differences."""
    draw = np.random.default_rng(size + 1)
    difference = (values[0] - values[1]).T
    spread = np.sqrt((difference**2).mean(axis=0))  # of the difference with its sign by a coin
    planted = np.array([detectable_difference(float(sd), size) for sd in spread])
    inside, found, wrong = np.zeros(len(keys)), np.zeros(len(keys)), 0
    for world in range(worlds):
        coin = draw.choice([-1.0, 1.0], (size, 1))
        sample = coin * difference[draw.integers(0, len(difference), size)]
        spans = sign_flip_intervals(sample, seed=world, permutations=999)
        inside += [one.low is None or one.low <= 0 <= one.high for one in spans]
        wrong += sign_flip_tests(sample, seed=world, permutations=999).max_t.min() <= 0.05
        found += sign_flip_tests(sample + planted, seed=world, permutations=999).p <= 0.05
    for what, share in (("coverage of differences", inside), ("power, predicted .800", found)):
        told = ", ".join(f"{key} {one:.3f}" for key, one in zip(keys, share / worlds, strict=True))
        print(f"  {what}: {told}")
    print(f"  family-wise error of max-T at .05: {wrong / worlds:.3f}")


if __name__ == "__main__":
    main()
