"""What README and documentation show is what happens: every block of Python and bash is run, page by page."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from page_blocks import ROOT, RUN, blocks_of, marks_of, name_of, pages
from page_runner import Page


def _params() -> list[Any]:
    """Return the pages that have something to run; one that cannot be read is among them, and fails."""
    found = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        marks: list[str] = []
        with contextlib.suppress(ValueError):
            if all(block.language not in RUN for block in blocks_of(text)):
                continue
            marks = marks_of(text)
        found.append(pytest.param(page, id=name_of(page), marks=[getattr(pytest.mark, mark) for mark in marks]))
    return found


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one cache for all pages: each collection is indexed once."""
    return tmp_path_factory.mktemp("docs-cache")


@pytest.mark.parametrize("page", _params())
def test_page(
    page: Path, tmp_path: Path, warm_cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(warm_cache))
    monkeypatch.setenv("COLUMNS", "80")
    text = page.read_text(encoding="utf-8")
    if "shared_data" in marks_of(text):
        monkeypatch.setenv("DATA", str(request.getfixturevalue("shared") / "data"))
    blocks = blocks_of(text)
    ran = Page(name_of(page), folder).run(blocks)
    assert ran == sum(block.language in RUN and block.file is None for block in blocks) > 0


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_blocks_have_a_language_we_know(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert all(block.code.strip() for block in blocks_of(text))
    assert set(marks_of(text)) <= {"slow", "shared_data"}


def test_the_pages_are_found() -> None:
    assert ROOT / "README.md" in pages()
    assert ROOT / "docs" / "tutorial.md" in pages()
