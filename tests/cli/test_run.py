"""The command ``run``: its files, their agreement, and what they do not depend on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from rerankers.runs import read_policy
from tests.cli.conftest import QUERIES, Run, write_collection

FILES = (
    *("run.parquet", "run.trec.gz", "policy.parquet", "measures.parquet", "measures.json", "measures.csv"),
    *("report.html", "config.yaml", "metadata.yaml"),
)
BITS = ("run.parquet", "run.trec.gz", "policy.parquet", "measures.parquet", "measures.csv")
QUICK = ("samples=7", "measures.resamples=50")


def words(folder: Path, first: Path, output: Path, *more: str) -> list[str]:
    base = ["run", "collection=jsonl", f"collection.path={folder}", "retriever=run_file", f"retriever.run={first}"]
    return [*base, f"output={output}", *QUICK, *more]


def summary(output: Path) -> dict[str, Any]:
    return json.loads((output / "measures.json").read_text())


def test_files_and_their_agreement(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    output = tmp_path / "out put, ü"
    code, out, err = command(*words(tiny, tiny_run, output))
    assert code == 0, err
    assert "report:" in out
    assert "plackett_luce" in out
    assert "warning: documents whose group is not known: seniority" in out
    assert "warning: 1 of 4 queries have no candidates" in out
    for name in FILES:
        assert (output / name).stat().st_size > 0, name
    assert not [path.name for path in output.iterdir() if path.name.startswith(".")]
    run = pq.read_table(output / "run.parquet").to_pydict()
    assert list(run) == ["qid", "sample", "rank", "docno", "score"]
    assert (min(run["sample"]), max(run["sample"]), min(run["rank"])) == (0, 6, 1)
    text = gzip.decompress((output / "run.trec.gz").read_bytes()).decode()
    rows = [line.split(" ") for line in text.splitlines()]
    assert [(r[0], int(r[1]), r[2], int(r[3]), float(r[4])) for r in rows] == list(
        zip(run["qid"], run["sample"], run["docno"], run["rank"], run["score"], strict=True)
    )
    found = summary(output)
    assert set(found) == {"preset", "options", "tier", "counts", "runs"}
    assert found["tier"] == "blind"
    assert list(found["runs"]) == [
        "plackett_luce",
        "anchor:random",
        "anchor:worst_first",
        "anchor:deterministic",
        "anchor:plackett_luce",
        "anchor:ideal",
    ]
    assert found["runs"]["plackett_luce"]["mean"] == found["runs"]["anchor:plackett_luce"]["mean"]
    assert found["runs"]["anchor:ideal"]["mean"]["EEL"] == pytest.approx(0, abs=1e-15)
    assert found["options"]["exposure"] == "exact"
    assert yaml.safe_load((output / "config.yaml").read_text())["samples"] == 7
    assert yaml.safe_load((output / "metadata.yaml").read_text())["implementation"]["executable"]["cmd"]


def test_policy_gives_the_same_rankings(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    assert command(*words(tiny, tiny_run, tmp_path / "o", "seed=3"))[0] == 0
    saved = read_policy(tmp_path / "o" / "policy.parquet")
    rankings = saved.rankings()
    names = saved.docs.take(rankings.over.doc[rankings.flat])
    qid = [saved.qids[code] for code in rankings.over.query[rankings.row_of_ranking][rankings.ranking_of_item]]
    run = pq.read_table(tmp_path / "o" / "run.parquet").to_pydict()
    assert (names, qid) == (run["docno"], run["qid"])


@pytest.mark.parametrize(
    "more",
    [
        ("execution.block=1",),
        ("execution.block=3",),
        ("execution=joblib", "execution.workers=2", "execution.block=1"),
    ],
    ids=" ".join,
)
def test_same_bits_on_any_engine(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, more: tuple[str]) -> None:
    assert command(*words(tiny, tiny_run, tmp_path / "a"))[0] == 0
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "b", *more))
    assert code == 0, err
    for name in BITS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    one, other = summary(tmp_path / "a"), summary(tmp_path / "b")
    assert one["runs"] == other["runs"]


def test_another_seed_gives_other_rankings(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    assert command(*words(tiny, tiny_run, tmp_path / "a"))[0] == 0
    assert command(*words(tiny, tiny_run, tmp_path / "b", "seed=1"))[0] == 0
    assert (tmp_path / "a/run.parquet").read_bytes() != (tmp_path / "b/run.parquet").read_bytes()


@pytest.mark.parametrize("method", ["plackett_luce", "uniform", "deterministic"])
def test_rankings_do_not_see_judgments(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, method: str) -> None:
    assert command(*words(tiny, tiny_run, tmp_path / "a", f"method={method}"))[0] == 0
    (tiny / "qrels.txt").write_text("q1 0 b3 1\n")
    assert command(*words(tiny, tiny_run, tmp_path / "b", f"method={method}"))[0] == 0
    for name in ("run.parquet", "policy.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_rankings_do_not_depend_on_the_order_of_queries(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path
) -> None:
    def by_query(output: Path) -> dict[str, list[tuple[int, int, str]]]:
        table = pq.read_table(output / "run.parquet").to_pydict()
        rows: dict[str, list[tuple[int, int, str]]] = {}
        for qid, *row in zip(table["qid"], table["sample"], table["rank"], table["docno"], strict=True):
            rows.setdefault(qid, []).append(tuple(row))
        return rows

    assert command(*words(tiny, tiny_run, tmp_path / "a"))[0] == 0
    (tiny / "queries.tsv").write_text("".join(f"{qid}\t{text}\n" for qid, text in reversed(QUERIES)))
    assert command(*words(tiny, tiny_run, tmp_path / "b"))[0] == 0
    assert by_query(tmp_path / "a") == by_query(tmp_path / "b")


@pytest.mark.slow
def test_line_ends_do_not_matter(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    write_collection(tmp_path / "windows", end="\r\n", last="")
    assert command(*words(tiny, tiny_run, tmp_path / "a"))[0] == 0
    assert command(*words(tmp_path / "windows", tiny_run, tmp_path / "b"))[0] == 0
    for name in BITS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_what_is_counted(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    tiny_run.write_text(tiny_run.read_text() + "q1 Q0 elsewhere 4 0.5 first\nother Q0 b3 1 1 first\n")
    assert command(*words(tiny, tiny_run, tmp_path / "o"))[0] == 0
    counts = summary(tmp_path / "o")["counts"]
    assert counts["retrieval"]["run_documents_unknown_to_the_collection"] == 1
    assert counts["retrieval"]["run_queries_unknown_to_the_collection"] == 1
    assert counts["retrieval"]["queries_without_candidates"] == 1
    assert counts["collection"]["negative_grades"] == 1
    assert counts["measures"]["queries_not_judged"] == 1
    assert counts["measures"]["judged_not_candidates"] == 3
    per_query = summary(tmp_path / "o")["runs"]["plackett_luce"]["per_query"]
    assert per_query["q4"]["EEL"] is None
    table = pq.read_table(tmp_path / "o" / "measures.parquet").to_pylist()
    reasons = {row["reason"] for row in table if row["unit"] == "q4"}
    assert reasons == {"query_not_judged"}
    assert all((row["value"] is None) == (row["reason"] is not None) for row in table)


@pytest.mark.slow
def test_draws_approach_the_exact_exposure(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    assert command(*words(tiny, tiny_run, tmp_path / "exact"))[0] == 0
    assert command(*words(tiny, tiny_run, tmp_path / "draws", "measures.exposure=draws", "samples=4000"))[0] == 0
    exact, draws = summary(tmp_path / "exact"), summary(tmp_path / "draws")
    assert draws["options"]["exposure"] == "draws"
    for key in ("EED", "EER", "utility", "group_EEL"):
        pair = [one["runs"]["plackett_luce"]["mean"][key] for one in (exact, draws)]
        assert pair[0] == pytest.approx(pair[1], abs=0.02), key


@pytest.mark.java
def test_bm25_on_the_generated_collection(command: Run, tmp_path: Path) -> None:
    output = tmp_path / "o"
    code, _, err = command(
        "run", "collection.documents=300", "collection.topics=12", "retriever.k=50", f"output={output}", *QUICK
    )
    assert code == 0, err
    runs = summary(output)["runs"]
    assert runs["anchor:deterministic"]["mean"]["nDCG@10"] > runs["anchor:random"]["mean"]["nDCG@10"] + 0.1
    again = command(
        "run", "collection.documents=300", "collection.topics=12", "retriever.k=50", f"output={tmp_path / 'p'}", *QUICK
    )
    assert again[0] == 0
    assert (output / "run.parquet").read_bytes() == (tmp_path / "p" / "run.parquet").read_bytes()
    seconds = yaml.safe_load((tmp_path / "p" / "metadata.yaml").read_text())["resources"]["wall seconds"]
    assert not [name for name in seconds if name.startswith("retrieval: ")], "index and hits are found again"


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.shared_data
def test_cacm_as_it_is(command: Run, shared: Path, tmp_path: Path) -> None:
    output = tmp_path / "o"
    path = shared / "data" / "cacm"
    code, _, err = command(
        "run",
        "experiment=cacm",
        f"collection.path={path}",
        "collection.query_field=query",
        f"output={output}",
        "samples=3",
        "measures.resamples=50",
    )
    assert code == 0, err
    found = summary(output)
    best = found["runs"]["anchor:deterministic"]
    assert best["mean"]["AP"] >= 0.32
    assert np.isfinite([q["AP"] for q in best["per_query"].values() if q["AP"] is not None]).sum() == 52
    assert found["runs"]["plackett_luce"]["mean"]["group_EEL"] > 0


@pytest.mark.parametrize(
    "browsing",
    [
        ("browsing=rbp", "browsing.patience=0.8"),
        ("browsing=gerr", "browsing.cutoff=2"),
        ("browsing=err",),
        ("browsing=dcg", "browsing.cutoff=2"),
        ("browsing=positions", "browsing.weights=[1.0,0.5,0.1]"),
        ("browsing=topk_set", "browsing.k=2"),
        ("browsing=rbp", "measures.cutoff=2"),
    ],
    ids=" ".join,
)
def test_every_browsing_model(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, browsing: tuple[str, ...]
) -> None:
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "o", *browsing))
    assert code == 0, err
    runs = summary(tmp_path / "o")["runs"]
    assert runs["anchor:ideal"]["mean"]["EEL"] == pytest.approx(0, abs=1e-14)
    for run in runs.values():
        for query in ("q1", "q2", "q3"):
            value = run["per_query"][query]
            assert value["EEL"] == pytest.approx(value["EED"] - 2 * value["EER"] + value["EET"], abs=1e-12)
            assert value["utility"] >= 0


def test_multirun_makes_a_folder_a_point(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "sweep", "method=uniform,plackett_luce"), "--multirun")
    assert code == 0, err
    assert "uniform" in summary(tmp_path / "sweep" / "0")["runs"]
    assert "plackett_luce" in summary(tmp_path / "sweep" / "1")["runs"]


def test_a_failing_point_fails_the_sweep(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "sweep", "samples=0,2"), "--multirun")
    assert code == 2
    assert "samples" in err
    assert "Traceback" not in err
    assert (tmp_path / "sweep" / "1" / "report.html").is_file()


def test_own_method_from_a_config_folder(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mymethods.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from rerankers.policies import PlackettLuce\n"
        "@dataclass(frozen=True)\n"
        "class Sharp:\n"
        "    power: float = 2.0\n"
        "    tier: ClassVar[str] = 'blind'\n"
        "    def policy(self, block):\n"
        "        return PlackettLuce(block.candidates, self.power * block.candidates.score, block.stream)\n"
    )
    configs = tmp_path / "mine" / "method"
    configs.mkdir(parents=True)
    (configs / "sharp.yaml").write_text("_target_: mymethods.Sharp\npower: 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    base = words(tiny, tiny_run, tmp_path / "o", "method=sharp")
    code, _, err = command(base[0], "--config-dir", str(tmp_path / "mine"), *base[1:])
    assert code == 2
    assert "allow_targets=[mymethods]" in err
    code, _, err = command(base[0], "--config-dir", str(tmp_path / "mine"), *base[1:], "allow_targets=[mymethods]")
    assert code == 0, err
    assert "sharp" in summary(tmp_path / "o")["runs"]


@pytest.mark.parametrize(("tier", "sees"), [("blind", False), ("predicted_groups", False), ("given_groups", True)])
def test_groups_reach_only_the_tiers_that_may_see_them(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tier: str, sees: bool
) -> None:
    module = f"looks_{tier}"
    (tmp_path / f"{module}.py").write_text(
        "from rerankers.policies import static\n"
        "class Looks:\n"
        f"    tier = {tier!r}\n"
        "    def policy(self, block):\n"
        f"        if list(block.groups) != {['seniority'] if sees else []!r}:\n"
        "            raise RuntimeError(str(list(block.groups)))\n"
        "        return static(block.candidates, block.candidates.score, block.stream)\n"
    )
    (tmp_path / "mine" / "method").mkdir(parents=True)
    (tmp_path / "mine" / "method" / "looks.yaml").write_text(f"_target_: {module}.Looks\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    base = words(tiny, tiny_run, tmp_path / "o", "method=looks", f"allow_targets=[{module}]")
    code, _, err = command(base[0], "--config-dir", str(tmp_path / "mine"), *base[1:])
    assert code == 0, err
    assert summary(tmp_path / "o")["tier"] == tier
