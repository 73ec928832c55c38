"""What every collection keeps to: documents, queries, judgments and groups that fit together, every time alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from rerankers._base.errors import FairRerankersError
from rerankers._conf import build
from rerankers.testing.plain import check, configured, sent
from rerankers.values import Collection

LOOKED_AT = 1000  # documents whose texts are read


def check_collection(config: Any) -> Collection:
    """Hold a collection against what every collection keeps to, and return what it has loaded.

    - ``load`` gives a `rerankers.values.Collection`, twice the same, with at least one document and one query.
    - Document ids ascend; judgments, groups, authors and fields are over these documents; every query has at most one
      row of judgments.
    - Texts come with ascending ids, are texts, and are of documents of the collection; the first 1,000 are read.
    - What was met is counted by whole numbers from 0 on. It pickles, and a config makes the same object.

    Parameters
    ----------
    config
        an object with ``load``, or a config node: ``_target_`` and the options.

    Raises
    ------
    AssertionError
        with what was found and what was expected.
    """
    reader = config
    try:
        if isinstance(config, Mapping):
            package = str(config.get("_target_", "")).partition(".")[0]
            reader = build(config, () if package == "rerankers" else (package,), "collection")
        check(callable(getattr(reader, "load", None)), reader, "it has no load(); expected one that gives a Collection")
        twins = [sent(reader), configured(reader)]
        found = reader.load()
        check(isinstance(found, Collection), reader, f"load() gave a {type(found).__name__}; expected a Collection")
        for twin in twins:
            again = twin.load().fingerprint
            said = f"loaded again, its fingerprint is {again}, not {found.fingerprint}: it depends on something else"
            check(again == found.fingerprint, reader, said)
    except FairRerankersError as error:
        raise AssertionError(f"{type(reader).__name__}: {error}") from error
    _sizes(reader, found)
    _judgments(reader, found)
    _texts(reader, found)
    sent(found)
    return cast("Collection", found)


def _sizes(reader: Any, found: Collection) -> None:
    check(isinstance(found.fingerprint, str) and found.fingerprint, reader, "its fingerprint is no text")
    n = len(found.docs)
    check(n > 0, reader, "it has no documents")
    check(len(found.topics) > 0, reader, "it has no queries")
    check(found.docs.is_sorted, reader, "its document ids do not ascend; make them with Ids.union")
    for attribute, labels in found.groups.items():
        check(labels.n_docs == n, reader, f"groups {attribute!r} are of {labels.n_docs} documents; expected {n}")
        within = labels.label.size == 0 or -1 <= labels.label.min() <= labels.label.max() < len(labels.groups)
        check(within, reader, f"groups {attribute!r} have labels outside of -1 to {len(labels.groups) - 1}")
    for name, column in found.fields.items():
        check(column.shape == (n,), reader, f"field {name!r} has the shape {column.shape}; expected ({n},)")
    for name, count in found.counts.items():
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool) and count >= 0
        check(whole, reader, f"it counted {name}: {count!r}; expected a whole number from 0 on")


def _judgments(reader: Any, found: Collection) -> None:
    judged = found.judgments
    n = len(found.docs)
    check("grade" in judged.columns, reader, "its judgments have no column grade")
    within = judged.nnz == 0 or 0 <= judged.doc.min() <= judged.doc.max() < n
    check(within, reader, f"its judgments name documents outside of 0 to {n - 1}")
    known = len(judged) == 0 or 0 <= judged.query.min() <= judged.query.max() < len(found.topics)
    check(known, reader, f"its judgments name queries outside of 0 to {len(found.topics) - 1}")
    check(len(np.unique(judged.query)) == len(judged), reader, "a query has two rows of judgments; expected one")
    pairs = judged.row_index * n + judged.doc
    check(len(np.unique(pairs)) == judged.nnz, reader, "a document is judged twice for a query")


def _texts(reader: Any, found: Collection) -> None:
    store = found.documents
    if store is None:
        return
    last = ""
    for number, (docno, text) in enumerate(store.texts(store.fields)):
        if number == LOOKED_AT:
            break
        check(isinstance(text, str), reader, f"the text of {docno!r} is a {type(text).__name__}; expected a text")
        check(number == 0 or docno > last, reader, f"texts: {docno!r} comes after {last!r}; expected ascending ids")
        check(found.docs.codes([docno])[0] >= 0, reader, f"texts: {docno!r} is not among the documents")
        last = docno
