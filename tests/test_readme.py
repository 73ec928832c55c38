"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from importlib import import_module
from pathlib import Path

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def test_ten_lines_print_what_is_shown() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert code is not None
    assert shown is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code[1], "README.md", "exec"), {})
    assert printed.getvalue() == shown[1]


def test_the_engine_does_what_is_shown() -> None:
    code = next(block for block in re.findall(r"```py\n(.*?)```", README, re.DOTALL) if "frank_wolfe" in block)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert float(str(names["gap"])) < 1e-9
    for folder, word in (("estimators", "draws_needed"), ("autograd", "pl_exposure"), ("optimal", "duality_gap")):
        assert hasattr(import_module(f"rerankers.exposure.{folder}"), word)


def test_options_named_in_the_readme_exist() -> None:
    conf = Path(__file__).resolve().parent.parent / "conf"
    commands = re.findall(r"^fair-rerank (?:run|evaluate|train) ?(.*?)(?:\s{2,}#.*|\s#.*)?$", README, re.MULTILINE)
    assert len(commands) > 5
    chosen = [
        pair
        for line in commands
        for pair in re.findall(r"(?<![.\w])(\w+)=([\w.-]+)", line)
        if (conf / pair[0]).is_dir()
    ]
    assert chosen
    for group, option in chosen:
        if "." not in option and option != "sharp":  # a file, and a config of the user's own
            assert (conf / group / f"{option}.yaml").is_file(), (group, option)


def test_training_from_arrays() -> None:
    code = next(block for block in re.findall(r"```py\n(.*?)```", README, re.DOTALL) if "LearningRows" in block)
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), names)
    assert float(printed.getvalue().split()[0]) < 0.2
