"""What every measure keeps to: a number or a reason for every query, whatever stands around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rerankers._base.errors import FairRerankersError
from rerankers.measures import Measure, evaluate
from rerankers.measures.own import own_definition, own_name
from rerankers.testing.plain import check, configured, fail, sent

RUN: Mapping[str, list[list[str]]] = {
    "usual": [["a", "b", "c", "d"], ["b", "a", "d", "c"], ["d", "a", "b", "c"]],
    "one document": [["a"]],
    "nothing relevant": [["a", "b"], ["b", "a"]],
    "ties": [["c", "b", "a"]],
    "nobody judged it": [["a", "b"]],
    "one group": [["b", "d"], ["d", "b"]],
}
QRELS: Mapping[str, Mapping[str, int]] = {
    "usual": {"a": 1, "c": 2, "e": 1},
    "one document": {"a": 1},
    "nothing relevant": {"a": 0, "b": 0},
    "ties": {"a": 1, "b": 1, "c": 1},
    "one group": {"b": 1},
}
GROUPS: Mapping[str, str | None] = {"a": "A", "b": "B", "c": "A", "d": "B", "e": None}

Values = dict[tuple[str, str], float | str]


def check_measure(measure: Any, name: str | None = None, labels: tuple[str, str] = ("A", "B")) -> None:
    """Hold a measure against what every measure keeps to.

    - Its name is free, it says which way is better, and whether it is of exposure or of rankings.
    - Every query has a finite number, None or a reason: also one without relevant documents, with a single document,
      with one group, with a depth of 1.
    - The same query has the same value every time, alone or among others, and whatever its documents are called.
    - It pickles, a config makes the same object, and measures of groups have a placebo and an excess.

    Parameters
    ----------
    measure
        an object with ``of_exposure`` or ``of_ranking`` (`rerankers.measures.own`), or of a subclass of
        `rerankers.measures.definition.Definition`.
    name
        under which it is measured; None: its attribute ``name``, else its class.
    labels
        names of the two groups, for measures that ask for one by name.

    Raises
    ------
    AssertionError
        with what was found and what was expected.
    """
    called = own_name(measure) if name is None else name
    twins = [sent(measure), configured(measure)]
    try:
        asked = [_named(called, one) for one in (measure, *twins)]
        whole = _values(asked[0], labels)
        for other, twin in zip(("pickled", "made by a config"), asked[1:], strict=True):
            check(
                _values(twin, labels) == whole,
                measure,
                f"{other}, it has other values; everything must be in its fields",
            )
        check(_values(asked[0], labels) == whole, measure, "the same rankings have other values the second time")
        _alone(measure, asked[0], labels, whole)
        turned = {document: document.translate(str.maketrans("abcde", "vutsr")) for document in GROUPS}
        check(_values(asked[0], labels, turned) == whole, measure, "the names of documents change its values")
        for cutoff in (None, 1, 2, 100):
            _values(replace(asked[0], cutoff=cutoff), labels)
        if asked[0].depends_on_groups:
            for part in ("placebo", "excess"):
                _values(replace(asked[0], part=part), labels)
    except FairRerankersError as error:
        raise AssertionError(f"{type(measure).__name__}: {error}") from error


def _named(name: str, measure: Any) -> Measure:
    return Measure(name, own=own_definition(name, measure))


def _values(
    measure: Measure, labels: tuple[str, str], called: Mapping[str, str] | None = None, only: str | None = None
) -> Values:
    """Return (query, measure) -> value, or the reason why there is none."""
    names = dict(zip(("A", "B"), labels, strict=True))
    name = called or {document: document for document in GROUPS}
    run = {
        query: [[name[document] for document in ranking] for ranking in rankings]
        for query, rankings in RUN.items()
        if only in (None, query)
    }
    qrels = {
        query: {name[document]: grade for document, grade in judged.items()}
        for query, judged in QRELS.items()
        if only in (None, query)
    }
    groups = {name[document]: names.get(group or "") for document, group in GROUPS.items()}
    table = evaluate(run, qrels or {"another query": {name["a"]: 1}}, groups, measures=[measure], missing_query="skip")
    found: Values = {}
    for row in table.to_pylist():
        value = row["value"] if row["reason"] is None else row["reason"]
        if value is None:
            fail(measure, f"query {row['unit']!r} has neither a value nor a reason")
        found[row["unit"], row["measure"]] = value
    return found


def _alone(measure: Any, asked: Measure, labels: tuple[str, str], whole: Values) -> None:
    for query in RUN:
        for key, value in _values(asked, labels, only=query).items():
            said = f"query {query!r} is {value} alone and {whole[key]} among others"
            check(value == whole[key], measure, said)
