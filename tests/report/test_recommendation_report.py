"""The page of recommended queries: everything escaped, numbers as in the results, no other file needed."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from rerankers.queries.contest import contest
from rerankers.queries.contest_pairs import ContestOptions
from rerankers.queries.held_out import Judged, Setting, TopicSystems, held_out
from rerankers.report.recommendation_plot import KINDS, trade_off_picture
from rerankers.report.recommendation_tables import candidate_table, click_table, listed, reranking_table
from rerankers.report.recommendations import DOCUMENTS, PICTURES, TOPICS, recommendation_report, write_report

EVIL = '<script>alert("x")</script> & {{ 7*7 }}'
HEBREW = "שלום \u202eעולם"
VOID = {"meta", "path", "use", "br", "rect", "circle"}


class Page(HTMLParser):
    """Checks that every element is closed, and gathers texts, table rows and what would be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.ids: list[str] = []
        self.directed: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.fetched += [str(found[name]) for name in ("src", "href", "xlink:href") if name in found]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append("bdi auto" if tag == "bdi" and found.get("dir") == "auto" else tag)

    def handle_endtag(self, tag) -> None:
        if tag not in VOID:
            assert self.open.pop().split()[0] == tag

    def handle_data(self, data) -> None:
        self.texts.append(data)
        if "bdi auto" in self.open:
            self.directed.append(data)
        if self.rows and any(tag in ("td", "th") for tag in self.open):
            self.rows[-1][-1] += data


def candidate(text, generators, relevance, side, **more):
    given = {"judged": {"nDCG@10": 0.25}, "rank": 1, "dominates": 2, "dominated_by": 0, "coverage": {"side": 0.875}}
    return {"text": text, "generators": generators, "objectives": {"relevance": relevance, "side": side}} | given | more


def topic(**more):
    click = {
        "equals_best_reranking": {
            "side": {"alternative": "kl_tilt", "closeness": 0.99, "rate": 0.421, "relevance_at_rate": 0.7}
        },
        "equals_as_relevant": {
            "side": {"alternative": "uniform", "closeness": 0.8, "rate": None, "reason": "out_of_reach"}
        },
    }
    moves = {
        "enter": [{"docno": f"d{n}", "rank": n, "groups": {"side": ["<b>"]}} for n in range(30)],
        "leave": ["x&y"],
    }
    change = {"change": {"relevance": -0.4, "side": 0.25}, "explanation": f"closer {EVIL}"}
    rows = [
        candidate("the original", ["original"], 1.0, 0.5, id="original"),
        candidate(EVIL, ["rm3", "llm"], 0.6, 0.75, id="a1", click=click, **change, **moves),
        candidate(HEBREW, ["random"], 0.4, 0.7, id="b2"),
        candidate("dominated", ["random"], 0.1, 0.1, id="c3", rank=2),
        candidate("left out", ["random"], None, None, id="d4", rank=None, dominates=None),
    ]
    alternative = {
        "name": "kl_tilt(strength=1.0)",
        "axis": "side",
        "objectives": {"relevance": 0.8, "side": 0.99},
        "single": {"side": 0.9},
        "judged": {"nDCG@10": 0.31},
    }
    return {
        "query": "the original",
        "candidates": rows,
        "front": [0, 1, 2],
        "shown": [1],
        "alternatives": [alternative],
    } | more


def results(**more):
    draw = np.random.default_rng(0)
    points = {str(q): {name: draw.random((4, 2)) for name in ("rm3", "llm", "a_b")} for q in range(5)}
    one = Judged("x", {"relevance": 1.0, "side": 0.5}, {"side": 0.5, "nDCG@10": 0.3})
    two = Judged("x", {"relevance": 1.0, "side": 0.75}, {"side": 0.625, "nDCG@10": None})
    settings = (Setting("bm25", "uniform@20", {"side": {"a": 1.0}}), Setting("tf <idf>", "rbp", {"side": {"a": 1.0}}))
    found = {
        "options": {"n": 20, "nested": {"query": EVIL}},
        "counts": {"recommend": {"empty_queries": 3}},
        "topics": {"q<1>": topic(), "q2": topic()},
        "comparison": contest(points, ContestOptions(resamples=50)),
        "evaluation": held_out({q: TopicSystems(one, [two], [one]) for q in "abcdef"}, *settings, resamples=50),
    }
    return found | more


def test_page_is_well_formed_escaped_and_alone() -> None:
    text = recommendation_report(results())
    page = Page(text)
    assert page.open == []
    assert "<script" not in text
    assert EVIL in "".join(page.texts)
    assert EVIL in page.directed
    assert HEBREW in page.directed
    assert all(target.startswith("#") for target in page.fetched)
    assert len(set(page.ids)) == len(page.ids)
    assert "Content-Security-Policy" in text
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"url\((?!#)", text)
    assert text == recommendation_report(results())


def test_numbers_of_the_tables() -> None:
    rows = Page(recommendation_report(results())).rows
    assert ["the original", "original", "original", "1.000", "0.500", "88\u00a0%", "1; 2", "0.2500"] in rows
    assert [EVIL, "recommended", "rm3, llm", "0.600 (-0.400)", "0.750 (+0.250)", "88\u00a0%", "1; 2", "0.2500"] in rows
    assert ["kl_tilt(strength=1.0)", "side", "0.8000", "0.9900", "0.9000", "0.3100"] in rows
    assert [EVIL, "side", "closest", "kl_tilt", "0.9900", "42.1\u00a0%"] in rows
    assert [EVIL, "side", "as relevant", "uniform", "0.8000", "out of reach"] in rows
    assert not any("dominated" in row for row in rows)
    held = next(row for row in rows if row[0] == "side" and row[1] == "6")
    assert held[2:7] == ["0.5000", "0.6250", "0.5000", "0.5000", "0.125 [0.125, 0.125]"]


