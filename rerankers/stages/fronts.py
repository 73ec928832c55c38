"""Fronts beside a job's measures: the best that can be had from what is believed, and from the truth behind a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.names import parse_many
from rerankers.measures.plan import plan
from rerankers.measures.universe import Universe
from rerankers.methods.fronts import Judge
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.stages.front_effort import FULL, MOST_SECONDS, QUICK, Effort, seconds_of, too_long
from rerankers.stats.trade_off import Curve
from rerankers.values import Block, Relevance, outer_join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Policy
    from rerankers.stages.gathered import JobResults
    from rerankers.stages.pool import Pool
    from rerankers.values import Collection, GroupAlignment, Judgments, Ragged

FILE = "fronts.parquet"
SCHEMA = pa.schema(
    [("front", pa.string()), ("weight", pa.float64()), ("unit", pa.string()), ("measure", pa.string()),
     ("value", pa.float64())]
)  # fmt: skip
"""A front's policies are told apart by the weight of utility that they are best for."""
UTILITY = "utility"
PARTS = ("EEL", "EED", "EER")
"""What is measured of a front besides utility, with ``group_`` before it for groups."""

Fronts = Mapping[str, Mapping[float, Mapping[str, Mapping[str, float]]]]
"""Name -> weight of utility -> measure -> query id -> value."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What fronts are computed on: queries with beliefs, their judgments and how they are judged.

    Attributes
    ----------
    block
        the queries, with beliefs; groups are taken from ``groups``.
    units
        B query ids.
    judgments, groups, options
        as of `rerankers.measures.evaluation.Evaluation`.
    """

    block: Block
    units: Sequence[str]
    judgments: Judgments
    groups: Mapping[str, GroupAlignment]
    options: Options


def fronts_asked(scene: Scene, truth: NDArray[np.float64] | None, wanted: bool | str) -> tuple[Fronts, str]:
    """Return the fronts that a job is to have, none of them or all, and a sentence on how, or why not.

    Parameters
    ----------
    scene, truth
        as `fronts_of`.
    wanted
        the option ``measures.fronts``: true, false, or ``auto`` for fronts that take no more than some seconds.
    """
    if wanted is False:
        return {}, "Not computed: measures.fronts=false."
    if not len(scene.block.candidates):
        return {}, "Not computed: no judged query has candidates."
    if wanted is True:
        return fronts_of(scene, truth), ""
    seconds = seconds_of(scene, truth is not None)
    if seconds is None:
        return {}, "Not computed: under this browsing model the best ranking is not known exactly."
    if seconds > MOST_SECONDS:
        return {}, too_long(seconds)
    return fronts_of(scene, truth, QUICK), (
        f"Computed at {len(QUICK.weights)} weights of utility and to a tolerance of {QUICK.tolerance:g}; "
        "measures.fronts=true takes more weights and a smaller tolerance."
    )


def fronts_of(scene: Scene, truth: NDArray[np.float64] | None, effort: Effort = FULL) -> Fronts:
    """Return the plug-in front of a job's beliefs, that of the truth and the oracle's, for documents and for groups.

    A point is the policy that is best, for one weight of utility, by what is believed; its values are what the
    judgments say of it. The oracle believes the judgments themselves: nobody can do better with these candidates. The
    fronts for groups need exactly one attribute. Without probabilities there is no plug-in front, without a truth no
    true one.

    Parameters
    ----------
    truth
        float64 (nnz,), the probabilities that the grades were drawn with; None where nobody knows them.
    effort
        how closely they are computed.
    """
    beliefs = {}
    if scene.block.relevance.probability is not None:
        beliefs["plug-in front"] = Relevance(scene.block.relevance.probability, "probability", "model")
    if truth is not None:
        beliefs["true front"] = Relevance(truth, "probability", "truth")
    documents = ParetoOptimal(tolerance=effort.tolerance, max_iterations=effort.max_iterations)
    aims = {"documents": ("", documents)}
    if len(scene.groups) == 1:
        aims["groups"] = ("group_", replace(documents, individual=0.0, group=1.0))
    found = {
        f"{name}, {whose}": _points(
            scene, _best(replace(scene.block, estimates=one, groups=scene.groups), method), level, effort
        )
        for name, one in beliefs.items()
        for whose, (level, method) in aims.items()
    }
    judge = _oracle(scene)
    return found | {
        f"oracle front, {whose}": _points(scene, _knowing(judge, method), level, effort)
        for whose, (level, method) in aims.items()
    }


def _best(block: Block, method: ParetoOptimal) -> Callable[[float], Policy]:
    """Return the policy that is best by a block's beliefs, for a weight of utility."""
    return lambda weight: replace(method, utility=weight).policy(block)


