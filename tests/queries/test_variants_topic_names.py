"""Topics under several names: UQV100, offsets, files of names; exclusions and caps."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.topic_names import (
    TopicNames,
    by_name,
    capped,
    kept_topics,
    matched,
    official,
    read_topic_names,
)
from rerankers.queries.variant_files import VariantFile, of_rows

NOTHING = TopicNames({})


def made(*topics: str) -> VariantFile:
    return of_rows("mine", [(topic, f"text of {topic}") for topic in topics])


@pytest.mark.parametrize(
    ("own", "there", "names"),
    [
        (["UQV100.001", "UQV100.100"], ["201", "300"], NOTHING),
        (["201", "300"], ["UQV100.001", "UQV100.100"], NOTHING),
        (["uqv100.1"], ["201"], NOTHING),
        (["7", "8"], ["107", "108"], TopicNames({}, 100)),
        (["t001"], ["51"], TopicNames({}, 50)),
        (["x"], ["201"], TopicNames({"x": "201"})),
        (["x"], ["201"], TopicNames({"x": "UQV100.001"})),
    ],
)
def test_names_of_topics(own: list[str], there: list[str], names: TopicNames) -> None:
    file = matched(made(*own), there, names, "a.txt", "the collection")
    assert list(file.variants.texts) == there
    assert file.variants.texts[there[0]] == (f"text of {own[0]}",)
    assert file.variants.counts["topics_renamed"] == len(own)
    assert set(file.ids) == set(there)


def test_ids_that_are_topics_stay_and_others_are_counted() -> None:
    file = matched(made("1", "2", "9"), ["2", "1", "3"], NOTHING, "a.txt", "the collection")
    assert list(file.variants.texts) == ["2", "1"]
    assert file.variants.counts == {"rows": 3, "topics_unknown": 1, "variants_of_unknown_topics": 1}


def test_two_names_of_one_topic_join() -> None:
    file = matched(made("UQV100.001", "201"), ["201"], NOTHING, "a.txt", "the collection")
    assert file.variants.texts["201"] == ("text of UQV100.001", "text of 201")
    assert len(file.ids["201"]) == 2


def test_an_offset_does_not_touch_ids_that_are_topics() -> None:
    names = TopicNames({}, 200)
    assert names.known("201", by_name(["201", "401"])) == "201"
    assert names.known("none", by_name(["201"])) is None


def test_no_topic_in_common() -> None:
    with pytest.raises(InputError) as caught:
        matched(made("x1", "x2"), ["1", "2", "3", "4", "5", "6"], NOTHING, "a.txt", "the collection c")
    message = str(caught.value)
    assert "a.txt: found topics x1, x2; expected those of the collection c: 1, 2, 3, 4, 5 …" in message
    assert "topics_offset" in message


def test_official_names() -> None:
    assert [official(one) for one in ("UQV100.075", "275", "UQV1000.1")] == ["275", "275", "UQV1000.1"]


def test_exclusions_under_any_name() -> None:
    topics = ["274", "275", "276"]
    assert kept_topics(topics, ["UQV100.075"]) == ["274", "276"]
    assert kept_topics(["UQV100.074", "UQV100.075"], ["275"]) == ["UQV100.074"]
    with pytest.raises(ConfigError, match="exclude_topics: found '99'; expected topics, such as 274, 275, 276"):
        kept_topics(topics, ["99"])


def test_a_cap_keeps_the_first_distinct_variants_and_all_their_rows() -> None:
    file = of_rows("mine", [("a", text) for text in ("x", "y", "x", "z", "y", "z")] + [("b", "x")])
    cut = capped(file, 2)
    assert cut.variants.texts == {"a": ("x", "y", "x", "y"), "b": ("x",)}
    assert cut.variants.counts["beyond_most"] == 1
    assert cut.ids["a"] == ("a-0", "a-1", "a-2", "a-4")
    assert capped(file, None) is file


def test_files_of_names(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("name,topic\nx,1\ny,2\nx,1\n")
    assert read_topic_names(path) == {"x": "1", "y": "2"}
    path.write_text("name,topic\nx,1\nx,2\n,3\n")
    with pytest.raises(InputError, match=r"(?s):3: found 'x' as '2'.*:4: found ''"):
        read_topic_names(path)
    path.write_text("a,b\n")
    with pytest.raises(InputError, match="found a header of a, b; expected name,topic"):
        read_topic_names(path)
