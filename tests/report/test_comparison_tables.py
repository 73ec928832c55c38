"""Tables of comparisons in their formats: decimals, LaTeX that compiles, escaped pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers.report.comparison_markdown import plain, sheet_markdown
from rerankers.report.comparison_table import Column, Line, Part, Sheet, Value, decimals_of, shown, written
from rerankers.report.latex import ROWS, document, escape

KNOWN = {
    *("begin", "end", "centering", "caption", "label", "small", "toprule", "midrule", "bottomrule", "multicolumn"),
    *("emph", "scriptsize", "mathbf", "mathrm", "dagger", "ddagger", "uparrow", "downarrow", "times", "leq", "cdot"),
    *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "ldots"),
    *("ss", "o", "O", "ae", "AE", "oe", "OE", "l", "L", "aa", "AA", "i", "j", "r", "H", "v", "c", "u"),
}
"""Commands of the LaTeX kernel, in its own text encoding, and the rules of booktabs."""


def tokens(text: str) -> list[str]:
    """Return LaTeX's tokens, comments and blanks at the head of lines left out; fail on what is no LaTeX."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    found = re.findall(r"\\[A-Za-z]+|\\.|[{}$&^_#~%]|[^\\{}$&^_#~%]+", text, re.DOTALL)
    assert "".join(found) == text
    return found


def check(text: str) -> None:
    """Fail where plain LaTeX with booktabs would not compile: braces, mathematics, commands, columns, labels."""
    assert text.isascii()
    found = tokens(text)
    check_nesting(found)
    for token in found:
        if re.fullmatch(r"\\[A-Za-z]+", token):
            assert token[1:] in KNOWN, token
        elif token.startswith("\\"):
            assert token[1] in "\\_&#%${}`'^\"=.~", token
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\n\\end\{tabular\}", text, re.DOTALL)
    for columns, body in tables:
        check_rows(body, len(columns))
    for word in ("\\begin{table}", "\\end{table}", "\\caption{", "\\label{", "\\begin{tabular}"):
        assert text.count(word) == len(tables)
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels))


def check_nesting(found: Sequence[str]) -> None:
    """Fail where braces or mathematics are not closed, or a sign stands where LaTeX would take it for a command."""
    depth, math = 0, False
    for token in found:
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
        math = math != (token == "$")
        assert token not in "#~%", f"unescaped {token}"
        assert math or token not in "^_", f"{token} outside of mathematics"
        if token in ("&", "\\\\"):
            assert (depth, math) == (0, False)
    assert (depth, math) == (0, False)


def check_rows(body: str, columns: int) -> None:
    """Fail where a row has other columns than its table, or begins with what the row before would take."""
    rows = [line for line in body.split("\n") if line not in ("\\toprule", "\\midrule", "\\bottomrule")]
    assert rows
    for line in rows:
        assert line.endswith(r" \\"), line
        assert not line.startswith(("[", "*")), line
        span = re.match(r"\\multicolumn\{(\d+)\}\{l\}", line)
        cells = sum(token == "&" for token in tokens(line))
        assert cells + (int(span[1]) if span else 1) == columns, line


def sheet(names: Sequence[str], title: str = "Results", note: str = "") -> Sheet:
    values = [Value(0.123456, 0.1, 0.15, "better", True), Value(-0.5, -0.6, -0.4, "worse"), Value(None, note="a")]
    columns = [Column("EEL", "lower", 3), Column("utility", "higher", 2), Column("P@10"), Column("seeds")]
    lines = [Line(name, [*values, "5"]) for name in names]
    return Sheet(title, "system", columns, [Part(title, lines), Part("", lines, runs=False)], [note])


