"""``variants`` as a command: its files and its numbers by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rerankers.cli import main
from tests.cli.variants_worlds import done, files, mean, sets

__all__ = ["files"]


def test_texts_only(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = done(files, sets(files))
    assert found["collection"] is None
    assert found["reference"] == "human"
    assert found["fairness"] is None
    assert "nothing was retrieved" in found["fairness_reason"]
    model = found["analysis"]["sets"]["model"]
    assert (model["variants"], model["distinct"]) == (6, 5)
    assert model["counts"]["empty"] == 1
    # topic 1: {red shoe, shoe, red} and {shoe red, red shoe}; 2: {blue hat, hat} and {blue hat, cap}; 3: no match
    assert mean(found, "string_jaccard", stage="case+space", set="model") == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)
    assert mean(found, "string_jaccard", stage="punct", set="model") == pytest.approx((1 + 1 / 3 + 0) / 3)
    shown = capsys.readouterr().out
    assert "Texts in common with the reference" in shown
    assert not (files / "out" / "pool.csv").exists()
    page = (files / "out" / "report.html").read_text()
    assert "<svg" in page
    assert "color-scheme" in page
    assert (files / "out" / "variants.md").read_text().startswith("# Query variants\n")


def test_of_runs_with_judgments_and_groups(files: Path) -> None:
    words = [sets(files), f"runs=[human:{files}/human.run,model:{files}/model.run]", f"qrels={files}/qrels.txt"]
    words += ["groups=file", f"groups.path={files}/groups.csv", "groups.unknown=drop", "depth=2", "browsing=rbp"]
    found = done(files, *words)
    assert found["counts"]["judgments"] == {"judgments": 5, "negative_grades": 1}
    assert "run_model_variants_without_a_ranking" not in found["counts"]["retrieval"]
    pools = {row["set"]: row for row in found["pools"] if row["depth"] == 2}
    # human: {a,b,c} {d,f,e} {g,h}; model: {c,b,a} {d,f} {h}
    assert (pools["human"]["documents"], pools["human"]["relevant"]) == (8, 3)
    assert (pools["model"]["documents"], pools["model"]["relevant"]) == (6, 2)
    assert (pools["model"]["relevant_new"], pools["model"]["relevant_missed"]) == (0, 1)
    assert mean(found, "pool_jaccard_all", depth=2, set="model") == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert mean(found, "pool_jaccard_rel", depth=2, set="model") == pytest.approx((1 + 1 + 0) / 3)
    assert found["effectiveness"]["human"]["AP"]["mean"] == pytest.approx(((1 + 1 / 2) / 2 + (1 + 1 / 2) / 2 + 1) / 3)
    best = found["effectiveness"]["human"]["AP"]["best_variant"]["mean"]
    assert best == pytest.approx(1.0)
    first = found["fairness"]["systems"]["first_stage"]["human"]["group"]
    one = first["topics"]["1"]
    # patience .5: the first document has 1, the second .5; a b and c a
    assert one["exposure"] == {"new": pytest.approx(0.75), "old": pytest.approx(0.75)}
    assert one["between"] == {"new": pytest.approx(0.0625), "old": pytest.approx(0.0625)}
    assert one["variants"] == 2
    # of a, b, c relevant is a: it is due 1, and b and c share .5 and .25; c a is further from that than a b
    assert one["target"] == {"new": pytest.approx(1.0), "old": pytest.approx(0.75)}
    assert one["worst_variant"] == "Shoe, red"
    assert one["totals"]["loss"] == pytest.approx(0.0625)
    assert one["totals"]["worst_loss"] == pytest.approx(0.25 + 0.0625)
    assert first["topics"]["3"]["totals"]["between_sample"] is None
    page = (files / "out" / "report.html").read_text()
    for title in ("Differences between sets", "Differences in fairness", "Pools at equal numbers of variants"):
        assert title in page
    growth = {(row["set"], row["documents"]): row["expected"] for row in found["growth"]}
    assert growth["human", "all"] == pytest.approx([2.0, (3 + 3 + 2) / 3])


def test_the_pool_for_assessors(files: Path) -> None:
    words = [sets(files), f"runs=[human:{files}/human.run,model:{files}/model.run]", f"qrels={files}/qrels.txt"]
    done(files, *words, "groups=none", "depth=2")
    rows = list(csv.DictReader((files / "out" / "pool.csv").read_text().splitlines()))
    assert {(row["topic"], row["docno"]) for row in rows} == set(zip("11122233", "abcdefgh", strict=True))
    unjudged = [row for row in rows if not row["judged"]]
    assert rows[: len(unjudged)] == unjudged
    assert [row["docno"] for row in rows if row["judged"] == "-1"] == ["b"]
    gains = [float(row["settles"]) for row in unjudged]
    assert gains == sorted(gains, reverse=True)
    assert gains == [
        0.5,
        0.0,
        0.0,
    ]  # the first two topics are settled: c is in both pools, and so is all that is relevant
    (row,) = [row for row in rows if row["docno"] == "c"]
    assert (row["human best rank"], row["human variants"]) == ("1", "1")
    assert (row["model best rank"], row["model variants"]) == ("1", "1")
    # topic 3: h in both, unjudged; g judged relevant, human only: the bounds [0, 1/2] close to 0 or 1/2
    (row,) = [row for row in rows if row["docno"] == "h"]
    assert float(row["settles"]) == pytest.approx(0.5)


@pytest.mark.slow
def test_of_a_collection_with_a_reranker_and_fields(files: Path) -> None:
    words = ["collection=jsonl", f"collection.path={files}/small", "groups=file", f"groups.path={files}/groups.csv"]
    words += ["sets=[people:topics:query+title,topics:title]", "method=plackett_luce", "depth=5"]
    found = done(files, *words)
    assert set(found["analysis"]["sets"]) == {"people", "title"}
    assert found["counts"]["retrieval"] == {"distinct_variants": 6, "variants_without_hits": 1}
    systems = found["fairness"]["systems"]
    assert set(systems) == {"first_stage", "plackett_luce"}
    assert found["fairness"]["estimated_from_draws"] == []
    for of_set in systems.values():
        for one in of_set["people"].values():
            together = one["loss"]["mean"] + one["between"]["mean"]
            assert one["mean_loss"]["mean"] == pytest.approx(together)
            for topic in one["topics"].values():
                totals = topic["totals"]
                between = sum(topic["between"].values())
                assert totals["mean_loss"] == pytest.approx(totals["loss"] + between)
    kinds = {(row["against"], row["set"]) for row in found["fairness"]["differences"]}
    assert kinds == {("set", "title"), ("system", "people"), ("system", "title")}
    before = (files / "out" / "variants.json").read_bytes()
    done(files, *words)
    assert (files / "out" / "variants.json").read_bytes() == before


def test_sets_written_by_a_model(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = files / "script.yaml"
    script.write_text(
        'replies:\n  red: ["crimson shoe\\nshoe\\nshoe", "scarlet"]\n'
        '  blue: {text: "", error: refusal}\notherwise: sock\n'
    )
    words = [f"sets=[human:{files}/human.txt]", "generate=[cold]", "generation.completions=2", "llm=scripted"]
    found = done(files, *words, f"llm.path={script}")
    assert list(found["analysis"]["sets"]) == ["human", "cold.1", "cold.2"]
    assert found["analysis"]["sets"]["cold.1"]["counts"]["failed:refusal"] == 1
    assert found["analysis"]["spread"][0]["setting"] == "cold"
    assert found["generated"]["cold"]["account"]["calls"] == 6
    assert "Spread over completions of one setting" in (files / "out" / "variants.md").read_text()
    lines = [json.loads(line) for line in (files / "out" / "sets" / "cold.1.jsonl").read_text().splitlines()]
    assert lines[0]["variants"] == ["crimson shoe", "shoe"]
    assert lines[0]["prompt"] == found["generated"]["cold"]["prompt"]
    again = done(files, f"sets=[human:{files}/human.txt,cold:{files}/out/sets/cold.1.jsonl]")
    assert again["analysis"]["sets"]["cold"]["distinct"] == found["analysis"]["sets"]["cold.1"]["distinct"]
    capsys.readouterr()
    (files / "out" / "variants.json").unlink()
    assert main(["variants", *words, f"llm.path={script}", "llm.dry_run=true", f"output={files}/out"]) == 0
    assert "dry run: cold: " in capsys.readouterr().out
    assert not (files / "out" / "variants.json").exists()


def test_one_set_has_fairness_only(files: Path) -> None:
    words = ["collection=jsonl", f"collection.path={files}/small", "sets=[topics:query]"]
    found = done(files, *words, "groups=file", f"groups.path={files}/groups.csv")
    assert found["analysis"] is None
    assert "one set only" in found["analysis_reason"]
    assert found["fairness"]["systems"]["first_stage"]["query"]["group"]["between"]["mean"] == 0
    found = done(files, *words)
    assert found["fairness"] is None
    assert "no groups of documents" in found["fairness_reason"]


def test_variants_that_are_asked_as_often_as_they_stand_in_their_set(files: Path) -> None:
    words = [f"sets=[model:{files}/model.jsonl]", f"runs=[model:{files}/model.run]", "groups=file"]
    words += [f"groups.path={files}/groups.csv", "groups.unknown=drop", "browsing=rbp", "weights=repeats"]
    found = done(files, *words)
    one = found["fairness"]["systems"]["first_stage"]["model"]["group"]["topics"]["1"]
    # twice c b, both old, and once a b
    assert one["exposure"] == {"new": pytest.approx(1 / 3), "old": pytest.approx((2 * 1.5 + 0.5) / 3)}
    assert one["target"] is None
    assert one["totals"]["loss"] is None


def test_names_that_hold_markup(files: Path) -> None:
    (files / "odd.csv").write_text("docno,group\na,<b>new</b>\nb,old|er\n")
    words = ["collection=jsonl", f"collection.path={files}/small", "sets=[topics:query,topics:title]"]
    done(files, *words, "groups=file", f"groups.path={files}/odd.csv")
    page = (files / "out" / "report.html").read_text()
    assert "<b>new</b>" not in page
    assert "&lt;b&gt;new&lt;/b&gt;" in page
    assert "old\\|er" in (files / "out" / "variants.md").read_text()


def test_excluded_capped_and_renamed_topics(files: Path) -> None:
    (files / "gpt.csv").write_text(",UQV100Id,query\n0,UQV100.001,x\n1,UQV100.001,y\n2,UQV100.075,z\n3,UQV100.900,z\n")
    (files / "web.txt").write_text("201-0:x\n275-0:z\n")
    words = [f"sets=[human:{files}/web.txt,gpt:{files}/gpt.csv]", "exclude_topics=[UQV100.075]", "most=1"]
    found = done(files, *words)
    assert found["topics"] == ["201"]
    assert found["topics_excluded"] == 1
    assert found["analysis"]["sets"]["gpt"]["counts"] == {
        "rows": 4,
        "topics_renamed": 2,
        "topics_unknown": 1,
        "variants_of_unknown_topics": 1,
        "beyond_most": 1,
    }
