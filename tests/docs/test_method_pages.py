"""Every method has a page that says what a page must say, and what it says about options, tiers and kinds is so."""

from __future__ import annotations

import dataclasses
import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from page_blocks import ROOT, blocks_of

from rerankers._conf import conf_folder
from rerankers.exposure import RBP
from rerankers.methods import rerank_one
from rerankers.methods.names import METHODS, NAMES

pytestmark = pytest.mark.slow

METHOD_PAGES = ROOT / "docs" / "methods"
SECTIONS = (
    "Idea",
    "Formula",
    "What it promises",
    "Cost",
    "When it loses",
    "Information",
    "Options",
    "Example",
    "Source",
)
OTHERS = {"index", "training"}
NO_SOURCE = {"deterministic", "epsilon_greedy"}
"""Whose page says that there is none to cite."""
ROW = re.compile(r"^\| \[`(?P<name>\w+)`\]\(\w+\.md\) \|(?P<cells>.*)\|$", re.M)


def text_of(name: str) -> str:
    return (METHOD_PAGES / f"{name}.md").read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found is not None, title
    return found[1]


def test_every_method_has_a_page_and_every_page_a_method() -> None:
    configs = {path.stem for path in (conf_folder() / "method").glob("*.yaml")}
    assert {path.stem for path in METHOD_PAGES.glob("*.md")} - OTHERS == configs == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_sections(name: str) -> None:
    text = text_of(name)
    assert re.search(rf"^# `{name}`: \S", text, re.M)
    assert tuple(re.findall(r"^## (.+)$", text, re.M)) == SECTIONS
    assert all(section(text, title).strip() for title in SECTIONS)
    assert "$$" in section(text, "Formula")
    assert re.search(r"\d", section(text, "Cost")), "the cost has a number"
    assert len(re.findall(r"^- ", section(text, "When it loses"), re.M)) >= 2
    assert ("```bibtex" in section(text, "Source")) is (name not in NO_SOURCE)


@pytest.mark.parametrize("name", NAMES)
def test_options_come_from_the_class(name: str) -> None:
    assert re.findall(r"^<!-- options: (.+) -->$", text_of(name), re.M) == [name]
    hooks = load_hooks()
    table = hooks.options_table(name)
    fields = [field.name for field in dataclasses.fields(METHODS[name]) if field.init]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == fields
    assert all(cells.strip(" |") for cells in re.findall(r"^\| `\w+` \| `[^|]*` \|(.*)$", table, re.M))


@pytest.mark.parametrize("name", NAMES)
def test_the_information_tier_is_named(name: str) -> None:
    kind = METHODS[name](**({"protected": "a"} if name == "fa_star_ir" else {}))
    assert f"`{kind.tier}`" in section(text_of(name), "Information")


@pytest.mark.parametrize("name", NAMES)
def test_the_example_is_a_command_for_the_method(name: str) -> None:
    (block,) = [one for one in blocks_of(section(text_of(name), "Example")) if one.language == "bash"]
    words = shlex.split(block.code.replace("\\\n", " "))
    assert words[:2] == ["fair-rerank", "run"]
    assert f"method={name}" in words or name == "plackett_luce"
    chosen = {"method": name} | dict(
        word.split("=", 1) for word in words[2:] if (conf_folder() / word.split("=")[0]).is_dir()
    )
    for word in words[2:]:
        group, dot, key = word.split("=", 1)[0].partition(".")
        if dot:
            option = chosen.get(group) or config_of("run")["defaults"][group]
            assert key in config_of(f"{group}/{option}"), word
        elif group in chosen:
            assert (conf_folder() / group / f"{chosen[group]}.yaml").is_file(), word
        else:
            assert group in config_of("run"), word


def config_of(name: str) -> dict[str, Any]:
    """Return a config as it stands; the defaults of a command as a mapping of its groups."""
    found = yaml.safe_load((conf_folder() / f"{name}.yaml").read_text(encoding="utf-8"))
    if "defaults" in found:
        found["defaults"] = {
            key: value for one in found["defaults"] if isinstance(one, dict) for key, value in one.items()
        }
    return found


