"""``recommend`` as a command: its files, what is on the front by construction, repeats, messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rerankers.cli import main
from rerankers.collections import Generated
from rerankers.collections.write_jsonl import write_jsonl
from rerankers.queries.pareto import pareto_mask
from rerankers.stages.recommend_summary import summary_of
from rerankers.stages.recommend_words import written

FEW = [
    "alternatives.methods=[deterministic,kl_tilt(strength=1.0)]",
    "alternatives.draws=5",
    "resamples=50",
    "depth=6",
    "shown=2",
]
PLANTED = "zzplanted"
Recommend = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a generated world with documents planted in it: the texts of the first hits, balanced by their labels."""
    folder = tmp_path_factory.mktemp("world")
    world = Generated(documents=300, topics=3)
    collection = world.load()
    write_jsonl(collection, folder)
    query = set(collection.topics.text[0].split())
    records = [json.loads(line) for line in (folder / "docs.jsonl").read_text().splitlines()]
    near = sorted(records, key=lambda one: -len(query & set(f"{one['title']} {one['abstract']}".lower().split())))[:6]
    with (folder / "docs.jsonl").open("a") as stream:
        for number, one in enumerate(near):
            words = f"{one['title']} {one['abstract']}".lower().replace(".", "").split()
            others = " ".join(
                word for word in words if word not in query
            )  # so that the query itself finds none of them
            text = {"title": PLANTED, "abstract": others}
            stream.write(json.dumps({"docno": f"p{number}", **text}) + "\n")
    with (folder / "side_groups.csv").open("w") as stream:
        stream.write("docno,group\n")
        stream.writelines(f"p{number},{'left' if number % 2 else 'right'}\n" for number in range(6))
        stream.writelines(f"{one['docno']},left\n" for one in records if one["docno"][-1] in "1234567")
    (folder / "candidates.tsv").write_text(
        f"1\t{PLANTED}\n1\t{' '.join(sorted(query)[:2])}\n1\tnosuchword\n*\t{collection.topics.text[1]}\n"
    )
    return folder


@pytest.fixture
def recommend(
    world: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Recommend:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(world / "cache"))

    def command(*words: str, place: str = "out", code: int = 0) -> dict[str, Any]:
        base = ["collection=jsonl", f"collection.path={world}", "collection.text_fields=[title,abstract]"]
        assert main(["recommend", *base, *FEW, f"output={tmp_path / place}", *words]) == code
        file = tmp_path / place / "recommendations.json"
        return json.loads(file.read_text()) if file.exists() else {}

    return command


def of_list(world: Path) -> list[str]:
    return ["generator=[list,random]", f"generator.list.path={world}/candidates.tsv", "budget=8"]