def test_generators_stand_beside_their_raw_count() -> None:
    found = results()
    rows = Page(recommendation_report(found)).rows
    pair = found["comparison"]["pairs"][0]
    raw = next(row for row in rows if row[0] == "a b against llm" and row[1].startswith("raw count, all"))
    assert raw[3:5] == [str(pair["raw_count"]["a_over_b"]), str(pair["raw_count"]["b_over_a"])]
    mine = next(row for row in rows if row[:2] == ["a b against llm", "front share"])
    assert mine[3] == f"{pair['equal']['front_share']['a']['mean']:.4f}"
    assert any(row[0] == "generator" and "front origin" in row for row in rows)


def test_warnings_name_what_is_circular() -> None:
    text = recommendation_report(results(warnings=["a warning"]))
    assert "circular: side" in text
    assert "a warning" in text
    apart = results()
    apart["evaluation"]["circular"] = []
    assert "circular: side" not in recommendation_report(apart)


def test_documents_that_enter_and_leave() -> None:
    text = "".join(Page(recommendation_report(results())).texts)
    assert f"d{DOCUMENTS - 1} (<b>) and {30 - DOCUMENTS} more" in text
    assert "Leave: x&y." in text


def test_places_and_ids_are_the_same() -> None:
    by_id = topic(front=["original", "a1", "b2"], shown=["a1"])
    assert listed(by_id) == listed(topic()) == [0, 1, 2]
    assert candidate_table(by_id) == candidate_table(topic())
    assert recommendation_report(results(topics={"q": by_id})) == recommendation_report(results(topics={"q": topic()}))


def test_other_names_of_the_same_things() -> None:
    given = topic()
    given["candidates"][1]["delta"] = given["candidates"][1].pop("change")
    given["candidates"][1]["unknown_share"] = {"side": 0.125}
    del given["candidates"][1]["coverage"]
    assert candidate_table(given).rows == candidate_table(topic()).rows


def test_least_that_is_told() -> None:
    row = {"text": "q", "generators": ["original"], "objectives": {"relevance": None}}
    text = recommendation_report({"topics": {"q": {"query": "q", "candidates": [row], "front": [], "shown": []}}})
    rows = Page(text).rows
    assert ["q", "original", "original", "–", "–", "not compared"] in rows
    assert "There are no two generators to compare." in text
    assert "Nothing was held out." in text
    assert "<svg" not in text
    empty = recommendation_report({"topics": {}})
    assert "No query was given." in empty
    assert Page(empty).open == []


def test_statement_and_summary() -> None:
    axes = {
        "side": {
            "queries": 2,
            "original": 0.5,
            "recommended": 0.75,
            "relevance_of_recommended": 0.6,
            "reranked": None,
            "relevance_of_reranked": None,
            "as_close": {"relevance": 0.875},
        }
    }
    text = recommendation_report(results(evaluation={"statement": "they differ"}, summary={"axes": axes}))
    assert ["side", "2", "0.5000", "0.7500", "0.6000", "–", "–", "0.8750"] in Page(text).rows
    assert "they differ." in text
    assert "Nothing was held out." not in text


def test_many_topics_are_cut_and_said_so(monkeypatch) -> None:
    monkeypatch.setattr("rerankers.report.recommendations.TOPICS", 3)
    monkeypatch.setattr("rerankers.report.recommendations.PICTURES", 2)
    text = recommendation_report(results(topics={str(q): topic() for q in range(5)}))
    assert text.count("<svg") == 2
    assert "2 further queries" in text
    assert "5 queries; objectives" in text
    assert (TOPICS, PICTURES) == (100, 20)


def test_picture_shows_every_point_once() -> None:
    picture = trade_off_picture("t", topic())
    assert picture is not None
    kinds = [row[1] for row in picture.rows]
    assert kinds == ["original", "recommended", "front", "other", "reranking"]
    assert set(kinds) == set(KINDS)
    assert picture.rows[1][3:] == (0.6, 0.75)
    assert trade_off_picture("t", topic(candidates=[], front=[], shown=[])) is None


def test_tables_that_have_nothing_to_say() -> None:
    bare = copy.deepcopy(topic(alternatives=[]))
    bare["candidates"][1]["click"] = None
    assert reranking_table(bare) is None
    assert click_table(bare) is None


def test_lone_surrogates_and_line_breaks() -> None:
    bad = topic(query="a\udc80b\nc")
    text = recommendation_report(results(topics={"q": bad}))
    text.encode("utf-8")
    assert Page(text).open == []


def test_written_where_it_is_wanted(tmp_path) -> None:
    path = write_report(results(), tmp_path / "new")
    assert path == tmp_path / "new" / "report.html"
    assert path.read_text("utf-8") == recommendation_report(results())
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]


@pytest.mark.parametrize("axes", [1, 2, 3, 7])
def test_planes_up_to_six(axes) -> None:
    names = {f"axis {n}": 0.1 * n for n in range(axes)}
    row = candidate("q", ["original"], 1.0, 0.5)
    row["objectives"] = {"relevance": 1.0, **names}
    picture = trade_off_picture("t", {"query": "q", "candidates": [row], "front": [0], "shown": []})
    assert picture is not None
    assert len(picture.draw().axes) == min(axes, 6)
    assert ("1 axes are left" in picture.caption) == (axes == 7)
