"""From what is said of documents to groups, and to what the measures of texts read besides."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from rerankers._base.errors import ConfigError
from rerankers.collections.aligned import Aligned, resolved
from rerankers.collections.group_rows import UNKNOWN_WORDS
from rerankers.labels.base import NEUTRAL, NEUTRALITY, TOKENS
from rerankers.values import companions as kinds
from rerankers.values.groups import GroupAlignment
from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.labels.base import Labelled
    from rerankers.values.ids import Ids

GENDERS: Final = (NEUTRAL, "male", "female")
SHORT: Final = {"n": NEUTRAL, "m": "male", "f": "female"}
"""Letters that published label files write."""


class LabelRows:
    """What is said of documents, taken in one by one; arrays, not records, stay in memory."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._label = array("i")
        self._codes: dict[str, int] = {}
        self._reasons: Counter[str] = Counter()
        self._scores: dict[str, array[float]] = {NEUTRALITY: array("d"), TOKENS: array("d")}

    def __len__(self) -> int:
        return len(self._label)

    def add(self, record: Labelled) -> None:
        """Take in one document. Words of groups count where the record says how many tokens there are."""
        label = known_word(record.label)
        self.names.append(record.id)
        self._label.append(NO_LABEL if label is None else self._codes.setdefault(label, len(self._codes)))
        if label is None:
            self._reasons[record.reason] += 1
        scores = record.scores
        kept = scores if TOKENS in scores else {key: scores[key] for key in (NEUTRALITY,) if key in scores}
        for key in kept:
            if key not in self._scores:
                self._scores[key] = array("d", [np.nan]) * (len(self) - 1)
        for key, column in self._scores.items():
            column.append(kept.get(key, np.nan))

    def words(self, groups: Sequence[str] | None) -> dict[str, str]:
        """Return the groups whose words were counted, ascending, each with the key that it stands under."""
        keys = sorted(self._scores.keys() - {NEUTRALITY, TOKENS, NEUTRAL})
        return dict(sorted((in_full(key, groups), key) for key in keys))

    def groups(self, asked: Sequence[str] | None) -> tuple[str, ...]:
        """Return the names of the groups: those asked for, or `found_groups`."""
        if asked is not None:
            return tuple(asked)
        return found_groups({*(in_full(word, None) for word in self._codes), *self.words(None)})

    def aligned(self, docs: Ids, attribute: str, groups: Sequence[str] | None, unknown: str) -> Aligned:
        """Return the groups of documents and their companions (`rerankers.values.companions`).

        Parameters
        ----------
        docs
            D documents; those that nothing was said of have no group, and nothing is known of their words.
        attribute
            name of the attribute.
        groups
            its groups, ``neutral`` among them; None takes those that occur (`found_groups`). A label that is not
            among them is no group.
        unknown
            what becomes of documents without a group (`GroupAlignment.resolve`).

        Returns
        -------
        Aligned
            companions ``neutrality`` where any was said, ``words`` and ``shares`` where tokens were counted. Counts:
            ``labels`` and, where there are any, ``labels_for_unknown_documents``, ``documents_not_labelled`` (nothing
            was said of them), ``labels_null`` (by reason too, ``labels_null_ambiguous``), ``labels_of_no_group``,
            ``neutralities_below_0``, ``{attribute}_documents_without_group``.

        Raises
        ------
        ConfigError
            for another word for ``unknown``, or no or repeated groups.
        """
        names = self.groups(groups)
        if not names or len(set(names)) < len(names):
            raise ConfigError(f"groups.groups: found {list(names)}; expected names of groups, each once")
        code = docs.codes(pa.array(self.names, pa.large_string()))
        here = np.flatnonzero(code >= 0)
        written = [in_full(word, names) for word in self._codes]
        place = np.array([names.index(word) if word in names else NO_LABEL for word in written] or [0], np.int32)
        raw = np.array(self._label, np.int32)
        label = np.where(raw >= 0, place[raw], NO_LABEL).astype(np.int32)
        by_doc = np.full(len(docs), NO_LABEL, np.int32)
        by_doc[code[here]] = label[here]
        labels = Labels(attribute, names, "document", np.arange(len(docs) + 1, dtype=np.int64), by_doc)
        reasons = {f"labels_null_{reason}": number for reason, number in sorted(self._reasons.items()) if reason}
        counts = met(
            labels=len(self),
            labels_for_unknown_documents=len(self) - len(here),
            documents_not_labelled=len(docs) - len(here),
            labels_null=self._reasons.total(),
            **reasons,
            labels_of_no_group=int(np.sum((raw >= 0) & (label < 0))),
            neutralities_below_0=int(np.sum(np.array(self._scores[NEUTRALITY]) < 0)),
        )
        out = resolved({attribute: labels}, unknown, "own_group", None, counts)
        return replace(out, companions=self._companions(docs, code, here, attribute, names))

    def _companions(
        self, docs: Ids, code: NDArray[np.int32], here: NDArray[np.int64], attribute: str, names: Sequence[str]
    ) -> dict[str, GroupAlignment]:
        columns = {key: np.array(column)[here] for key, column in self._scores.items()}
        doc = code[here]
        known = ~np.isnan(columns[NEUTRALITY])
        out = {}
        if known.any():
            entries = {NEUTRALITY: columns[NEUTRALITY]}
            out[kinds.NEUTRALITY] = _values(attribute, entries, doc, known, len(docs))
        tokens = columns[TOKENS]
        known = ~np.isnan(tokens)
        if known.any():
            words = {group: np.nan_to_num(columns[key]) for group, key in self.words(names).items()}
            shares = {
                group: np.divide(of, tokens, out=np.zeros(len(of)), where=tokens > 0) for group, of in words.items()
            }
            out[kinds.WORDS] = _values(attribute, words, doc, known, len(docs))
            out[kinds.SHARES] = _values(attribute, shares, doc, known, len(docs))
        return {kinds.companion(attribute, kind): alignment for kind, alignment in out.items()}


