"""What a first stage leaves possible, query by query: where relevant documents stand, and the least attainable losses.

Judged documents that were not retrieved keep the exposure they are due, and no policy of the retrieved ones can give
it to them. What is left is a convex problem for every depth, solved with relevance known: the squared distance of
exposure and target, of documents or of groups, over all policies that rank the first documents of the list, each of
them completely. Under position-based browsing the nearest point of the permutahedron is exact; under cascades the
algorithm of Frank and Wolfe ends with a gap that certifies how much lower the least loss may be at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import frank_wolfe, project_permutahedron
from rerankers.exposure.optimal import Oracle, SquaredLoss
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.names import parse_many
from rerankers.measures.plan import plan
from rerankers.policies import static

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import BrowsingModel
    from rerankers.stages.pool import Part
    from rerankers.values import GroupAlignment

ALL = "all documents"
TOLERANCE = 1e-10  # of the gap, in the units of the loss
_ITERATIONS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class HeadroomRows:
    """The judged queries of a block.

    Attributes
    ----------
    query
        int32 (Q,), their codes.
    row, cell, rank, due, weight
        one entry a relevant document and cell (all documents, then the groups of every attribute, see `cells`):
        the query's place (int64), the cell (int64), the 1-based rank in the list (int64, 0: not retrieved), the
        exposure it is due there and its weight there (float64).
    best, gap
        float64 (Q, depths, losses), least attainable losses and how much lower they may be at most.
    own
        float64 (Q, losses), of the list as it stands.
    left_out
        queries that are not judged.
    """

    query: NDArray[np.int32]
    row: NDArray[np.int64]
    cell: NDArray[np.int64]
    rank: NDArray[np.int64]
    due: NDArray[np.float64]
    weight: NDArray[np.float64]
    best: NDArray[np.float64]
    gap: NDArray[np.float64]
    own: NDArray[np.float64]
    left_out: int


@dataclass(frozen=True, slots=True, eq=False)
class HeadroomBlock:
    """The function that is mapped over blocks of queries.

    Attributes
    ----------
    groups
        attribute -> resolved alignment over the pool's documents.
    options
        how exposure is judged; the universe is ``union``.
    depths
        ascending.
    """

    groups: Mapping[str, GroupAlignment]
    options: Options
    depths: Sequence[int]

    def __call__(self, part: Part) -> HeadroomRows:
        """Return what the first stage leaves possible for the queries of a block."""
        evaluation = Evaluation(static(part.candidates, stream=part.stream), part.judgments, self.groups, self.options)
        model, judged = self.options.model, np.flatnonzero(evaluation.query_judged)
        target, over = evaluation.target(model), part.candidates
        grade, goal = evaluation.universe.candidate_grade, evaluation.universe.of_candidates(target)
        norm = evaluation.per_row(np.square(target))
        due = {name: evaluation.by_group(name, target) for name in self.groups}
        best = np.empty((len(judged), len(self.depths), len(self.groups) + 1))
        gap = np.empty(best.shape)
        for place, row in enumerate(judged.tolist()):
            docs, solved = over.row(row), -1
            for number, depth in enumerate(self.depths):
                size = min(depth, docs.stop - docs.start)
                if size == solved:  # the list ends before
                    best[place, number], gap[place, number] = best[place, number - 1], gap[place, number - 1]
                    continue
                head, solved = slice(docs.start, docs.start + size), size
                rest = float(norm[row] - np.dot(goal[head], goal[head]))
                losses = [least_individual(goal[head], max(rest, 0.0), grade[head], model)]
                for name, alignment in self.groups.items():
                    matrix = parts_of(alignment, over.doc[head])
                    losses.append(least_group(due[name][row], matrix, grade[head], model))
                best[place, number], gap[place, number] = np.array(losses).T
        return HeadroomRows(
            over.query[judged],
            *_relevant(evaluation, target, judged),
            best,
            gap,
            np.stack([scores[judged] for scores in _own(evaluation)], axis=1),
            len(over) - len(judged),
        )


def least_individual(
    goal: NDArray[np.float64], rest: float, grade: NDArray[np.float64], model: BrowsingModel
) -> tuple[float, float]:
    """Return the least squared distance of the exposures of n documents from a goal, plus a constant, and its gap.

    Documents of one grade have one goal and one continuation. Averaging a policy over their permutations makes the
    distance no larger, so that the sums by grade are all that matters: a loss of few dimensions.

    Parameters
    ----------
    goal, grade
        float64 (n,).
    rest
        of the documents that are not retrieved.
    model
        how users look.
    """
    if not len(goal):
        return rest, 0.0
    weights = Oracle(model.bind(grade, np.array([0, len(goal)]))).rank_weights
    if weights is not None:
        return rest + float(np.square(project_permutahedron(goal, weights) - goal).sum()), 0.0
    classes, member, size = np.unique(np.stack([grade, goal]), axis=1, return_inverse=True, return_counts=True)
    matrix = np.zeros((len(size), len(goal)))
    matrix[member.ravel(), np.arange(len(goal))] = 1.0 / np.sqrt(size[member.ravel()])
    found = frank_wolfe(SquaredLoss(np.sqrt(size) * classes[1], matrix), model, None, grade, TOLERANCE, _ITERATIONS)
    return rest + found.value, found.gap


def least_group(
    due: NDArray[np.float64], matrix: NDArray[np.float64], grade: NDArray[np.float64], model: BrowsingModel
) -> tuple[float, float]:
    """Return the least squared distance of the exposures of groups from what is due to them, and its gap.

    Parameters
    ----------
    due
        float64 (G,).
    matrix
        float64 (G, n), weights of the retrieved documents in the groups.
    grade
        float64 (n,).
    model
        how users look.
    """
    some = matrix.any(axis=1)
    rest = float(np.square(due[~some]).sum())
    if not some.any():
        return rest, 0.0
    found = frank_wolfe(SquaredLoss(due[some], matrix[some]), model, None, grade, TOLERANCE, _ITERATIONS)
    return rest + found.value, found.gap


def parts_of(alignment: GroupAlignment, docs: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the weights of documents in groups: float64 (G, n)."""
    item, group, weight = alignment.entries(docs)
    matrix = np.zeros((len(alignment.groups), len(docs)))
    np.add.at(matrix, (group, item), weight)
    return matrix


