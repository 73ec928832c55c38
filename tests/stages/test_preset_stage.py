"""``evaluate preset=…`` through the command line: files, keys, counts, errors."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from rerankers._conf import build, conf_folder
from rerankers.cli import main
from rerankers.tracks.preset import preset

SAMPLE: list[dict[str, Any]] = [
    {"qid": 7, "query": "first", "frequency": 0.2, "documents": [("a", 1), ("b", 1), ("c", 0), ("d", 0)]},
    {"qid": 12, "query": "second", "frequency": 0.1, "documents": [("c", 1), ("e", 0)]},
]
LEVELS = {"a": ["Advanced"], "b": ["Advanced", "Developing"], "c": ["Developing", None], "d": [None]}
RANKINGS = {7: [["a", "b", "c", "d"], ["d", "b", "c", "a"]], 12: [["e", "c"], ["c", "e"]]}


def write_sample(path: Path, unjudged: bool = False) -> Path:
    lines = []
    for query in SAMPLE:
        documents = [{"doc_id": d, "relevance": None if unjudged else r} for d, r in query["documents"]]
        lines.append(json.dumps({**query, "documents": documents}))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_annotations(path: Path) -> Path:
    lines = []
    for docno, levels in LEVELS.items():
        authors = [{"id": 3, "type": "inustry"} | ({"level": level} if level else {}) for level in levels]
        lines.append(json.dumps({"id": docno, "missing_authors": False, "authors": authors}))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_run(path: Path, rankings: dict[int, list[list[str]]] = RANKINGS) -> Path:
    entries = [(qid, r) for qid, lists in rankings.items() for r in lists]
    lines = [json.dumps({"q_num": f"0.{n}", "qid": qid, "ranking": r}) for n, (qid, r) in enumerate(entries)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {
        "run": write_run(tmp_path / "mine.jsonl.gz"),
        "qrels": write_sample(tmp_path / "sample.json"),
        "groups": write_annotations(tmp_path / "merged-annotations.json"),
        "output": tmp_path / "out",
    }


Judge = Callable[..., tuple[int, str, str]]


@pytest.fixture
def judge(capsys: pytest.CaptureFixture[str], files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Run the command without its report, which takes longer than all the rest, unless ``report`` is said."""

    def run(*words: str, **paths: Path | str) -> tuple[int, str, str]:
        capsys.readouterr()
        if "report" not in words:
            monkeypatch.setattr("rerankers.stages.preset.write_report", lambda *_: None)
            monkeypatch.setattr("rerankers.stages.results.write_report", lambda *_: None)
        given = [f"{word}={path}" for word, path in {**files, **paths}.items() if path]
        code = main(["evaluate", *given, "measures.resamples=20", *(word for word in words if word != "report")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def summary(files: dict[str, Path]) -> dict[str, Any]:
    return json.loads((files["output"] / "measures.json").read_text())


def exposure(rankings: list[list[str]], grades: dict[str, int]) -> dict[str, float]:
    """Mean of p^i (1 - u)^(relevant before), written again."""
    found: dict[str, float] = {}
    for ranking in rankings:
        seen = 1.0
        for docno in ranking:
            found[docno] = found.get(docno, 0.0) + seen / len(rankings)
            seen *= 0.25 if grades.get(docno, 0) > 0 else 0.5
    return found


@pytest.mark.parametrize("name", ["trec2020_official", "trec2020_corrected"])
def test_files_keys_and_values(judge: Judge, files: dict[str, Path], name: str) -> None:
    code, out, err = judge("report", f"preset={name}")
    assert code == 0, err
    assert ("differs from the corrected form" in out) == (name == "trec2020_official")
    assert "a group is known for 3 of 5 documents and 4 of 6 pairs" in out
    for file in ("measures.parquet", "measures.json", "measures.csv", "report.html", "config.yaml", "metadata.yaml"):
        assert (files["output"] / file).stat().st_size > 0
    found = summary(files)
    assert set(found) == {"preset", "options", "tier", "counts", "runs"}
    assert found["preset"] == name
    assert found["options"]["negative_grade"] == ("as_zero" if "corrected" in name else "own_level")
    assert bool(found["options"]["differences_from_the_corrected_form"]) == ("official" in name)
    assert list(found["runs"]) == ["mine", "anchor:random", "anchor:worst_first", "anchor:ideal"]
    run = found["runs"]["mine"]
    assert list(run["per_query"]) == ["7", "12"]
    grades = dict(SAMPLE[0]["documents"])
    given = exposure(RANKINGS[7], grades)
    target = {"a": 0.625, "b": 0.625, "c": 0.046875, "d": 0.046875}
    assert run["per_query"]["7"]["EEL"] == pytest.approx(sum((given[d] - target[d]) ** 2 for d in target))
    assert run["per_query"]["7"]["EER"] == pytest.approx(sum(given[d] * target[d] for d in target))
    assert run["per_query"]["7"]["utility"] == pytest.approx(0.5 * (given["a"] + given["b"]))
    # every document is in another group here: Advanced, mixed, Developing, unknown
    assert run["per_query"]["7"]["group_EEL"] == pytest.approx(run["per_query"]["7"]["EEL"])
    assert run["per_query"]["7"]["group_EEL_l2"] == pytest.approx(math.sqrt(run["per_query"]["7"]["EEL"]))
    assert found["counts"]["groups"]["author_types_not_known"] == 6
    assert found["runs"]["anchor:ideal"]["mean"]["EEL"] == pytest.approx(0, abs=1e-15)
    rows = pq.read_table(files["output"] / "measures.parquet").num_rows
    assert rows == 4 * 2 * len(run["per_query"]["7"])
    assert run["mean"].keys() - run["per_query"]["7"].keys() == {
        "group_EEL_systematic",
        "group_EEL_systematic_share",
        "group_EEL_excess_p",
    }


def test_an_absent_query_per_form(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    run = write_run(tmp_path / "partial.jsonl.gz", {7: RANKINGS[7]})
    code, _, err = judge("preset=trec2020_corrected", run=run)
    assert code == 1
    assert "partial" in err
    assert "'12'" in err
    assert judge("preset=trec2020_corrected", "preset.missing_query=zero_exposure", run=run)[0] == 0
    corrected = summary(files)["runs"]["partial"]["per_query"]["12"]
    assert corrected["EEL"] == corrected["EET"] == pytest.approx(1 + 0.25**2)
    assert (corrected["EED"], corrected["EER"]) == (0, 0)
    code, out, _ = judge("preset=trec2020_official", run=run)
    assert code == 0
    assert "the official default gives them the best possible group loss" in out
    official = summary(files)["runs"]["partial"]["per_query"]["12"]
    assert official["group_EEL"] == 0
    assert official["group_EED"] == pytest.approx(2 * 1)  # groups times the square of one relevant document's mass


def test_infinite_values_are_written_as_text(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    run = write_run(tmp_path / "stranger.jsonl.gz", {7: [["x", "y"]], 12: [["c", "e"]]})
    assert judge("preset=trec2020_retrieval_official", run=run)[0] == 0
    found = summary(files)["runs"]["stranger"]
    assert found["per_query"]["7"]["group_EED"] == "inf"
    assert found["mean"]["group_EED"] == "inf"
    assert found["interval"]["group_EED"] is None
    assert found["per_query"]["12"]["group_EED"] == pytest.approx(1)
    assert judge("preset=trec2020_retrieval_corrected", run=run)[0] == 0
    corrected = summary(files)["runs"]["stranger"]
    assert corrected["per_query"]["7"]["group_EED"] == 0
    assert corrected["mean"]["group_EED"] == pytest.approx(0.5)


def test_repeated_documents_per_form(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    run = write_run(tmp_path / "twice.jsonl.gz", {**RANKINGS, 7: [["a", "b", "a", "c", "d", "b"], []]})
    code, _, err = judge("preset=trec2020_corrected", run=run)
    assert code == 1
    assert "document 'a' again" in err
    assert judge("preset=trec2020_official", run=run)[0] == 0
    found = summary(files)
    counts = found["counts"]["run twice"]
    assert (counts["documents_again_in_a_ranking"], counts["empty_rankings_ignored"]) == (2, 1)
    given = exposure([["a", "b", "a", "c", "d", "b"]], {"a": 1, "b": 1})
    value = found["runs"]["twice"]["per_query"]["7"]["EED"]
    assert value == pytest.approx(sum(x * x for x in given.values()))


def test_the_same_without_a_preset(judge: Judge, files: dict[str, Path]) -> None:
    """Query files and annotations are read there too; only judged documents are ranked here, so values agree."""
    assert judge("preset=trec2020_corrected")[0] == 0
    with_preset = summary(files)["runs"]["mine"]["per_query"]
    code, _, err = judge("universe=judged")
    assert code == 0, err
    without = summary(files)["runs"]["mine"]["per_query"]
    for qid, values in without.items():
        for key in ("EEL", "EED", "EER", "EET", "utility", "group_EEL", "group_EED", "group_EER", "group_EET"):
            assert values[key] == pytest.approx(with_preset[qid][key], abs=1e-15)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["preset=trec2020_offical"], 2, "Did you mean preset=trec2020_official?"),
        (["preset=trec2020_official", "preset.patience=2"], 2, "preset.patience: found 2"),
        (["preset=trec2020_official", "preset.patience=1"], 2, "patience below 1"),
        (["preset=trec2020_official", "preset.loss=kl"], 2, "preset.loss: found 'kl'"),
        (["preset=trec2020_official", "browsing.patience=0.9"], 2, "no effect with preset=trec2020_official"),
        (["preset=trec2020_official", "universe=judged"], 2, "universe: found 'judged'"),
        (["preset=trec2020_official", "groups.mixed=split"], 2, "groups.mixed"),
        (["preset=trec2020_official", "measures.cutoff=3"], 2, "measures.cutoff: found 3"),
        (["preset=trec2020_official", "groups.attribute=gender"], 2, "expected one of level, h_class"),
        (["sequence=x.csv"], 2, "a preset that uses it"),
    ],
)
def test_words_that_will_not_do(judge: Judge, words: list[str], code: int, text: str) -> None:
    found, _, err = judge(*words)
    assert found == code
    assert text in err


def test_unjudged_samples_and_missing_files(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    code, _, err = judge("preset=trec2020_official", qrels=write_sample(tmp_path / "bare.json", unjudged=True))
    assert code == 1
    assert "relevance is null everywhere" in err
    assert judge("preset=trec2020_official", qrels=tmp_path / "none.json")[0] == 3
    assert judge("preset=trec2020_official", groups=tmp_path / "none.csv")[0] == 3


def test_group_tables_in_place_of_annotations(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    assert judge("preset=trec2020_official")[0] == 0
    annotated = summary(files)["runs"]["mine"]["mean"]
    table = tmp_path / "groups.csv"
    table.write_text("docno,group\na,Advanced\nb,Advanced\nb,Developing\nc,Developing\n")
    assert judge("preset=trec2020_official", groups=table)[0] == 0
    assert summary(files)["runs"]["mine"]["mean"] == annotated
    counted = tmp_path / "doc-annotations.csv"
    rows = ["a,2.0,0.0,Advanced,,,", "b,1,1,Mixed,,,", "c,0,1,Developing,,,", "d,0,0,,,,"]
    counted.write_text("\n".join(["id,Advanced,Developing,DocLevel,H,L,DocHLevel", *rows]))
    assert judge("preset=trec2020_official", groups=counted)[0] == 0
    assert summary(files)["runs"]["mine"]["mean"] == annotated
    assert judge("preset=trec2020_official", groups="")[0] == 0
    assert not any(key.startswith("group_") for key in summary(files)["runs"]["mine"]["mean"])


def test_sequences_of_2019(judge: Judge, files: dict[str, Path], tmp_path: Path) -> None:
    sequence, labels = tmp_path / "sequence.csv", tmp_path / "labels.csv"
    sequence.write_text("0.0,7\n0.1,7\n1.2,12\n1.3,12\n")
    labels.write_text("a,X\nb,Y,Y\nc,X\ne,\n")
    run = tmp_path / "seq.jsonl"
    entries = zip(("0.0", "0.1", "1.2", "1.3"), (7, 7, 12, 12), [*RANKINGS[7], *RANKINGS[12]], strict=True)
    lines = [json.dumps({"q_num": q_num, "qid": qid, "ranking": ranking}) for q_num, qid, ranking in entries]
    run.write_text("\n".join(lines))
    for form in ("official", "corrected"):
        code, out, err = judge(f"preset=trec2019_{form}", run=run, groups=labels, sequence=sequence)
        assert code == 0, err
        assert "documents have an empty label" in out
        found = summary(files)
        assert found["preset"] == f"trec2019_{form}"
        assert list(found["runs"]) == ["seq", "anchor:random", "anchor:worst_first", "anchor:ideal"]
        per_sequence = found["runs"]["seq"]["per_query"]
        assert list(per_sequence) == ["0", "1"]
        assert all(sorted(one) == ["unfairness", "utility"] for one in per_sequence.values())
        for key, mean in found["runs"]["seq"]["mean"].items():
            assert mean == pytest.approx((per_sequence["0"][key] + per_sequence["1"][key]) / 2)
    assert judge("preset=trec2019_official", run=run, groups=labels)[0] == 2
    run.write_text("\n".join(lines[:-1]))
    code, _, err = judge("preset=trec2019_official", run=run, groups=labels, sequence=sequence)
    assert code == 1
    assert "no ranking of entry '1.3'" in err


@pytest.mark.parametrize("path", sorted((conf_folder() / "preset").glob("*.yaml")), ids=lambda path: path.stem)
def test_configs_and_presets_agree(path: Path) -> None:
    """Every preset of the config folder is the one that its name builds."""
    node: dict[str, Any] = {}
    for layer in _layers(path):
        node |= layer
    assert build(node, where="preset") == preset(path.stem)


def _layers(path: Path) -> list[dict[str, Any]]:
    own = yaml.safe_load(path.read_text())
    base = [name for name in own.pop("defaults", []) if name != "_self_"]
    return [layer for name in base for layer in _layers(path.with_name(f"{name}.yaml"))] + [own]
