"""Where files of the tracks live, licences shown once, and copies that are not the tested ones."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError, MissingError
from rerankers.collections import licence_notices, official_files
from rerankers.collections.licence_notices import LICENCES, show_licences
from rerankers.collections.official_files import check_editions, content_digest, nameless_digest, official_file
from rerankers.collections.trec_fair import SAMPLES_2019, SAMPLES_2020, Trec2019, Trec2020
from rerankers.tracks.page_files import read_pages_2021, read_pages_2022

QUERY = json.dumps({"qid": 7, "query": "x", "documents": [{"doc_id": "a", "relevance": 1}]}) + "\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache folder of a machine on which nothing was shown yet."""
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    forget(monkeypatch)
    return tmp_path / "cache"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do as a new process."""
    monkeypatch.setattr(licence_notices, "_told", set())
    monkeypatch.setattr(official_files, "_told", set())


def test_the_table_is_whole() -> None:
    files = official_files.official_files()
    names = [name for known in files for name in (known.name, *known.also)]
    assert len(names) == len(set(names))
    assert {known.year for known in files} == {2019, 2020, 2021, 2022}
    for known in files:
        assert set(known.licences) <= set(LICENCES)
        assert known.place.startswith("https://")
        assert (known.sha256 is None) == (known.lines is None) == (not known.tested)
        assert known.sha256 is None or re.fullmatch("[0-9a-f]{64}", known.sha256)
        assert known.year > 2020 or "S2" in known.licences
    for name in (name for samples in (SAMPLES_2019, SAMPLES_2020) for split in samples.values() for name in split):
        assert official_file(f"somewhere/{name}.gz") is not None
    assert official_file("2020-merged-annotations.json") == official_file("merged-annotations.json.zst")
    assert official_file("mine.json") is None


def test_missing_files_say_where_they_live(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(MissingError) as caught:
        Trec2020(str(tmp_path / "f")).load()
    text = str(caught.value)
    for part in (
        "TREC-Fair-Ranking-eval-sample.json",
        "trec.nist.gov/data/fair",
        "into the folder",
        str(tmp_path / "f"),
    ):
        assert part in text
    with pytest.raises(MissingError, match=r"no such folder.*fair-trec\.github\.io, 2019/data"):
        Trec2019(str(tmp_path / "none"), "train").load()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="found the file"):
        Trec2019(str(tmp_path / "file")).load()
    with pytest.raises(MissingError, match=r"no such file.*trec_metadata_eval\.json.*boisestate"):
        read_pages_2021(tmp_path / "pages.json")
    with pytest.raises(MissingError, match=r"trec_2022_articles_discrete\.json.*into the folder"):
        read_pages_2022(tmp_path / "pages.json")


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "fair-TREC-training-sample.json").write_text(QUERY)
    (folder / "article-level.csv").write_text("a,Advanced\n")
    return folder


def test_licences_are_shown_once_a_machine(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    collection = Trec2019(str(folder_of(tmp_path)), "train")
    collection.load()
    out, err = capsys.readouterr()
    shown = [line for line in err.splitlines() if line.startswith("licence: ")]
    assert shown == [f"licence: {LICENCES['S2']}", f"licence: {LICENCES['NIST']}"]
    assert out == ""
    assert sorted(path.name for path in (cache / "licences").iterdir()) == ["NIST.txt", "S2.txt"]
    collection.load()
    forget(monkeypatch)
    collection.load()
    assert "licence: " not in capsys.readouterr().err


def test_without_a_cache_once_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file where the cache should be")
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "taken"))
    for _ in range(2):
        show_licences(["CC BY-SA 3.0"])
    assert capsys.readouterr().err == f"licence: {LICENCES['CC BY-SA 3.0']}\n"
    forget(monkeypatch)
    show_licences(["CC BY-SA 3.0"])
    assert "licence" in capsys.readouterr().err


def test_several_processes_show_it_once(cache: Path) -> None:
    code = "from rerankers.collections.licence_notices import show_licences\nshow_licences(['S2'])"
    environment = {**os.environ, "FAIR_RERANK_CACHE": str(cache)}
    jobs = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert "".join(job.communicate()[1] for job in jobs).count("licence: ") == 1


def test_page_files_of_the_tracks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = '{"page_id": 3, "gender": [], "geographic_locations": [], "quality_score_disc": "B"}\n'
    (tmp_path / "mine.json").write_text(line)
    (tmp_path / "trec_metadata_eval.json.gz").write_bytes(gzip.compress(line.encode()))
    mine = read_pages_2021(tmp_path / "mine.json")
    assert capsys.readouterr().err == ""
    official = read_pages_2021(tmp_path / "trec_metadata_eval.json.gz")
    assert capsys.readouterr().err == f"licence: {LICENCES['CC BY-SA 3.0']}\n"
    assert mine.counts == official.counts


def test_another_edition_is_counted_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Trec2019(str(folder_of(tmp_path)), "train").load()
    assert found.counts["files_of_another_edition"] == 2
    assert found.counts["files_with_another_number_of_lines"] == 2
    err = capsys.readouterr().err
    assert "fair-TREC-training-sample.json: another edition than the one tested" in err
    assert "1 lines where that has 652" in err


def test_same_lines_other_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = official_file("world-pop.csv")
    assert known is not None
    text = "x\n" * 20 + "x"
    (tmp_path / "world-pop.csv").write_text(text)
    assert check_editions([tmp_path / "world-pop.csv", tmp_path / "mine.csv"]) == {"files_of_another_edition": 1}
    table = tmp_path / "table.csv"
    digest = hashlib.sha256(text.encode()).hexdigest()
    table.write_text(official_files.TABLE.read_text().replace(str(known.sha256), digest))
    monkeypatch.setattr(official_files, "TABLE", table)
    official_files.official_files.cache_clear()
    try:
        assert check_editions([tmp_path / "world-pop.csv"]) == {}
        (tmp_path / "packed").mkdir()
        packed = tmp_path / "packed" / "world-pop.csv.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        assert check_editions([packed]) == {}
    finally:
        official_files.official_files.cache_clear()


def test_digests(tmp_path: Path) -> None:
    for name, text, lines in (("e", b"", 0), ("a", b"x\r\ny", 2), ("b", b"x\n\n", 2)):
        (tmp_path / name).write_bytes(text)
        assert content_digest(tmp_path / name) == (hashlib.sha256(text).hexdigest(), lines)


def test_digests_without_names(tmp_path: Path) -> None:
    def of(name: str, text: str) -> str:
        (tmp_path / name).write_bytes(text.encode())
        return nameless_digest(tmp_path / name)

    head = "id,name,h_index\r\n"
    assert of("a.csv", f'{head}5,"One, A.",3\r\n') == of("b.csv", f"{head}5,author 5,3\r\n")
    assert of("a.csv", f"{head}5,x,3\r\n") != of("b.csv", f"{head}5,x,4\r\n")
    first = '{"id": "a", "authors": [{"name": "Ö", "level": "x"}]}\n'
    assert of("a.json", first) == of("b.json", '{"authors": [{"level": "x", "name": "author 5"}], "id": "a"}\n')
    assert of("a.json", first) != of("b.json", first.replace('"x"', '"y"'))
    assert of("c.json", '[1]\n{"authors": 3}\n{"authors": [2]}') != of("d.json", '[1]\n{"authors": 3}\n')


@pytest.mark.shared_data
def test_the_copies_at_hand_are_the_tested_ones(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [path for year in (2019, 2020, 2022) for path in (shared / "data" / f"trec-fair-{year}").rglob("*.*")]
    tested = [known for known in official_files.official_files() if known.tested]
    assert {official_file(path) for path in paths} >= set(tested)
    assert check_editions(paths) == {}
    assert "another edition" not in capsys.readouterr().err


@pytest.mark.shared_data
def test_other_names_of_authors_are_no_other_edition(shared: Path, tmp_path: Path) -> None:
    for name in ("merged-annotations.json", "corpus-subset-for-queries.authors.csv"):
        path = tmp_path / name
        copy = (shared / "data" / "trec-fair-2020" / name).read_bytes()
        path.write_bytes(copy.replace(b"author 1", b"Writer 1"))
        known = official_file(path)
        assert known is not None
        assert content_digest(path)[0] != known.sha256
        assert check_editions([path]) == {}
        path.write_bytes(copy.rpartition(b"\n")[0].rpartition(b"\n")[0])
        assert set(check_editions([path]).values()) == {1}