def _knowing(judge: Judge, method: ParetoOptimal) -> Callable[[float], Policy]:
    """Return the policy that is best by the grades, for a weight of utility."""
    return lambda weight: judge.best(method, weight)[0]


def _oracle(scene: Scene) -> Judge:
    """Return what knows the grades of the candidates."""
    candidates = scene.block.candidates
    grade = np.maximum(Universe(candidates, scene.judgments, "union").candidate_grade, 0.0)
    block = replace(scene.block, groups=scene.groups)
    return Judge.of(block, grade, groups=len(scene.groups) == 1)


def scene_of_pool(
    pool: Pool, options: Options, truth: NDArray[np.float64] | None
) -> tuple[Scene, NDArray[np.float64] | None]:
    """Return what fronts of a job are computed on, and the truth about it: its judged queries that have candidates.

    ``truth`` is that of all candidates of the pool.
    """
    universe = Universe(pool.candidates, pool.judgments, "union")
    rows = np.nonzero(universe.query_judged & (pool.candidates.lengths > 0))[0]
    part = pool.candidates.with_columns(place=np.arange(pool.candidates.nnz)).take(rows)
    place = part.columns["place"]
    estimates = None if pool.estimates is None else pool.estimates.at(place)
    block = Block(part, pool.topics.stream[part.query], estimates=estimates, browsing=options.model)
    judgments = pool.judgments.take(np.nonzero(np.isin(pool.judgments.query, part.query))[0])
    scene = Scene(block, pool.topics.ids.take(part.query), judgments, pool.groups, options)
    return scene, None if truth is None else truth[place]


def truth_of(collection: Collection, over: Ragged) -> NDArray[np.float64] | None:
    """Return the probabilities of relevance behind the grades, float64 (nnz,); None where nobody knows them.

    ``over`` are rows over the collection's codes. A pair that is not judged has none: it cannot be relevant.
    """
    chance = collection.truth.get("relevance_probability")
    if chance is None:
        return None
    join = outer_join(over, collection.judgments)
    found: NDArray[np.float64] = join.from_right(np.asarray(chance, dtype=np.float64))[join.left]
    return found


def _points(
    scene: Scene, policy: Callable[[float], Policy], level: str, effort: Effort
) -> Mapping[float, Mapping[str, Mapping[str, float]]]:
    measures = parse_many([UTILITY, *(f"{level}{part}" for part in PARTS)])
    keys = plan(measures, list(scene.groups))
    points = {}
    for weight in effort.weights:
        evaluation = Evaluation(policy(weight), scene.judgments, scene.groups, scene.options)
        points[weight] = {
            key: dict(zip(scene.units, measure.per_unit(evaluation).value.tolist(), strict=True))
            for key, measure in keys.items()
        }
    return points


def write_fronts(folder: Path, fronts: Fronts) -> None:
    """Write fronts: name -> weight -> measure (``utility`` among them) -> unit -> value."""
    import pyarrow.parquet as pq

    rows = [
        (front, weight, unit, measure, value)
        for front, points in fronts.items()
        for weight, measures in points.items()
        for measure, values in measures.items()
        for unit, value in values.items()
    ]
    arrays = [pa.array([row[place] for row in rows], field.type) for place, field in enumerate(SCHEMA)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), folder / FILE, compression="zstd")


def read_fronts(jobs: Sequence[JobResults], loss: str, units: Sequence[str]) -> dict[str, Curve]:
    """Return the fronts of the first job that has them, as curves over some queries.

    Raises
    ------
    InputError
        for a damaged file.
    """
    import pyarrow.parquet as pq

    for job in jobs:
        path = job.folder / FILE
        if not path.is_file():
            continue
        try:
            table = pq.read_table(path).cast(SCHEMA)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError.one(str(path), f"damaged fronts ({error})", "what a job writes") from error
        return _curves(table, loss, units)
    return {}


def _curves(table: pa.Table, loss: str, units: Sequence[str]) -> dict[str, Curve]:
    points: dict[str, dict[float, dict[str, dict[str, float]]]] = {}
    for row in table.to_pylist():
        if row["measure"] in (UTILITY, loss):
            measures = points.setdefault(row["front"], {}).setdefault(row["weight"], {})
            measures.setdefault(row["measure"], {})[row["unit"]] = row["value"]
    found = {}
    for front, by_weight in points.items():
        parts = [
            np.array(
                [[by_weight[weight].get(key, {}).get(unit, np.nan) for unit in units] for weight in sorted(by_weight)]
            )
            for key in (UTILITY, loss)
        ]
        if all(np.all(np.isfinite(part)) for part in parts):
            found[front] = Curve(*parts)
    return found
