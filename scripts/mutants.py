"""Do the tests notice? ``python scripts/mutants.py [--count N] [--seed S] [--only PATH …]`` changes the code and looks.

Takes N places of exposure, policies and measures by chance, changes one at a time in a copy of the project (a bound by
one, an operator, a comparison), and runs the test files that speak of that module. A change that no test notices is
told with its line: it wants a test, or a reason why it changes nothing. Compiled loops are left out, whose compiling
would take most of the time; texts and type hints are not changed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("exposure", "policies", "measures")
FILES, SECONDS = 6, 150  # of tests that are run for a change, at most
SWAPS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
}


@dataclass(frozen=True)
class Mutant:
    """A change: the file, the line, what stood there and what stands there now."""

    path: Path
    line: int
    before: str
    after: str
    source: str


def main() -> int:
    """Change, run and tell; the exit code is 1 where a change was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", type=Path, default=None, help="files of the package, all by default")
    asked = parser.parse_args()
    files = asked.only or [
        path for package in PACKAGES for path in sorted((ROOT / "rerankers" / package).rglob("*.py"))
    ]
    places = [(path.resolve(), number) for path in files if not path.stem.endswith("_loops") for number in _sites(path)]
    chosen = random.Random(asked.seed).sample(places, min(asked.count, len(places)))  # noqa: S311 - no secret
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        left = shutil.ignore_patterns(".*", "__pycache__", "docs", "benchmarks")
        shutil.copytree(ROOT, copy, ignore=left)
        for path, number in sorted(chosen):
            mutant = mutated(path, number)
            noticed, how = run(copy, mutant)
            survived += not noticed
            where = f"{path.relative_to(ROOT)}:{mutant.line}"
            print(f"{how:>9}  {where}  {mutant.before}  ->  {mutant.after}", flush=True)
    print(f"{len(chosen)} changes of {len(places)} places, {len(chosen) - survived} noticed, {survived} not")
    return int(survived > 0)


def run(copy: Path, mutant: Mutant) -> tuple[bool, str]:
    """Return whether the tests notice a change, and how."""
    target = copy / mutant.path.relative_to(ROOT)
    whole = target.read_text(encoding="utf-8")
    tests = tests_of(mutant.path)
    if not tests:
        return False, "no test"
    target.write_text(mutant.source, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(words, cwd=copy, env=env, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True, "time"
    finally:
        target.write_text(whole, encoding="utf-8")
    return done.returncode != 0, "noticed" if done.returncode else "SURVIVED"


def tests_of(path: Path) -> list[str]:
    """Return the test files that speak most of the module's own names, those that import it first."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    found = []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text = test.read_text(encoding="utf-8")
        score = 1000 * text.count(module) + sum(text.count(name) for name in names)
        if score and "shared_data" not in text:
            found.append((-score, str(test.relative_to(ROOT))))
    return [name for _, name in sorted(found)[:FILES]]


def _sites(path: Path) -> Iterator[int]:
    return iter(range(sum(1 for _ in _changes(ast.parse(path.read_text(encoding="utf-8"))))))


def mutated(path: Path, number: int) -> Mutant:
    """Return the change number so many of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, change = list(_changes(tree))[number]
    before = ast.unparse(node)
    change()
    return Mutant(path, getattr(node, "lineno", 0), before, ast.unparse(node), ast.unparse(tree))


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, Callable[[], None]]]:
    """Yield (node, what changes it) in the order of the text, hints and texts left out."""
    for node in _code(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield node, lambda node=node: node.ops.__setitem__(0, SWAPS[type(node.ops[0])]())
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            yield node, lambda node=node: setattr(node, "op", SWAPS[type(node.op)]())
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, lambda node=node: setattr(node, "value", node.value + 1)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, lambda node=node: setattr(node, "value", not node.value)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes that say what is computed: no hints, no raised messages, no blocks for type checkers."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params") or isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


if __name__ == "__main__":
    sys.exit(main())
