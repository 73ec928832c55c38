"""Replies and the label that they give, or why they give none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.llm import Reply, parse_label

LABELS = {"neutral": ["gender neutral", "none", "N"], "female": ["woman", "F"], "male": ["man", "M"]}


@pytest.mark.parametrize(
    ("text", "value", "route", "reason"),
    [
        # the whole reply
        ('{"label": "male"}', "male", "json", ""),
        (' {"Label": " Male. ", "why": "female nurse"} ', "male", "json", ""),
        ('{"answer": "female", "confidence": 0.9, "why": "a man is named too"}', "female", "json", ""),
        ('{"label": ["woman"]}', "female", "json", ""),
        ('{"label": {"label": "m"}}', "male", "json", ""),
        ('"female"', "female", "json", ""),
        ('{"label": "Label: female"}', "female", "json", ""),
        ('{"label": "male or female"}', None, "json", "ambiguous"),
        ('{"label": ["male", "female"]}', None, "json", "ambiguous"),
        ('{"a": "male", "b": "female"}', None, "json", "ambiguous"),
        ('{"label": "unclear", "why": "male"}', None, "json", "invalid_label"),
        ('{"label": null}', None, "json", "invalid_label"),
        ('{"label": true}', None, "json", "invalid_label"),
        ('{"label": 3}', None, "json", "invalid_label"),
        ("{}", None, "json", "invalid_label"),
        ("[]", None, "json", "invalid_label"),
        # inside fences
        ('```json\n{"label": "female"}\n```', "female", "fenced", ""),
        ('The answer, not male:\n\n~~~\n{"label": "female"}\n~~~\nGood?', "female", "fenced", ""),
        ('```\n{"label": "female"}', "female", "fenced", ""),
        ("```\nmale\n```", "male", "word", ""),
        # an object in the text
        ('Sure, male? {"label": "female"} and {"label": "male"}', "female", "object", ""),
        ('{not json} {"label": "female"}', "female", "object", ""),
        ('{"label": "odd"} male', None, "object", "invalid_label"),
        # words
        ("male", "male", "word", ""),
        ("**Female**.", "female", "word", ""),
        ("It is not male", "male", "word", ""),
        ("male, male and man", "male", "word", ""),
        ("gender neutral", "neutral", "word", ""),
        ("The text is FEMALE", "female", "word", ""),
        ("ｆｅｍａｌｅ", "female", "word", ""),
        ("female, not male", None, "word", "ambiguous"),
        ("human", None, "word", "invalid_label"),
        ("females", None, "word", "invalid_label"),
        ("male_1", None, "word", "invalid_label"),
        ("", None, "", "empty"),
        (" \n", None, "", "empty"),
        ('{"label": "male"', "male", "word", ""),
        ("I'm sorry, but I cannot label this text as male.", None, "word", "refusal"),
        ("Sorry, I can’t help with that.", None, "word", "refusal"),
        ("I can only say neutral", "neutral", "word", ""),
        # thinking aloud
        ("<think>male or female?</think>\nneutral", "neutral", "word", ""),
        ('<think>male\n</think>{"label": "female"}', "female", "json", ""),
        ("<think>male, surely", None, "", "truncated"),
    ],
)
def test_labels(text: str, value: str | None, route: str, reason: str) -> None:
    parsed = parse_label(Reply(text), LABELS)
    assert (parsed.value, parsed.route, parsed.reason) == (value, route, reason)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply('{"label": "ma', "length"), "truncated"),
        (Reply("The text, which is about a man", "length"), "truncated"),
        (Reply("", "length"), "truncated"),
        (Reply('{"label": "male"} and then', "length"), ""),
        (Reply("male", "content_filter"), "refusal"),
        (Reply("", error="refusal"), "refusal"),
        (Reply("male", error="http_error"), "http_error"),
        (Reply("", error="budget"), "budget"),
        (Reply("", error="dry_run"), "dry_run"),
    ],
)
def test_replies_that_ended_otherwise(reply: Reply, reason: str) -> None:
    parsed = parse_label(reply, LABELS)
    assert (parsed.reason, parsed.value) == (reason, None if reason else "male")


def test_first_of_several() -> None:
    assert parse_label(Reply("female, not male"), LABELS, first=True).value == "female"
    assert parse_label(Reply('{"label": "male/female"}'), LABELS, first=True).value == "male"


def test_another_field() -> None:
    reply = Reply('{"label": "male", "gender": "female"}')
    assert parse_label(reply, LABELS, field="gender").value == "female"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("यह पाठ महिला के बारे में है", "f"),
        ("महिलाओं", None),  # another form of the word
        ("这是男性文本", "m"),  # no blanks between words
        ("C’est une FEMME.", "f"),
        ("l’homme", "m"),
        ("Straße der MÄNNER", "m"),
        ("Ma\u0308nner", "m"),  # the same letters, composed otherwise
        ("homme\u0301", None),
    ],
)
def test_other_scripts(text: str, value: str | None) -> None:
    labels = {"f": ["महिला", "femme"], "m": ["男性", "homme", "Männer"]}
    assert parse_label(Reply(text), labels).value == value


def test_of_overlapping_names_the_longest_counts() -> None:
    labels = {"female": ["fe male"], "male": [], "non-binary": ["non binary"], "binary": []}
    assert parse_label(Reply("non-binary"), labels).value == "non-binary"
    assert parse_label(Reply("fe male"), labels).value == "female"
    assert parse_label(Reply("binary"), labels).value == "binary"
    assert parse_label(Reply("fe maleness, male"), labels).value == "male"


@pytest.mark.parametrize(
    ("labels", "message"),
    [({}, "none"), ({"a": [""]}, "empty name"), ({"a": ["x"], "b": ["X"]}, "for both 'a' and 'b'")],
)
def test_labels_that_cannot_be_told_apart(labels: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_label(Reply("x"), labels)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.text(), st.lists).map(json.dumps))
def test_no_reply_breaks_it(text: str) -> None:
    parsed = parse_label(Reply(text), LABELS)
    assert (parsed.value is None) == bool(parsed.reason)
    assert parsed.value is None or parsed.value in LABELS


@given(st.sampled_from(sorted(LABELS)), st.text(alphabet=" .,;!?\n-"), st.text(alphabet=" .,;!?\n-"))
def test_a_bare_word_is_found_between_any_marks(label: str, before: str, after: str) -> None:
    assert parse_label(Reply(f"{before}{label}{after}"), LABELS).value == label


def test_long_replies_are_read_to_the_end() -> None:
    """In time that grows with their length: with its square, each would take minutes."""
    for text, value in (
        ("{" * 200_000, None),
        ('{"a": ' * 50_000, None),
        ("male " * 40_000, "male"),
        ("[" * 100_000, None),
        ("```\n" * 20_000, None),
        ("sorry " * 20_000, None),
    ):
        found = parse_label(Reply(text), LABELS)
        assert found.value == value
        assert bool(found.reason) == (value is None)
