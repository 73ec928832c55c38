"""Files of query variants: every form, what is odd in them, all problems with their lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.queries.variant_files import of_rows, read_variants
from rerankers.queries.variant_forms import form_of


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, newline="")
    return path


FORMS = {
    "uqv.txt": ("a-0:red  shoe\na-1:shoes: red\nb-0:blue\n", ("a-0", "a-1")),
    "robust.txt": ("a-1-1:red shoe\na-2-1:shoes: red\nb-1-1:blue\n", ("a-1-1", "a-2-1")),
    "plain.txt": ("a:red shoe\na:shoes: red\nb:blue\n", ("a-0", "a-1")),
    "gpt.csv": (",UQV100Id,query\n0,a,red shoe\n1,a,shoes: red\n2,b,blue\n", ("a-0", "a-1")),
    "own.csv": ('topic,variant_id,text\na,x,red shoe\na,y,"shoes: red"\nb,z,blue\n', ("x", "y")),
    "own.tsv": ("qid\tsource\tquery\na\tm\tred shoe\na\tm\tshoes: red\nb\tm\tblue\n", ("a-0", "a-1")),
    "release.tsv": (
        "UQV100Id\tWorkerIdHash\tQuery\tDocCount\na\tw1\tred shoe\t3\na\tw2\tshoes: red\t1\nb\tw1\tblue\t2\n",
        ("a-0", "a-1"),
    ),
    "list.jsonl": ('{"qid": "a", "variants": ["red shoe", "shoes: red"]}\n{"qid": "b", "variants": ["blue"]}\n', None),
    "one.jsonl": (
        '{"topic": "a", "variant": "red shoe", "variant_id": "x"}\n{"topic": "a", "variant": "shoes: red"}\n'
        '{"topic": "b", "variant": "blue"}\n',
        ("x", "a-1"),
    ),
    "packed.txt.gz": ("\ufeffa-0:red shoe\r\na-1:shoes: red\r\n\r\nb-0:blue", ("a-0", "a-1")),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_set(tmp_path: Path, name: str) -> None:
    text, ids = FORMS[name]
    file = read_variants("mine", written(tmp_path, name, text))
    assert dict(file.variants.texts) == {"a": ("red shoe", "shoes: red"), "b": ("blue",)}
    assert file.ids["a"] == (ids or ("a-0", "a-1"))
    assert file.names_of("b") == {file.ids["b"][0]: "blue"}
    assert file.variants.name == "mine"
    assert file.variants.counts["rows"] == 3


def test_what_is_odd_is_kept_or_left_out_and_counted(tmp_path: Path) -> None:
    loop = "".join(f"a-{number}:the same\n" for number in range(50))
    path = written(tmp_path, "a.txt", f"{loop}a-50:other\na-51:   \nb-0:one\n\nb-1:\n")
    file = read_variants("mine", path)
    assert len(file.variants.texts["a"]) == 51
    assert file.variants.distinct("a") == ("the same", "other")
    assert file.variants.counts == {
        "rows": 54,
        "empty": 2,
        "repeated": 49,
        "most_rows_of_a_topic": 51,
        "blank_lines": 1,
    }
    assert file.ids["a"][-1] == "a-50"


def test_a_default_id_counts_every_row_of_its_topic(tmp_path: Path) -> None:
    file = read_variants("mine", written(tmp_path, "a.txt", "a:one\nb:x\na: \na:two\n"))
    assert file.ids == {"a": ("a-0", "a-2"), "b": ("b-0",)}


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.txt", "C-1:x\nC-2:y\n", "numbered"),
        ("a.txt", "C-1:x\nD:y\n", "plain"),
        ("a.txt", "\n{}\n", "jsonl"),
        ("a.csv.gz", "", "table"),
        ("a.tsv", "x", "table"),
        ("a.json", "x", "jsonl"),
    ],
)
def test_the_form_is_found(tmp_path: Path, name: str, text: str, form: str) -> None:
    assert form_of(written(tmp_path, name, text)) == form


def test_a_form_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "C-1:x\nC-2:y\n")
    assert set(read_variants("mine", path, "plain").variants.texts) == {"C-1", "C-2"}
    with pytest.raises(ConfigError, match=r"form: found 'plane'.*Did you mean 'plain'"):
        read_variants("mine", path, "plane")


def test_sources_of_one_file(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "topic,source,text\na,m1,x\na,m2,y\nb,m1,z\n")
    assert read_variants("mine", path).variants.counts["sources"] == 2
    assert dict(read_variants("mine", path, source="m1").variants.texts) == {"a": ("x",), "b": ("z",)}
    with pytest.raises(InputError, match="no row of the source 'm3'; expected one of its sources: m1, m2"):
        read_variants("mine", path, source="m3")


def test_quotes_of_a_tsv_are_those_of_the_query_unless_a_writer_set_them(tmp_path: Path) -> None:
    rows = ['a\t"x" y', 'a\t"x ""y"" z"', 'a\tx"', 'a\t"']
    file = read_variants("mine", written(tmp_path, "a.tsv", "\n".join(["topic\ttext", *rows, ""])))
    assert file.variants.texts["a"] == ('"x" y', 'x "y" z', 'x"', '"')


@pytest.mark.parametrize(
    ("name", "text", "messages"),
    [
        ("a.txt", "a:x\nno colon\nb c:y\n", [":2: found 'no colon'", ":3: found 'b c:y'"]),
        ("a.csv", "topic,text\na,x\nb\n,y\n", [":3: found 1 fields; expected 2", ":4: found an empty topic"]),
        ("a.csv", "name,words\na,x\n", ["found a header of name, words; expected one of topic"]),
        ("a.tsv", "topic\ttext\na\tx\ty\n", [":2: found 3 fields; expected 2"]),
        ("a.tsv", "", ["found an empty file"]),
        ("a.txt", "", ["found 0 rows without a variant"]),
        ("a.txt", "a-0: \n", ["found 1 rows without a variant"]),
        (
            "a.jsonl",
            '{"qid": "a"}\n{"qid": "b", "variants": "x"}\n{"qid": "c", "variants": [1]}\n{"variants": ["x"]}\nnot\n',
            [
                ":1: found no variants",
                ":2: found variants that is text",
                ":3: found variants with a number",
                ":4:",
                ":5:",
            ],
        ),
        ("a.jsonl", '{"qid": "a", "variants": ["\\ud800"]}\n', ["half of a surrogate pair"]),
    ],
)
def test_all_problems_of_a_file(tmp_path: Path, name: str, text: str, messages: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_variants("mine", written(tmp_path, name, text))
    for message in messages:
        assert message in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no such file"):
        read_variants("mine", tmp_path / "nowhere.txt")


def test_null_variants_of_json_are_empty_ones(tmp_path: Path) -> None:
    file = read_variants("mine", written(tmp_path, "a.jsonl", json.dumps({"qid": 7, "variants": ["x", None, ""]})))
    assert dict(file.variants.texts) == {"7": ("x",)}
    assert file.variants.counts["empty"] == 2


def test_rows_that_are_no_file() -> None:
    assert dict(of_rows("mine", [("a", " x "), ("a", "")]).variants.texts) == {"a": ("x",)}


@pytest.mark.shared_data
def test_the_released_sets_have_their_published_sizes(shared: Path) -> None:
    folder = shared / "data" / "query-variants"
    for temperature, distinct in (("0.0", 3702), ("0.5", 3031), ("1.0", 2755)):
        one = read_variants("gpt", folder / f"UQV100_GPT_variants_temp_{temperature}_one_shot.csv").variants
        assert sum(len(one.distinct(topic)) for topic in one.texts) == distinct
        assert len(one.texts) == 100
    human = read_variants("human", folder / "ClueWeb12B_queriesUQV.txt")
    assert (len(human.variants.texts), human.variants.counts["rows"]) == (100, 4637)
    robust = read_variants("robust", folder / "ROBUST_queriesUQV.txt").variants
    assert (len(robust.texts), robust.counts["rows"]) == (250, 3151)
    small = read_variants("small", folder / "smollm2_cacm_variants.jsonl").variants
    assert sum(len(small.distinct(topic)) for topic in small.texts) == 302
    assert small.counts["empty"] == 1


def test_one_bad_line_does_not_change_the_form(tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    path.write_text("201-0:a\n201-1:b\n202:c\n")
    with pytest.raises(InputError, match=r"3: found '202:c'; expected a line such as 201-0:text"):
        read_variants("one", path)
    assert list(read_variants("one", path, "plain").variants.texts) == ["201-0", "201-1", "202"]


def test_a_topic_with_an_empty_list_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"qid": 1, "variants": ["a"]}\n{"qid": 2, "variants": []}\n')
    assert read_variants("one", path).variants.counts == {"rows": 2, "empty": 1}