def test_a_table_compiles() -> None:
    text = document([sheet(["kl_tilt temperature=0.5", "[a]", "*b", "50 % & more"], "A & B_1")], ["p ≤ 0.05"], "x")
    check(text)
    assert r"kl\_tilt temperature=0.5 & $\mathbf{0.123}^{\dagger}$ {\scriptsize [$0.100$, $0.150$]}" in text
    assert r"$-0.50^{\ddagger}$" in text
    assert r"--$^{\mathrm{a}}$" in text
    assert r"EEL $\downarrow$ & utility $\uparrow$ & P@10 & seeds \\" in text


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3), st.text(max_size=12))
def test_every_name_compiles(names: list[str], title: str) -> None:
    text = document([sheet(names, title or "x", title)], [title], title)
    check(text)
    assert text.count(r"\begin{tabular}") == 1


@pytest.mark.parametrize(
    ("text", "shown_as"),
    [
        ("a_b", r"a\_b"),
        ("Müller–Łódź naïve", r"M\"{u}ller--\L{}\'{o}d\'{z} na\"{\i}ve"),
        ("中", "{[}U+4E2D{]}"),
        ("--x ''", "-{}-x '{}'"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
    ],
)
def test_letters(text: str, shown_as: str) -> None:
    assert escape(text) == shown_as


def test_the_tokenizer_finds_what_does_not_compile() -> None:
    good = document([sheet(["a"])], [], "x")
    check(good)
    for wrong in (
        good.replace("& 5", "& 5 & 6", 1),
        good.replace("a &", "a_b &", 1),
        good.replace("a &", "50% &", 1),
        good.replace("\\emph{Results}", "\\emph{Results", 1),
        good.replace("a &", "[a] &", 1),
        good.replace("a &", "\\siunitx &", 1),
    ):
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            check(wrong)


def test_a_long_table_goes_on_in_further_floats() -> None:
    text = document([sheet([f"run {place}" for place in range(ROWS)])], ["how to read it"], "x")
    check(text)
    assert text.count("\\begin{table}") == 2
    assert text.count("how to read it") == 1
    assert "Results, continued." in text


@pytest.mark.parametrize(
    ("half", "decimals"),
    [(0.3, 2), (0.05, 3), (0.012, 3), (0.0045, 4), (1e-12, 8), (40.0, 2)],
)
def test_decimals_follow_the_interval(half: float, decimals: int) -> None:
    values = [Value(0.5, 0.5 - half, 0.5 + half), Value(0.1), Value(0.7, 0.7, 0.7)]
    assert decimals_of(values) == decimals
    assert decimals_of([Value(0.5)]) == 4


@pytest.mark.parametrize(
    ("value", "leading", "text"),
    [
        (0.25, True, "0.250"),
        (0.25, False, ".250"),
        (-0.25, False, "-.250"),
        (-0.0001, True, "0.000"),
        (1.0, False, "1.000"),
        (10.25, False, "10.250"),
        (None, True, "–"),
        (2e9, True, "2.000e+09"),
    ],
)
def test_numbers(value: float | None, leading: bool, text: str) -> None:
    assert written(value, 3, leading) == text


def test_no_number_that_is_none_is_written() -> None:
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="expected a finite number"):
            written(bad, 3)


def test_an_interval_has_the_decimals_of_its_column() -> None:
    assert shown(Value(0.123456, 0.1, 0.15), Column("x", "", 2), False) == (".12", ".10, .15")
    assert shown(Value(0.1), Column("x")) == ("0.1000", "")


def test_markdown_keeps_names_and_marks() -> None:
    lines = sheet_markdown(sheet(["a|b *c*", "kl_tilt"]))
    assert lines[2] == "| system | EEL ↓ | utility ↑ | P@10 | seeds |"
    assert "| a\\|b \\*c\\* | **0.123**† [0.100, 0.150] | -0.50‡ [-0.60, -0.40] | – (a) | 5 |" in lines
    assert any(line.startswith("| kl_tilt |") for line in lines)
    assert plain("_x_ [y](z) <b> &lt;") == r"\_x\_ \[y\](z) \<b\> \&lt;"
