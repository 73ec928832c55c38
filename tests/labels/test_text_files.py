"""Texts from files: forms, blocks, and every problem with its line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError, MissingError
from rerankers.labels.base import Text
from rerankers.labels.columns import Wanted, arrow_columns
from rerankers.labels.texts import TextFields, TextReader

USUAL = Wanted(("id", "docno", "doc_id"), "title", "text")


def read(path: Path, fields: TextFields | None = None) -> list[Text]:
    reader = TextReader([path], fields or TextFields())
    found = list(reader.texts())
    reader.check()
    return found


def lines(folder: Path, content: bytes, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


GOOD = [  # bytes, what they hold, whether many lines are read at once
    (b'{"id":"a","text":"t","title":null}\n{"id":"b","title":"u","text":""}\n', [("a", "", "t"), ("b", "u", "")], True),
    (
        b'{"docno":"a","text":"x\\u00e9"}\r\n{"docno":"b","text":"\\ud83d\\ude00"}',
        [("a", "", "xé"), ("b", "", "😀")],
        True,
    ),
    (b'\xef\xbb\xbf{"doc_id":"a","text":"t"}\n\n', [("a", "", "t")], False),
    (b'{"id":1,"text":"t"}\n{"id":"1b","text":"t"}\n', [("1", "", "t"), ("1b", "", "t")], False),
    (b'{"id":-1,"text":"t"}\n{"id":12,"text":"u"}\n', [("-1", "", "t"), ("12", "", "u")], True),
    (b'{"id":99999999999999999999,"text":"t"}\n', [("99999999999999999999", "", "t")], False),
    (b'{"id":"a","docno":"z","text":"t"}\n{"docno":"b","text":"t"}\n', [("a", "", "t"), ("b", "", "t")], False),
    (b'{"id":"a","text":"x","text":"y"}\n', [("a", "", "y")], False),
    (b'{"id":"a","text":"q","x":NaN,"y":{"text":[1,{}]},"z":1e999}\n', [("a", "", "q")], None),
    (b'{"id":"a","text":"\\ud800 he"}\n', [("a", "", "\ud800 he")], False),
    (b"", [], None),
    (b"\n", [], False),
]


@pytest.mark.parametrize(("content", "held", "at_once"), GOOD)
def test_what_is_read(tmp_path: Path, content: bytes, held: list[tuple[str, str, str]], at_once: bool | None) -> None:
    assert [(one.id, one.title, one.text) for one in read(lines(tmp_path, content))] == held
    if at_once is not None:
        assert (arrow_columns(content.removeprefix(b"\xef\xbb\xbf"), USUAL) is not None) == at_once


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.one_of(TEXT, st.none(), st.integers(), st.booleans(), st.lists(TEXT, max_size=2))


@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "title", "text", "docno", "x"]), VALUE), max_size=4), st.booleans()
)
def test_reading_at_once_equals_reading_line_by_line(records: list[dict[str, object]], ascii_only: bool) -> None:
    block = "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in records).encode()
    at_once = arrow_columns(block, USUAL) if block else None
    if at_once is None:
        return
    ids, title, text = at_once
    assert ids == [str(one["docno"] if one.get("id") is None else one["id"]) for one in records]
    assert [text.text(i) for i in range(len(ids))] == [one["text"] for one in records]
    assert [title.text(i) for i in range(len(ids))] == [one.get("title") or "" for one in records]


def test_nothing_but_one_object_a_line_is_read_at_once() -> None:
    for block in (
        b'{"id":"a","text":"t"}{"id":"b","text":"t"}\n{"id":"c",\n"text":"u"}\n',
        b'{"id":"a","text":"t"},\n',
        b'[{"id":"a","text":"t"}]\n',
        b'{"id":"a","text":"\xff"}\n',
        b'{"id":"a","text":"x\ty"}\n',
        b"{}\n",
        b'{"id":"a","text":7}\n',
        b'{"id":1.0,"text":"t"}\n',
        b'{"id":true,"text":"t"}\n',
    ):
        assert arrow_columns(block, USUAL) is None
    assert arrow_columns(b'{"text":"a"}\n', Wanted(("text",), "title", "text")) is None


def test_all_problems_at_once(tmp_path: Path) -> None:
    content = (
        b'{"id":"a","text":"x"}\n{"id":"a","text":"y"}\n\n[1]\n{"id":"","text":3}\n{"text":"q","title":4}\n{broken\n'
        b'{"id":"\xff","text":"q"}\n{"id":"b c","text":"q"}\n{"id":"z"}\n{"id":true,"text":"t"}\n"he"'
    )
    with pytest.raises(InputError) as error:
        read(lines(tmp_path, content))
    found = [(problem.line, problem.found) for problem in error.value.problems]
    assert [line for line, _ in found] == [2, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12]
    assert found[0][1] == "id 'a' again"
    assert "text_field=NAME" in str(error.value)
    assert "id_field=NAME" in str(error.value)


def test_ids_are_once_over_all_files_and_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerankers.labels.texts._BYTES", 64)
    content = b"".join(b'{"id":"d%d","text":"a text"}\n' % i for i in range(50))
    first = lines(tmp_path, content)
    assert [one.id for one in read(first)] == [f"d{i}" for i in range(50)]
    second = lines(tmp_path, b'{"id":"new","text":"t"}\n{"id":"d7","text":"t"}\n', "b.jsonl")
    reader = TextReader([first, second])
    assert len(list(reader.texts())) == 51
    with pytest.raises(InputError, match=r"b.jsonl:2: found id 'd7' again"):
        reader.check()


def test_compressed_and_broken_archives(tmp_path: Path) -> None:
    content = b'{"id":"a","text":"t"}\n' * 1
    packed = lines(tmp_path, gzip.compress(content), "a.jsonl.gz")
    assert len(read(packed)) == 1
    whole = gzip.compress(b"".join(b'{"id":"%d","text":"t"}\n' % i for i in range(9999)))
    with pytest.raises(InputError, match="truncated or broken archive"):
        read(lines(tmp_path, whole[: len(whole) // 2], "b.jsonl.gz"))
    with pytest.raises(MissingError, match="no such file"):
        read(tmp_path / "none.jsonl")


def test_tables(tmp_path: Path) -> None:
    content = 'd_id,doc_title,document\n1,"a, b","line\nhe"\n2,,\n'
    path = lines(tmp_path, content.encode(), "a.csv")
    fields = TextFields("d_id", "doc_title", "document")
    assert read(path, fields) == [Text("1", "a, b", "line\nhe"), Text("2", "", "")]
    wrong = lines(tmp_path, content.encode() + b"2,x,y\n3,z\n", "b.csv")
    with pytest.raises(InputError) as error:
        read(wrong, fields)
    assert {problem.line for problem in error.value.problems} == {5, 6}
    with pytest.raises(InputError, match="text_field=NAME"):
        read(path)
    assert read(lines(tmp_path, b"id\ttext\na\the\n", "c.tsv")) == [Text("a", "", "he")]
