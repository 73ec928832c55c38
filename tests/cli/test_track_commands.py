"""The commands ``submit`` and ``validate``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.policies import Mixture, PlackettLuce, Policy
from rerankers.policies.mixture import static
from rerankers.runs.policy import write_policy
from rerankers.values import Ids, Ragged
from tests.cli.conftest import Run

HEAVY = {"torch", "numba", "pandas", "numpy", "pyarrow", "scipy", "matplotlib", "lightgbm", "jnius", "pyserini"}
QUERIES = {"12": ["b", "a", "d"], "7": ["a", "x"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, made the working directory, with a policy in a run, queries and a sequence."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a run").mkdir()
    stored(tmp_path / "a run" / "policy.parquet")
    with (tmp_path / "queries, 1.json").open("w") as stream:
        for qid, docnos in QUERIES.items():
            documents = [{"doc_id": docno, "relevance": int(docno == "a")} for docno in docnos]
            stream.write(json.dumps({"qid": int(qid), "query": "x", "documents": documents}) + "\n")
    entries = [f"{s}.{n},{qid}\n" for s, qid in enumerate(QUERIES) for n in range(150)]
    (tmp_path / "sequence.csv").write_text("".join(entries))
    return tmp_path


def stored(path: Path, fixed: bool = False) -> None:
    docs = Ids.union([docno for docnos in QUERIES.values() for docno in docnos])
    over = Ragged(np.arange(2), [0, 3, 5], docs.codes([docno for docnos in QUERIES.values() for docno in docnos]))
    policy: Policy = PlackettLuce(over, np.arange(5.0), query_streams(QUERIES))
    policy = static(over) if fixed else policy
    assert not fixed or isinstance(policy, Mixture)
    write_policy(path, policy, list(QUERIES), docs, seed=8, samples=3)


FILES = ("queries=queries, 1.json", "sequence=sequence.csv")


def test_submit_then_validate_then_evaluate(command: Run, folder: Path) -> None:
    words = ("submit", "track=2020-rerank", "run=a run", *FILES, "output=new/out é.jsonl.gz")
    code, out, err = command(*words, "qrels=queries, 1.json")
    assert (code, err) == (0, "")
    assert "out é.jsonl.gz: 300 rankings of 2 queries for 2020-rerank, seed 8" in out
    assert "different rankings a query: 4.0 on average, at least 2" in out
    assert "this file" in out
    assert "(exact)" in out
    first = (folder / "new" / "out é.jsonl.gz").read_bytes()
    assert command(*words)[0] == 0
    assert (folder / "new" / "out é.jsonl.gz").read_bytes() == first
    assert command(*words, "seed=9")[0] == 0
    assert (folder / "new" / "out é.jsonl.gz").read_bytes() != first
    code, out, err = command("validate", "track=2020-rerank", "run=new/out é.jsonl.gz", *FILES)
    assert (code, err) == (0, "")
    assert out == "new/out é.jsonl.gz: valid for 2020-rerank: 300 lines, 2 queries\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a run", "new", "queries, 1.json", "sequence.csv"]
    (folder / "qrels.txt").write_text("12 0 a 1\n7 0 a 1\n")
    code, _, err = command("evaluate", "run=new/out é.jsonl.gz", "qrels=qrels.txt", "output=e", "measures.resamples=50")
    assert code == 0, err


def test_what_groups_lose(command: Run, folder: Path) -> None:
    (folder / "my groups.csv").write_text("docno,group\na,north\nb,south\n")
    words = ("submit", "track=2020-rerank", "run=a run", *FILES, "output=out.jsonl", "groups=my groups.csv")
    code, out, err = command(*words, "qrels=queries, 1.json", "groups.attribute=region")
    assert (code, err) == (0, "")
    assert out.count("this file") == 2
    assert "loss of groups by region (EEL, lower is better" in out
    assert "a group is known for 3 of 5 judged pairs" in out
    (folder / "out.jsonl").unlink()
    for more, message in (
        ((), "qrels: found nothing"),
        (("qrels=queries, 1.json", "groups.attribute=[a,b]"), "groups.attribute: found ['a', 'b']"),
        (("qrels=queries, 1.json", "groups.sort=x"), "groups.sort: no such option"),
    ):
        code, _, err = command(*words, *more)
        assert (code, message in err) == (2, True), err
    assert not (folder / "out.jsonl").exists()


def test_a_policy_file_and_a_static_one(command: Run, folder: Path) -> None:
    stored(folder / "p.parquet", fixed=True)
    code, out, err = command("submit", "track=2019", "policy=p.parquet", *FILES, "output=o.jsonl")
    assert code == 0
    assert "at least 1" in out
    assert "warning: every query with several rankings: all of them are the same (a static run)" in err


def test_every_error_and_exit_code_1(command: Run, folder: Path) -> None:
    lines = [{"q_num": "0.0", "qid": 12, "ranking": ["a", "b"]}, {"q_num": "0.1", "qid": "12", "ranking": ["z"]}]
    (folder / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = command("validate", "track=2020-rerank", "run=r.jsonl", *FILES)
    assert (code, out) == (1, "")
    errors = [line for line in err.splitlines() if line.startswith("r.jsonl")]
    assert [line.partition(": ")[0] for line in errors] == [
        *("r.jsonl:1", "r.jsonl:2", "r.jsonl:2", "r.jsonl:2"),
        *("r.jsonl", "r.jsonl"),
    ]
    assert "warning: 1 queries do not have the 150 rankings" in err
    assert "fair-rerank validate: r.jsonl: found 6 errors in 2 lines; expected a 2020-rerank run" in err
    _, _, err = command("validate", "track=2020-rerank", "run=r.jsonl", *FILES, "max_errors=1")
    assert len([line for line in err.splitlines() if line.startswith("r.jsonl")]) == 1
    assert "found 6 errors" in err


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("validate", "track=2020", "run=r"), "expected one of 2019, 2020-rerank", 2),
        (("validate", "track=2019"), "run: no value", 2),
        (("validate", "track=2019", "run=r.jsonl"), "Type: queries=FILE sequence=FILE", 2),
        (("validate", "track=2019", "run=none", *FILES), "none: no such file", 3),
        (("validate", "track=2022-task1", "run=r", "sequence=sequence.csv"), "since 2022-task1 has no sequence", 2),
        (("validate", "track=2019", "run=[a,b]", *FILES), "expected one path", 2),
        (("validate", "track=2019", "run=r", "max_errors=0", *FILES), "a whole number of at least 1", 2),
        (("submit", "track=2019", "output=o", *FILES), "run, policy: found neither", 2),
        (("submit", "track=2019", "run=a run", "policy=p", "output=o", *FILES), "found both", 2),
        (("submit", "track=2019", "run=new", "output=o", *FILES), "new: no such file", 3),
        (("submit", "track=2019", "run=a run", "output=a run", *FILES), "output: found a run", 2),
        (("submit", "track=2019", "run=.", "output=o", *FILES), "a folder without policy.parquet", 1),
        (("submit", "track=2019", "run=a run", "output=o", "seed=x", *FILES), "seed: found 'x'", 2),
        (("submit", "track=2019", "run=a run", "output=o", "sede=1", *FILES), "Did you mean seed?", 2),
        (("submit", "track=2022-task1", "run=a run", "output=o"), "whole numbers, as the track names pages", 1),
    ],
)
def test_wrong_words(command: Run, folder: Path, words: tuple[str, ...], message: str, code: int) -> None:
    (folder / "r.jsonl").write_text("{}\n")
    found, _, err = command(*words)
    assert message in err
    assert found == code
    assert not (folder / "o").exists()


@pytest.mark.parametrize("name", ["submit", "validate"])
def test_help_is_light(name: str) -> None:
    code = (
        "import sys\nfrom rerankers.cli import main\ncode = main(sys.argv[1:])\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, name, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text, _, loaded = done.stdout.rpartition("LOADED")
    assert not set(loaded.split()) & HEAVY
    assert f"Example:           fair-rerank {name}" in text
    assert "Options to choose from" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("queries=sequence.csv", "sequence=queries, 1.json"), "sequence.csv: found a query sequence"),
        (("queries=run.jsonl", "sequence=sequence.csv"), "run.jsonl: found a run of 2019 or 2020"),
        (("queries=queries, 1.json", "sequence=run.jsonl"), "run.jsonl: found a run of 2019 or 2020"),
    ],
)
def test_files_in_each_others_place(command: Run, folder: Path, words: tuple[str, ...], message: str) -> None:
    (folder / "run.jsonl").write_text('{"q_num": "0.0", "qid": 12, "ranking": ["a", "b", "d"]}\n' * 5)
    for track in ("2020-rerank", "2020-retrieval"):
        code, _, err = command("validate", f"track={track}", "run=run.jsonl", *words)
        assert (code, len(err.splitlines())) == (1, 1)
        assert message in err
    code, _, err = command("validate", "track=2020-rerank", "run=queries, 1.json", *FILES)
    assert (code, len(err.splitlines())) == (1, 1)
    assert "found queries with candidates" in err


def test_no_input_is_overwritten(command: Run, folder: Path) -> None:
    (folder / "g.csv").write_text("docno,group\na,north\n")
    (folder / "link").symlink_to(folder / "sequence.csv")
    (folder / "a run" / "metadata.yaml").write_text("x")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    words = ("submit", "track=2020-rerank", "run=a run", *FILES, "qrels=queries, 1.json", "groups=g.csv")
    for name in ("queries, 1.json", "sequence.csv", "link", "g.csv", "a run/policy.parquet", "./a run/metadata.yaml"):
        code, _, err = command(*words, f"output={name}")
        assert (code, "expected a file of its own" in err) == (2, True), err
    stored(folder / "p.parquet")
    assert command("submit", "track=2019", "policy=p.parquet", *FILES, "output=p.parquet")[0] == 2
    assert before == {path: path.read_bytes() for path in before}


def pages_policy(path: Path) -> None:
    rows = {"101": ["5", "6", "7"], "102": ["6", "8"]}
    docs = Ids.union([docno for docnos in rows.values() for docno in docnos])
    over = Ragged(np.arange(2), [0, 3, 5], docs.codes([docno for docnos in rows.values() for docno in docnos]))
    policy = PlackettLuce(over, np.arange(5.0), query_streams(rows))
    write_policy(path, policy, list(rows), docs, seed=8, samples=3)


def test_the_tracks_own_judgments_of_pages(command: Run, folder: Path) -> None:
    pages_policy(folder / "p.parquet")
    (folder / "rel.json").write_text('{"id": 101, "rel_docs": [5, 9]}\n{"id": 102, "rel_docs": [8]}\n')
    (folder / "rel.txt").write_text("101 0 5 1\n101 0 9 1\n102 0 8 1\n")
    words = ("submit", "track=2022-task2", "policy=p.parquet", "output=o.tsv.gz")
    native = command(*words, "qrels=rel.json")
    assert native[0] == 0, native[2]
    assert "relevant documents; mean over 2 schedules" in native[1]
    assert command(*words, "qrels=rel.txt") == native


@pytest.mark.parametrize(
    ("track", "text"),
    [
        ("2022-task2", '{"id": 101, "rel_docs": ["x"]}'),
        ("2022-task2", '{"qid": 101, "query": "x", "documents": []}'),
        ("2022-task2", "101 0 5 1 1 1 1"),
        ("2020-rerank", "nonsense"),
        ("2020-rerank", '{"qid": 12, "documents": [{"doc_id": "a", "relevance": 100000}]}'),
    ],
)
def test_wrong_judgments_leave_no_file(command: Run, folder: Path, track: str, text: str) -> None:
    pages_policy(folder / "p.parquet")
    (folder / "qrels").write_text(text + "\n")
    words = ("policy=p.parquet",) if track == "2022-task2" else ("run=a run", *FILES)
    code, _, err = command("submit", f"track={track}", *words, "qrels=qrels", "output=o.gz")
    assert (code, "qrels" in err) == (1, True), err
    assert not (folder / "o.gz").exists()
