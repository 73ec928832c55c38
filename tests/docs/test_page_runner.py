"""The runner of the pages can fail: a page that is wrong in any way is named with its line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from page_blocks import agrees, blocks_of, marks_of
from page_runner import Page, WrongPageError


def _run(folder: Path, text: str) -> int:
    return Page("page.md", folder).run(blocks_of(text))


def test_output_is_compared(tmp_path: Path) -> None:
    _run(tmp_path, "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n")
    with pytest.raises(WrongPageError, match=r"page\.md:3: the page shows\n3"):
        _run(tmp_path, "a\n\n```python\nprint(1 + 1)\n```\n```text\n3\n```\n")


def test_text_that_is_no_output_is_not_compared(tmp_path: Path) -> None:
    assert _run(tmp_path, "```python\nprint(2)\n```\nin words:\n```text\n3\n```\n") == 1


def test_names_last_for_a_page_and_errors_have_their_line(tmp_path: Path) -> None:
    _run(tmp_path, "```python\na = 2\n```\n```python\nassert a == 2\n```\n")
    with pytest.raises(WrongPageError, match=r"page\.md:1: NameError"):
        _run(tmp_path, "```python\nassert a == 2\n```\n")


def test_shell_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(
        tmp_path,
        "File: `deep/mine.txt`\n\n```text\nwords\n```\n\n```bash\ncd deep && cat mine.txt\n```\n```text\nwords\n```\n",
    )
    with pytest.raises(WrongPageError, match="ended with 1"):
        _run(tmp_path, "```bash\nfalse\n```\n")


def test_our_command_in_process_and_in_a_shell(tmp_path: Path) -> None:
    for line in ("fair-rerank --version", "fair-rerank --version | cat"):
        _run(tmp_path, f"```bash\n{line}  # said\n```\n```text\nfair-rerankers ...\n```\n")
    with pytest.raises(WrongPageError, match="ended with 2"):
        _run(tmp_path, "```bash\nfair-rerank nonsense\n```\n")


def test_modules_of_a_page_are_forgotten(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        text = f"File: of_a_page.py\n\n```python\nvalue = {number}\n```\n"
        shown = f"```python\nimport of_a_page\nprint(of_a_page.value)\n```\n```text\n{number}\n```\n"
        assert _run(tmp_path / str(number), text + shown) == 1
        assert "of_a_page" not in sys.modules


def test_console_is_not_run(tmp_path: Path) -> None:
    assert _run(tmp_path, "```console\nexit 1\n```\n") == 0


@pytest.mark.parametrize("text", ["```\nx\n```\n", "```py\nx\n```\n", "```sh\nx\n```\n"])
def test_other_languages_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        blocks_of(text)


def test_marks() -> None:
    assert marks_of("# A\n\n<!-- test: slow, shared_data -->\n") == ["slow", "shared_data"]
    with pytest.raises(ValueError, match="found sloow"):
        marks_of("<!-- test: sloow -->\n")


def test_dots_stand_for_anything_between() -> None:
    assert agrees("a  \nb\nc\n", "a\n...\nc")
    assert not agrees("a\nb\n", "a\n...\nc")


def test_indented_blocks_lose_their_indent() -> None:
    assert blocks_of("1. do\n\n    ```python\n    if 1:\n        x = 2\n    ```\n")[0].code == "if 1:\n    x = 2\n"
