"""The page in a browser: light, dark, narrow, printed; it loads nothing, runs nothing and hides nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser import NAMES, Browser, find_chromium
from report_worlds import build_report, full_extras

from rerankers.report import PlainTable, write_report

pytestmark = pytest.mark.slow
EVIL = "<script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\"><svg onload=window.pwned=3>"
LONG = "a_very_long_name_of_a_system_without_any_blank_in_it_" * 3


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    command = find_chromium()
    if command is None:
        pytest.skip(f"no {' or '.join(NAMES)} (Debian: apt-get install chromium)")
    return Browser(command, tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with everything that a report can have, under names that are as bad as names can be."""
    systems = (EVIL, LONG, "anchor:ideal", "anchor:random", "anchor:deterministic")
    data = build_report(
        systems=systems,
        queries=(EVIL, LONG, *(f"q{number}" for number in range(30))),
        groups={EVIL: (EVIL, LONG, "unknown")},
        title=f"A report {EVIL}",
        summary={"fairness": EVIL, EVIL: EVIL, "browsing model": "gerr(patience=0.5, satisfaction=0.5)"},
        options={EVIL: {LONG: EVIL}},
        warnings=[EVIL, LONG],
        counts={EVIL: {LONG: 1}},
        coverage=[PlainTable(EVIL, EVIL, ("group", *("column",) * 6), [(EVIL, *("1,000",) * 6)])],
        tables=[PlainTable(LONG, EVIL, ("system", *(f"column {n}" for n in range(30))), [(EVIL, *(0.5,) * 30)])],
        extras=full_extras(systems, evil=EVIL),
    )
    return write_report(tmp_path_factory.mktemp("page"), data)


@pytest.fixture(scope="module")
def found(browser: Browser, page: Path) -> dict[str, list[dict[str, Any]]]:
    return {scheme: browser.measured(page, 360, 1200, scheme=scheme) for scheme in ("light", "dark")}


def test_light_and_dark_differ_and_nothing_is_complained_of(browser: Browser, page: Path) -> None:
    from matplotlib.image import imread

    corner = {}
    for scheme in ("light", "dark"):
        picture, console = browser.picture(page, scheme)
        assert console == []
        corner[scheme] = float(imread(picture)[3, 3, :3].mean())
    assert corner["light"] > 0.9
    assert corner["dark"] < 0.2


def test_the_page_never_scrolls_sideways_and_wide_tables_do(found: dict[str, list[dict[str, Any]]]) -> None:
    for scheme in ("light", "dark"):
        narrow, wide = found[scheme]
        for one, width in ((narrow, 360), (wide, 1200)):
            assert one["width"] == width
            assert one["scrolls"] <= width, one["past"]
            assert one["outside"] == 0, "every table is in a box that scrolls"
        assert narrow["wide"] > wide["wide"] > 0


def test_text_has_contrast(found: dict[str, list[dict[str, Any]]]) -> None:
    for scheme, measured in found.items():
        for one in measured:
            assert one["dark"] == (scheme == "dark")
            assert one["worst"]["ratio"] >= 4.5, one["worst"]


def test_nothing_is_loaded_and_no_name_is_run(found: dict[str, list[dict[str, Any]]]) -> None:
    for measured in found.values():
        for one in measured:
            assert one["pwned"] == "undefined"
            assert one["resources"] == []
            assert EVIL in one["title"]


def test_the_measurements_can_fail(browser: Browser, page: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    broken = (
        '<img src="data:," onerror="window.pwned=1"><div style="width:3000px;color:#999;background:#aaa">x</div></main>'
    )
    bad.write_text(page.read_text(encoding="utf-8").replace("</main>", broken), encoding="utf-8")
    (one,) = browser.measured(bad, 1200)
    assert one["scrolls"] >= 3000
    assert one["worst"]["ratio"] < 4.5
    assert one["pwned"] == "1"


def test_it_prints_with_what_is_folded_away(browser: Browser, page: Path, tmp_path: Path) -> None:
    whole = browser.printed(page)
    assert whole.startswith(b"%PDF")
    cut = tmp_path / "cut.html"
    text = page.read_text(encoding="utf-8")
    cut.write_text(re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL), encoding="utf-8")
    assert _pages(whole) > 3
    assert len(whole) > 1.02 * len(browser.printed(cut)), "closed details are printed as well"


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
