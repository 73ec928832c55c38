"""Reference values of the expected-exposure evaluators, wherever the corrected rules agree with theirs.

Compared are raw values under complete judgments. The evaluators sum over judged documents only, so ``universe`` is
``judged``; their group -1 is the unknown group; a query without a ranking gets zero exposure here, so EED = EER = 0
and EEL = EET, where theirs report bounds. Without groups they also add up what unjudged documents get, which never
belongs to a group: the difference is the squared norm of that. Negative grades and duplicate documents differ by design
and are left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import InputError
from rerankers.exposure import GERR, RBP
from rerankers.measures import evaluate

pytestmark = pytest.mark.shared_data

NAMES = {"disparity": "EED", "relevance": "EER", "difference": "EEL"}
BY_DESIGN = {"negative_relevance", "duplicate_docs_in_ranking", "query_missing_individual", "mixed_comma_fails"}
REFUSED = {"duplicate_docs_in_ranking", "duplicate_rank"}


def values_of(table: Any) -> dict[tuple[str, str], float | None]:
    return {(row["unit"], row["measure"]): row["value"] for row in table.to_pylist()}


def groups_of(rows: list[list[Any]]) -> dict[str, list[str] | None]:
    out: dict[str, list[str] | None] = {}
    for _, groups, docno, _ in rows:
        labels = [label for label in str(groups).split("|") if label not in ("", "-1")]
        out[docno] = labels or None
    return out


def run_of(rows: list[list[Any]]) -> dict[str, list[list[str]]]:
    lists: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for qid, sample, docno, rank, *_ in rows:
        lists.setdefault(qid, {}).setdefault(sample, []).append((int(rank), docno))
    return {qid: [[doc for _, doc in sorted(pairs)] for pairs in samples.values()] for qid, samples in lists.items()}


def grades_of(rows: list[list[Any]], binarize: bool) -> dict[str, dict[str, int]]:
    out: dict[str, dict[str, int]] = {}
    for qid, _, docno, grade in rows:
        out.setdefault(qid, {})[docno] = int(int(grade) > 0) if binarize else int(grade)
    return out


def load(shared: Path, path: str) -> Any:
    return json.loads((shared / "oracles" / path).read_text(encoding="utf-8"))["cases"]


def test_eel_2020_cases(shared: Path) -> None:
    compared = 0
    for case in load(shared, "trec/eel_2020_cases.json"):
        params = case["params"]
        if case["name"] in BY_DESIGN | REFUSED or not params["complete"]:
            continue
        grouped = params.get("group", False)
        table = evaluate(
            run_of(case["run"]),
            grades_of(case["qrels"], params.get("binarize", False)),
            groups_of(case["qrels"]) if grouped else None,
            browsing=GERR(params.get("p", 0.5), params.get("u", 0.5)),
            universe="judged",
        )
        found = values_of(table)
        for expected in case["expected"].values():
            for qid, values in expected["per_query"].items():
                for theirs, ours in NAMES.items():
                    value = found[qid, f"group_{ours}" if grouped else ours]
                    assert value == pytest.approx(values[theirs]["raw"], rel=1e-12, abs=1e-15), case["name"]
                    compared += 1
    assert compared >= 50


def test_a_missing_query_is_no_perfect_query(shared: Path) -> None:
    (case,) = [c for c in load(shared, "trec/eel_2020_cases.json") if c["name"] == "query_missing_individual"]
    run, grades = run_of(case["run"]), grades_of(case["qrels"], False)
    with pytest.raises(InputError, match=r"'q2'.*zero_exposure"):
        evaluate(run, grades, universe="judged")
    found = values_of(evaluate(run, grades, universe="judged", missing_query="zero_exposure"))
    theirs = case["expected"]["expeval@69ab070"]["per_query"]
    assert found["q1", "EEL"] == pytest.approx(theirs["q1"]["difference"]["raw"], abs=1e-15)
    assert (found["q2", "EED"], found["q2", "EER"]) == (0, 0)
    assert found["q2", "EEL"] == found["q2", "EET"] == pytest.approx(1 + 0.25**2)
    skipped = values_of(evaluate(run, grades, universe="judged", missing_query="skip"))
    assert {qid for qid, _ in skipped} == {"q1"}


def test_refused_runs(shared: Path) -> None:
    case = next(c for c in load(shared, "trec/eel_2020_cases.json") if c["name"] == "duplicate_docs_in_ranking")
    with pytest.raises(InputError, match="'a'"):
        evaluate(run_of(case["run"]), grades_of(case["qrels"], False))


def text_rows(text: str, fields: int) -> list[list[Any]]:
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return [row if len(row) == fields else [row[0], "-1", *row[1:]] for row in rows]


LEFT_OUT = {
    "edge/missing_query_in_run",  # their default for it, see above
    "edge/duplicate_doc_in_sample",  # an error here
    "edge/rank_zero_based",  # they drop rank 0
}


def test_expeval(shared: Path) -> None:
    compared = 0
    for name, case in load(shared, "algorithms/expeval.json").items():
        given = case["input"]
        if name in LEFT_OUT or not given["complete"] or "per_query" not in case["output"]:
            continue
        qrels, run = text_rows(given["qrels"], 4), text_rows(given["run"], 6)
        grouped, patience = given["group"], given["umPatience"]
        model = GERR(patience, given["umUtility"]) if given["umType"] == "gerr" else RBP(patience)
        table = evaluate(
            run_of(run),
            grades_of(qrels, given["binarize"]),
            groups_of(qrels) if grouped else None,
            browsing=model,
            universe="judged",
        )
        found = values_of(table)
        judged = grades_of(qrels, False)
        for qid, values in case["output"]["per_query"].items():
            for theirs, ours in NAMES.items():
                value = found[qid, f"group_{ours}" if grouped else ours]
                expected = values[theirs]["value"]
                if expected == "inf":  # they say so where nothing judged is ranked; it is 0
                    assert value == 0
                    continue
                if not grouped and ours != "EER":
                    value += sum(e * e for doc, e in values["run_exposure"].items() if doc not in judged[qid])
                assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-15), name
                compared += 1
    assert compared >= 300