def test_the_index_names_every_method_with_its_tier() -> None:
    listed = {
        found["name"]: found["cells"].split("|") for found in ROW.finditer(section(text_of("index"), "All methods"))
    }
    assert set(listed) == set(NAMES)
    for name, cells in listed.items():
        kind = METHODS[name](**({"protected": "a"} if name == "fa_star_ir" else {}))
        assert cells[1].strip() == f"`{kind.tier}`", name
        aims = cells[2].strip() in ("yes", "if asked")
        assert aims or not getattr(kind, "uses_target", False), name
        assert (cells[3].strip() == "yes") is hasattr(kind, "serve"), name


@pytest.mark.parametrize("name", NAMES)
def test_the_index_says_rightly_which_methods_are_static(name: str) -> None:
    cells = {
        found["name"]: found["cells"].split("|") for found in ROW.finditer(section(text_of("index"), "All methods"))
    }
    scores = [2.0, 1.9, 1.9, 1.2, 1.15, 0.6, 0.55, 0.0]  # near and equal ones, which noise and fusion move
    groups = ["a", "a", "b", "a", "b", "b", "a", "b"]
    options = {
        "fa_star_ir": {"protected": "b", "p": 0.5},
        "mtg_clusters": {"entities": "group"},
        "pareto_optimal": {"utility": 0.1},
    }.get(name, {})
    policy = rerank_one(
        name,
        scores,
        groups,
        browsing=RBP(0.5) if name in ("foeir", "scenario_optimal") else None,
        method_options=options,
    )
    orders = {tuple(row) for row in policy.sample(60, seed=0).item.reshape(60, 8).tolist()}
    static = cells[name][5].strip() == "static"
    assert (len(orders) == 1) is static, name


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.relative_to(ROOT / "docs").as_posix()
)
def test_placeholders_resolve_and_links_to_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    filled = load_hooks().expanded(text)
    assert not re.search(r"^<!-- (options|published|leaderboard)", filled, re.M)
    for target in re.findall(r"\]\(((?:\.\./)+(?:conf|rerankers|benchmarks|scripts|tests)/[^)#]+)", text):
        assert (page.parent / target).exists(), target
    assert not re.search(r"\]\((?:\.\./)+(?:conf|rerankers|benchmarks|scripts|tests)/", filled)


def test_a_placeholder_for_nothing_is_an_error() -> None:
    hooks = load_hooks()
    for wrong in (
        "options: no_such_method",
        "published: 1999",
        "published: 2020, no such part",
        "leaderboard: nothing",
    ):
        with pytest.raises(LookupError, match=wrong.split(":")[0]):
            hooks.expanded(f"<!-- {wrong} -->")


def test_kept_numbers_are_those_of_the_published_rows_and_their_verdicts_hold() -> None:
    from rerankers.tracks.reproduce import published_rows

    hooks = load_hooks()
    kept = hooks._ours()
    rows = {(row.section, row.what, row.printed, row.source): row for row in published_rows()}
    assert set(kept) == set(rows)
    for key, one in kept.items():
        row = rows[key]
        if not one["ours"]:
            assert one["verdict"] == "absent", row.what
            assert row.needs, row.what
            continue
        assert row.low is not None
        assert row.high is not None
        assert row.tolerance is not None
        assert one["verdict"] == "reproduced"
        assert row.low - row.tolerance <= float(one["ours"]) <= row.high + row.tolerance, row.what


@pytest.mark.slow
@pytest.mark.shared_data
def test_kept_numbers_are_what_comes_out(shared: Path, tmp_path: Path) -> None:
    import csv

    from rerankers.cli import main

    assert main(["reproduce", f"data={shared / 'data'}", f"output={tmp_path / 'out'}"]) in (0, None)
    with (tmp_path / "out" / "reproduce.csv").open(encoding="utf-8", newline="") as lines:
        found = {(row["section"], row["what"], row["published"], row["source"]): row for row in csv.DictReader(lines)}
    kept = load_hooks()._ours()
    assert set(found) == set(kept)
    for key, row in found.items():
        assert row["verdict"] == kept[key]["verdict"], key
        if row["ours"]:
            assert float(row["ours"]) == pytest.approx(float(kept[key]["ours"]), rel=1e-9, abs=1e-12), key


@functools.cache
def load_hooks() -> Any:
    """Return the module of the hooks, which lies beside the pages and is no package."""
    import importlib.util

    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