def known_word(label: str | None) -> str | None:
    """Return a label without white space around it, None for words that say that nothing is known."""
    word = "" if label is None else label.strip()
    return None if word.casefold() in UNKNOWN_WORDS else word


def in_full(word: str, groups: Sequence[str] | None) -> str:
    """Return what a label stands for: N, M and F the genders, unless a group has that name."""
    return word if groups is not None and word in groups else SHORT.get(word.casefold(), word)


def found_groups(found: set[str]) -> tuple[str, ...]:
    """Return the groups of labels that occur: neutral, male, female; or neutral and the others, ascending.

    The three genders stand for themselves even where one of them does not occur, so that a measure that compares them
    says 0 for it rather than nothing.
    """
    if found <= set(GENDERS):
        return GENDERS
    first = [name for name in GENDERS if name in found or name == NEUTRAL]
    return (*first, *sorted(found - set(GENDERS)))


def _values(
    attribute: str,
    columns: Mapping[str, NDArray[np.float64]],
    doc: NDArray[np.int32],
    known: NDArray[np.bool_],
    n_docs: int,
) -> GroupAlignment:
    """Return values of documents as they are; what is not known stays unknown."""
    entries = [(np.flatnonzero(known & (value != 0)), value) for value in columns.values()]
    rows = np.concatenate([rows for rows, _ in entries])
    column = np.concatenate([np.full(len(rows), place) for place, (rows, _) in enumerate(entries)])
    weight = np.concatenate([value[rows] for rows, value in entries])
    alignment = GroupAlignment.of_entries(attribute, tuple(columns), doc[rows], column, weight, n_docs, "value")
    unknown = np.ones(n_docs)
    unknown[doc[known]] = 0.0
    return replace(alignment, unknown=unknown)
