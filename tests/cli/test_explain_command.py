"""``explain`` as a command: what it prints and writes, whose numbers add up, and its messages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rerankers.cli import main
from tests.cli.conftest import Run, write_collection

pytestmark = pytest.mark.slow

JOBS = {
    "plain": (),
    "tilted": ("method=kl_tilt", "method.temperature=0.5"),
    "optimal": ("method=pareto_optimal",),
    "served": ("method=fair_co", "sequence=SEQUENCE"),
    "static": ("method=deterministic",),
    "fair": ("method=fa_star_ir", "method.protected=junior", "method.p=0.7", "method.alpha=0.4"),
    "greedy": ("method=kl_greedy",),
}


@pytest.fixture(autouse=True, scope="module")
def _without_reports() -> Iterator[None]:
    """Leave out the pictures of reports, which nothing here looks at and which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rerankers.stages.results.write_report", lambda folder, data: folder)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny collection, a first-stage run over it, and the jobs of `JOBS`."""
    base = tmp_path_factory.mktemp("explained")
    write_collection(base / "tiny")
    write_run(base / "first.run")
    asked = "".join(f"0.{number},{qid}\n" for number, qid in enumerate(["q1", "q2"] * 8))
    (base / "sequence.csv").write_text(asked, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIR_RERANK_CACHE", str(base / "cache"))
        for name, words in JOBS.items():
            own = [word.replace("SEQUENCE", str(base / "sequence.csv")) for word in words]
            drawn = [] if name == "served" else ["samples=7"]
            assert main(["run", *inputs(base), f"output={base / name}", *drawn, *own]) == 0
    return base


def write_run(path: Path) -> None:
    """Write a first stage, so that no Java is needed."""
    lists = (("q1", ["a,1", "c5", "é2"]), ("q2", ["B4", "é2", "a,1"]), ("q3", ["b3", "d6"]))
    lines = [f"{qid} Q0 {name} {at} {9 - 2 * at} first" for qid, names in lists for at, name in enumerate(names, 1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def inputs(base: Path) -> list[str]:
    first = ["retriever=run_file", f"retriever.run={base / 'first.run'}"]
    few = ["measures.resamples=20", "measures.permutations=0", "measures.names=[EEL,EED]"]
    return ["collection=jsonl", f"collection.path={base / 'tiny'}", *first, *few]


@pytest.fixture
def job(made: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that gives the folder of a job, a copy, so that a test may change it."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(made / name, tmp_path / name))

    return copied


def read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "explain.json").read_text(encoding="utf-8"))
    return found


def document(found: dict[str, Any], docno: str) -> dict[str, Any]:
    return next(row for row in found["documents"] if row["docno"] == docno)


def test_two_jobs_side_by_side_add_up(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    plain, tilted = job("plain"), job("tilted")
    out = tmp_path / "out"
    code, said, told = command("explain", str(plain), str(tilted), "query=q1", f"output={out}")
    assert code == 0, told
    assert "changed most" in said
    found = read(out)
    assert list(found["systems"]) == ["plain", "tilted"]
    assert [len(one["rankings"]) for one in found["systems"].values()] == [3, 3]
    for docno, by_system in found["why"].items():
        for name, one in by_system.items():
            shown = document(found, docno)["systems"][name]["exposure"]
            assert one["exposure"] == shown
            assert sum(one["steps"].values()) == pytest.approx(shown, abs=1e-12)
            assert sum(row["exposure"] for row in one["ranks"]) == pytest.approx(shown, abs=1e-12)
            assert one["unsatisfied"] + one["stopping"] == pytest.approx(shown, abs=1e-12)
    assert [one["steps"]["method"] for one in (found["why"]["a,1"]["plain"],)] == [0.0]
    assert found["why"]["a,1"]["tilted"]["steps"]["method"] != 0.0
    assert all(gap["by"] > 0 for gap in found["changed"])
    account = found["systems"]["tilted"]["account"]
    assert account["tables"]["Groups"][0]["group"].startswith("seniority: ")
    for row in account["tables"]["Groups"]:
        assert row["share"] == pytest.approx(row["target"], abs=1e-5)
    assert set(document(found, "a,1")["systems"]["tilted"]["own"]) == {"logit"}


def test_exposure_and_target_are_those_of_the_job(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    plain = job("plain")
    out = tmp_path / "out"
    assert command("explain", str(plain), "query=q2", f"output={out}")[0] == 0
    found = read(out)
    rows = [row["systems"]["plain"] for row in found["documents"]]
    per_query = json.loads((plain / "measures.json").read_text())["runs"]["plackett_luce"]["per_query"]
    assert sum(one["difference"] ** 2 for one in rows) == pytest.approx(per_query["q2"]["EEL"], abs=1e-12)
    assert sum(one["exposure"] ** 2 for one in rows) == pytest.approx(per_query["q2"]["EED"], abs=1e-12)
    groups = {(row["attribute"], row["group"]): row["systems"]["plain"] for row in found["groups"]}
    assert sum(one["share"] for one in groups.values()) == pytest.approx(1.0)
    for one in groups.values():
        assert sum(one["steps"].values()) == pytest.approx(one["exposure"], abs=1e-12)


def test_a_judged_document_that_is_no_candidate(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, _ = command("explain", str(job("plain")), "query=q2", "docno=zz9", f"output={out}")
    assert code == 0
    assert "it is judged, but no candidate" in said
    told = read(out)["why"]["zz9"]["plain"]
    assert told["exposure"] == 0.0
    assert not told["candidate"]
    assert told["target"] > 0
    assert "no candidate" in (out / "side_by_side.html").read_text()


def test_a_docno_with_a_comma_and_titles(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("explain", str(job("plain")), "query=q1", "docno=a,1", f"output={out}")[0] == 0
    found = read(out)
    assert list(found["why"]) == ["a,1"]
    assert document(found, "a,1")["title"] == "fair exposure of documents in rankings"
    assert document(found, "a,1")["grade"] == 2
    assert document(found, "a,1")["rank"] == 1


def test_unknown_names_are_told_with_near_ones(command: Run, job: Callable[[str], Path]) -> None:
    plain = job("plain")
    code, _, told = command("explain", str(plain), "query=q11")
    assert code == 1
    assert "'q1'" in told
    code, _, told = command("explain", str(plain), "query=q1", "docno=c55")
    assert code == 1
    assert "docno: found 'c55'" in told
    assert "'c5'" in told


def test_a_query_that_nobody_judged(command: Run, tiny: Path, tmp_path: Path, tiny_run: Path) -> None:
    (tiny / "qrels.txt").write_text("q2 0 é2 1\n", encoding="utf-8")
    made, out = tmp_path / "made", tmp_path / "out"
    words = ["collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}"]
    assert command("run", *words, "samples=3", "measures.resamples=20", f"output={made}")[0] == 0
    code, said, told = command("explain", str(made), "query=q1", f"output={out}")
    assert code == 0, told
    assert "nobody judged this query" in said
    found = read(out)
    assert not found["judged"]
    assert document(found, "a,1")["systems"]["made"]["target"] is None
    assert document(found, "a,1")["systems"]["made"]["stopping"] == 0.0
    assert found["groups"][0]["systems"]["made"]["target"] is None


def test_a_query_without_candidates(command: Run, job: Callable[[str], Path]) -> None:
    code, said, told = command("explain", str(job("plain")), "query=q4")
    assert code == 0, told
    assert "over 0 candidates" in said


def test_given_runs(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.run"
    other.write_text("q1 0 c5 1 2 x\nq1 0 a,1 2 1 x\nq1 1 a,1 1 2 x\nq1 1 c5 2 1 x\n", encoding="utf-8")
    out = tmp_path / "out"
    words = [f"qrels={tiny / 'qrels.txt'}", "browsing=rbp", "browsing.patience=0.5"]
    code, said, told = command("explain", str(tiny_run), str(other), "query=q1", *words, f"output={out}")
    assert code == 0, told
    found = read(out)
    assert list(found["systems"]) == ["first", "other"]
    mine = document(found, "a,1")["systems"]
    assert mine["first"]["exposure"] == 1.0
    assert mine["other"]["exposure"] == pytest.approx(0.75)
    assert mine["other"]["within"] == {"1": 0.5, "3": 1.0, "10": 1.0}
    assert found["why"]["a,1"]["other"]["above"] == [{"docno": "c5", "chance": 0.5}]
    assert found["why"]["a,1"]["other"]["steps"] == {}
    assert found["systems"]["first"]["account"] is None
    assert "not ranked" not in said
    assert found["groups"] == []
    assert document(found, "c5")["title"] == ""
    code, _, told = command("explain", str(tiny_run), "query=q1")
    assert code == 2
    assert "qrels=FILE" in told


def test_the_folder_of_an_evaluation(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    judged, out = tmp_path / "judged", tmp_path / "out"
    words = [f"qrels={tiny / 'qrels.txt'}", "measures.resamples=20", f"output={judged}"]
    assert command("evaluate", f"run={tiny_run}", *words)[0] == 0
    code, _, told = command("explain", str(judged), "query=q2", f"output={out}")
    assert code == 0, told
    assert read(out)["systems"]["first"]["published"] == "1 given ranking"


def test_a_mixture_shows_its_rankings_and_what_certifies_it(
    command: Run, job: Callable[[str], Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    folder = job("optimal")
    assert command("explain", str(folder), "query=q1", f"output={out}")[0] == 0
    found = read(out)["systems"]["optimal"]
    assert found["policy"] in ("Mixture", "a static ranking")
    assert found["account"]["facts"]["gap"] <= 1e-8
    assert sum(one["weight"] for one in found["mixture"]) == pytest.approx(1.0)


def test_rankings_that_were_served(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = job("served")
    code, said, told = command("explain", str(folder), "query=q1", f"output={out}")
    assert code == 0, told
    assert "the rankings that were served" in said
    one = document(read(out), "a,1")["systems"]["served"]
    assert (one["within"]["1"] * 8) % 1.0 == pytest.approx(0.0)


def test_a_static_ranking_and_minima(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    static = job("static")
    fair = job("fair")
    greedy = job("greedy")
    folders = [str(folder) for folder in (static, fair, greedy)]
    code, _, told = command("explain", *folders, "query=q1", "docno=[c5,é2]", f"output={out}")
    assert code == 0, told
    found = read(out)
    assert found["systems"]["static"]["policy"] == "a static ranking"
    assert found["why"]["c5"]["static"]["steps"]["randomisation"] == pytest.approx(
        -found["why"]["c5"]["static"]["steps"]["method"], abs=1e-12
    )
    fair_account = found["systems"]["fair"]["account"]
    assert fair_account["facts"]["ranks_with_a_minimum"] >= 1
    table = found["systems"]["greedy"]["account"]["tables"]["Groups of the first documents"]
    assert sum(row["share_of_first_1"] for row in table) == pytest.approx(1.0)


def test_options_that_a_job_cannot_have(command: Run, job: Callable[[str], Path], tmp_path: Path) -> None:
    plain = job("plain")
    code, _, told = command("explain", str(tmp_path / "nowhere"), "query=q1")
    assert code == 3
    assert "fair-rerank run" in told
    (tmp_path / "empty").mkdir()
    assert command("explain", str(tmp_path / "empty"), "query=q1")[0] == 3
    code, _, told = command("explain", str(plain))
    assert code == 2
    assert "query" in told
    code, _, told = command("explain", str(plain), "query=q1", f"output={plain / 'config.yaml'}")
    assert code == 2
    (plain / "config.yaml").write_text("method: [", encoding="utf-8")
    assert command("explain", str(plain), "query=q1")[0] == 1


def test_a_collection_that_has_changed_is_refused(command: Run, job: Callable[[str], Path]) -> None:
    plain = job("plain")
    metadata = (plain / "metadata.yaml").read_text(encoding="utf-8")
    (plain / "metadata.yaml").write_text(metadata.replace("fingerprint: ", "fingerprint: z"), encoding="utf-8")
    code, _, told = command("explain", str(plain), "query=q1")
    assert code == 2
    assert "another test collection" in told


def test_a_method_that_now_makes_another_policy_says_nothing(
    command: Run, job: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, out = job("tilted"), tmp_path / "out"
    config = (folder / "config.yaml").read_text(encoding="utf-8")
    (folder / "config.yaml").write_text(config.replace("strength: 1.0", "strength: 0.0"), encoding="utf-8")
    assert command("explain", str(folder), "query=q1", f"output={out}")[0] == 0
    assert "another policy" in read(out)["systems"]["tilted"]["account"]["reason"]
    assert "Nothing: the method" in (out / "side_by_side.html").read_text(encoding="utf-8")


def test_titles_are_escaped(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    docs = (tiny / "docs.jsonl").read_text(encoding="utf-8")
    (tiny / "docs.jsonl").write_text(docs.replace("fair exposure of", "<script>alert(1)</script>"), encoding="utf-8")
    made, out = tmp_path / "<b>made", tmp_path / "out"
    words = ["collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}"]
    assert command("run", *words, "samples=3", "measures.resamples=20", f"output={made}")[0] == 0
    assert command("explain", str(made), "query=q1", f"output={out}")[0] == 0
    text = (out / "side_by_side.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<b>made" not in text


def test_a_list_of_ten_thousand(command: Run, tmp_path: Path) -> None:
    names = [f"d{number:05d}" for number in range(10_000)]
    lines = [f"q1 Q0 {name} {rank} {20000 - rank} r\n" for rank, name in enumerate(names, 1)]
    (tmp_path / "long.run").write_text("".join(lines))
    (tmp_path / "back.run").write_text("".join(f"q1 Q0 {n} {r} {20000 - r} r\n" for r, n in enumerate(names[::-1], 1)))
    (tmp_path / "qrels.txt").write_text("q1 0 d00003 1\nq1 0 d09000 1\n")
    out, runs = tmp_path / "out", [str(tmp_path / "long.run"), str(tmp_path / "back.run")]
    code, _, told = command("explain", *runs, "query=q1", f"qrels={tmp_path / 'qrels.txt'}", f"output={out}")
    assert code == 0, told
    text = (out / "side_by_side.html").read_text()
    assert len(text) < 400_000
    assert "10,000 documents" in text
    assert len(read(out)["documents"]) == 10_000


def test_help_says_what_to_type(command: Run) -> None:
    code, said, _ = command("explain", "--help")
    assert code == 0
    assert "fair-rerank explain outputs/a outputs/b query=q1" in said
