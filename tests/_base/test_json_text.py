"""Deep nesting is refused before it is recursed into."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.json_text import DEEPEST, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_reads_what_json_reads(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)])
def test_deep_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="levels deep"):
        parse_json(text)


def test_brackets_in_strings_and_side_by_side_are_not_depth() -> None:
    assert parse_json(json.dumps(["[{" * 1000, 'a\\"[' * 300])) == ["[{" * 1000, 'a\\"[' * 300]
    assert len(parse_json("[" + ",".join(["[]"] * 1000) + "]")) == 1000
    assert parse_json("[" * DEEPEST + "]" * DEEPEST)[0]


def test_a_text_of_quotes_that_never_closes_is_looked_at_in_one_pass() -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match="levels deep"):
        parse_json("[" * 201 + '"' + '\\"' * 20_000)
    assert time.process_time() - start < 2  # a scan from every quote on takes far longer