def cells(groups: Mapping[str, GroupAlignment]) -> list[tuple[str, str]]:
    """Return what relevant documents are counted by: (attribute, group), the first of them ("", all documents)."""
    return [("", ALL), *((name, group) for name, alignment in groups.items() for group in alignment.groups)]


def losses(groups: Mapping[str, GroupAlignment]) -> list[str]:
    """Return the keys of the losses, as in ``measures.json``."""
    return list(plan(parse_many("EEL group_EEL" if groups else "EEL"), list(groups)))


def _own(evaluation: Evaluation) -> list[NDArray[np.float64]]:
    keys = plan(parse_many(losses(evaluation.groups)), list(evaluation.groups))
    return [measure.per_unit(evaluation).value for measure in keys.values()]


def _relevant(
    evaluation: Evaluation, target: NDArray[np.float64], judged: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return row, cell, rank, due exposure and weight of every relevant document in every cell that it is in."""
    over, candidates = evaluation.over, evaluation.source.over
    rank = np.arange(candidates.nnz) - candidates.indptr[candidates.row_index] + 1
    ranks = evaluation.universe.spread(rank.astype(np.float64)).astype(np.int64)
    relevant = np.flatnonzero(evaluation.grade > 0)
    pairs, cell, weight = [relevant], [np.zeros(len(relevant), np.int64)], [np.ones(len(relevant))]
    first = 1
    for alignment in evaluation.groups.values():
        item, group, part = alignment.entries(over.doc[relevant])
        pairs.append(relevant[item])
        cell.append(group.astype(np.int64) + first)
        weight.append(part)
        first += len(alignment.groups)
    pair, parts = np.concatenate(pairs), np.concatenate(weight)
    place = np.full(len(over), -1, dtype=np.int64)
    place[judged] = np.arange(len(judged))
    return place[over.row_index[pair]], np.concatenate(cell), ranks[pair], target[pair] * parts, parts
