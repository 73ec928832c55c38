"""Pairs of real rankings: what two systems gave for the same query."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import InputError, Problems
from rerankers._base.streams import generator
from rerankers.labels.base import Labelled
from rerankers.labels.label_records import label_records
from rerankers.measures.presence_lists import SHORT
from rerankers.stages.evaluate import read_runs

if TYPE_CHECKING:
    from rerankers.runs import Run

Drawn = tuple[str, str, list[Labelled], list[Labelled]]
"""Name, kind and the documents of both sides of a pair."""


def pairs_of_runs(paths: Sequence[Path], labels: Path, pairs: int, depth: int, seed: int) -> list[Drawn]:
    """Return pairs of the first ranks of two runs for one query, drawn without repeats.

    Queries that two runs do not both have are left out, and those for which both give the same documents in the same
    order. Of a query with several rankings in a run the first counts. A document without a label has none.

    Parameters
    ----------
    paths
        run files, two or more.
    labels
        file of labels.
    pairs, depth
        how many pairs at most, and how many ranks of each.
    seed
        of the draw, and of which system is A.

    Raises
    ------
    InputError
        for fewer than two runs, wrong label files, and runs that have nothing to compare.
    """
    if len(paths) < 2:
        raise InputError.one("runs", f"{len(paths)} run", "two or more")
    known = _labelled(labels)
    lists = {name: _first(run, depth) for name, run in read_runs(paths).items()}
    candidates = [
        (query, first, second)
        for first, second in itertools.combinations(lists, 2)
        for query in lists[first]
        if query in lists[second] and lists[first][query] != lists[second][query]
    ]
    if not candidates:
        raise InputError.one("runs", "no query with two different rankings", "runs of the same queries")
    rng = generator(seed, "judged rankings", "runs")
    chosen = rng.permutation(len(candidates))[:pairs]
    out = []
    for number, place in enumerate(chosen.tolist(), start=1):
        query, *names = candidates[place]
        if rng.integers(2):
            names.reverse()
        a, b = ([known.get(doc, Labelled(doc, None)) for doc in lists[name][query]] for name in names)
        out.append((str(number), f"query {query}: {names[0]} and {names[1]}", a, b))
    return out


def _labelled(path: Path) -> Mapping[str, Labelled]:
    problems, out = Problems(str(path)), {}
    for line, one in label_records(path, problems):
        label = None if one.label is None else SHORT.get(one.label, one.label)
        if label is not None and label not in SHORT.values():
            problems.add(line, f"the label {label!r}", f"one of {', '.join(SHORT.values())}, or null")
        out[one.id] = Labelled(one.id, label, one.scores)
    problems.raise_if_any()
    return out


def _first(run: Run, depth: int) -> dict[str, list[str]]:
    """Return query -> the first documents of its first ranking."""
    rankings, out = run.rankings, {}
    flat = rankings.flat
    for row, query in enumerate(rankings.over.query.tolist()):
        if rankings.query_ptr[row] == rankings.query_ptr[row + 1]:
            continue
        first = int(rankings.query_ptr[row])
        start, stop = rankings.item_ptr[first : first + 2].tolist()
        docs = rankings.over.doc[flat[start : min(stop, start + depth)]]
        if len(docs):
            out[run.qids[query]] = run.docs.take(docs)
    return out
