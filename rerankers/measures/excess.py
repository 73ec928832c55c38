"""Placebo and excess of any measure of groups: in closed form where it has one, else from shuffled labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.nulls import Null, standard_errors
from rerankers.measures.placebo_variance import shuffled_variance
from rerankers.measures.scores import Scores
from rerankers.measures.shuffles import Origin, shuffled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.placebo import Bilinear


def part_scores(measure: Measure, evaluation: Evaluation, units: Sequence[str] | None) -> Scores:
    """Return the placebo or the excess of every unit; there is one where the measure itself has a value.

    Parameters
    ----------
    measure
        whose ``part`` is ``placebo`` or ``excess``.
    evaluation
        B rows.
    units
        names of the rows, on which shuffles depend; not needed by measures whose placebo is in closed form.

    Raises
    ------
    ConfigError
        for a measure without closed form where ``permutations`` is 0.
    ValueError
        for such a measure without units.
    """
    real = _real(measure.whole, evaluation)
    if np.all(real.reason >= 0):
        return real
    placebo = _placebo(measure.whole, evaluation, units)
    value = placebo if measure.part == "placebo" else real.value - placebo
    return Scores(np.where(real.reason < 0, value, np.nan), real.reason).where(
        ("no_value_under_shuffled_labels", np.isnan(placebo))
    )


def nulls(
    evaluations: Mapping[str, Evaluation], units: Mapping[str, Sequence[str]], measures: Mapping[str, Measure]
) -> dict[str, dict[str, Null]]:
    """Return the tests of the mean excess of a block: system -> key of the excess -> sums.

    Parameters
    ----------
    evaluations
        system -> evaluation; the shuffles of a query are drawn once for all of them.
    units
        system -> names of its rows.
    measures
        key -> measure; those that are an excess count.
    """
    asked = {key: measure.whole for key, measure in measures.items() if measure.part == "excess"}
    found: dict[str, dict[str, Null]] = {system: {} for system in evaluations}
    closed: list[tuple[str, str, Scores, Job]] = []
    for system, evaluation in evaluations.items():
        for key, measure in asked.items():
            real, bilinear = _real(measure, evaluation), _bilinear(measure, evaluation)
            if np.all(real.reason >= 0):
                continue
            if bilinear is not None:
                job = Job(bilinear, evaluation.over.doc, units[system])
                closed.append((system, key, real, job))
                continue
            placebo, error, draws = _drawn(measure, evaluation, units[system])
            found[system][key] = Null.of(real.value, placebo, draws, error=error)
    if closed:
        options = next(iter(evaluations.values())).options
        drawn = shuffled_values([job for *_, job in closed], options.permutations, options.seed)
        for (system, key, real, job), draws in zip(closed, drawn, strict=True):
            found[system][key] = null_of(job.value, real.value, draws)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A bilinear measure whose labels are to be shuffled.

    Attributes
    ----------
    value
        of B queries.
    doc
        int (nnz,), codes of the documents, by which they are numbered in a shuffle.
    units
        the B queries' ids.
    """

    value: Bilinear
    doc: NDArray[np.integer]
    units: Sequence[str]


def null_of(value: Bilinear, real: NDArray[np.float64], draws: NDArray[np.float64]) -> Null:
    """Return the sums of a bilinear measure.

    Parameters
    ----------
    value
        the measure.
    real
        float64 (B,), its values, NaN where there is none.
    draws
        float64 (B, R) of `shuffled_values`.
    """
    return Null.of(real, value.placebo(), draws, variance=shuffled_variance(value))


def shuffled_values(jobs: Sequence[Job], permutations: int, seed: int) -> list[NDArray[np.float64]]:
    """Return the value of each job under every draw of labels, float64 (B, R) each.

    A query's shuffles are drawn once for all jobs in which as many of its documents count.
    """
    out = [np.zeros((len(job.units), permutations)) for job in jobs]
    if not permutations:
        return out
    rows: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for number, job in enumerate(jobs):
        for row, (unit, n) in enumerate(zip(job.units, np.diff(job.value.indptr).tolist(), strict=True)):
            rows.setdefault((unit, n), []).append((number, row))
    tables = [_Dense.of(job) for job in jobs]
    for (unit, n), places in rows.items():
        order = shuffled(seed, unit, n, permutations) if n else np.empty((permutations, 0), np.int32)
        for number, row in places:
            out[number][row] = tables[number].values(row, order)
    for job, draws in zip(jobs, out, strict=True):
        # noise of exposures that were estimated adds as much to every draw as to the real labels
        own = type(job.value).of(job.value.alignment, job.value.indptr, job.value.docs, job.value.x, job.value.y)
        draws += (job.value.placebo() - own.placebo())[:, None]
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Dense:
    """The entries of a bilinear measure by row, documents in the order of their codes."""

    value: Bilinear
    place: NDArray[np.int64]
    first: NDArray[np.int64]
    item: NDArray[np.int64]
    group: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, job: Job) -> _Dense:
        value = job.value
        item, group, weight = value.entries()
        place = np.lexsort((job.doc, value.row))
        rank = np.empty(len(place), dtype=np.int64)
        rank[place] = np.arange(len(place))
        return cls(value, place, np.searchsorted(item, value.indptr), rank[item], group, weight)

    def values(self, row: int, order: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the value of a row under shuffles (R, n): float64 (R,). Groups that no document has are left out."""
        start, stop = int(self.value.indptr[row]), int(self.value.indptr[row + 1])
        from rerankers.measures.shuffled_loops import shuffled_products

        part = slice(int(self.first[row]), int(self.first[row + 1]))
        groups, column = np.unique(self.group[part], return_inverse=True)
        docs = self.place[start:stop]
        x = self.value.x[docs]
        same = self.value.x is self.value.y
        y = x if same else self.value.y[docs]
        value = np.empty(len(order))
        # Document order[r, j] has the labels of document j. Counting draws takes no notice of the last bits.
        shuffled_products(order, self.item[part] - start, column, self.weight[part], len(groups), x, y, same, value)
        return value


def _real(measure: Measure, evaluation: Evaluation) -> Scores:
    return evaluation.once(("scores", measure), lambda: measure.per_unit(evaluation))


def _bilinear(measure: Measure, evaluation: Evaluation) -> Bilinear | None:
    return evaluation.once(("bilinear", measure), lambda: measure.bilinear(evaluation))


def _placebo(measure: Measure, evaluation: Evaluation, units: Sequence[str] | None) -> NDArray[np.float64]:
    bilinear = _bilinear(measure, evaluation)
    if bilinear is not None:
        return evaluation.once(("placebo", measure), bilinear.placebo)
    if units is None:
        raise ValueError(f"{measure}: its placebo is drawn, which depends on the names of the units; pass them")
    return _drawn(measure, evaluation, units)[0]


def _drawn(
    measure: Measure, evaluation: Evaluation, units: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return placebo and standard error, float64 (B,), and the values under each draw, float64 (B, R)."""
    draws = evaluation.options.permutations
    if not draws:
        raise ConfigError(
            f"measures.permutations: found 0; expected at least 1, since the placebo of {measure} has no closed form"
        )

    def compute() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        origin = evaluation.once(("origin",), lambda: Origin(evaluation))
        columns = [measure.per_unit(one).value for one in origin.shuffles(units, draws)]
        values = np.stack(columns, axis=1)
        mean, error, _ = standard_errors(values)
        return mean, error, values

    return evaluation.once(("shuffled", measure, tuple(units)), compute)
