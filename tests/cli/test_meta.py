"""fair-rerank meta on run files and on jobs, and what it refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_rel

from rerankers.cli import main
from rerankers.measures import evaluate


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("meta")
    rng = random.Random(3)
    docs, queries = [f"d{number}" for number in range(12)], [f"q{number}" for number in range(8)]
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {rng.choice([0, 0, 1])}\n" for q in [*queries, "unanswered"] for d in docs)
    )
    (folder / "groups.csv").write_text("docno,group\n" + "".join(f"d{n},{'xy'[n % 2]}\n" for n in range(10)))
    for name in ("a", "b", "c"):
        lines = []
        for query in queries:
            rng.shuffle(docs)
            lines += [f"{query} Q0 {doc} {rank + 1} {12 - rank} {name}\n" for rank, doc in enumerate(docs)]
        (folder / f"{name}.run").write_text("".join(lines))
    return folder


def meta(files: Path, *words: str, systems: str = "abc") -> int:
    runs = [str(files / f"{name}.run") for name in systems]
    return main(["meta", *runs, f"qrels={files / 'qrels.txt'}", f"groups={files / 'groups.csv'}", *words])


def test_means_taus_and_power_are_those_of_evaluate_and_scipy(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "measures=[NDKL,DP,share_loss]"
    grid = ("browsing=[rbp,dcg]", "patience=0.8", "unknown=[count,drop]", "cutoff=[5,null]", "target=uniform")
    assert meta(files, names, *grid, "axioms=false", f"output={tmp_path}") == 0
    found = json.loads((tmp_path / "meta.json").read_text())
    assert len(found["ways"]) == 2 * 2 + 2 * (2 * 2 * 2)
    assert found["queries"] == 8
    qrels: dict[str, dict[str, int]] = {}
    for line in (files / "qrels.txt").read_text().splitlines():
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = int(grade)
    groups = dict(line.split(",") for line in (files / "groups.csv").read_text().splitlines()[1:])
    way = next(w for w in found["ways"] if w["measure"] == "DP" and w["setting"] == {
        "browsing": "rbp", "patience": 0.8, "unknown": "count", "cutoff": 5})  # fmt: skip
    values = []
    for name in "abc":
        table = evaluate(
            files / f"{name}.run", qrels, groups, measures="DP(umodel='rbp',p=0.8)@5", missing_query="skip"
        )
        values.append(np.array(table["value"].to_pylist()))
        assert way["means"][name] == pytest.approx(values[-1].mean(), rel=1e-12)
    assert way["better"] == "higher"
    pairs = [ttest_rel(values[i], values[j]).pvalue < 0.05 for i, j in ((0, 1), (0, 2), (1, 2))]
    assert way["discriminative_power"] == np.mean(pairs)
    sign = {"higher": 1, "lower": -1}
    for i, first in enumerate(found["ways"]):
        for j, second in enumerate(found["ways"]):
            scores = [[sign[w["better"]] * w["means"][name] for name in "abc"] for w in (first, second)]
            assert found["tau"][i][j] == pytest.approx(kendalltau(*scores).statistic)
    axes = {(one["measure"], one["assumption"]): one["pairs"] for one in found["by_assumption"]}
    assert axes["DP", "unknown"] == 4
    assert axes["DP", "cutoff"] == 4
    assert axes["DP", "browsing"] == 4
    assert axes["NDKL", "cutoff"] == 2
    assert ("DP", "target") not in axes
    printed = capsys.readouterr().out
    assert "caution: 8 queries are few" in printed
    assert "Every way of measuring" in (tmp_path / "meta.md").read_text()


def test_measures_of_documents_need_no_groups(files: Path, tmp_path: Path) -> None:
    runs = [str(files / f"{name}.run") for name in "ab"]
    words = ["measures=[EEL,nDCG@3]", "browsing=gerr", "axioms=true", f"output={tmp_path}"]
    assert main(["meta", *runs, f"qrels={files / 'qrels.txt'}", *words]) == 0
    found = json.loads((tmp_path / "meta.json").read_text())
    assert found["attribute"] is None
    assert found["axioms"] == []
    assert [way["key"] for way in found["ways"]][-1] == "nDCG@3"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["measures=NDKL", "unknown=some"], "grid.unknown"),
        (["measures=NDKL", "target=[]"], "grid.target"),
        (["measures=DP", "browsing=positions"], "grid.browsing"),
        (["measures=NDKL", "cutoff=0"], "grid.cutoff"),
        (["measures=none_such"], "measure"),
        (["level=2"], "level"),
        (["samples=0"], "samples"),
        (["measures=NDKL", "target=merit"], "grid.target"),
    ],
)
def test_wrong_options_are_named(files: Path, words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert meta(files, *words, "axioms=false", systems="ab") in (1, 2)
    assert text in capsys.readouterr().err


def test_one_system_and_missing_parts_are_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert meta(files, systems="a") == 2
    assert "two systems or more" in capsys.readouterr().err
    assert main(["meta", str(files / "a.run"), str(files / "b.run")]) == 3
    assert "qrels=FILE" in capsys.readouterr().err
    assert main(["meta", str(files / "a.run"), str(files / "b.run"), f"qrels={files / 'qrels.txt'}"]) == 2
    assert "there are no groups" in capsys.readouterr().err


def test_jobs_are_measured_from_their_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["collection.documents=300", "collection.topics=5", "samples=5", "measures.names=[EEL]"]
    for method in ("plackett_luce", "uniform"):
        assert main(["run", f"method={method}", *small, "retriever.k=15", f"output={tmp_path / method}"]) == 0
    folders = [str(tmp_path / method) for method in ("plackett_luce", "uniform")]
    words = ["measures=[EEL,group_EEL]", "browsing=gerr", "patience=0.5", "cutoff=null", "axioms=false"]
    assert main(["meta", *folders, *words]) == 2
    assert "attribute=economy" in capsys.readouterr().err
    assert main(["meta", *folders, *words, "attribute=economy", f"output={tmp_path / 'meta'}"]) == 0
    found = json.loads((tmp_path / "meta" / "meta.json").read_text())
    for method in ("plackett_luce", "uniform"):
        stored = json.loads((tmp_path / method / "measures.json").read_text())["runs"][method]["mean"]["EEL"]
        way = next(way for way in found["ways"] if way["measure"] == "EEL")
        assert way["means"][method] == pytest.approx(stored, rel=1e-9)
    assert {way["setting"].get("unknown") for way in found["ways"]} == {None, "count", "drop", "spread"}