def test_the_front_contains_the_constructed_optimum(
    recommend: Recommend, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = recommend("topics=[1]", "groups=[side]", "weights=uniform", *of_list(world))
    topic = found["topics"]["1"]
    rows = {row["text"]: row for row in topic["candidates"]}
    best = rows[PLANTED]
    assert best["objectives"]["side"] == 1.0
    assert best["rank"] == 1
    assert best["on_front"]
    assert best["id"] in topic["front"]
    assert best["coverage"]["side"] == 1.0
    assert {one["docno"] for one in best["enter"]} == {f"p{number}" for number in range(6)}
    assert best["generators"] == ["list"]
    assert "side" in best["explanation"]
    assert topic["candidates"][0]["generators"] == ["original"]
    assert topic["candidates"][0]["objectives"]["relevance"] == 1.0
    # all that has a point: ranks are those of the published relation
    points = [[*row["objectives"].values()] for row in topic["candidates"] if row["rank"] is not None]
    ranks = [row["rank"] for row in topic["candidates"] if row["rank"] is not None]
    assert pareto_mask(points).tolist() == [rank == 1 for rank in ranks]
    nothing = rows["nosuchword"]
    assert nothing["found"] == 0
    assert nothing["reasons"] == {"side": "no_document"}
    assert not nothing["on_front"]
    assert topic["excluded"]["no_document"] == 1
    assert found["generators"]["random"]["candidates"] == 8
    assert [one["name"] for one in topic["alternatives"]] == ["deterministic", "kl_tilt(strength=1.0)"]
    assert [one["name"] for one in topic["baselines"]] == ["rm3 (weighted)"]
    assert set(topic["baselines"][0]["evaluation"]["objectives"]) == {"relevance", "side"}
    assert found["comparison"]["topics"] == 1
    assert found["evaluation"]["circular"] == ["side"]
    shown = capsys.readouterr().out
    assert PLANTED in shown
    assert "which is circular" in shown
    assert "<html" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_results_do_not_depend_on_order_or_company_and_repeat(recommend: Recommend, world: Path) -> None:
    small = ["generator.embedding.dimensions=10", "alternatives.methods=[]", "shown=1"]
    words = ["groups=[economy,access]", "generator=[rm3,embedding,keywords,random]", "budget=3", *small, "seed=5"]
    one = recommend("topics=[1,3]", *words, place="a")
    other = recommend("topics=[3,2,1]", *words, place="b")
    for qid in ("1", "3"):
        assert one["topics"][qid] == other["topics"][qid]
    again = recommend("topics=[1,3]", *words, f"paths.cache={world}/fresh", place="c")
    for key in ("topics", "comparison", "summary", "evaluation", "generators"):
        assert again[key] == one[key]
    assert recommend("topics=[1]", *words[:-1], "seed=6", place="d")["topics"]["1"] != one["topics"]["1"]


def test_what_was_searched_is_not_searched_again(
    recommend: Recommend, monkeypatch: pytest.MonkeyPatch, world: Path
) -> None:
    from rerankers.retrieval.bm25 import BM25

    words = ["topics=[1,2]", "groups=[access]", "generator=rm3", "budget=3", "seed=11"]
    first = recommend(*words, place="a")

    def refuse(*_: object) -> None:
        raise AssertionError("it is searched again")

    monkeypatch.setattr(BM25, "_search", refuse)
    assert recommend(*words, place="b")["topics"] == first["topics"]


def test_a_query_of_ones_own(recommend: Recommend, world: Path) -> None:
    text = Generated(documents=300, topics=3).load().topics.text[0]
    found = recommend(f"query={text}", "groups=[access]", "generator=rm3", "budget=2")
    topic = found["topics"]["query-1"]
    assert topic["query"] == text
    assert topic["candidates"][0]["judged"] == {}
    by_id = recommend("topics=[1]", "groups=[access]", "generator=rm3", "budget=2", place="topic")
    for one, other in zip(topic["candidates"], by_id["topics"]["1"]["candidates"], strict=True):
        assert one["objectives"] == other["objectives"]
        assert set(other["judged"]) == {"nDCG@10", "R@6", "unjudged@10"}


def test_a_collection_without_groups_says_so(recommend: Recommend, capsys: pytest.CaptureFixture[str]) -> None:
    found = recommend("topics=[1]", "groups=none", "generator=rm3", "budget=2")
    assert found["objectives"] == ["relevance"]
    assert "nothing is said of balance" in capsys.readouterr().out
    assert found["axes"] == []


def test_the_paper_form(recommend: Recommend, world: Path) -> None:
    found = recommend("topics=[1]", "groups=[side]", "form=paper", *of_list(world))
    assert found["objectives"] == ["relevance", "difference_from_original(side)"]
    rows = found["topics"]["1"]["candidates"]
    assert rows[0]["objectives"]["difference_from_original(side)"] == 0.0


def test_exploration_and_other_scores(recommend: Recommend) -> None:
    found = recommend(
        "topics=[1]",
        "groups=[access]",
        "generator=embedding",
        "explore.order=best_first",
        "explore.neighbours=2",
        "budget=5",
        "relevance=id",
        "closeness=tv",
        "targets=population",
        "evaluate.targets=uniform",
        "evaluate.retriever=null",
    )
    assert found["generators"]["embedding"]["counts"]["exploration_steps"] >= 3
    assert len(found["topics"]["1"]["candidates"]) == 6
    assert found["evaluation"]["circular"] == []
    assert "they share the retriever" in found["evaluation"]["statement"]


def test_axes_without_labels(recommend: Recommend, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.csv").write_text("docno,group,attribute\nd001,,empty\nd002,red,few\n")
    words = ["topics=[1]", f"groups={tmp_path}/g.csv", "generator=rm3", "budget=2", "alternatives.methods=[]"]
    found = recommend(*words, "groups.attribute=few")
    assert found["topics"]["1"]["excluded"] == {"no_known_weight": 3}
    assert found["topics"]["1"]["front"] == []
    assert found["options"]["groups"]["unknown"] == "drop"
    recommend(*words, "groups.attribute=empty", place="none", code=1)
    assert "no document with a label" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["query=nosuchword"], 1, "finds no document"),
        (["topics=[1,77]"], 1, "found '77'; expected a topic"),
        (["query= "], 2, "found an empty text"),
        (["query=[a b,A  B]"], 2, "more than once"),
        (["query=a", "topics=[1]"], 2, "topics beside a query"),
        (["groups=[nope]"], 2, "found 'nope'; expected one of"),
        (["generator=llm"], 2, "this needs a language model"),
        (["generator=list"], 2, "generator.list.path: no value"),
        (["targets={side:unifrm}", "groups=[side]"], 2, "Did you mean 'uniform'"),
        (["budget=0"], 2, "budget: found 0"),
        (["depth=200"], 2, "alternatives.pool"),
        (["retriever.k=5"], 2, "retriever.k: found 5; expected at least depth, "),
        (["alternatives.methods=[kl_tilt(strenth=1)]"], 2, "Did you mean 'strength'"),
        (["alternatives.methods=[kl_tilt(strength=5)]"], 2, "found 'kl_tilt(strength=5)'; method.strength"),
        (["evaluate.retriever={k9:1}"], 2, "evaluate.retriever"),
        (["explore.order=deep"], 2, "best_first, fifo"),
    ],
)
def test_bad_input(
    recommend: Recommend, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    recommend("generator=rm3", *words, code=code)
    assert message in capsys.readouterr().err


def test_a_reranking_is_compared_where_it_is_as_close() -> None:
    def row(relevance: float, side: float, front: bool = True) -> dict[str, Any]:
        return {"objectives": {"relevance": relevance, "side": side}, "on_front": front, "found": 1, "rank": 1}

    topic = {"reason": "", "front": ["a", "b"], "candidates": [row(1.0, 0.5), row(0.8, 0.9), row(0.1, 1.0, False)]}
    others = [row(0.3, 1.0), row(0.6, 0.95), row(0.9, 0.7)]
    nothing = {**topic, "candidates": [row(1.0, 0.5)], "alternatives": []}
    found = summary_of({"1": {**topic, "alternatives": others}, "2": nothing}, ["side"], ["relevance", "side"])
    axis = found["axes"]["side"]
    assert (axis["queries"], axis["original"], axis["recommended"]) == (1, 0.5, 0.9)
    assert (axis["reranked"], axis["relevance_of_reranked"]) == (1.0, 0.3)
    assert axis["as_close"] == {"queries": 1, "relevance": 0.6, "relevance_of_recommended": 0.8}


def test_groups_by_name_or_file() -> None:
    assert written(["groups=[a,b]"]) == ["groups.attribute=[a,b]", "groups.unknown=drop", "groups.mixed=split"]
    assert written(["groups=labels.csv"])[:2] == ["groups=file", "groups.path=labels.csv"]
    assert written(["groups=none", "seed=1"]) == ["groups=none", "seed=1"]
    assert written(["groups=collection", "groups.unknown=count"]) == [
        "groups=collection",
        "groups.unknown=count",
        "groups.mixed=split",
    ]


def test_a_dry_run_asks_nothing_and_writes_nothing(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("replies:\n  '.*': x\n", encoding="utf-8")
    words = ["topics=[1]", "generator=[llm,rm3]", "llm=scripted", f"llm.path={script}", "llm.dry_run=true"]
    place = ["collection=jsonl", f"collection.path={world}", f"paths.cache={tmp_path / 'cache'}"]
    assert main(["recommend", *place, *words, f"output={tmp_path / 'out'}"]) == 0
    assert "dry run" in capsys.readouterr().out
    assert not (tmp_path / "out" / "recommendations.json").exists()
