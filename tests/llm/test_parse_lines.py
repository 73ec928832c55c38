"""Replies that are lists, however they are set."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.llm import COUNTS, Reply, parse_lines


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a b\nc d", ("a b", "c d")),
        ("1. a b\n2. c d", ("a b", "c d")),
        ("1) a b\n(2) c d\n[3] e", ("a b", "c d", "e")),
        ("- a b\n* c d\n• e\n– f", ("a b", "c d", "e", "f")),
        ('1. "a b"\n2. “c d”\n3. «e»\n4. `f`\n5. **g**', ("a b", "c d", "e", "f", "g")),
        ("Query 1: a b\nQuery 2: c d", ("a b", "c d")),
        ("Here are two queries:\n\n1. a b\n2. c d", ("a b", "c d")),
        ("```\na b\nc d\n```", ("a b", "c d")),
        ('```json\n["a b", "c d"]\n```', ("a b", "c d")),
        ('["a b", "c d"]', ("a b", "c d")),
        ('{"queries": ["a b", "c d"], "n": 2}', ("a b", "c d")),
        ('[{"query": "a b"}, {"query": "c d", "rank": 2}]', ("a b", "c d")),
        ('{"query": "a b"}', ("a b",)),
        ('Sure: {"queries": ["a b"]}', ("a b",)),
        ('"a b",\n"c d"', ("a b", "c d")),
        ("a   b \n\n\n c\td", ("a b", "c d")),
        ("<think>1. x</think>a b", ("a b",)),
        # what belongs to the text stays
        ("3. Liga tabelle", ("3. Liga tabelle",)),
        ("1. a b", ("a b",)),
        ("2019 election\n7 wonders", ("2019 election", "7 wonders")),
        ("-5 degrees\nc++ vs c", ("-5 degrees", "c++ vs c")),
        ('the "best" nurse\n"a" and "b"', ('the "best" nurse', '"a" and "b"')),
        ("nurse's pay", ("nurse's pay",)),
        ("größe der ärzte\n护士 工资", ("größe der ärzte", "护士 工资")),
    ],
)
def test_lists(text: str, kept: tuple[str, ...]) -> None:
    lines = parse_lines(Reply(text))
    assert lines.kept == kept
    assert (lines.raw, lines.reason) == (text, "")


def test_what_is_dropped_is_counted() -> None:
    text = "Queries:\n1. Nurse pay.\n2. doctors\n3. Doctors!\n4. -\n5. a\n6. b"
    lines = parse_lines(Reply(text), echo="nurse  PAY", most=2)
    assert lines.kept == ("doctors", "a")
    dropped = {"heading": 1, "echo": 1, "repeated": 1, "empty": 1, "beyond_most": 1}
    assert lines.counts == {**dict.fromkeys(COUNTS, 0), **dropped}


def test_repetition_loops() -> None:
    lines = parse_lines(Reply("a b\n" * 500 + "a", "length"))
    assert (lines.kept, lines.counts["repeated"], lines.counts["truncated"]) == (("a b",), 499, 1)


@pytest.mark.parametrize(
    ("reply", "kept", "reason"),
    [
        (Reply("a b\nc", "length"), ("a b",), ""),
        (Reply("a b\nc d\n", "length"), ("a b", "c d"), ""),
        (Reply("a b", "length"), (), "truncated"),
        (Reply('["a b", "c d", "e', "length"), ("a b", "c d"), ""),
        (Reply('["a b", "c d"]', "length"), ("a b", "c d"), ""),
        (Reply(""), (), "empty"),
        (Reply("", "length"), (), "truncated"),
        (Reply("[]"), (), "nothing_new"),
        (Reply("Q"), (), "nothing_new"),
        (Reply("a", error="http_error"), (), "http_error"),
        (Reply("", error="refusal"), (), "refusal"),
        (Reply("I'm sorry, I can't help with that."), (), "refusal"),
    ],
)
def test_replies_that_end_otherwise(reply: Reply, kept: tuple[str, ...], reason: str) -> None:
    lines = parse_lines(reply, echo="q")
    assert (lines.kept, lines.reason) == (kept, reason)


def test_entries_that_are_no_text() -> None:
    lines = parse_lines(Reply('["a", 3, null, {"x": "b", "y": "c"}]'))
    assert (lines.kept, lines.counts["no_text"]) == (("a",), 3)


def test_most_is_at_least_one() -> None:
    with pytest.raises(InputError, match="most"):
        parse_lines(Reply("a"), most=0)


@given(st.text(), st.text(), st.none() | st.integers(1, 3))
def test_no_list_breaks_it(text: str, echo: str, most: int | None) -> None:
    lines = parse_lines(Reply(text), echo, most)
    assert len(lines.kept) <= (most or len(text))
    assert bool(lines.kept) == (not lines.reason)
    assert all(one == " ".join(one.split()) and one for one in lines.kept)
    assert len({one.casefold() for one in lines.kept}) == len(lines.kept)


def test_lines_that_go_round_in_circles_and_web_pages() -> None:
    found = parse_lines(Reply("<html>\n<p>nurse pay</p>\n" + "nurse " * 7000 + "\npay of nurses\nif a < b and b > c"))
    assert found.kept == ("pay of nurses", "if a < b and b > c")
    assert (found.counts["too_long"], found.counts["markup"]) == (1, 2)
    long = "words " * 100  # of a query as long as this, a rewrite may be so too
    assert parse_lines(Reply("other " * 100), echo=long).kept == (("other " * 100).strip(),)


def test_a_text_of_quotes_that_never_closes_is_read_in_one_pass() -> None:
    start = time.process_time()
    assert parse_lines(Reply('["' + '\\"' * 20_000)).reason == "nothing_new"
    assert time.process_time() - start < 2  # a scan from every quote on takes far longer
