"""What README and documentation promise beside the blocks that `tests/docs` runs: options, modules, links."""

from __future__ import annotations

import contextlib
import io
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def test_ten_lines_print_what_is_shown() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert code is not None
    assert shown is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code[1], "README.md", "exec"), {})
    assert printed.getvalue() == shown[1]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 250


def test_the_engine_does_what_is_shown() -> None:
    page = (ROOT / "docs" / "reference" / "engine.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "frank_wolfe" in block)
    names: dict[str, object] = {}
    exec(compile(code, "engine.md", "exec"), names)
    assert float(str(names["gap"])) < 1e-9
    for folder, word in (("estimators", "draws_needed"), ("autograd", "pl_exposure"), ("optimal", "duality_gap")):
        assert hasattr(import_module(f"rerankers.exposure.{folder}"), word)


def test_training_from_arrays() -> None:
    page = (ROOT / "docs" / "how-to" / "training.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "LearningRows" in block)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "training.md", "exec"), {})
    assert float(printed.getvalue().split()[0]) < 0.2


def _options(text: str) -> list[tuple[str, str]]:
    """Return the options of groups, ``method=kl_tilt``, in commands that a page shows but nobody runs, as well."""
    joined = re.sub(r"\\\n\s*", "", text)
    commands = re.findall(r"^ *(?:\$ )?fair-rerank (?:run|evaluate|train) ?(.*?)(?:\s+#.*)?$", joined, re.MULTILINE)
    return [
        (group, option)
        for line in commands
        if "--config-dir" not in line  # options of the reader's own
        for group, options in re.findall(r"(?<![.\w])(\w+)=([\w.,-]+)(?![\w/.])", line)
        if (ROOT / "conf" / group).is_dir()
        for option in options.split(",")
    ]


def test_options_named_in_the_readme_are_looked_at() -> None:
    assert len(_options(README)) > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_options_that_are_named_exist(page: Path) -> None:
    for group, option in _options(page.read_text(encoding="utf-8")):
        if "." not in option and not option.isupper():  # not a file, nor a word in the place of one
            assert (ROOT / "conf" / group / f"{option}.yaml").is_file(), (group, option)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """The site's own build sees to the links within ``docs``."""
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_the_citation_is_valid_and_of_this_version() -> None:
    from rerankers import __version__

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == __version__
    for reference in cited["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference), reference["title"]
        for author in reference["authors"]:
            assert set(author) <= {"family-names", "given-names", "name-particle"}, author
