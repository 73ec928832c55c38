"""Bad input ends in one clear message with the right exit code, or in a counted treatment; never in a traceback."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUICK = ("samples=3", "measures.resamples=50")
Break = Callable[[Path, Path], None]


def appended(name: str, text: str) -> Break:
    def change(tiny: Path, first: Path) -> None:
        path = first if name == "run" else tiny / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")

    return change


def replaced(name: str, text: str) -> Break:
    def change(tiny: Path, first: Path) -> None:
        (first if name == "run" else tiny / name).write_text(text, encoding="utf-8")

    return change


def truncated_gz(tiny: Path, first: Path) -> None:
    data = gzip.compress((tiny / "docs.jsonl").read_bytes() * 50)
    (tiny / "docs.jsonl").unlink()
    (tiny / "docs.jsonl.gz").write_bytes(data[: len(data) // 2])


def removed(name: str) -> Break:
    return lambda tiny, first: (tiny / name).unlink()


# what is done to the collection or the run, parts of the message, exit code
BROKEN: dict[str, tuple[Break, list[str], int]] = {
    "broken JSON on a line": (appended("docs.jsonl", '{"docno": "x", \n'), ["docs.jsonl:7", "expected"], 1),
    "duplicate document id": (appended("docs.jsonl", '{"docno": "b3", "title": "x"}\n'), ["docs.jsonl:7", "b3"], 1),
    "document without id": (appended("docs.jsonl", '{"title": "x"}\n'), ["docs.jsonl:7"], 1),
    "several problems at once": (
        appended("docs.jsonl", '{"title": "x"}\n[1]\n{"docno": "b3"}\n'),
        ["docs.jsonl:7", "docs.jsonl:8", "docs.jsonl:9"],
        1,
    ),
    "empty documents file": (replaced("docs.jsonl", ""), ["docs.jsonl", "empty"], 1),
    "empty queries file": (replaced("queries.tsv", ""), ["queries.tsv", "empty"], 1),
    "duplicate query": (appended("queries.tsv", "q1\tagain\n"), ["queries.tsv:5", "q1"], 1),
    "query line without tab": (appended("queries.tsv", "q9 no tab\n"), ["queries.tsv:5"], 1),
    "empty qrels": (replaced("qrels.txt", ""), ["qrels.txt", "empty"], 1),
    "qrels with a word for a grade": (appended("qrels.txt", "q1 0 d6 high\n"), ["qrels.txt:8", "high"], 1),
    "qrels with a missing field": (appended("qrels.txt", "q1 d6\n"), ["qrels.txt:8"], 1),
    "conflicting judgments": (appended("qrels.txt", "q1 0 c5 2\n"), ["qrels.txt:8", "c5"], 1),
    "truncated archive": (truncated_gz, ["docs.jsonl.gz", "truncated"], 1),
    "not UTF-8": (
        lambda tiny, first: (tiny / "queries.tsv").write_bytes(b"q1\t\xff\xfe\n"),
        ["queries.tsv:1", "UTF-8"],
        1,
    ),
    "no documents file": (removed("docs.jsonl"), ["docs.jsonl"], 3),
    "duplicate document in a ranking": (appended("run", "q1 Q0 c5 4 0.5 first\n"), ["first.run:9", "c5"], 1),
    "rank gap": (appended("run", "q1 Q0 d6 7 0.5 first\n"), ["first.run", "q1", "rank"], 1),
    "NaN score": (appended("run", "q1 Q0 d6 4 nan first\n"), ["first.run:9", "nan"], 1),
    "infinite score": (appended("run", "q1 Q0 d6 4 inf first\n"), ["first.run:9", "inf"], 1),
    "too few fields": (appended("run", "q1 Q0 d6\n"), ["first.run:9"], 1),
    "rank that is no number": (appended("run", "q1 Q0 d6 four 0.5 first\n"), ["first.run:9", "four"], 1),
    "empty run": (replaced("run", ""), ["first.run", "empty"], 1),
    "group file without a group column": (replaced("seniority_groups.csv", "docno,x\nb3,1\n"), ["_groups.csv:1"], 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_run_refuses(name: str, command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    change, parts, expected = BROKEN[name]
    change(tiny, tiny_run)
    code, _, err = command(
        "run",
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        f"output={tmp_path / 'o'}",
        *QUICK,
    )
    assert code == expected, err
    for part in parts:
        assert part in err
    assert "Traceback" not in err
    assert not list((tmp_path / "o").glob("*")), "no half results"


@pytest.mark.parametrize(
    ("words", "parts", "expected"),
    [
        (["method.temprature=2"], ["method.temprature", "Did you mean method.temperature?"], 2),
        (["method=plackett_luc"], ["Did you mean method=plackett_luce?", "uniform"], 2),
        (["methd=uniform"], ["methd", "Did you mean method?"], 2),
        (["method.temperature=warm"], ["method", "warm"], 2),
        (["method.temperature=-1"], ["method.temperature", "positive"], 2),
        (["groups.attribute=seniorty"], ["seniorty", "seniority"], 2),
        (["groups.unknown=ignore"], ["groups.unknown", "count, drop, spread"], 2),
        (["groups.mixed=own-group"], ["groups.mixed", "Did you mean 'own_group'?"], 2),
        (["groups.mixed=up"], ["order"], 2),
        (["samples=0"], ["samples", "1 to 10,000,000"], 2),
        (["samples=many"], ["samples", "whole number"], 2),
        (["seed=1.5"], ["seed", "whole number"], 2),
        (["universe=everything"], ["universe", "union, judged"], 2),
        (["measures.names=[nDGC@10]"], ["nDGC", "nDCG"], 2),
        (["measures.names=[EEL(group='wealth')]"], ["wealth", "seniority"], 2),
        (["measures.cutoff=0"], ["measures.cutoff"], 2),
        (["measures.exposure=both"], ["measures.exposure", "auto, draws"], 2),
        (["browsing.patience=1.5"], ["patience", "1.5"], 2),
        (["preset=trec2020_official"], ["preset"], 2),
        (["method._target_=os.system"], ["method._target_", "allow_targets"], 2),
        (["retriever.k=0"], ["retriever.k"], 2),
        (["retriever.run=nowhere.run"], ["nowhere.run", "no such file"], 3),
        (["collection.path=nowhere"], ["nowhere"], 3),
        (["collection.query_field=title"], ["title"], 2),
        (["measures.names=[]"], ["measures.names", "empty"], 2),
        (["groups.attribute=[]"], ["groups.attribute", "groups=none"], 2),
        (["paths.cache=null"], ["paths.cache"], 2),
        (["~method"], ["method"], 2),
        (["~samples"], ["samples", "taken away"], 2),
        (["groups=none", "groups._target_=rerankers.execution.Serial"], ["groups", "align"], 2),
        (["execution.block=0"], ["execution.block", "at least 1"], 2),
        (["execution.workers=4"], ["execution.workers", "execution=joblib"], 2),
        (["seed=9223372036854775808"], ["seed", "64 bits"], 2),
        (["groups.attribute=7"], ["groups.attribute", "'7'", "seniority"], 2),
        (["samples=3000000000"], ["samples"], 2),
        (["method=null"], ["method"], 2),
        (["output=null"], ["output"], 2),
        (["output="], ["output", "shell variable"], 2),
        (["output=${nowhere}"], ["nowhere"], 2),
        (["+methodd.x=1"], ["methodd", "Did you mean 'method'?"], 2),
        (["measures.cutoff=x"], ["measures.cutoff: found 'x'; expected int or null"], 2),
        (["browsing.patience=null"], ["browsing.patience: found None; expected float"], 2),
        (["groups.order=A"], ["groups.order: found 'A'; expected list[str] or null"], 2),
        (["browsing=err", "browsing.max_grade=1"], ["browsing.max_grade", "at least 2"], 2),
        (["method.temperature=1e-320"], ["method.temperature", "positive"], 2),
        (["groups=author_field", "groups.attribute=x", "groups.field=h", "groups.at_least=1"], ["authors.jsonl"], 2),
        (["output=/dev/null/x"], ["/dev/null/x", "cannot be written", "output=DIR"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value and "=" in value[0] else None,
)
def test_wrong_command_lines(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, words: list[str], parts: list[str], expected: int
) -> None:
    code, _, err = command(
        "run",
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        f"output={tmp_path / 'o'}",
        *QUICK,
        *words,
    )
    assert code == expected, err
    for part in parts:
        assert part in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_paths_need_no_quotes(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    for name in ("exp:1", "[mine]", "it's, =ü", "$HOME", "(a) {b}"):
        code, _, err = command(
            "run",
            "collection=jsonl",
            f"collection.path={tiny}",
            "retriever=run_file",
            f"retriever.run={tiny_run}",
            f"output={tmp_path / name}",
            f"paths.cache={tmp_path / 'cache' / name}",
            *QUICK,
        )
        assert code == 0, err
        assert (tmp_path / name / "report.html").is_file(), name


def test_relative_paths_and_the_home_folder(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    words = ["run", "collection=jsonl", "collection.path=tiny", "retriever=run_file", "retriever.run=first.run", *QUICK]
    for output, place in (("a:b", tmp_path / "a:b"), ("~/results", tmp_path / "home" / "results")):
        code, out, err = command(*words, f"output={output}")
        assert code == 0, err
        assert (place / "report.html").is_file()
        assert "report:" in out
    assert not (tmp_path / "~").exists()


def test_flags_may_stand_among_overrides(command: Run, tmp_path: Path) -> None:
    code, out, _ = command("run", "samples=5", "--cfg", "job", "seed=3")
    assert code == 0
    assert "samples: 5" in out
    assert "seed: 3" in out


def test_half_of_a_surrogate_pair_in_a_query(command: Run, tiny: Path) -> None:
    (tiny / "queries.tsv").unlink()
    (tiny / "queries.jsonl").write_text('{"qid": "q1", "query": "foo \\udfff"}\n')
    code, _, err = command("run", "collection=jsonl", f"collection.path={tiny}")
    assert code == 1
    assert "queries.jsonl:1" in err


def test_a_run_may_not_be_called_like_an_anchor(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    path = tiny_run.rename(tiny_run.with_name("anchor:ideal.txt"))
    code, _, err = command("evaluate", f"run={path}", f"qrels={tiny / 'qrels.txt'}", f"output={tmp_path / 'o'}")
    assert code == 2
    assert "anchor:ideal" in err


def test_a_heap_that_java_cannot_start_with(command: Run) -> None:
    code, _, err = command("run", "retriever.heap=1k")
    assert code == 2
    assert "16m" in err


@pytest.mark.java
def test_broken_configs_and_classes_of_the_users_own(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "brokenmodule.py").write_text("class Broken(:\n")
    (tmp_path / "missingfile.py").write_text(
        "class Missing:\n    tier = 'blind'\n    def policy(self, block):\n        return open('/nowhere/model.bin')\n"
    )
    folder = tmp_path / "mine" / "method"
    folder.mkdir(parents=True)
    (folder / "badyaml.yaml").write_text("_target_: [a\n")
    (folder / "listy.yaml").write_text("- 1\n")
    (folder / "broken.yaml").write_text("_target_: brokenmodule.Broken\n")
    (folder / "missing.yaml").write_text("_target_: missingfile.Missing\n")
    small = ["collection.documents=20", "collection.topics=2", "retriever.k=5", f"output={tmp_path / 'o'}", *QUICK]
    for name, part, expected in (
        ("badyaml", "YAML", 2),
        ("listy", "method", 2),
        ("broken", "brokenmodule", 2),
        ("missing", "/nowhere/model.bin", 3),
    ):
        allow = "allow_targets=[brokenmodule,missingfile]"
        code, _, err = command("run", "--config-dir", str(tmp_path / "mine"), f"method={name}", allow, *small)
        assert code == expected, err
        assert part in err
        assert "Traceback" not in err


def test_evaluate_does_not_write_over_the_run_it_judges(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path
) -> None:
    words = ["run", "collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}"]
    assert command(*words, f"output={tmp_path / 'mine'}", *QUICK)[0] == 0
    before = (tmp_path / "mine" / "measures.json").read_bytes()
    for run in (tmp_path / "mine", tmp_path / "mine" / "run.parquet"):
        code, _, err = command("evaluate", f"run={run}", f"qrels={tiny / 'qrels.txt'}", f"output={tmp_path / 'mine'}")
        assert code == 2
        assert "holds the run" in err
    assert (tmp_path / "mine" / "measures.json").read_bytes() == before


def test_no_query_field_by_that_name(command: Run, tiny: Path, tmp_path: Path) -> None:
    (tiny / "queries.tsv").unlink()
    (tiny / "queries.jsonl").write_text('{"qid": "q1", "text": "fair"}\n')
    code, _, err = command("run", "collection=jsonl", f"collection.path={tiny}", "collection.query_field=query")
    assert code == 2
    assert "text" in err


def test_commands_and_versions(command: Run) -> None:
    assert command()[0] == 2
    code, out, _ = command("--version")
    assert code == 0
    assert out.startswith("fair-rerankers ")
    code, _, err = command("evalute")
    assert code == 2
    assert "Did you mean 'evaluate'?" in err
    code, _, err = command("evaluate")
    assert code == 2
    assert "run=" in err
    code, _, err = command("run", "--experimental-rerun", "job.pickle")
    assert code == 2
    assert "pickle" in err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_read_only_output_folder(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    code, _, err = command(
        "run",
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        f"output={folder}",
        *QUICK,
    )
    assert code == 2
    assert "cannot be written" in err


@pytest.mark.parametrize("folder", ["/proc/self", "/proc/nowhere", "/sys/kernel"])
def test_folders_that_nobody_may_write(command: Run, tiny: Path, tiny_run: Path, folder: str) -> None:
    if not Path(folder).parent.is_dir():
        pytest.skip(f"no {Path(folder).parent} on this system")
    code, _, err = command(
        "run",
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        f"output={folder}",
        *QUICK,
    )
    assert code == 2
    assert f"{folder}: cannot be written" in err
    assert "Traceback" not in err


EVALUATE: dict[str, tuple[str, list[str], int]] = {
    "missing query": ("q1 Q0 a,1 1 2 r\n", ["q2", "q3", "missing_query=zero_exposure"], 1),
    "duplicate in a ranking": ("q1 0 c5 1 2 r\nq1 0 c5 2 1 r\nq2 0 é2 1 1 r\nq3 0 b3 1 1 r\n", [":2", "c5"], 1),
    "rank gap": ("q1 0 c5 1 2 r\nq1 0 b3 3 1 r\nq2 0 é2 1 1 r\nq3 0 b3 1 1 r\n", ["q1", "rank"], 1),
}


@pytest.mark.parametrize("name", EVALUATE)
def test_evaluate_refuses(name: str, command: Run, tiny: Path, tmp_path: Path) -> None:
    text, parts, expected = EVALUATE[name]
    (tmp_path / "my.run").write_text(text, encoding="utf-8")
    code, _, err = command(
        "evaluate", f"run={tmp_path / 'my.run'}", f"qrels={tiny / 'qrels.txt'}", f"output={tmp_path / 'o'}"
    )
    assert code == expected, err
    for part in parts:
        assert part in err
    assert "Traceback" not in err


@pytest.mark.parametrize("rule", ["zero_exposure", "skip"])
def test_missing_queries_are_counted(command: Run, tiny: Path, tmp_path: Path, rule: str) -> None:
    (tmp_path / "my.run").write_text("q1 Q0 a,1 1 2 r\nq5 Q0 b3 1 1 r\n", encoding="utf-8")
    code, _, err = command(
        "evaluate",
        f"run={tmp_path / 'my.run'}",
        f"qrels={tiny / 'qrels.txt'}",
        f"output={tmp_path / 'o'}",
        f"missing_query={rule}",
        "measures.resamples=50",
    )
    assert code == 0, err
    found = json.loads((tmp_path / "o" / "measures.json").read_text())
    assert found["counts"]["run my"]["queries_missing_from_run"] == 2
    assert found["counts"]["run my"]["queries_not_judged"] == 1
    per_query = found["runs"]["my"]["per_query"]
    assert per_query["q5"]["EEL"] is None
    if rule == "zero_exposure":
        assert per_query["q2"]["EED"] == 0
        assert per_query["q2"]["EEL"] == per_query["q2"]["EET"] > 0
    else:
        assert "q2" not in per_query


def test_evaluate_agrees_with_run(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    code, _, err = command(
        "run",
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        f"output={tmp_path / 'mine'}",
        "measures.exposure=draws",
        *QUICK,
    )
    assert code == 0, err
    groups = tmp_path / "labels, ours.csv"
    groups.write_text('docno,group\n"a,1",mixed\né2,junior\nb3,senior\nc5,senior\nzz9,\n', encoding="utf-8")
    code, _, err = command(
        "evaluate",
        f"run=[{tmp_path / 'mine'},{tiny_run}]",
        f"qrels={tiny / 'qrels.txt'}",
        f"groups={groups}",
        f"output={tmp_path / 'judged'}",
        "measures.resamples=50",
    )
    assert code == 0, err
    ran = json.loads((tmp_path / "mine" / "measures.json").read_text())["runs"]
    judged = json.loads((tmp_path / "judged" / "measures.json").read_text())["runs"]
    assert list(judged)[:2] == ["mine", "first"]
    for key, value in ran["plackett_luce"]["mean"].items():
        assert judged["mine"]["mean"][key] == pytest.approx(value, abs=1e-12), key
    for key in ("EEL", "EED", "nDCG@10", "group_EEL"):
        assert judged["first"]["mean"][key] == pytest.approx(ran["anchor:deterministic"]["mean"][key], abs=1e-12)
