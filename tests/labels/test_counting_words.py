"""Counting words in one pass over bytes equals the plain loop, for every text."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.labels.counting import WordCounter, utf8
from rerankers.labels.lexicon import lexicon_of
from rerankers.labels.tokens import SEPARATOR, SLOW, TOKENS, fold_table, letter_runs, tokens_named

WORDS = {
    "male": ["he", "König", "أب", "पिता", "ΟΔΟΣ", "straße", "İl", "o", "мужчина", "아버지", "x" * 40],
    "female": ["she", "mère", "אמא", "माता", "é", "she", "女", "женщина", "어머니", "o", "𝒜b"],
    "other": ["they", "o", "ё"],
}
LEXICON = lexicon_of(WORDS)
PIECES = [
    *(word for words in WORDS.values() for word in words),
    "\u0301",
    "\u05b0",
    "\u200d",
    "'",
    "_",
    "7",
    " ",
    "\n",
    "ß",
]


def plain(text: str, name: str) -> tuple[list[int], int]:
    """The loop that one would write."""
    if name == "whitespace":
        fold, words = str.lower, [word for word in text.lower().split(" ") if word]
    else:
        fold = lambda one: unicodedata.normalize("NFC", one.casefold())  # noqa: E731
        words = [word.rstrip("\u200c\u200d") for word in cut_by_hand(fold(text))]
    table: dict[str, set[int]] = {}
    for group, of_group in enumerate(WORDS.values()):
        for word in of_group:
            table.setdefault(fold(unicodedata.normalize("NFC", word)), set()).add(group)
    counts = [0] * len(WORDS)
    for word in words:
        for group in table.get(word, ()):
            counts[group] += 1
    return counts, len(words)


def cut_by_hand(text: str) -> list[str]:
    """Cut sign by sign: a letter begins a word, letters, marks and joiners go on with it."""
    words, word = [], ""
    for sign in text:
        kind = unicodedata.category(sign)[0]
        if kind == "L" or (word and (kind == "M" or sign in "\u200c\u200d")):
            word += sign
        else:
            words.append(word)
            word = ""
    return [one for one in [*words, word] if one]


TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from([p.upper() for p in PIECES]), st.text(max_size=8)))


@pytest.mark.parametrize("name", list(TOKENS))
@given(texts=st.lists(TEXTS.map("".join), max_size=4))
def test_equals_the_plain_loop_for_every_text(name: str, texts: list[str]) -> None:
    found = WordCounter.of(LEXICON, tokens_named(name)).count(texts)
    assert found.counts.shape == (len(texts), 3)
    for row, text in enumerate(texts):
        counts, tokens = plain(text, name)
        assert found.counts[row].tolist() == counts, text
        assert found.tokens[row] == tokens, text


@given(st.text())
def test_letter_runs_equal_cutting_by_hand(text: str) -> None:
    assert letter_runs().findall(text) == cut_by_hand(text)


def test_pattern_knows_every_letter_and_mark() -> None:
    pattern = letter_runs()
    for code in range(0x110000):
        kind = unicodedata.category(chr(code))[0]
        inside = pattern.fullmatch("a" + chr(code)) is not None
        assert inside == (kind in "LM" or chr(code) in "\u200c\u200d"), hex(code)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", [0, 0, 0]),
        ("He's here; HE left_he2he.", [4, 0, 0]),
        ("the sheriff", [0, 0, 0]),
        ("ME\u0300RE", [0, 1, 0]),  # decomposed and in capitals
        ("me\u0300re", [0, 1, 0]),
        ("STRASSE straße", [2, 0, 0]),
        ("οδος οδοσ", [2, 0, 0]),
        ("قال أب.", [1, 0, 0]),
        ("אמא, אמא", [0, 2, 0]),
        ("पिता माता", [1, 1, 0]),
        ("아버지", [1, 0, 0]),
        ("he\u200c he\u200d, he", [3, 0, 0]),  # joiners behind a word
        ("h\u200ce", [0, 0, 0]),  # and inside it
        ("o O", [2, 2, 2]),  # in three groups: counts for each
        ("x" * 40 + " " + "x" * 41, [1, 0, 0]),
        ("\ud800 he", [1, 0, 0]),
        ("h\u00ade", [0, 0, 0]),
    ],
)
def test_words_by_hand(text: str, counts: list[int]) -> None:
    assert WordCounter.of(LEXICON, tokens_named("regex")).count([text]).counts[0].tolist() == counts


def test_whitespace_is_the_published_rule() -> None:
    found = WordCounter.of(LEXICON, tokens_named("whitespace")).count(["He he. he's\nhe  SHE"])
    assert found.counts[0].tolist() == [1, 1, 0]
    assert found.tokens[0] == 4
    assert TOKENS["whitespace"].words("A  b.\tc") == ["a", "b.\tc"]


def test_no_texts_and_texts_between() -> None:
    counter = WordCounter.of(LEXICON, tokens_named("regex"))
    assert counter.count([]).counts.shape == (0, 3)
    found = counter.count(["he", "", "mère he", "he"])  # words do not run over the border of texts
    assert found.counts[:, 0].tolist() == [1, 0, 1, 1]
    assert counter.count(["h", "e"]).counts.sum() == 0


def test_table_of_folded_characters() -> None:
    table = fold_table("regex", False)
    assert table[ord("É")] == ord("é")
    assert table[ord("5")] == table[ord("_")] == table[ord("—")] == SEPARATOR
    assert table[0x301] == table[ord("ß")] == table[0x1100] == table[0x1F71] == SLOW
    assert np.array_equal(fold_table("regex", True), table[:128])
    with pytest.raises(ConfigError, match="whitespace"):
        tokens_named("words")


def test_bytes_of_texts() -> None:
    found = utf8(["a", "", "é"])
    assert found.bounds.tolist() == [0, 1, 1, 3]
    assert [found.text(i) for i in range(3)] == ["a", "", "é"]


def test_large_lexicon() -> None:
    words = [f"w{re.sub('[0-9]', lambda d: 'abcdefghij'[int(d[0])], str(i))}" for i in range(5000)]
    lexicon = lexicon_of({"a": words[::2], "b": words[1::2]})
    found = WordCounter.of(lexicon, tokens_named("regex")).count([" ".join(words), "wa wz"])
    assert found.counts.tolist() == [[2500, 2500], [1, 0]]
