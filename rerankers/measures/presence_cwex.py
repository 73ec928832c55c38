"""CWEx and nCWEx of a policy by name; see `rerankers.measures.cwex` for what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.measures import cwex_bounds, over_draws
from rerankers.measures.cwex_pool import ONE_VALUE, ROUNDING, pool_range
from rerankers.measures.definition import Parameter
from rerankers.measures.group_measure import GROUP, RankedGroupMeasure
from rerankers.measures.presence_exposure import depth_of, first_ranks, log_exposure, totals, unlabelled
from rerankers.measures.presence_lists import GENDERS, NEUTRAL
from rerankers.measures.scores import Scores
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]

ALPHA = Parameter("alpha", float, "weight of neutrality against equality of the groups", 0.5, low=0.0, high=1.0)
NEUTRAL_GROUP = Parameter("neutral", str, "the group of neutral documents", NEUTRAL)
FORM = Parameter(
    "form",
    str,
    "expected = of the expected exposures; mean = mean over rankings, which is not the same",
    "expected",
    ("expected", "mean"),
)
PARTS = ("score", "neutral", "gap", "spread", "unknown", "low", "high")
"""What ``of`` may be besides the name of a group."""


class CWEx(RankedGroupMeasure):
    """Exposure of neutral documents less the inequality of the other groups' exposures."""

    name = "CWEx"
    description = (
        "alpha times the exposure share of neutral documents minus (1 - alpha) times the difference of the most and "
        "the least exposed other group, rank i weighing 1/log2(1+i); alpha - 1 to alpha, the best (arXiv 2506.22372). "
        "It says who is present, not whether that is unfair; of= gives its parts: neutral, a group's name, gap (male "
        "minus female), spread, unknown, and low and high: what unlabelled documents leave open"
    )
    parameters = (
        ALPHA,
        NEUTRAL_GROUP,
        Parameter("of", str, f"{', '.join(PARTS)}, or the name of a group", "score"),
        FORM,
        Parameter("docs", str, "relevant = only judged relevant documents have exposure", "all", ("all", "relevant")),
        Parameter("among", str, "present = only groups that the query's candidates have", "all", ("all", "present")),
        GROUP,
    )

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the value of every query whose ranked documents have labels."""
        view, k = _View(measure, evaluation.groups[attribute]), depth_of(measure, evaluation)
        over, counted, counts = evaluation.source.over, view.counted(evaluation), _counting(measure, evaluation)
        if measure.get("form") == "expected":
            over, exposure = log_exposure(evaluation, k)
            look = view.look(over.row_index, over.doc, exposure * counts, len(over))
            value, seen, labelled = view.values(look, counted), look.total > 0, look.labelled
        else:
            ranking, pair, rank, shown = first_ranks(evaluation, k)
            row = evaluation.rankings.row_of_ranking
            look = view.look(ranking, over.doc[pair], counts[pair] / np.log2(rank + 2.0), len(shown))
            single = np.where(_there(view, look), view.values(look, counted[row]), np.nan)
            value = over_draws.mean(evaluation.rankings, single)
            seen, labelled = (_any(one, row, len(over)) for one in (look.total > 0, look.labelled))
        relevant = measure.get("docs") == "relevant"
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged if relevant else False),
            ("no_relevant_document" if relevant else "no_ranked_document", ~seen),
            ("no_labels", ~labelled if view.needs_labels else False),
            ("fewer_than_two_groups", counted.sum(axis=1) < 2 if view.compares else False),
        )


def _there(view: _View, look: _Look) -> NDArray[np.bool_]:
    return look.labelled if view.needs_labels else look.total > 0


class NCWEx(RankedGroupMeasure):
    """CWEx between the worst and the best order of the query's candidates, mean over rankings."""

    name = "nCWEx"
    description = (
        "CWEx between the worst (0) and the best order (1) of the same candidates, mean over rankings; the best is a "
        "bound that no order need reach, and the value may be too low, for more than 10 ranks or many groups. Expected "
        "exposures can beat every single order, so there is no such form"
    )
    parameters = (ALPHA, NEUTRAL_GROUP, GROUP)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the value of every query whose candidates have one label each."""
        alignment, over = evaluation.groups[attribute], evaluation.source.over
        view = _View(measure, alignment)
        entry, group, weight = alignment.entries(over.doc)
        named = np.array([name != UNKNOWN for name in alignment.groups], dtype=np.bool_)[group] & (weight > 0)
        per_doc = np.bincount(entry[named], minlength=over.nnz)
        mixed = (per_doc > 1) | (np.bincount(entry[named], weights=weight[named] != 1.0, minlength=over.nnz) > 0)
        pool = view.look(over.row_index, over.doc, np.ones(over.nnz), len(over))
        ranking, pair, rank, shown = first_ranks(evaluation, depth_of(measure, evaluation))
        row = evaluation.rankings.row_of_ranking
        look = view.look(ranking, over.doc[pair], 1.0 / np.log2(rank + 2.0), len(shown))
        single = view.values(look, np.ones(look.groups.shape, dtype=np.bool_))
        unlabelled_row = totals(over, (per_doc == 0).astype(np.float64)) > 0
        mixed_row = totals(over, mixed.astype(np.float64)) > 0
        fit = ~unlabelled_row & ~mixed_row
        there = np.flatnonzero(fit[row] & (shown > 0) & (len(view.names) > 1))
        value = np.full(len(shown), np.nan)
        value[there] = _between(single[there], row[there], shown[there], pool, float(measure.get("alpha") or 0.0))
        found = over_draws.mean(evaluation.rankings, value)
        return Scores.of(
            found,
            ("no_ranked_document", ~_any(shown > 0, row, len(over))),
            ("unlabelled_document", unlabelled_row),
            ("mixed_labels", mixed_row),
            ("fewer_than_two_groups", len(view.names) < 2),
            ("one_value_in_pool", np.isnan(found)),
        )


def _between(single: Floats, row: NDArray[np.int64], shown: NDArray[np.int64], pool: _Look, alpha: float) -> Floats:
    """Return where the values of rankings lie between the worst and best order of their pools; NaN for one value."""
    pairs, which = np.unique(np.stack([row, shown]), axis=1, return_inverse=True)
    ends = np.empty((pairs.shape[1], 2))
    for place, (one, size) in enumerate(pairs.T.tolist()):
        counts = tuple(np.rint([pool.neutral[one], *pool.groups[one]]).astype(int).tolist())
        ends[place] = pool_range(counts, size, alpha)[:2]
    low, high = ends[which.ravel()].T
    wide = high - low > ONE_VALUE
    share = (single - low) / np.where(wide, high - low, 1.0)
    close = (share > -ROUNDING) & (share < 1.0 + ROUNDING)
    return np.where(wide, np.where(close, np.clip(share, 0.0, 1.0), share), np.nan)


class _View:
    """What a measure sees of an alignment: the neutral column, those of the other groups, and what has no label.

    Where no other groups than male and female occur, both count, also one that no document is in.
    """

    def __init__(self, measure: Measure, alignment: GroupAlignment) -> None:
        names, given = alignment.groups, dict(measure.params)
        self.alignment = alignment
        word = str(measure.get("neutral"))
        if "neutral" in given:
            choose(f"measure {measure}, neutral", word, names)
        self.neutral = names.index(word) if word in names else None
        others = [name for name in names if name not in (word, UNKNOWN)]
        self.names = list(GENDERS) if set(others) <= set(GENDERS) else others
        self.columns = [names.index(name) if name in names else len(names) for name in self.names]
        self.alpha = float(measure.get("alpha") or 0.0)
        of = str(given.get("of", "score"))
        self.of = choose(f"measure {measure}, of", of, [*PARTS, *self.names])
        if "of" in given and of in PARTS and of in self.names:
            raise ConfigError(f"measure {measure}: found a group that is called {of}; expected another name")
        self.present = given.get("among") == "present"

    @property
    def needs_labels(self) -> bool:
        """Whether a list without any label leaves nothing to say."""
        return self.of not in ("unknown", "low", "high")

    @property
    def compares(self) -> bool:
        """Whether two groups or more are compared."""
        return self.of in ("score", "gap", "spread", "low", "high")

    def counted(self, evaluation: Evaluation) -> NDArray[np.bool_]:
        """Return which groups count for each query, bool (B, G)."""
        over = evaluation.source.over
        if not self.present:
            return np.ones((len(over), len(self.names)), dtype=np.bool_)
        return self.look(over.row_index, over.doc, np.ones(over.nnz), len(over)).groups > 0

    def look(self, row: NDArray[np.integer], docs: NDArray[np.integer], weight: Floats, rows: int) -> _Look:
        """Add up the weight of documents by row and group."""
        table = np.pad(self.alignment.totals(row, docs, weight, rows), ((0, 0), (0, 1)))
        lost = unlabelled(self.alignment, docs)
        total, unknown, known = (
            np.bincount(row, weights=one, minlength=rows).astype(np.float64, copy=False)
            for one in (weight, weight * lost, weight * (lost < 1.0))
        )
        neutral = np.zeros(rows) if self.neutral is None else table[:, self.neutral]
        return _Look(total, unknown, neutral, table[:, self.columns], known > 0)

    def values(self, look: _Look, counts: NDArray[np.bool_]) -> Floats:
        """Return what is asked for, float64 (rows,); anything where nothing has weight."""
        lost, neutral, groups = look.shares()
        if self.of in ("neutral", "unknown"):
            return neutral if self.of == "neutral" else lost
        if self.of in self.names:
            return np.asarray(groups[:, self.names.index(self.of)])
        if len(self.names) < 2:
            return np.full(len(lost), np.nan)
        kept = np.where(counts, groups, np.nan)
        if self.of == "gap" and set(self.names) == set(GENDERS):
            male, female = (groups[:, self.names.index(name)] for name in GENDERS)
            return np.asarray(male - female)
        if self.of in ("gap", "spread"):
            return cwex_bounds.spread(kept)
        if self.of == "score":
            return cwex_bounds.score(neutral, kept, self.alpha)
        bound = cwex_bounds.lowest if self.of == "low" else cwex_bounds.highest
        return bound(neutral, groups, lost, self.alpha)


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """Weight by row: all, unlabelled and neutral documents (rows,), each group's (rows, G); whether any is labelled."""

    total: Floats
    unknown: Floats
    neutral: Floats
    groups: Floats
    labelled: NDArray[np.bool_]

    def shares(self) -> tuple[Floats, Floats, Floats]:
        """Return unknown, neutral and groups as shares of all weight; a document of several groups counts in each."""
        scale = np.where(self.total > 0, self.total, 1.0)
        return self.unknown / scale, self.neutral / scale, self.groups / scale[:, np.newaxis]


def _counting(measure: Measure, evaluation: Evaluation) -> Floats:
    """Return 1 for the documents that count and 0 for others, float64 (nnz,)."""
    if measure.get("docs") == "relevant":
        return (evaluation.universe.candidate_grade > 0).astype(np.float64)
    return np.ones(evaluation.source.over.nnz)


def _any(flag: NDArray[np.bool_], row: NDArray[np.integer], rows: int) -> NDArray[np.bool_]:
    return np.bincount(row, weights=flag, minlength=rows) > 0
