"""The documentation as a site: formulas are drawn, nothing is loaded from elsewhere, what is wrong stops the build."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from page_blocks import ROOT

pytest.importorskip("mkdocs", reason="the documentation is built where the extra docs is installed")
sys.path.insert(0, str(ROOT / "scripts"))
from docs_formulas import on_page_content, svg
from mkdocs.exceptions import PluginError

PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]*\ssrc="(https?:)?//|<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*//', re.I
)


def test_a_formula_becomes_a_picture_on_the_line() -> None:
    html = on_page_content(r'<p>a <span class="arithmatex">\(\frac{a}{b} &lt; 1\)</span> b</p>', PAGE)
    assert re.fullmatch(r"<p>a <svg .*</svg> b</p>", html, re.DOTALL)
    assert 'aria-label="\\frac{a}{b} &lt; 1"' in html
    assert "arithmatex" not in html


def test_a_formula_of_its_own_is_a_block() -> None:
    html = on_page_content('<div class="arithmatex">\\[\na + b\n\\]</div>', PAGE)
    assert html.startswith('<div class="formula"><svg ')


def test_depth_below_the_line_is_said() -> None:
    def below(tex: str) -> float:
        found = re.search(r"vertical-align:(-?[\d.]+)em", svg(tex))
        assert found is not None
        return float(found[1])

    assert below("a") > below("a_y") > below(r"\frac{a}{b}")


def test_one_that_cannot_be_read_names_page_and_formula() -> None:
    with pytest.raises(PluginError, match=r"a\.md: the formula \\begin\{cases\}"):
        on_page_content(r'<span class="arithmatex">\(\begin{cases}\)</span>', PAGE)


@pytest.mark.slow
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "docs.sh"), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "FAIR_RERANK_VENV": str(Path(sys.prefix)), "HOME": str(tmp_path)},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = sorted((tmp_path / "site").rglob("*.html"))
    sources = list((ROOT / "docs").rglob("*.md"))
    assert len(built) >= len(sources)
    for page in built:
        text = page.read_text(encoding="utf-8")
        assert not LOADED.search(text), page
        assert 'class="arithmatex"' not in text, page
