"""Learning-to-rank data in SVMlight's form: a label, sparse features, maybe a query id and a comment, a line each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers.collections.folder import find_file, unpacked_name
from rerankers.collections.svmlight_blocks import Lines, plain_lines
from rerankers.collections.svmlight_lines import read_lines
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts

GROUP_SUFFIXES = (".query", ".group")
NAMES_MARK = "features:"


@dataclass(frozen=True, slots=True, eq=False)
class SvmlightTable:
    """The lines of a file, in its order.

    Attributes
    ----------
    label
        float64 (rows,), finite.
    qid
        Arrow large_string (rows,), of ``qid:``, or "1", "2", … where a file of group sizes says which lines belong
        together.
    docno
        Arrow large_string (rows,), what the comment names; null where there is no comment.
    indptr, index, value
        the features of line i are the entries indptr[i]:indptr[i + 1]: int64 (rows + 1,); int32 (entries,), numbers
        from 1, ascending in a line; float64 (entries,), finite or NaN. A feature that is not there is 0.
    line
        int64 (rows,), line numbers.
    names
        of the features, from a comment that `write_svmlight` writes; None elsewhere.
    counts
        what was met.
    """

    label: NDArray[np.float64]
    qid: pa.LargeStringArray
    docno: pa.LargeStringArray
    indptr: NDArray[np.int64]
    index: NDArray[np.int32]
    value: NDArray[np.float64]
    line: NDArray[np.int64]
    names: tuple[str, ...] | None
    counts: Counts

    def __len__(self) -> int:
        return len(self.label)

    @property
    def width(self) -> int:
        """Number of features: of the names, else the highest that occurs."""
        return int(self.index.max(initial=0)) if self.names is None else len(self.names)

    def columns(self, width: int) -> NDArray[np.float64]:
        """Return every feature of every line, float64 (width, rows), 0 where a line does not have it."""
        out = np.zeros((width, len(self)))
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        out[self.index - 1, row] = self.value
        return out


def read_svmlight(path: str | Path, groups: str | Path | None = None) -> SvmlightTable:
    r"""Read a file of lines ``label [qid:7] 1:0.5 3:2 [# docno]`` (plain, ``.gz`` or ``.zst``).

    The forms of SVMlight and RankLib, of LETOR and MSLR (``#docid = G1 inc = 1``), and of LightGBM's examples, where
    a second file holds the number of lines of each query in their order.

    Parameters
    ----------
    groups
        that second file; None looks for ``NAME.query`` or ``NAME.group`` beside ``path``.

    Returns
    -------
    SvmlightTable
        ``nan`` is a missing value. Counts, where there are any: ``blank_lines``, ``comment_lines``,
        ``lines_without_docno``, ``lines_with_unordered_features``, ``feature_values_missing``.

    Raises
    ------
    InputError
        with every problem and its line: a label or value that is no finite number, a feature twice or below 1,
        a query id on some lines only, group sizes that do not sum to the lines or contradict the query ids, no
        query at all.
    MissingError
        when there is no such file.
    """
    path = Path(path)
    problems = Problems(str(path))
    lines = plain_lines(path) or read_lines(path, problems)
    if not len(lines.label) and not problems:
        problems.add(None, "no line with a label", "lines such as: 1 qid:7 1:0.5 3:2 # docno")
    problems.raise_if_any()
    names = _names(lines, problems)
    qid = _queries(lines, path, groups, problems)
    problems.raise_if_any()
    found = met(
        blank_lines=lines.blank,
        comment_lines=len(lines.comments),
        lines_without_docno=lines.docno.null_count,
        lines_with_unordered_features=lines.unordered,
        feature_values_missing=int(np.isnan(lines.value).sum()),
    )
    return SvmlightTable(
        lines.label, qid, lines.docno, lines.indptr, lines.index, lines.value, lines.number, names, found
    )


def _names(lines: Lines, problems: Problems) -> tuple[str, ...] | None:
    """Return the names in a comment of our writer; a comment of another kind holds none."""
    for number, text in lines.comments:
        if not text.startswith(NAMES_MARK):
            continue
        try:
            names = json.loads(text.removeprefix(NAMES_MARK))
        except ValueError:  # somebody else's comment
            continue
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            continue
        if len(set(names)) < len(names):
            problems.add(number, "a name of a feature twice", "each once")
        highest = int(lines.index.max(initial=0))
        if highest > len(names):
            row = int(np.searchsorted(lines.indptr, np.argmax(lines.index), side="right")) - 1
            expected = f"at most {len(names)}, the features that line {number} names"
            problems.add(int(lines.number[row]), f"feature {highest}", expected)
        return tuple(names)
    return None


def _queries(lines: Lines, path: Path, groups: str | Path | None, problems: Problems) -> pa.LargeStringArray:
    beside = [unpacked_name(path) + suffix for suffix in GROUP_SUFFIXES]
    side = find_file(path.parent, beside) if groups is None else Path(groups)
    if side is None:
        if lines.qid is None:
            problems.add(
                int(lines.number[0]),
                "a line without qid:",
                f"query ids, or a file of group sizes ({' or '.join(beside)})",
            )
            return pa.nulls(len(lines.label), pa.large_string())
        return lines.qid
    sizes = _group_sizes(side)
    if sizes.sum() != len(lines.label):
        expected = f"sizes that sum to the {len(lines.label)} lines of {path}"
        problems.add(None, f"{side.name} with sizes that sum to {int(sizes.sum())}", expected)
    group = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    if lines.qid is None or problems:
        return pa.array(group).cast(pa.large_string())
    code = lines.qid.dictionary_encode().indices.to_numpy()
    wrong = np.flatnonzero((np.diff(code) != 0) != (np.diff(group) != 0))
    for place in wrong.tolist():
        problems.add(int(lines.number[place + 1]), "query ids that change elsewhere", f"group sizes as in {side.name}")
    return lines.qid


def _group_sizes(path: Path) -> NDArray[np.int64]:
    problems, sizes = Problems(str(path)), list[int]()
    for number, _, text in collect_lines(path, problems):
        word = text.strip()
        if word.isascii() and word.isdigit() and 0 < len(word) < 10 and int(word):
            sizes.append(int(word))
        elif word:
            problems.add(number, repr(word), "a number of lines, at least 1")
    problems.raise_if_any()
    return np.array(sizes, dtype=np.int64)
