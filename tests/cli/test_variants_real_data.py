"""``variants`` on released sets of variants, and on a collection with documents, judgments and authors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.variants_worlds import done, files, mean

__all__ = ["files"]


@pytest.mark.shared_data
def test_uqv100_has_the_published_numbers_of_variants(shared: Path, files: Path) -> None:
    folder = shared / "data" / "query-variants"
    gpt = [f"t{t}:{folder}/UQV100_GPT_variants_temp_{t}_one_shot.csv" for t in ("0.0", "0.5", "1.0")]
    words = [
        f"sets=[human:{folder}/ClueWeb12B_queriesUQV.txt,{','.join(gpt)}]",
        "resamples=99",
        "analysis.permutations=99",
    ]
    found = done(files, *words)
    numbers = {name: round(one["distinct_per_topic"], 2) for name, one in found["analysis"]["sets"].items()}
    assert numbers == {"human": 46.37, "t0.0": 37.02, "t0.5": 30.31, "t1.0": 27.55}
    exact = {t: mean(found, "string_jaccard", stage="case+space", set=f"t{t}") for t in ("0.0", "0.5", "1.0")}
    bag = {t: mean(found, "string_jaccard", stage="bag", set=f"t{t}") for t in exact}
    assert exact["1.0"] < min(exact["0.0"], exact["0.5"])
    assert bag["1.0"] < min(bag["0.0"], bag["0.5"])
    assert all(0.04 < exact[t] < bag[t] < 0.14 for t in exact)


@pytest.mark.slow
@pytest.mark.shared_data
def test_cacm_in_one_command(shared: Path, files: Path) -> None:
    model = shared / "data" / "query-variants" / "smollm2_cacm_variants.jsonl"
    words = ["experiment=cacm", f"collection.path={shared}/data/cacm", f"sets=[human:topics:query+title,model:{model}]"]
    words += ["collection.text_fields=[title,abstract,keywords]", "resamples=99", "analysis.permutations=99"]
    found = done(files, *words)
    pools = {row["set"]: row for row in found["pools"] if row["depth"] == 20}
    # another BM25 over the same text gave 313, 361, 116 and .298
    assert abs(pools["human"]["relevant"] - 313) <= 5
    assert abs(pools["model"]["relevant"] - 361) <= 5
    assert abs(pools["model"]["relevant_new"] - 116) <= 5
    assert mean(found, "pool_jaccard_all", depth=20, set="model") == pytest.approx(0.298, abs=0.01)
    assert found["fairness"]["systems"]["first_stage"]["model"]["P"]["loss"]["topics"] == 52
