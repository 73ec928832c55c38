"""Word lists: forms, what is odd in them, and every error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.labels.lexicon import lexicon_of, load_lexicon, shipped_lexicons
from rerankers.labels.tokens import tokens_named


def written(folder: Path, text: str, name: str = "words.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_shipped_lists() -> None:
    assert shipped_lexicons() == ["gender_163", "gender_32"]
    short, long = load_lexicon("gender_32"), load_lexicon("gender_163")
    assert short.groups == long.groups == ("male", "female")
    assert short.counts["words"] == 64
    assert long.counts["words"] == 326
    without = load_lexicon("gender_163", names="drop")
    assert without.counts["names_dropped"] == 262
    assert without.words == short.words


@pytest.mark.shared_data
def test_shipped_lists_are_the_published_ones(shared: Path) -> None:
    for name, path in (
        ("gender_32", "rekabsaz2020/wordlist_genderspecific.txt"),
        ("gender_163", "rekabsaz2021/wordlist_gender_representative.txt"),
    ):
        assert load_lexicon(str(shared / "data/gender-bias" / path)).words == load_lexicon(name).words


def test_forms(tmp_path: Path) -> None:
    text = "\ufeff# a comment\nWord,Group\nKönig,m\r\n\nreine\tf\n they , Other \nKO\u0308NIG,m\n"
    found = load_lexicon(written(tmp_path, text))
    assert found.groups == ("male", "female", "Other")
    assert found.words == {"König": (0,), "reine": (1,), "they": (2,)}
    assert found.counts["duplicates"] == 1


def test_a_word_in_two_groups(tmp_path: Path) -> None:
    path = written(tmp_path, "kid,a\nking,a\nKid,b\nqueen,b\n")
    with pytest.raises(InputError, match=r"words.csv:3: found 'kid' in the groups a and b.*overlap=both"):
        load_lexicon(path)
    both, none = load_lexicon(path, overlap="both"), load_lexicon(path, overlap="drop")
    assert both.words["kid"] == (0, 1)
    assert "kid" not in none.words
    assert both.counts["words_in_two_groups"] == none.counts["words_in_two_groups"] == 1


def test_words_are_one_only_where_texts_are_folded_so(tmp_path: Path) -> None:
    path = written(tmp_path, "Straße,a\nStrasse,b\n")
    with pytest.raises(InputError, match="in the groups a and b"):
        load_lexicon(path)
    kept = load_lexicon(path, tokens="whitespace")  # lower case keeps ß
    assert kept.table(tokens_named("whitespace")) == {"straße": (0,), "strasse": (1,)}


def test_all_problems_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "he,a\nmother in law,b\nalone\n12,b\nx,neutral\n,b\n")
    with pytest.raises(InputError) as error:
        load_lexicon(path)
    assert [problem.line for problem in error.value.problems] == [2, 3, 4, 5, 6]
    assert "cut into ['mother', 'in', 'law']" in str(error.value)
    assert "no letters" in str(error.value)


def test_words_must_fit_the_way_of_cutting(tmp_path: Path) -> None:
    path = written(tmp_path, "o'brien,a\nhe,a\nshe,b\n")
    with pytest.raises(InputError, match="tokens=regex"):
        load_lexicon(path)
    assert "o'brien" in load_lexicon(path, tokens="whitespace").words


@pytest.mark.parametrize("text", ["", "he,a\n", "# nothing\n"])
def test_two_groups_at_least(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="at least two groups"):
        load_lexicon(written(tmp_path, text))


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names"):
        load_lexicon("gender_32", names="no")
    with pytest.raises(ConfigError, match="overlap"):
        load_lexicon("gender_32", overlap="first")
    with pytest.raises(MissingError, match="one of gender_163, gender_32"):
        load_lexicon(str(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="'tokens'"):
        lexicon_of({"tokens": ["a"], "b": ["c"]})
    with pytest.raises(InputError, match="1 groups"):
        lexicon_of({"a": ["b"]})
