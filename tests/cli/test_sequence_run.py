"""``run`` with a sequence and a ledger: what is published, what resumes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from rerankers.ledger import open_ledger
from rerankers.runs import read_policy, read_run
from tests.cli.conftest import Run
from tests.cli.sequence_jobs import ORDER, words, written


@pytest.fixture(autouse=True)
def quick_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the report out, which takes most of the time."""
    monkeypatch.setattr("rerankers.stages.results.write_report", lambda folder, data: None)


def rankings(output: Path) -> dict[tuple[str, int], list[str]]:
    """Return (query, sample) -> docnos of a published run."""
    found: dict[tuple[str, int], list[str]] = {}
    for row in pq.read_table(output / "run.parquet").to_pylist():
        found.setdefault((row["qid"], row["sample"]), []).append(row["docno"])
    return found


def summary(output: Path) -> dict[str, Any]:
    return json.loads((output / "measures.json").read_text())


def test_the_served_rankings_are_published_in_their_order(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path
) -> None:
    sequence = written(tmp_path / "my sequence, ü.csv", *ORDER)
    output = tmp_path / "out"
    options = ("method=fair_co", "method.scope=corpus", f"sequence={sequence}", f"output={output}")
    code, out, err = command(*words(tiny, tiny_run, *options))
    assert code == 0, err
    assert "warning: 1 of 4 queries are never asked (q4): they have no ranking and do not count" in out
    found = rankings(output)
    assert sorted(found) == sorted([("q1", n) for n in range(3)] + [("q2", n) for n in range(5)] + [("q3", 0)])
    assert summary(output)["counts"]["served"] == {"impressions": 9, "sequences": 1, "accounts": 1}
    assert len({tuple(found["q2", n]) for n in range(5)}) > 1, "the ledger moves documents"
    stored = read_policy(output / "policy.parquet")
    kept = stored.policy.rankings  # type: ignore[attr-defined]
    names = {}
    for place, row in enumerate(kept.row_of_ranking.tolist()):
        items = kept.item[kept.item_ptr[place] : kept.item_ptr[place + 1]]
        docs = stored.docs.take(kept.over.doc[kept.over.indptr[row] + items])
        names[stored.qids[row], int(kept.label[place])] = docs
    assert names == found, "the stored policy is the published rankings, in their order"
    assert stored.samples == 0, "nothing was drawn"


