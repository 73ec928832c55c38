"""The page: whole in one file, harmless whatever names the data has, complete about what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_worlds import build_report

from rerankers.report import ReportData, write_report

Build = Callable[..., ReportData]
HOSTILE = "<script>alert(\"1\")</script>' onmouseover='x & \x07 \u202e\udce9 $x_{1}$ ]]>"


class Page(HTMLParser):
    """Notes tags, attributes, ids, the text by tag, and whether every element is closed."""

    VOID = ("meta", "link", "br", "img", "input")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.append((self.open[-1], data.strip()))

    def text(self, *tags: str) -> list[str]:
        return [text for tag, text in self.texts if tag in tags]

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


def written(folder: Path, data: ReportData) -> tuple[str, Page]:
    text = write_report(folder, data).read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page]:
    return written(tmp_path_factory.mktemp("usual"), build_report())


def test_the_page_needs_no_other_file_and_no_network(usual: tuple[str, Page]) -> None:
    text, page = usual
    assert not re.search(r"https?:|//[a-z]|@import|javascript:", text)
    assert all(link.startswith("#") for link in page.attributes("href"))
    assert page.attributes("src") == []
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "img"}
    assert set(re.findall(r"url\((.)", text)) <= {"#"}


def test_links_lead_to_ids_and_ids_are_unique(tmp_path: Path, report: Build) -> None:
    text, page = written(tmp_path, report(groups={"economy": ("A", "B"), "h_index": ("A", "B")}))
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    used = {link[1:] for link in page.attributes("href")} | set(re.findall(r"url\(#([^)]*)\)", text))
    labelled = {name for value in page.attributes("aria-labelledby") for name in value.split()}
    assert used
    assert used | labelled <= set(ids)


def test_tables_have_headers_and_pictures_have_texts(usual: tuple[str, Page]) -> None:
    _, page = usual
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")
    pictures = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert len(pictures) == 4
    assert all(attrs["role"] == "img" and "-desc" in (attrs["aria-labelledby"] or "") for attrs in pictures)
    described = page.text("desc")
    assert "plackett_luce: EED 0.3750, EER 0.4062" in described[0]
    assert "Advanced 0.5000 (target 0.6000)" in described[2]


def test_hostile_names_stay_text(tmp_path: Path, report: Build) -> None:
    evil = HOSTILE
    told = evil.replace("\udce9", "e")  # Arrow holds no lone surrogates
    data = report(
        systems=(told, "anchor:random"),
        queries=(told, "q2"),
        groups={told: (told, "unknown")},
        missing={(told, "EEL", "q2"): told},
        title=evil,
        summary={evil: evil},
        options={evil: {evil: evil}},
        tier=evil,
        counts={evil: {evil: 1}},
        warnings=[evil],
    )
    text, page = written(tmp_path, data)
    assert "<script" not in text
    assert not {tag for tag, _ in page.tags} & {"script"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert any("<script>alert" in words for words in page.text("h1"))
    names = [path.name for path in (tmp_path / "figures").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9_]+\.(png|csv)", name) for name in names)
    assert len(names) == 8


def test_every_missing_value_has_its_reason(tmp_path: Path, report: Build) -> None:
    lost = {("plackett_luce", "utility", query): "no_relevant_document" for query in ("q1", "q2", "q3")}
    lost["anchor:random", "EEL", "q2"] = "not judged"
    text, page = written(tmp_path, report(missing=lost))
    assert re.search(r'<td title="no relevant document \(3 of 3 queries\)">–<sup>a</sup>', text)
    notes = " ".join(page.text("li", "b", "span"))
    assert "no relevant document" in notes
    assert "utility: 3 of 3 queries, plackett_luce." in notes
    assert "not judged" in notes
    assert "EEL: 1 of 3 queries, anchor:random." in notes
    assert 'title="not judged (1 of 3 queries)">2.' not in text  # the value follows from two queries
    assert re.search(r'title="not judged \(1 of 3 queries\)">-?\d\.\d{4}<sup>b</sup>', text)


def test_a_measure_that_a_system_lacks_is_said_so(tmp_path: Path, report: Build) -> None:
    data = report()
    means = {system: dict(values) for system, values in data.means.items()}
    means["plackett_luce"]["nDCG@10"] = 0.5
    text, _ = written(tmp_path, report(means=means))
    assert "not computed for this system" in text
    assert "nDCG@10: anchor:random, anchor:plackett_luce, anchor:ideal" in text


def test_what_was_run_and_what_was_skipped_is_there(usual: tuple[str, Page]) -> None:
    _, page = usual
    assert "generated, 3 queries" in page.text("dd")
    assert "Fewer than 30 queries." in page.text("li")
    assert {"documents without text", "queries without judgments"} <= set(page.text("th"))
    assert {"1,234", "2"} <= set(page.text("td"))
    assert "method.temperature" in page.text("code")
    assert any("query, text and first-stage scores" in text for text in page.text("p"))


def test_utility_stands_beside_every_group_loss(usual: tuple[str, Page]) -> None:
    text, _ = usual
    for table in re.findall(r"<table>\n<caption>(?:Utility|Exposure).*?</thead>", text, re.DOTALL):
        assert re.findall(r'title="([^"]+)"', table)[0] == "utility"


def test_without_groups_and_without_results(tmp_path: Path, report: Build) -> None:
    plain = ("utility", "EEL", "EED", "EER", "EET")
    text, _ = written(tmp_path / "plain", report(groups={}, keys=plain))
    assert "Exposure of groups" not in text
    assert sorted(path.name for path in (tmp_path / "plain/figures").glob("*.png")) == [
        "disparity_relevance.png",
        "per_query.png",
        "utility_loss.png",
    ]
    text, _ = written(tmp_path / "empty", report(groups={}, systems=(), warnings=[], counts={}, options={}))
    assert "No picture" in text
    assert "Nothing was skipped or treated." in text
    assert "No measure has a value per query." in text


def test_one_query_has_no_intervals(tmp_path: Path, report: Build) -> None:
    text, page = written(tmp_path, report(queries=("only",)))
    assert 'class="interval"' not in text
    assert "intervals as bars" not in text
    assert any("all 1 query by EEL" in words for words in page.text("summary"))


def test_the_confidence_of_intervals_is_the_one_given(tmp_path: Path, report: Build) -> None:
    text, _ = written(tmp_path, report(confidence=0.9))
    assert "its 90 % bootstrap interval" in text
    assert "90 % intervals as bars" in text
    assert "95 %" not in text


def test_sequences_are_called_sequences(tmp_path: Path, report: Build) -> None:
    text, _ = written(tmp_path, report(keys=("utility", "unfairness"), groups={}, unit="sequence"))
    assert "means over the sequences" in text
    assert "all 3 sequences by unfairness" in text


def test_many_systems_and_seeds(tmp_path: Path, report: Build) -> None:
    runs = [f"run_{number}" for number in range(16)]
    text, _ = written(tmp_path, report(systems=(*runs, "anchor:random")))
    assert "1 run_0" in text  # the key of the numbers, inside the picture
    assert "systems 13 to 17" in text
    assert "Not listed here" in text
