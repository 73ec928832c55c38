"""The page of a query: what it shows, how much of it, and that nothing in it is alive."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from rerankers.report.side_by_side import DIFFERING, FIRST, page, rank_ranges, ranked_lists, shown_documents

ATTACK = "<script>alert('x')</script>"


def system(**changed: Any) -> dict[str, Any]:
    known = {
        **{"method": "KlTilt", "browsing": "rbp(patience=0.5)", "universe": "union", "policy": "PlackettLuce"},
        **{"published": "7 rankings drawn with seed 0", "draws": None, "candidates": 3, "judged": True},
        **{"beliefs": "score of first_stage", "rankings": [["d0", "d1"]], "mixture": [], "account": None},
    }
    return known | changed


def numbers(exposure: float, **changed: Any) -> dict[str, Any]:
    known = {
        **{"candidate": True, "exposure": exposure, "error": None, "target": 0.25, "difference": exposure - 0.25},
        **{"stopping": -0.1, "within": {"1": 0.2, "3": 0.5, "10": 1.0}, "median": [2, 2], "own": {}},
    }
    return known | changed


def document(name: str, title: str = "", **by_system: dict[str, Any]) -> dict[str, Any]:
    facts = {"grade": 1.0, "score": 2.5, "rank": 1.0, "belief": 2.5, "probability": None}
    return {"docno": name, "title": title, "groups": {"region": ["north"]}, **facts, "systems": by_system}


def told(**changed: Any) -> dict[str, Any]:
    known = {
        **{"exposure": 0.5, "draws": None, "error": None, "unsatisfied": 0.6, "stopping": -0.1, "target": 0.25},
        **{"steps": {"random order": 0.3, "method": 0.2}, "candidate": True, "left_out": 0.0},
        "ranks": [{"from": 1, "to": 1, "probability": 0.5, "weight": 1.0, "exposure": 0.5}],
        **{"takers": [{"docno": "d1", "per_nat": 0.02}], "own": 0.04, "above": [{"docno": "d1", "chance": 0.4}]},
        "above_draws": None,
        "model": None,
    }
    return known | changed


def world(**changed: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "query": {"qid": "q1", "text": "solar power"},
        "judged": True,
        "steps": {
            "random order": "every order",
            "first stage": "the first stage",
            "method": "the policy of the method",
        },
        "systems": {"a": system(), "b": system()},
        "documents": [
            document("d0", "zero", a=numbers(0.5), b=numbers(0.2)),
            document("d1", a=numbers(0.4), b=numbers(0.7)),
        ],
        "changed": [{"docno": "d0", "by": 0.3}],
        "groups": [],
        "why": {"d0": {"a": told(), "b": told(error=0.01, draws=100, takers=None)}},
    }
    return known | changed


class Elements(HTMLParser):
    """Collects elements and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_everything_that_users_write_is_escaped() -> None:
    rows = [document(ATTACK, ATTACK, a=numbers(0.5, own={ATTACK: 1.0}))]
    rows[0]["groups"] = {ATTACK: [ATTACK]}
    account = {"says": [ATTACK], "facts": {ATTACK: ATTACK}, "tables": {ATTACK: [{ATTACK: ATTACK}]}}
    found = world(
        query={"qid": ATTACK, "text": ATTACK},
        systems={"a": system(method=ATTACK, account=account, rankings=[[ATTACK]])},
        documents=rows,
        changed=[],
        why={ATTACK: {"a": told(takers=[{"docno": ATTACK, "per_nat": 1.0}])}},
        groups=[
            {
                "attribute": ATTACK,
                "group": ATTACK,
                "systems": {
                    "a": {"candidates": 1.0, "exposure": 1.0, "share": 1.0, "target": 1.0, "stopping": 0.0, "steps": {}}
                },
            }
        ],
    )
    text = page(found)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 12


