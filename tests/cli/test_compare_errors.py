"""What goes wrong around a comparison: unfinished sweeps, outputs, old files, empty measures, odd names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.stages import compare as stage
from rerankers.stages.compare import compare_from_config
from tests.cli.compare_jobs import write
from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

METHOD = {"method": {"temperature": 1}}


def compare(*folders: Path, **words: Any) -> None:
    config = {"results": [str(folder) for folder in folders], "leaderboard": None, "mix": [], "output": None}
    compare_from_config(config | {"queries": None} | words)


def test_points_that_are_missing_are_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = tmp_path / "sweep"
    for place in (0, 1, 4):
        write(sweep / str(place), {"method": {"temperature": place}})
    (sweep / "2").mkdir()
    (sweep / "2" / "config.yaml").write_text("seed: 0\n")
    (sweep / "sweep.csv").write_text("point,state\n" + "".join(f"{place},x\n" for place in range(7)))
    (sweep / "compared").mkdir()  # an earlier comparison is no job
    compare(sweep, output=str(sweep / "compared"))
    told = capsys.readouterr().out
    assert f"{sweep}: 4 of 7 jobs have no results and are not compared: 2, 3, 5, 6." in told
    assert "kl temperature=4" in told
    assert (sweep / "compared" / "comparison.html").is_file()
    page = (sweep / "compared" / "comparison.html").read_text()
    assert "4 of 7 jobs have no results" in page


def test_the_output_is_tried_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a", METHOD)

    def read(folder: Path) -> None:
        raise AssertionError(folder)

    monkeypatch.setattr(stage, "read_results", read)
    (tmp_path / "file").write_text("")
    for place, message in ((tmp_path / "file" / "out", "cannot be written"), (tmp_path / "file", "found the file")):
        with pytest.raises(ConfigError, match=message):
            compare(tmp_path / "a", output=str(place))
    for place in (tmp_path / "a", tmp_path / "a" / "figures"):
        with pytest.raises(ConfigError, match="in the folder of the compared job"):
            compare(tmp_path / "a", output=str(place))
    with pytest.raises(AssertionError):
        compare(tmp_path / "a", output=str(tmp_path / "deep" / "out"))
    assert not (tmp_path / "deep").exists()  # the trial leaves nothing


def test_files_of_an_earlier_comparison_go(tmp_path: Path) -> None:
    for place in (0, 1, 2):
        write(tmp_path / str(place), {"method": {"temperature": place}})
    out = tmp_path / "out"
    compare(*(tmp_path / str(place) for place in range(3)), output=str(out))
    names = {path.name for path in out.iterdir()}
    assert {"comparison.md", "comparison.tex", "comparison.html", "differences.csv", "matched.csv"} <= names
    (out / "mine.txt").write_text("kept")
    compare(tmp_path / "0", output=str(out), formats=["tex"])
    assert {path.name for path in out.iterdir()} == {"comparison.tex", "figures", "mine.txt"}


def test_no_results_and_damaged_ones(tmp_path: Path) -> None:
    write(tmp_path / "a", METHOD)
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingError, match="no such file"):
        compare(tmp_path / "a", tmp_path / "empty")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b" / "measures.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="damaged results"):
        compare(tmp_path / "a", tmp_path / "b")
    (tmp_path / "a" / "config.yaml").write_text("a: [")
    with pytest.raises(InputError, match="the config that a job writes"):
        compare(tmp_path / "a")
    write(tmp_path / "c", METHOD)
    (tmp_path / "c" / "fronts.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="damaged fronts"):
        compare(tmp_path / "c")


def test_one_query_and_a_measure_without_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, {"method": {"temperature": name}}, units=1)
    compare(tmp_path / "a", tmp_path / "b", output=str(tmp_path / "one"))
    assert "caution: only 1 queries" in capsys.readouterr().out
    line = next(line for line in (tmp_path / "one" / "comparison.csv").read_text().splitlines() if "kl" in line)
    assert line.split(",")[8:10] == ["", ""]  # no interval of one query
    write(tmp_path / "c", {"method": {"temperature": "c"}}, lost=40)
    write(tmp_path / "d", {"method": {"temperature": "d"}})
    compare(tmp_path / "c", tmp_path / "d", output=str(tmp_path / "lost"))
    assert "note: EEL: no value of kl temperature=c" not in capsys.readouterr().out  # no pair is left
    page = (tmp_path / "lost" / "comparison.md").read_text()
    assert "| kl temperature=c |" in page
    assert "– (a) |" in page
    assert "EEL: 40 of 40 queries, kl temperature=c" in page
    write(tmp_path / "e", {"method": {"temperature": "e"}}, loss=0.7)
    compare(tmp_path / "d", tmp_path / "c", tmp_path / "e")
    told = capsys.readouterr().out
    assert "note: EEL: no value of kl temperature=c" in told
    assert "EEL      kl temperature=e" in told  # the others are compared all the same


def test_names_with_signs_of_every_format(tmp_path: Path) -> None:
    odd = "a_b|*x* <script>&amp; 50% \\$#{^~}"
    write(tmp_path / "a", METHOD, system=odd)
    write(tmp_path / "b", METHOD, system="plain")
    out = tmp_path / "out"
    compare(tmp_path / "a", tmp_path / "b", output=str(out))
    page = (out / "comparison.html").read_text()
    assert "<script" not in page
    assert "a_b|*x* &lt;script&gt;&amp;amp; 50% \\$#{^~}" in page
    assert r"a_b\|\*x\* \<script\>\&amp; 50% \\$\#\{^\~\}" in (out / "comparison.md").read_text()
    assert r"a\_b\textbar{}{*}x{*} \textless{}script\textgreater{}\&amp; 50\%" in (out / "comparison.tex").read_text()


def test_too_many_comparisons_are_refused_with_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.stages import differences

    monkeypatch.setattr(differences, "MOST", 5)
    for place in range(3):
        write(tmp_path / str(place), {"method": {"temperature": place}})
    folders = [tmp_path / str(place) for place in range(3)]
    compare(*folders)
    with pytest.raises(ConfigError, match="3 pairs of runs in 2 measures; expected at most 5 comparisons"):
        compare(*folders, pairs="all")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("seeds=togther", "Did you mean 'together'?"),
        ("formats=[mdd]", "Did you mean 'md'?"),
        ("formats=[]", "formats: found an empty list"),
        ("correction=bonferroni", "correction: found 'bonferroni'"),
        ("decimals=-1", "decimals: found -1"),
        ("leading_zero=maybe", "leading_zero: found 'maybe'"),
        ("queries=0", "queries: found 0"),
    ],
)
def test_wrong_options_of_tables(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a", METHOD)
    code, _, err = command("compare", "a", word)
    assert code == 2
    assert message in err


def test_numbers_as_they_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "a", METHOD, more={"P@10": 0.0})
    out = tmp_path / "out"
    compare(tmp_path / "a", output=str(out), leading_zero=False, decimals=2, measures=["EEL"])
    head = (out / "comparison.md").read_text().split("## Results")[1]
    assert "| kl | .6" in head
    assert "| random | .5" in head
    table = json.loads((tmp_path / "a" / "measures.json").read_text())
    assert f",{table['runs']['kl']['mean']['EEL']}," in (out / "comparison.csv").read_text()  # in full precision
