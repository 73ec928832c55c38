"""What blocks leave, put together in their order: small things added up, columns of queries appended to spools.

Memory does not grow with the number of queries: the columns of very many go to files without a name beside the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.spool import Spool
from rerankers.measures.evidence import Evidence
from rerankers.measures.gaps import Gaps
from rerankers.measures.group_exposure import GroupRows, group_table
from rerankers.measures.table import UnitScores, concat
from rerankers.stages.report_shares import added_up, share_curves

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.measures.nulls import Null
    from rerankers.report.extras import ShareCurve
    from rerankers.stages.block import BlockResult
    from rerankers.stages.report_shares import Shares


class Results:
    """Collects blocks in their order.

    Parameters
    ----------
    folder
        where spools may keep files; None keeps everything in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._scores: dict[str, _Scores] = {}
        self._groups: dict[str, dict[str, _Groups]] = {}
        self._gaps: dict[str, dict[str, _Gaps]] = {}
        self._nulls: dict[str, dict[str, Null]] = {}
        self._shares: Shares = {}
        self._counts: Counter[str] = Counter()
        self._of_method: Counter[str] = Counter()
        self.estimated: set[str] = set()

    def add_counts(self, counts: Mapping[str, int]) -> None:
        """Take in what the method counted in a block."""
        _count(self._of_method, counts)

    @property
    def method_counts(self) -> dict[str, int]:
        """What the method counted, added up over the blocks."""
        return dict(self._of_method)

    @property
    def counts(self) -> dict[str, int]:
        """Counts added up over the blocks."""
        return dict(self._counts)

    def add(self, block: BlockResult) -> None:
        """Take a block in."""
        for system, scores in block.measures.items():
            if system not in self._scores:
                self._scores[system] = _Scores(scores, self._folder)
            self._scores[system].add(scores)
        for system, attributes in block.groups.items():
            mine = self._groups.setdefault(system, {})
            for attribute, rows in attributes.items():
                if attribute not in mine:
                    mine[attribute] = _Groups(rows, self._folder)
                mine[attribute].add(rows)
        for system, found in block.evidence.items():
            gaps, nulls = self._gaps.setdefault(system, {}), self._nulls.setdefault(system, {})
            for key, part in found.gaps.items():
                if key not in gaps:
                    gaps[key] = _Gaps(part, self._folder)
                gaps[key].add(part)
            for key, null in found.nulls.items():
                nulls[key] = nulls[key] + null if key in nulls else null
        self._shares = added_up(self._shares, block.shares)
        _count(self._counts, block.counts)
        self.estimated.update(block.estimated)

    @property
    def scores(self) -> dict[str, UnitScores]:
        """System -> its values, units in block order."""
        return {system: scores.whole() for system, scores in self._scores.items()}

    @property
    def measures(self) -> pa.Table:
        """The whole result table, system by system, in memory."""
        return concat(scores.table(system) for system, scores in self.scores.items())

    @property
    def evidence(self) -> dict[str, Evidence]:
        """System -> what stands behind its measures of groups."""
        return {
            system: Evidence({key: one.whole() for key, one in gaps.items()}, self._nulls[system])
            for system, gaps in self._gaps.items()
        }

    @property
    def share_curves(self) -> dict[str, list[ShareCurve]]:
        """Lorenz curves, means over the judged queries; see `rerankers.stages.report_shares`."""
        return share_curves(self._shares)

    @property
    def group_exposure(self) -> pa.Table:
        """Exposure and target of every group, means over the judged queries."""
        whole = {
            system: {attribute: rows.whole() for attribute, rows in attributes.items()}
            for system, attributes in self._groups.items()
        }
        return group_table([whole] if whole else [])


class _Scores:
    def __init__(self, like: UnitScores, folder: Path | None) -> None:
        self._seed, self._keys = like.seed, like.keys
        self._units: list[str] = []
        self._value = Spool(np.float64, len(like.keys), folder)
        self._reason = Spool(np.int8, len(like.keys), folder)

    def add(self, scores: UnitScores) -> None:
        if scores.keys != self._keys:
            raise ValueError(f"found measures {scores.keys}; expected {self._keys}, as in the first block")
        self._units.extend(scores.units)
        self._value.append(scores.value)
        self._reason.append(scores.reason)

    def whole(self) -> UnitScores:
        return UnitScores(self._seed, self._units, self._keys, self._value.array(), self._reason.array())


class _Groups:
    def __init__(self, like: GroupRows, folder: Path | None) -> None:
        width = len(like.groups)
        self._names = like.groups
        self._exposure, self._target = (Spool(np.float64, width, folder) for _ in range(2))
        # whole numbers, whose sums are exact
        self._documents, self._relevant = np.zeros((1, width)), np.zeros((1, width))

    def add(self, rows: GroupRows) -> None:
        self._exposure.append(rows.exposure)
        self._target.append(rows.target)
        self._documents += rows.documents.sum(axis=0)
        self._relevant += rows.relevant.sum(axis=0)

    def whole(self) -> GroupRows:
        return GroupRows(self._names, self._exposure.array(), self._target.array(), self._documents, self._relevant)


class _Gaps:
    def __init__(self, like: Gaps, folder: Path | None) -> None:
        width = len(like.groups)
        self._names = like.groups
        self._units: list[str] = []
        self._difference, self._noise = Spool(np.float64, width, folder), Spool(np.float64, width + 1, folder)

    def add(self, gaps: Gaps) -> None:
        self._units.extend(gaps.units)
        self._difference.append(gaps.difference)
        self._noise.append(gaps.noise)

    def whole(self) -> Gaps:
        return Gaps(self._names, tuple(self._units), self._difference.array(), self._noise.array())


def _count(total: Counter[str], counts: Mapping[str, int]) -> None:
    """Add counts up by name, in the order in which names first appear; those of 0 keep their place."""
    for name, number in counts.items():
        total[name] += number


def add_counts(results: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up counts by name, in the order in which names first appear."""
    total: Counter[str] = Counter()
    for counts in results:
        _count(total, counts)
    return dict(total)