def test_the_page_is_one_file_for_light_dark_and_print() -> None:
    text = page(world())
    elements = Elements()
    elements.feed(text)
    assert not {tag for tag, _ in elements.found} & {"script", "img", "link", "iframe", "object"}
    assert not [
        value
        for _, one in elements.found
        for key, value in one.items()
        if key in ("src", "href") and value and not value.startswith("#")
    ]
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert re.search(r'<html lang="en">', text)
    ids = [one["id"] for _, one in elements.found if "id" in one]
    assert len(ids) == len(set(ids))
    links = [one["href"] for tag, one in elements.found if tag == "a"]
    assert {str(link)[1:] for link in links} <= set(ids)


def test_the_same_input_gives_the_same_text() -> None:
    assert page(world()) == page(world())


def test_only_the_steps_that_are_used_are_explained() -> None:
    assert "the first stage" not in page(world())


def test_errors_of_draws_are_shown() -> None:
    text = page(world(systems={"a": system(), "b": system(draws=100)}))
    assert "estimated from 100 draws" in text
    assert "± 0.0100" in text


def test_many_documents_are_counted_not_shown() -> None:
    rows = [document(f"d{n:05d}", a=numbers(1.0 / (n + 1)), b=numbers(0.0)) for n in range(10_000)]
    changed = [{"docno": f"d{n:05d}", "by": 0.1} for n in range(9000, 9100)]
    found = world(documents=rows, changed=changed, why={"d09999": {"a": told()}})
    assert len(shown_documents(found)) == FIRST + DIFFERING + 1
    text = page(found)
    assert "71 of 10,000 documents" in text
    assert "the other 9,929 are" in text
    assert "d09999" in text
    assert len(text) < 250_000


def test_lists_tell_how_far_documents_moved() -> None:
    only = document("d2", b=numbers(0.9))
    rows = ranked_lists(world(documents=[*world()["documents"], only]))
    assert [[cell and cell["docno"] for cell in row] for row in rows] == [["d0", "d2"], ["d1", "d1"], [None, "d0"]]
    assert [row[1]["moved"] for row in rows] == [None, 0, -2]  # type: ignore[index]
    assert rows[0][1]["new"]  # type: ignore[index]


def test_ranks_beyond_ten_stand_together() -> None:
    rows = [{"from": at, "to": at, "probability": 0.01, "exposure": 0.001, "weight": 0.1} for at in range(1, 101)]
    found = rank_ranges(rows)
    assert [(row["from"], row["to"]) for row in found[8:]] == [(9, 9), (10, 10), (11, 20), (21, 50), (51, 100)]
    assert sum(row["exposure"] for row in found) == pytest.approx(0.1)
    assert found[-1]["weight"] == pytest.approx(0.1)


def test_a_document_that_is_no_candidate_and_names_with_dots() -> None:
    row = {"attribute": "r", "group": "n", "systems": {}}
    row["systems"] = {
        "a.b": {
            "candidates": 1.5,
            "exposure": 0.1,
            "share": None,
            "target": None,
            "stopping": 0.0,
            "steps": {"method": 0.1},
        }
    }
    absent = numbers(0.0, candidate=False, median=None)
    found = world(
        systems={"a.b": system()},
        documents=[document("d0", **{"a.b": absent})],
        changed=[],
        groups=[row],
        why={"d0": {"a.b": told(candidate=False)}},
    )
    text = page(found)
    assert "no candidate: nothing ranks it" in text
    assert "r</bdi>: <bdi>n" in text


def test_a_query_that_nobody_judged_says_so() -> None:
    text = page(world(judged=False))
    assert "Nobody judged this query" in text


def test_a_mixture_is_listed_with_its_weights() -> None:
    mixture = [{"weight": 0.75, "documents": ["d1", "d0"], "of": 3}]
    text = page(world(systems={"a": system(mixture=mixture), "b": system()}))
    assert "the 1 heaviest of 3 rankings" in text
    assert "0.7500" in text


def test_texts_in_another_encoding() -> None:
    assert "�" in page(world(query={"qid": "q\udce9", "text": ""}))
