"""One group a document, as rules that count the documents of prefixes need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.methods.targets.base import aligned, all_but_unknown
from rerankers.methods.tilting.aims import aims_of, attributes_of
from rerankers.methods.tilting.greedy import ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block, Candidates, GroupAlignment

    Rule = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]

OUTSIDE = -1  # the group of a document that a rule leaves at its rank


def one_attribute(block: Block, wanted: str | None, method: str) -> str:
    """Return the attribute that a method looks at: the named one, else the only one of the block.

    Raises
    ------
    ConfigError
        where there are no groups or none of that name, and where none is named but there are several.
    """
    names = attributes_of(block, None if wanted is None else [wanted], method, "method.attribute")
    if len(names) > 1:
        raise ConfigError(f"method.attribute: found null; expected one of {', '.join(names)}")
    return names[0]


def codes_of(
    candidates: Candidates, alignment: GroupAlignment, about: NDArray[np.bool_], counts: Counter[str]
) -> NDArray[np.int64]:
    """Return the group of each candidate: int64 (nnz,), `OUTSIDE` where it belongs to none of the groups.

    Parameters
    ----------
    candidates
        B rows.
    alignment
        resolved. A document in several groups is in that of its largest weight, the first of equal ones.
    about
        bool (G,), the groups that count.
    counts
        added to: ``documents_in_several_groups`` and ``documents_left_in_place``.
    """
    item, group, weight = alignment.entries(candidates.doc)
    kept = about[group] & (weight > 0.0)
    item, group, weight = item[kept], group[kept], weight[kept]
    code = np.full(candidates.nnz, OUTSIDE, dtype=np.int64)
    order = np.lexsort((-group, weight, item))  # the last entry of a document is the one that counts
    code[item[order]] = group[order]
    counts["documents_in_several_groups"] += int(np.count_nonzero(np.bincount(item, minlength=1) > 1))
    counts["documents_left_in_place"] += int(np.count_nonzero(code == OUTSIDE))
    return code


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The groups of a block's documents, and the shares that a target wants of them.

    Attributes
    ----------
    code
        int64 (nnz,), the group of each document, `OUTSIDE` where the target does not speak of it.
    groups
        the G names.
    share
        float64 (B, G), the target; zeros where a row has none.
    counts
        of `codes_of`, and of what a rule meets.
    """

    code: NDArray[np.int64]
    groups: tuple[str, ...]
    share: NDArray[np.float64]
    counts: Counter[str]

    @classmethod
    def of(cls, block: Block, attribute: str | None, unknown: str, method: str) -> Labels:
        """Return the labels of one attribute, with the block's target or, where it has none, equal exposure.

        Parameters
        ----------
        block
            with groups.
        attribute
            its name; None for the only one.
        unknown
            ``target`` or ``keep``, see `rerankers.methods.tilting.aims.aims_of`.
        method
            for errors.
        """
        name, counts = one_attribute(block, attribute, method), Counter[str]()
        aim = aims_of(block, [name], unknown)[0]
        code = codes_of(block.candidates, aim.alignment, aim.about, counts)
        return cls(code, aim.alignment.groups, aim.target * aim.about, counts)

    @classmethod
    def equal(cls, block: Block, attribute: str | None, unknown: str, method: str) -> Labels:
        """Return the labels of one attribute with equal shares, for rules that aim at no target.

        Parameters are those of `of`; with ``target`` the group "unknown", where it is one, is like any other.
        """
        alignment, counts = aligned(block, one_attribute(block, attribute, method)), Counter[str]()
        known = all_but_unknown(alignment.groups)
        about = known if unknown == "keep" else np.ones_like(known)
        code = codes_of(block.candidates, alignment, about, counts)
        return cls(code, alignment.groups, np.tile(about.astype(np.float64), (len(block.candidates), 1)), counts)


def reranked(
    block: Block, code: NDArray[np.int64], rule: Rule, score: NDArray[np.float64] | None = None, draws: int = 1
) -> Mixture:
    """Return the policy of the rankings that a rule makes of the documents with a group; others keep their ranks.

    Parameters
    ----------
    block
        with the candidates.
    code
        int64 (nnz,).
    rule
        (row, the documents with a group by score int64 (m,), their groups int64 (m,)) -> an order of all m, as places
        in these arrays: int64 (m,), or (draws, m).
    score
        float64 (nnz,), what documents are ordered by; None: what the block believes.
    draws
        rankings a row.
    """
    value = block.relevance.value if score is None else score

    def order(row: int, docs: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
        of_doc = code[docs][by_score]
        inside = np.flatnonzero(of_doc != OUTSIDE)
        members = by_score[inside]
        found = rule(row, members, of_doc[inside]) if len(members) else np.empty(0, np.int64)
        if found.ndim == 1:
            ranking = by_score.copy()
            ranking[inside] = members[found]
            return ranking
        rankings = np.tile(by_score, (draws, 1))
        rankings[:, inside] = members[found]
        return rankings

    return ranked(block, value, order, draws)


def said(counts: Counter[str]) -> Mapping[str, int]:
    """Return the counts that are not 0."""
    return {name: count for name, count in counts.items() if count}
