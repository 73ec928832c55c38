"""The presets of 2020 on hand-made input: every option, an own twin of the official evaluator, and errors."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.tracks import official2020 as odd
from rerankers.tracks.memory import evaluate
from rerankers.tracks.preset import PRESETS, Inputs, Outcome, preset

Row = tuple[str, str, str, int]
GRADES = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1, "a": 0}}
RUN = {"q1": [["b", "a", "c"], ["a", "x", "b"]], "q2": [["a", "d"]]}


def values(table: Any) -> dict[tuple[str, str], float]:
    return {(row["unit"], row["measure"]): row["value"] for row in table.to_pylist()}


# -- a twin of the official evaluator, document by document ------------------------------------------------------------


def series(x: float, n: float) -> float:
    return 1 / (1 - x) if n == math.inf else (1 - x**n) / (1 - x)


Judged = dict[str, dict[str, int]]


def read(qrels: list[Row], complete: bool) -> tuple[Judged, dict[str, dict[str, list[int]]]]:
    judged: Judged = {}
    member: dict[str, dict[str, list[int]]] = {}
    for qid, groups, docno, grade in qrels:
        if complete or grade > 0:
            judged.setdefault(qid, {})[docno] = grade
            own = member.setdefault(qid, {}).setdefault(docno, [])
            own += [int(g) for g in (groups or "-1").split("|") if int(g) not in own]
    return judged, member


def lists_of(run: list[tuple[str, str, str, int]]) -> dict[str, dict[str, dict[int, str]]]:
    lists: dict[str, dict[str, dict[int, str]]] = {}
    for qid, sample, docno, rank in run:
        ranking = lists.setdefault(qid, {}).setdefault(sample, {})
        if rank > 0:
            ranking.setdefault(rank, docno)
    return lists


def targets(grades: dict[str, int], rbp: bool, p: float, u: float) -> dict[str, float]:
    target: dict[str, float] = {}
    before = 0
    for level, size in sorted(Counter(grades.values()).items(), reverse=True):
        q = p if rbp else p * (1 - u)
        mean = (q**before - q ** (before + size)) / (size * (1 - q))
        if not rbp and level <= 0:
            mean = (1 - u) ** before * (p**before - p ** (before + size)) / (size * (1 - p))
        target |= {d: mean for d, g in grades.items() if g == level}
        before += size
    return target


def exposures(
    rankings: list[dict[int, str]], grades: dict[str, int], rbp: bool, p: float, u: float
) -> dict[str, float]:
    seen: dict[str, float] = {}
    for ranking in rankings:
        relevant = 0
        for rank in range(len(ranking)):
            docno = ranking[rank + 1]
            step = p**rank * (1.0 if rbp else (1 - u) ** relevant)
            seen[docno] = seen.get(docno, 0.0) + step / len(rankings)
            relevant += grades.get(docno, 0) > 0
    return seen


def terms(exposure: dict[Any, float], goal: dict[Any, float]) -> dict[str, float]:
    square = sum(e * e for e in exposure.values())
    keys = set(exposure) | set(goal)
    return {
        "EED": square if square > 0 else math.inf,
        "EER": sum(e * goal.get(d, 0.0) for d, e in exposure.items()),
        "EEL": sum((exposure.get(d, 0.0) - goal.get(d, 0.0)) ** 2 for d in keys),
    }


def missing(target: dict[str, float], grades: dict[str, int], complete: bool, p: float, x: float) -> dict[str, float]:
    n = len(target) if complete else math.inf
    norm = sum(t * t for t in target.values())
    low = sum(x**i * t for i, t in enumerate(sorted(target.values()))) if complete else 0.0
    flat = len(set(grades.values())) <= 1
    return {"EED": series(p * p, n), "EER": 0.0 if flat else low, "EEL": 0.0 if flat else norm}


def twin(
    qrels: list[Row], run: list[tuple[str, str, str, int]], complete: bool, rbp: bool, p: float, u: float
) -> dict[tuple[str, str], float]:
    """Return (query, key) -> value, after the description of the evaluator."""
    judged, member = read(qrels, complete)
    lists = lists_of(run)
    out: dict[tuple[str, str], float] = {}
    for qid, grades in judged.items():
        target = targets(grades, rbp, p, u)
        seen = exposures(list(lists.get(qid, {}).values()), grades, rbp, p, u)
        groups: dict[int, float] = {}
        due: dict[int, float] = {}
        for docno, own in member[qid].items():
            for g in own:
                groups[g] = groups.get(g, 0.0) + seen.get(docno, 0.0)
                due[g] = due.get(g, 0.0) + target[docno]
        single = terms(seen, target) if seen else missing(target, grades, complete, p, p if rbp else p * u)
        several = terms(groups, due)
        if qid not in lists:
            mass = series(p, sum(g > 0 for g in grades.values()))
            several = {"EED": 0.0 if len(due) == 1 else len(due) * mass**2, "EER": 0.0, "EEL": 0.0}
        out |= {(qid, key): value for key, value in single.items()}
        out |= {(qid, f"group_{key}"): value for key, value in several.items()}
    return out


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Row], list[tuple[str, str, str, int]]]:
    docs = [f"d{n}" for n in range(6)]
    qrels = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["1", "2"]),
                st.sampled_from(["1", "2", "1|2", "-1", ""]),
                st.sampled_from(docs),
                st.integers(-2, 3),
            ),
            min_size=1,
            max_size=12,
        )
    )
    run = []
    for qid in draw(st.sets(st.sampled_from(["1", "2", "3"]), min_size=1)):
        for sample in range(draw(st.integers(1, 3))):
            ranked = draw(st.lists(st.sampled_from([*docs, "x", "y"]), min_size=1, max_size=9))
            run += [(qid, f"Q{sample}", docno, rank) for rank, docno in enumerate(ranked, 1)]
            if draw(st.booleans()):
                run.append((qid, f"Q{sample}", "late", 1))
    if draw(st.booleans()):
        run.append(("2", "Q9", "d0", 0))
    return qrels, draw(st.permutations(run))


@settings(max_examples=100)
@given(worlds(), st.booleans(), st.booleans(), st.sampled_from([(0.5, 0.5), (0.9, 0.7), (0.3, 0.0), (0.6, 1.0)]))
def test_official_against_twin(
    tmp_path_factory: pytest.TempPathFactory, world: Any, complete: bool, rbp: bool, model: tuple[float, float]
) -> None:
    qrels, run = world
    if not complete and not any(grade > 0 for *_, grade in qrels):
        return
    folder = tmp_path_factory.getbasetemp()
    (folder / "qrels.txt").write_text("".join("\t".join(map(str, row)) + "\n" for row in qrels))
    (folder / "a.run").write_text("".join(" ".join(map(str, row)) + " 0.5 tag\n" for row in run))
    task = "rerank" if complete else "retrieval"
    options = {"browsing": "rbp" if rbp else "gerr", "patience": model[0], "satisfaction": model[1]}
    table = evaluate(folder / "a.run", folder / "qrels.txt", None, f"trec2020_{task}_official", **options)
    found = values(table)
    expected = twin(qrels, run, complete, rbp, *model)
    grouped = any(row[1] for row in qrels if complete or row[3] > 0)
    for key, value in expected.items():
        if key[1].startswith("group_") and not grouped:
            continue
        assert found[key] == pytest.approx(value, rel=1e-11, abs=1e-13), key
    assert {qid for qid, _ in found} == {qid for qid, _ in expected}


# -- options -----------------------------------------------------------------------------------------------------------


def test_names_and_aliases() -> None:
    for name in PRESETS:
        assert preset(name).name == name
    for form in ("official", "corrected"):
        short, long = preset(f"trec2020_{form}"), preset(f"trec2020_rerank_{form}")
        assert (short.complete, long.complete) == (True, True)  # type: ignore[attr-defined]
        assert short.differences == long.differences  # type: ignore[attr-defined]
        assert not preset(f"trec2020_retrieval_{form}").complete  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="Did you mean 'trec2020_official'"):
        preset("trec2020_oficial")
    with pytest.raises(ConfigError, match="Did you mean 'patience'"):
        preset("trec2020_official", patiense=0.4)


def test_corrected_values_by_hand() -> None:
    found = values(evaluate(RUN, GRADES, {"a": "A", "b": "B", "c": ["A", "B"], "d": None}))
    a, b, c = (0.5 + 1) / 2, (1 + 0.125) / 2, 0.125 / 2  # b a c, a x b
    assert found["q1", "EED"] == pytest.approx(a * a + b * b + c * c)  # x is not judged
    target = {"a": 1.0, "c": 0.25, "b": 0.0625}
    assert found["q1", "EER"] == pytest.approx(a + 0.25 * c + 0.0625 * b)
    assert found["q1", "EET"] == pytest.approx(sum(t * t for t in target.values()))
    assert found["q1", "EEL"] == pytest.approx((a - 1) ** 2 + (b - 0.0625) ** 2 + (c - 0.25) ** 2)
    assert found["q1", "EEL_l2"] == pytest.approx(math.sqrt(found["q1", "EEL"]))
    assert found["q1", "utility"] == pytest.approx(0.5 * (a + c))
    assert found["q1", "group_EEL"] == pytest.approx((a + c - 1.25) ** 2 + (b + c - 0.3125) ** 2)
    wide = values(evaluate(RUN, GRADES, universe="ranked"))
    assert wide["q1", "EED"] == pytest.approx(a * a + b * b + c * c + 0.125**2)
    assert wide["q1", "EEL"] == pytest.approx(found["q1", "EEL"] + 0.125**2)
    rooted = values(evaluate(RUN, GRADES, loss="l2"))
    assert rooted["q1", "EEL"] == pytest.approx(found["q1", "EEL_l2"])
    assert ("q1", "EEL_l2") not in rooted


def test_divergence_of_shares() -> None:
    found = values(evaluate(RUN, GRADES, {"a": "A", "b": "B", "c": "B"}, loss="js"))
    p, q = np.array([0.75, 0.625]), np.array([1.0, 0.3125])
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    expected = 0.5 * np.sum(p * np.log(p / middle)) + 0.5 * np.sum(q * np.log(q / middle))
    assert found["q1", "group_EEL"] == pytest.approx(expected, rel=1e-12)
    squared = values(evaluate(RUN, GRADES, {"a": "A", "b": "B", "c": "B"}))
    assert found["q1", "group_EEL_l2"] == squared["q1", "group_EEL_l2"]
    stranger = {"q1": [["x", "y"]], "q2": RUN["q2"]}
    rows = evaluate(stranger, GRADES, loss="js").to_pylist()
    assert [r["reason"] for r in rows if (r["unit"], r["measure"]) == ("q1", "EEL")] == ["no_ranked_document"]
    apart = values(evaluate(stranger, GRADES, loss="js", universe="ranked"))
    assert apart["q1", "EEL"] == pytest.approx(math.log(2))


def test_identity_of_the_terms() -> None:
    for name in ("trec2020_corrected", "trec2020_retrieval_corrected", "trec2020_official"):
        found = values(evaluate(RUN, GRADES, {"a": "A", "b": "B"}, name))
        for qid in GRADES:
            for prefix in ("", "group_"):
                loss, d, r, t = (found[qid, f"{prefix}{key}"] for key in ("EEL", "EED", "EER", "EET"))
                assert loss == pytest.approx(d - 2 * r + t, abs=1e-14)


def test_retrieval_counts_relevant_documents_only() -> None:
    found = values(evaluate(RUN, GRADES, {"a": "A", "b": "B", "c": "C"}, "trec2020_retrieval_corrected"))
    a, c = 0.75, 0.0625
    assert found["q1", "group_EEL"] == pytest.approx((a - 1) ** 2 + (c - 0.25) ** 2)
    grades = {**GRADES, "q3": {"a": 0}}
    table = evaluate({**RUN, "q3": [["a"]]}, grades, None, "trec2020_retrieval_corrected")
    assert set(table["unit"].to_pylist()) == {"q1", "q2"}
    with pytest.raises(InputError, match="no pair of a grade above 0"):
        evaluate({"q3": [["a"]]}, {"q3": {"a": 0}}, None, "trec2020_retrieval_corrected")


def test_binarize_browsing_and_certain_users() -> None:
    one = values(evaluate(RUN, {"q1": {"a": 1, "b": 0, "c": 1}, "q2": GRADES["q2"]}))
    assert values(evaluate(RUN, GRADES, binarize=True)) == one
    log = values(evaluate({"q1": [["a", "c"]]}, {"q1": {"a": 1, "c": 0}}, browsing="log2"))
    assert log["q1", "EED"] == pytest.approx(1 + 1 / math.log2(3) ** 2)
    patient = values(evaluate(RUN, GRADES, patience=1.0))
    assert patient["q2", "EET"] == pytest.approx(1 + 0.5**2)  # nobody gives up: the formula's limit
    with pytest.raises(ConfigError, match="patience below 1"):
        preset("trec2020_official", patience=1.0)
    with pytest.raises(ConfigError, match="for gerr and rbp"):
        preset("trec2020_corrected", browsing="log2", normalise="tools_ba07124")


def test_missing_and_empty() -> None:
    with pytest.raises(InputError, match="run: found no ranking of the judged query 'q2'"):
        evaluate({"q1": RUN["q1"]}, GRADES)
    zero = values(evaluate({"q1": RUN["q1"]}, GRADES, missing_query="zero_exposure"))
    assert (zero["q2", "EED"], zero["q2", "EER"], zero["q2", "utility"]) == (0, 0, 0)
    assert zero["q2", "EEL"] == zero["q2", "EET"]
    half = values(evaluate({"q1": [[], ["a", "b", "c"]], "q2": RUN["q2"]}, GRADES))
    full = values(evaluate({"q1": [["a", "b", "c"]], "q2": RUN["q2"]}, GRADES))
    assert half["q1", "EED"] == pytest.approx(full["q1", "EED"] / 4)
    ignored = values(evaluate({"q1": [[], ["a", "b", "c"]], "q2": RUN["q2"]}, GRADES, empty_ranking="ignore"))
    assert ignored == full
    with pytest.raises(InputError, match="no ranking of the judged query 'q1'"):
        evaluate({"q1": [[]], "q2": RUN["q2"]}, GRADES, empty_ranking="ignore")


def test_negative_grades() -> None:
    grades = {"q1": {"a": 1, "b": 0, "c": -1}}
    run = {"q1": [["a", "b", "c"]]}
    zero = values(evaluate(run, grades))
    assert zero["q1", "EET"] == pytest.approx(1 + 2 * 0.1875**2)
    level = values(evaluate(run, grades, negative_grade="level"))
    assert level["q1", "EEL"] == pytest.approx(0, abs=1e-30)
    own = values(evaluate(run, grades, negative_grade="own_level"))
    assert own["q1", "EET"] == pytest.approx(1 + 0.25**2 + 0.0625**2)


@pytest.mark.parametrize("normalise", ["tools_ba07124", "expeval_69ab070"])
def test_normalised_values(normalise: str) -> None:
    raw = values(evaluate(RUN, GRADES, None, "trec2020_official"))
    found = values(evaluate(RUN, GRADES, None, "trec2020_official", normalise=normalise))
    target = np.array([1.0, 0.25, 0.0625])
    bounds = odd.document_bounds(target, 3, odd.UserModel(0.5, 0.5, False), complete=True)
    low, high = bounds["EED"]
    assert (low, high) == (pytest.approx(1.3125**2 / 3), pytest.approx(1.3125))
    shift = 0.0 if normalise.startswith("tools") else low
    assert found["q1", "EED"] == pytest.approx((raw["q1", "EED"] - shift) / (high - low))
    assert not any(key == "EEL_l2" for _, key in found)


def test_groups_in_a_column(tmp_path: Path) -> None:
    lines = ["q1 1|2 a 1", "q1 b 0", "q1 2 c 0"]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    run = {"q1": [["a", "b", "c"]]}
    official = values(evaluate(run, tmp_path / "qrels.txt", None, "trec2020_official"))
    # 1: a; 2: a and c; without group: b
    assert official["q1", "group_EED"] == pytest.approx(1 + 1.125**2 + 0.25**2)
    assert values(evaluate(run, tmp_path / "qrels.txt")) == official
    dropped = values(evaluate(run, tmp_path / "qrels.txt", None, unannotated_policy="drop"))
    assert dropped["q1", "group_EED"] == pytest.approx(1 + 1.125**2)
    spread = values(evaluate(run, tmp_path / "qrels.txt", None, unannotated_policy="spread"))
    assert spread["q1", "group_EED"] == pytest.approx(1.125**2 + 1.25**2)
    (tmp_path / "comma.txt").write_text("\n".join(lines).replace("|", ","))
    assert values(evaluate(run, tmp_path / "comma.txt")) == official
    with pytest.raises(InputError, match=r"groups '1,2'; expected whole numbers joined with \|"):
        evaluate(run, tmp_path / "comma.txt", None, "trec2020_official")
    (tmp_path / "plain.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 0\n")
    assert not any(key.startswith("group") for _, key in values(evaluate(run, tmp_path / "plain.txt")))


def test_pairs_judged_twice(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 1 a 0\nq1 2 b 0\nq1 2 a 1\n")
    run = {"q1": [["a", "b"]]}
    official = values(evaluate(run, tmp_path / "qrels.txt", None, "trec2020_official"))
    assert official["q1", "group_EEL"] == pytest.approx(0, abs=1e-30)  # relevant, in both groups
    assert official["q1", "group_EED"] == pytest.approx(1 + 1.25**2)
    with pytest.raises(InputError, match=r"qrels.txt:3: found another judgment of document 'a'.*as in line 1"):
        evaluate(run, tmp_path / "qrels.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 1 a\nq1 1 b 0.5\n", "grade '0.5'"),
        ("q1 1 a 1 z\n", "5 fields"),
        ("\n\n", "no judgment"),
        ("q1 1 a 99999\n", "grade '99999'"),
    ],
)
def test_damaged_judgments(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "qrels.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        evaluate({"q1": [["a"]]}, tmp_path / "qrels.txt")


def test_memory_takes_files_for_other_years(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="run: found a dict; expected the path"):
        evaluate({"1": [["a"]]}, tmp_path / "q", None, "trec2019_official")
    with pytest.raises(ConfigError, match="sequence: no value"):
        evaluate(tmp_path / "r", tmp_path / "q", None, "trec2019_official")


@pytest.mark.parametrize("word", ["sequence", "targets"])
def test_files_without_use_are_refused(tmp_path: Path, word: str) -> None:
    run, qrels, other = tmp_path / "r.jsonl", tmp_path / "q", tmp_path / "other.csv"
    for name in (name for name in PRESETS if name.startswith("trec2020")):
        with pytest.raises(ConfigError, match=f"{word}: found .*other.csv; expected null, since {name}"):
            preset(name).evaluate(Inputs((run,), qrels, **{word: other}))
    with pytest.raises(ConfigError, match=f"{word}: found"):
        evaluate({"q1": [["a"]]}, {"q1": {"a": 1}}, **{word: other})
    with pytest.raises(ConfigError, match=r"targets: found .*trec2019_corrected"):
        preset("trec2019_corrected").evaluate(Inputs((run,), qrels, sequence=other, targets=other))


def test_order_of_rows_and_queries_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    docs = [f"d{n}" for n in range(12)]
    grades = {f"q{q}": {d: int(rng.integers(0, 2)) for d in docs} for q in range(5)}
    run = {qid: [list(rng.permutation(docs)) for _ in range(4)] for qid in grades}
    groups = {d: str(rng.choice(["A", "B"])) for d in docs[:9]}
    whole = values(evaluate(run, grades, groups))
    for qid in grades:
        alone = values(evaluate({qid: run[qid]}, {qid: grades[qid]}, groups))
        assert {key: value for key, value in whole.items() if key[0] == qid} == alone
    back = {qid: grades[qid] for qid in reversed(grades)}
    assert values(evaluate(dict(reversed(run.items())), back, groups)) == whole


def test_anchors_of_retrieval_order_what_runs_rank(tmp_path: Path) -> None:
    run = tmp_path / "a.jsonl"
    run.write_text("".join(json.dumps({"qid": 1, "ranking": r}) + "\n" for r in (["x", "a"], ["a", "y"])))
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 1\n1 0 c 0\n")
    outcome: Outcome = preset("trec2020_retrieval_corrected").evaluate(Inputs((run,), tmp_path / "qrels.txt"))
    random, ideal = (values(outcome.tables[f"anchor:{name}"]) for name in ("random", "ideal"))
    assert random["1", "EED"] == pytest.approx(((1 + 0.5 + 0.25) / 3) ** 2)  # a among x and y, b never
    assert ideal["1", "EEL"] == pytest.approx(0, abs=1e-30)
    assert outcome.counts["run a"]["judged_pairs_not_ranked"] == 1
