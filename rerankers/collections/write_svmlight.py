"""Write labels and features in SVMlight's form, so that `read_svmlight` gives every bit back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.files import atomic_path
from rerankers.collections.svmlight import NAMES_MARK
from rerankers.collections.svmlight_blocks import docno_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_UNFIT = re.compile(r"[\s#\x00-\x1f\x7f]")


def write_svmlight(
    path: str | Path,
    values: ArrayLike,
    names: Sequence[str],
    indptr: ArrayLike,
    qids: Sequence[str],
    docnos: Sequence[str],
    grades: ArrayLike,
) -> Path:
    """Write ``grade qid:7 1:0.5 3:2.0 # docno``, a line a pair, whole or not at all.

    The first line is a comment with the features' names. Zeros are left out (but for -0.0), missing values are
    ``nan``, all numbers are the shortest that read back as the same float.

    Parameters
    ----------
    values
        (nnz, F), finite or NaN.
    names
        F.
    indptr
        (B + 1,), the pairs of query i are indptr[i]:indptr[i + 1].
    qids
        B.
    docnos
        nnz.
    grades
        (nnz,), finite; whole ones are written as such.

    Returns
    -------
    Path
        the file.

    Raises
    ------
    InputError
        for shapes that do not fit, infinite values, names that occur twice, and ids that the form cannot hold.
    ConfigError
        when the file cannot be written.
    """
    matrix, bounds, grade = np.asarray(values, np.float64), np.asarray(indptr, np.int64), np.asarray(grades, np.float64)
    _check(matrix, names, bounds, qids, docnos, grade)
    target = Path(path)
    with atomic_path(target) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"# {NAMES_MARK} {json.dumps(list(names), ensure_ascii=True)}\n")
        for qid, (low, high) in zip(qids, pairwise(bounds.tolist()), strict=True):
            stream.writelines(_lines(matrix[low:high], qid, docnos[low:high], grade[low:high]))
    return target


def _lines(matrix: NDArray[np.float64], qid: str, docnos: Sequence[str], grade: NDArray[np.float64]) -> Iterator[str]:
    written = (matrix != 0) | np.signbit(matrix)
    for row, docno, label in zip(range(len(matrix)), docnos, grade.tolist(), strict=True):
        places = np.flatnonzero(written[row])
        entries = zip((places + 1).tolist(), matrix[row, places].tolist(), strict=True)
        features = "".join([f" {number}:{value!r}" for number, value in entries])
        yield f"{int(label) if label.is_integer() else repr(label)} qid:{qid}{features} # {docno}\n"


def _check(
    matrix: NDArray[np.float64],
    names: Sequence[str],
    bounds: NDArray[np.int64],
    qids: Sequence[str],
    docnos: Sequence[str],
    grade: NDArray[np.float64],
) -> None:
    pairs = len(docnos)
    for name, found, expected in (
        ("values", matrix.shape, (pairs, len(names))),
        ("grades", grade.shape, (pairs,)),
        ("indptr", bounds.shape, (len(qids) + 1,)),
    ):
        if found != expected:
            raise InputError.one(name, f"shape {found}", f"shape {expected}")
    if bounds[0] != 0 or bounds[-1] != pairs or np.any(np.diff(bounds) < 0):
        raise InputError.one("indptr", f"{bounds[:3].tolist()} … {int(bounds[-1])}", f"a rise from 0 to {pairs}")
    if np.isinf(matrix).any() or not np.isfinite(grade).all():
        raise InputError.one("values, grades", "numbers that are not finite", "finite numbers; NaN for missing values")
    for what, ids in (("feature names", names), ("query ids", qids)):
        if len(set(ids)) < len(ids):
            raise InputError.one(what, "a name twice", "each once")
    for what, ids in (("query id", qids), ("docno", docnos)):
        unfit = next((name for name in ids if not name or _UNFIT.search(name) or docno_of(name) != name), None)
        if unfit is not None:
            raise InputError.one(what, repr(unfit), "text without blanks, # and docid=", mend="Rename it.")
