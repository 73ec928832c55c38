"""Fields of many lines at once: what a few lines of Python find in them, or None."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerankers._base.fields import Fields

FIELD = st.text(alphabet='a1é"#\x00\x0b\u2028', min_size=1, max_size=20)
SPACE = st.sampled_from([" ", "\t", "  ", " \t"])
END = st.sampled_from(["\n", "\r\n"])
LINE = st.tuples(st.lists(FIELD, min_size=3, max_size=3), SPACE, st.sampled_from(["", " "]), END).map(
    lambda parts: parts[2] + parts[1].join(parts[0]) + parts[2] + parts[3]
)
BLANK = st.sampled_from(["\n", " \n", "\t\r\n"])


def fields_of(text: str) -> list[tuple[int, list[str]]]:
    """Return the number and the fields of each line that has any."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    found = [(number, re.findall(r"[^ \t]+", line)) for number, line in enumerate(lines, 7)]
    return [(number, fields) for number, fields in found if fields]


def texts(fields: Fields, column: int) -> list[str]:
    code, names = fields.names(column)
    return [names[int(c)].as_py() for c in code]


@given(st.lists(LINE | BLANK), st.booleans())
def test_split_and_names(lines: list[str], ended: bool) -> None:
    text = "".join(lines)
    text = text if ended else text.removesuffix("\n")
    fields = Fields.split(text.encode(), 3, first=7)
    assert fields is not None
    expected = fields_of(text)
    assert fields.line.tolist() == [number for number, _ in expected]
    assert fields.blank == text.removesuffix("\n").count("\n") + 1 - len(expected)
    for column in range(3):
        column_texts = [found[column] for _, found in expected]
        assert texts(fields, column) == column_texts
        assert fields.names(column)[1].to_pylist() == list(dict.fromkeys(column_texts))


@pytest.mark.parametrize(
    "block", [b"a b\n", b"a b c d\n", b"a b c\na\n", b"a b\rx c\n", b"a b c\r\r\n", b"\ra b c\n", b"a b \xff\n"]
)
def test_lines_of_another_form(block: bytes) -> None:
    assert Fields.split(block, 3) is None
    assert Fields.split(b"a b c\n" + block, 3) is None


def test_many_names() -> None:
    """Names of every length, alike but for one byte, so many that the table grows several times."""
    rng = np.random.default_rng(0)
    names = ["x" * size + str(number) for number in range(3000) for size in (0, 1, 7, 8, 9, 16)]
    order = rng.integers(0, len(names), 40_000)
    fields = Fields.split("".join(f"{names[i]} {i}\n" for i in order.tolist()).encode(), 2)
    assert fields is not None
    assert texts(fields, 0) == [names[i] for i in order]
    whole = fields.whole(1)
    assert whole is not None
    assert whole.tolist() == order.tolist()


WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SIGNS = st.text(alphabet="+-.eE0123456789x_", min_size=1, max_size=24)
NUMBER = (
    SIGNS | st.floats().map(repr) | st.integers().map(str) | st.from_regex(REAL, fullmatch=True).filter(str.isascii)
)


@given(st.lists(NUMBER, min_size=1, max_size=6))
@example(["9007199254740993", "9007199254740992"])
@example(["1e22", "1e23", "1e-22", "1e-23", "123456789012345678e-40"])
@example(["0.1", "0.30000000000000004", "1e-400", "1e400", "-0", "5e-324", "1.7976931348623157e308"])
@example(["184467440737095516160", "0000000000000000000000001", "9" * 40, "." + "0" * 30 + "1"])
@example(["1e99999999999999999999", "0e99999999999999999999"])
def test_numbers(numbers: list[str]) -> None:
    fields = Fields.split("\n".join(numbers).encode(), 1)
    assert fields is not None
    whole = fields.whole(0)
    if all(WHOLE.fullmatch(text) for text in numbers):
        assert whole is not None
        assert whole.tolist() == [int(text) for text in numbers]
    else:
        assert whole is None
    for like in (np.zeros(len(numbers), dtype=np.int64), np.arange(len(numbers), dtype=np.int64) - 1):
        real = fields.real(0, like)
        if all(REAL.fullmatch(text) for text in numbers):
            assert real is not None
            assert list(map(repr, real.tolist())) == [repr(float(text)) for text in numbers]
        else:
            assert real is None


def test_real_numbers_that_repeat() -> None:
    values = [1 / rank for rank in range(1, 600)] * 3
    fields = Fields.split("".join(f"{value!r}\n" for value in values).encode(), 1)
    assert fields is not None
    for like in (np.arange(len(values)) % 599, np.zeros(len(values), dtype=np.int64)):
        real = fields.real(0, like)
        assert real is not None
        assert real.tolist() == values


def test_nothing() -> None:
    for block in (b"", b"\n", b" \r\n\n"):
        fields = Fields.split(block, 4)
        assert fields is not None
        assert len(fields) == 0
        assert fields.names(0)[1].to_pylist() == []
        assert fields.whole(3) is not None
        assert fields.real(3, np.empty(0, dtype=np.int64)) is not None