def test_measures_are_those_of_the_published_run(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """What `evaluate` finds in the file is what `run` has said, drawn exposure or not: the rankings are the policy."""
    sequence = written(tmp_path / "s.csv", *ORDER)
    judged = {}
    for exposure in ("auto", "draws"):
        output = tmp_path / exposure
        options = ("method=nle_controller", "method.scope=sequence", f"measures.exposure={exposure}", "groups=none")
        assert command(*words(tiny, tiny_run, *options, f"sequence={sequence}", f"output={output}"))[0] == 0
        judged[exposure] = summary(output)["runs"]["nle_controller"]["per_query"]
    assert judged["auto"] == judged["draws"]
    evaluated = tmp_path / "evaluated"
    options = (f"run={tmp_path / 'auto'}", f"qrels={tiny / 'qrels.txt'}", f"output={evaluated}", "missing_query=skip")
    code, _, err = command("evaluate", *options, "measures.resamples=50")
    assert code == 0, err
    theirs = summary(evaluated)["runs"]["auto"]["per_query"]
    for qid, own in judged["auto"].items():
        for key in ("EEL", "utility"):
            if own[key] is not None:
                assert theirs[qid][key] == pytest.approx(own[key], rel=1e-12)
    assert len(read_run(tmp_path / "auto" / "run.parquet").rankings) == len(ORDER)


def test_authors_have_accounts(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """Authors are those of the collection, whatever groups are evaluated, and only the tier of metadata is needed."""
    path = tmp_path / "ledger.sqlite"
    for number, groups in enumerate(("collection", "none")):
        output = tmp_path / str(number)
        options = ("method=fair_co", "method.scope=corpus", "method.entities=authors", f"groups={groups}")
        ledger = ("ledger=sqlite", f"ledger.path={path}", f"output={output}")
        code, _, err = command(*words(tiny, tiny_run, *options, *ledger))
        assert code == 0, err
        assert summary(output)["tier"] == "metadata"
    assert rankings(tmp_path / "0") == rankings(tmp_path / "1")
    assert summary(tmp_path / "1")["counts"]["served"]["impressions_served_before"] == 4
    assert open_ledger(path).entities.names.to_pylist() == ["u1", "u2", "u3", "u4"]


def test_a_policy_with_accounts_of_authors(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    options = ("method=fair_co", "method.entities=authors", "method.impressions=8", "samples=5", f"output={output}")
    code, _, err = command(*words(tiny, tiny_run, *options))
    assert code == 0, err
    assert {sample for _, sample in rankings(output)} == set(range(5)), "drawn from the mixture of eight"


@pytest.mark.slow
def test_given_groups_have_accounts(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    options = ("method=online_frank_wolfe", "method.scope=sequence", "method.entities=seniority", "rounds=3")
    code, _, err = command(*words(tiny, tiny_run, *options, f"output={output}"))
    assert code == 0, err
    assert summary(output)["tier"] == "given_groups"
    assert {sample for _, sample in rankings(output)} == {0, 1, 2}


def test_a_ledger_in_a_file_serves_the_policies_of_queries(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path
) -> None:
    """With accounts of their own, queries are served in the file what their policies would be made of."""
    options = ("method=nle_controller", "method.impressions=6", "groups=none")
    ledger = ("ledger=sqlite", f"ledger.path={tmp_path / 'l.sqlite'}")
    for name, more in (("file", ledger), ("memory", ())):
        assert command(*words(tiny, tiny_run, *options, *more, f"output={tmp_path / name}"))[0] == 0
    one, two = (read_policy(tmp_path / name / "policy.parquet").policy.rankings for name in ("file", "memory"))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(one.item, two.item)


def test_workers_and_judgments_change_no_byte(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    sequence = written(tmp_path / "s.csv", *ORDER, sequences=3)
    options = ("method=nle_controller", "method.scope=sequence", f"sequence={sequence}", "groups=none")
    (tmp_path / "l").mkdir()
    bits = []
    for number, more in enumerate(([], ["execution=joblib", "execution.workers=2", "execution.block=1"], [])):
        if number == 2:
            (tiny / "qrels.txt").unlink()
        assert command(*words(tiny, tiny_run, *options, *more, f"output={tmp_path / str(number)}"))[0] == 0
        bits.append([(tmp_path / str(number) / name).read_bytes() for name in ("run.parquet", "policy.parquet")])
    assert bits[0] == bits[1] == bits[2]


@pytest.mark.slow
def test_what_is_refused(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    sequence = written(tmp_path / "s.csv", "q1", "q9", "q2", "q8", "q9")
    ledger = ("ledger=sqlite", f"ledger.path={tmp_path / 'l.sqlite'}")
    corpus = ("method=fair_co", "method.scope=corpus")
    assert command(*words(tiny, tiny_run, *corpus, *ledger, f"output={tmp_path / 'first'}"))[0] == 0
    for more, code, texts in (
        (
            (*corpus, f"sequence={sequence}"),
            1,
            ["s.csv:2: found query 'q9' (2 impressions)", "s.csv:4: found query 'q8'"],
        ),
        ((*corpus, "sequence=[a,b]"), 2, ["sequence: found ['a', 'b']; expected one path"]),
        ((*corpus, f"sequence={tmp_path / 'none'}"), 3, ["none"]),
        ((*corpus, "samples=7"), 2, ["samples: found 7; expected nothing", "1 times"]),
        ((*corpus, "method.impressions=7"), 2, ["method.impressions: found 7"]),
        ((*corpus, "rounds=0"), 2, ["rounds: found 0"]),
        ((*corpus, "rounds=x"), 2, ["rounds: found 'x'; expected a whole number"]),
        ((*corpus, *ledger, "method.strength=2"), 1, ["a ledger of another configuration (strength=1.0)"]),
        ((*corpus, *ledger, "seed=2"), 1, ["a ledger of another configuration (seed=0)"]),
        ((*corpus, "ledger=sqlite", f"ledger.path={tiny_run}"), 1, ["not a database"]),
        (("method=uniform", *ledger), 2, ["ledger: found SQLite, which has no effect: Uniform keeps no ledger"]),
        (("method=uniform", f"sequence={sequence}"), 2, ["Uniform keeps no ledger"]),
        ((*corpus, "method.entities=region"), 2, ["method.entities: found region"]),
    ):
        found = command(*words(tiny, tiny_run, *more, f"output={tmp_path / 'out'}"))
        assert found[0] == code, (more, found)
        for text in texts:
            assert text in found[2], (more, found)


def test_a_collection_without_authors(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (tiny / "docs.jsonl").read_text().splitlines()]
    (tiny / "docs.jsonl").write_text("\n".join(json.dumps({"docno": x["docno"], "title": x["title"]}) for x in lines))
    (tiny / "seniority_groups.csv").unlink()
    options = ("method=fair_co", "method.entities=authors", "groups=none", f"output={tmp_path / 'out'}")
    code, _, err = command(*words(tiny, tiny_run, *options))
    assert (code, "lists no authors" in err) == (2, True), err
