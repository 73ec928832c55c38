"""Parts of the user's own in every command that has them, through the allow-list, and what is kept out by it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError
from rerankers._conf import build
from rerankers.methods import rerank_one
from rerankers.stages.new import new

Run = Callable[..., tuple[int, str, str]]
GROUPS_OF = {
    "run": "collection retriever method target browsing groups ledger fit execution",
    "train": "collection retriever features model objective calibration browsing groups",
    "headroom": "collection retriever browsing groups execution",
    "presence": "collection retriever groups target browsing execution",
    "recommend": "collection retriever llm",  # its groups are attributes or a file
    "variants": "collection retriever method target browsing groups",
    "label": "labeller",
    "evaluate": "browsing",
    "labels": "browsing",
}
NEEDED = {
    "recommend": ["topics=[1]"],
    "variants": ["sets=[human:a.txt]"],
    "label": ["input=a.jsonl"],
    "evaluate": ["run=a.run", "qrels=qrels.txt"],
    "labels": ["run=a.run", "qrels=qrels.txt"],
}
MODULE = "nothing_of_mine"
QUICK = ("samples=3", "measures.resamples=20", "measures.permutations=2")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path for modules of one's own, which are forgotten again."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


PLACES = [f"{name} {group}" for name, groups in GROUPS_OF.items() for group in groups.split()]
FIRST = ("run method", "run collection", "train objective", "evaluate browsing", "labels browsing")
"""What is tried in every run of the tests; the others take the same way, and are tried with the slow ones."""


@pytest.mark.parametrize("place", [pytest.param(one, marks=[] if one in FIRST else pytest.mark.slow) for one in PLACES])
def test_every_group_of_every_command_takes_classes_that_are_allowed(command: Run, own: Path, place: str) -> None:
    """A class that does nothing is refused for that, and not even imported unless its package is allowed."""
    name, group = place.split()
    (own / f"{MODULE}.py").write_text('class Nothing:\n    tier = "blind"\n', encoding="utf-8")
    (own / "conf" / group).mkdir(parents=True)
    (own / "conf" / group / "mine.yaml").write_text(f"_target_: {MODULE}.Nothing\n", encoding="utf-8")
    (own / "a.csv").write_text("docno,group\na,x\n", encoding="utf-8")
    needed = [*NEEDED.get(name, []), *([f"groups.path={own / 'a.csv'}"] if name == "labels" else [])]
    words = [name, "--config-dir", str(own / "conf"), *needed, f"{group}=mine", f"output={own / 'out'}"]
    code, _, err = command(*words)
    assert (code, f"allow_targets=[{MODULE}]" in err) == (2, True), err
    assert MODULE not in sys.modules
    code, _, err = command(*words, f"allow_targets=[{MODULE}]")
    assert code == 2, err
    assert "Nothing" in err, err
    assert "Traceback" not in err
    assert MODULE in sys.modules


def method_words(own: Path, tiny: Path, tiny_run: Path, *more: str) -> list[str]:
    return [
        "run", "--config-dir", str(own / "mine" / "conf"), "method=softer", "allow_targets=[softer]",
        "collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}",
        f"output={own / 'out'}", *QUICK, *more,
    ]  # fmt: skip


@pytest.mark.slow
def test_an_own_method_in_workers_in_a_file_and_in_a_table(command: Run, own: Path, tiny: Path, tiny_run: Path) -> None:
    from rerankers.runs import read_policy

    new("method", "softer", own / "mine")
    sys.path.insert(0, str(own / "mine"))  # what PYTHONPATH does, for workers as well
    try:
        words = method_words(own, tiny, tiny_run, "execution=joblib", "execution.workers=2", "execution.block=1")
        code, _, err = command(*words)
        assert code == 0, err
        parallel = (own / "out" / "measures.parquet").read_bytes()
        code, _, err = command(*method_words(own, tiny, tiny_run, f"output={own / 'one'}"))
        assert code == 0, err
        assert (own / "one" / "measures.parquet").read_bytes() == parallel
        kept = read_policy(own / "out" / "policy.parquet").rankings()
        assert len(kept) == 3 * 4, "of every query, one of them without candidates"
        code, out, err = command("compare", str(own / "out"), str(own / "one"), f"output={own / 'table'}")
        assert code == 0, err
        assert "softer" in out
        fairness = (own / "out" / "metadata.yaml").read_text(encoding="utf-8")
        assert "Documents near the top keep their places" in " ".join(fairness.split())
        kind = sys.modules["softer"].Softer
        assert rerank_one(kind(sharpness=1e6), [1.0, 3.0, 2.0]).sample(1, seed=0).item.tolist() == [1, 2, 0]
        with pytest.raises(ConfigError, match="found sharpness beside an object"):
            rerank_one(kind(), [1.0], sharpness=3.0)
        code, _, err = command(*method_words(own, tiny, tiny_run, "method.sharpnes=1"))
        assert (code, "Did you mean method.sharpness?" in err) == (2, True), err
        code, _, err = command(*method_words(own, tiny, tiny_run, "method.sharpness=-1"))
        assert (code, "sharpness: found -1.0; expected a number above 0" in err) == (2, True), err
        code, out, _ = command(*method_words(own, tiny, tiny_run, "--help"))
        assert code == 0
        assert "sharpness: 2.0" in out
        assert " softer," in out
    finally:
        sys.path.remove(str(own / "mine"))


MEASURES = '''
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Reach:
    """Share of the documents that anybody looks at."""

    better: ClassVar[str] = "higher"
    fails: bool = False

    def of_exposure(self, seen):
        if self.fails:
            return 1 / 0
        return float((seen.exposure > 0.01).mean())


@dataclass(frozen=True)
class Senior:
    """Exposure of the first group."""

    about_groups: ClassVar[bool] = True

    def of_exposure(self, seen):
        return float(seen.exposure @ seen.membership[:, 0])
'''


@pytest.mark.slow
def test_own_measures_in_run_evaluate_meta_and_compare(command: Run, own: Path, tiny: Path, tiny_run: Path) -> None:
    (own / "reach_of_mine.py").write_text(MEASURES, encoding="utf-8")
    given = "measures.own={reach: {_target_: reach_of_mine.Reach}, senior: {_target_: reach_of_mine.Senior}}"
    base = [
        "run", "collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}", *QUICK
    ]  # fmt: skip
    allowed = [given, "allow_targets=[reach_of_mine]"]
    code, _, err = command(*base, given, f"output={own / 'out'}")
    assert (code, "allow_targets=[reach_of_mine]" in err) == (2, True), err
    code, out, err = command(*base, *allowed, f"output={own / 'out'}", "execution=joblib", "execution.workers=2")
    assert code == 0, err
    found = json.loads((own / "out" / "measures.json").read_text(encoding="utf-8"))
    means = found["runs"]["plackett_luce"]["mean"]
    assert {"EEL", "nDCG@10", "reach", "senior", "senior_placebo", "senior_excess"} <= set(means)
    assert found["options"]["own_measures"]["reach"]["better"] == "higher"
    assert found["runs"]["plackett_luce"]["interval"]["reach"] is not None
    report = (own / "out" / "report.html").read_text(encoding="utf-8")
    assert "Share of the documents that anybody looks at." in report
    code, _, err = command(*base, "measures.names=[reach@2,EEL]", *allowed, f"output={own / 'named'}")
    assert code == 0, err
    named = json.loads((own / "named" / "measures.json").read_text(encoding="utf-8"))["runs"]["plackett_luce"]["mean"]
    assert list(named) == ["reach@2", "EEL"]
    code, _, err = command(*base, "measures.names=[reahc]", *allowed, f"output={own / 'named'}")
    assert (code, "Did you mean 'reach'" in err) == (2, True), err
    code, _, err = command(*base, "measures.names=[reach]", f"output={own / 'named'}")
    assert (code, "measure: found 'reach'" in err) == (2, True), err
    judged = [f"run={own / 'out'}", f"qrels={tiny / 'qrels.txt'}", "missing_query=skip", "measures.resamples=20"]
    code, _, err = command("evaluate", *judged, *allowed, f"output={own / 'judged'}")
    assert code == 0, err
    assert "reach" in json.loads((own / "judged" / "measures.json").read_text(encoding="utf-8"))["runs"]["out"]["mean"]
    code, _, err = command(*base, "method=uniform", "measures.names=[reach@2,EEL]", *allowed, f"output={own / 'other'}")
    assert code == 0, err
    del sys.modules["reach_of_mine"]  # results are read without the class
    jobs = [str(own / "named"), str(own / "other"), "measures=[reach@2]"]
    code, out, err = command("compare", *jobs, f"output={own / 'table'}")
    assert code == 0, err
    assert "reach@2" in out
    meta = ["measures=[reach,EEL]", "grid.patience=[0.5]", "axioms=false"]
    code, out, err = command("meta", str(own / "named"), str(own / "other"), *meta, *allowed)
    assert code == 0, err
    assert "reach" in out
    del sys.modules["reach_of_mine"]
    fails = [given.replace("Reach}", "Reach, fails: true}"), "allow_targets=[reach_of_mine]"]
    code, _, err = command(*base, *fails, f"output={own / 'out'}")
    assert code == 2
    assert "measure reach: query 'q1': ZeroDivisionError: division by zero (reach_of_mine.py, line " in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return [][1]", "of_mine_too.py, line 4, in policy: IndexError: list index out of range"),
        ("return None", "its policy(block) returned NoneType; expected a policy"),
        ("return block.candidates.scores", "AttributeError"),
        ("import rerankers.policies as p; return p.PlackettLuce(block.candidates, [1.0], block.stream)", "shape (1,)"),
        ("raise SystemExit(5)", "SystemExit"),
    ],
)
def test_a_method_that_fails_says_where(
    command: Run, own: Path, tiny: Path, tiny_run: Path, line: str, said: str
) -> None:
    (own / "of_mine_too.py").write_text(
        f"class Fails:\n    tier = 'blind'\n    def policy(self, block):\n        {line}\n", encoding="utf-8"
    )
    words = method_words(own, tiny, tiny_run)
    words[1:5] = ["~method.temperature", "method._target_=of_mine_too.Fails", "allow_targets=[of_mine_too]"]
    if "SystemExit" in line:
        with pytest.raises(SystemExit):  # Python's own way to leave is left to it
            command(*words)
        return
    code, _, err = command(*words)
    assert code in (1, 2), err
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "target",
    [
        "os.system", "builtins.eval", "subprocess.Popen", "rerankers", "rerankers.", ".rerankers.x", "rerankers..os.X",
        "rerankers_more.X", "rerankers.__main__.X", "rerankers._conf.__class__", "rerankers._conf.difflib",
        "rerankers._conf.build", "rerankers._base.files.Path", "rerankers.methods.plackett_luce.PlackettLuce.policy",
        "ｒerankers.methods.Uniform", "rerankers.methods.Ｕniform", "rerankers.methods.Uniform ",
        "rerankers/methods.Uniform",
        "rerankers.methods", "", "x" * 10_000, "a." * 5_000 + "b",
    ],
)  # fmt: skip
def test_targets_that_are_never_followed(target: str) -> None:
    before = set(sys.modules)
    with pytest.raises(ConfigError, match=r"method\._target_: (found )?"):
        build({"_target_": target}, (), "method")
    assert not {name for name in set(sys.modules) - before if not name.startswith("rerankers.")}


def test_what_an_allowed_module_holds_of_others_is_refused(own: Path) -> None:
    (own / "holds_others.py").write_text(
        "import os, subprocess\n"
        "from os import system\n"
        "from subprocess import Popen\n"
        "CALLS = []\n"
        "class Meta(type):\n"
        "    def __call__(cls, *a, **k):\n        CALLS.append(cls)\n        return super().__call__(*a, **k)\n"
        "class Lies:\n"
        "    __class__ = property(lambda self: type)\n"
        "    def __call__(self, **k):\n        CALLS.append(self)\n"
        "lies = Lies()\n"
        "def function(**k):\n    CALLS.append(k)\n"
        "borrowed = type('Popen', (Popen,), {'__module__': 'subprocess'})\n"
        "renamed = type('Other', (), {'__module__': __name__})\n"
        "def inside():\n    class Local: pass\n    return Local\n"
        "Local = inside()\n"
        "class Mine(metaclass=Meta):\n    def __init__(self, x=1):\n        self.x = x\n",
        encoding="utf-8",
    )
    for name in [
        "system",
        "Popen",
        "os",
        "lies",
        "function",
        "CALLS",
        "borrowed",
        "renamed",
        "Local",
        "Meta.mro",
        "__dict__",
        "missing",
    ]:
        with pytest.raises(ConfigError, match=r"method\._target_"):
            build({"_target_": f"holds_others.{name}", "args": ["true"]}, ["holds_others"], "method")
    calls = sys.modules["holds_others"].CALLS
    assert calls == []
    assert build({"_target_": "holds_others.Mine", "x": 2}, ["holds_others"]).x == 2


@pytest.mark.parametrize("name", ["os", "subprocess", "builtins", "os.path", "*", "", "a b", "x.", ".x", "__main__"])
def test_packages_that_cannot_be_allowed(name: str) -> None:
    with pytest.raises(ConfigError, match="allow_targets: found"):
        build({"_target_": "rerankers.methods.Uniform"}, [name])


@pytest.mark.parametrize("key", ["_args_", "_partial_", "_recursive_", "_convert_"])
def test_words_of_hydra_are_no_options(key: str, own: Path) -> None:
    text = "class All:\n    def __init__(self, **k):\n        self.k = k\n"
    (own / "takes_all.py").write_text(text, encoding="utf-8")
    for target in ("takes_all.All", "rerankers.methods.Uniform"):
        with pytest.raises(ConfigError, match=f"method.{key}: no such option"):
            build({"_target_": target, key: True}, ["takes_all"], "method")


def test_targets_inside_options_stay_data(own: Path) -> None:
    (own / "nests.py").write_text(
        "from dataclasses import dataclass\nfrom typing import Any\n"
        "@dataclass(frozen=True)\nclass Nests:\n    inner: dict[str, Any]\n    more: Any = None\n",
        encoding="utf-8",
    )
    node: dict[str, Any] = {"_target_": "os.system", "command": "true", "_partial_": True}
    made = build({"_target_": "nests.Nests", "inner": node, "more": [node]}, ["nests"])
    assert made.inner == node
    assert made.more == [node]


def test_options_that_are_too_deep(command: Run, own: Path, tiny: Path, tiny_run: Path) -> None:
    new("method", "softer", own / "mine")
    depth = 3000
    text = f"_target_: softer.Softer\nsharpness: {'{a: ' * depth}1{'}' * depth}\n"
    (own / "mine" / "conf" / "method" / "softer.yaml").write_text(text, encoding="utf-8")
    code, _, err = command(*method_words(own, tiny, tiny_run))
    assert (code, "more than 200 levels deep" in err, "Traceback" in err) == (2, True, False), err
    node: dict[str, Any] = {"a": 1}
    for _ in range(depth):
        node = {"a": node}
    with pytest.raises(ConfigError, match="temperature"):
        build({"_target_": "rerankers.methods.PlackettLuce", "temperature": [1, 2]}, (), "method")
    with pytest.raises(ConfigError, match="too deep to read"):
        build({"_target_": "rerankers.collections.Jsonl", "path": node}, (), "collection")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
        ("import sys; sys.exit(7)", "SystemExit: 7"),
        ("x = (", "SyntaxError"),
        ("", "has no attribute 'Mine'"),
    ],
)
def test_modules_that_cannot_be_imported(own: Path, body: str, said: str) -> None:
    (own / "cannot_be.py").write_text(body + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        build({"_target_": "cannot_be.Mine"}, ["cannot_be"])


def test_a_module_that_is_not_on_the_path_is_looked_for_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="export PYTHONPATH=FOLDER"):
        build({"_target_": "lies_here.Mine"}, ["lies_here"])
    (tmp_path / "lies_here.py").write_text("class Mine: pass\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"It is in this folder. Type: export PYTHONPATH=\$PWD"):
        build({"_target_": "lies_here.Mine"}, ["lies_here"])


def test_a_module_in_a_folder_of_its_name_is_told_with_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folded").mkdir()
    (tmp_path / "folded" / "folded.py").write_text("class Mine: pass\n", encoding="utf-8")
    said = r"folded\.py is in the folder folded\. Type: export PYTHONPATH=\$PWD/folded$"
    with pytest.raises(ConfigError, match=said):
        build({"_target_": "folded.Mine"}, ["folded"])
    monkeypatch.syspath_prepend(tmp_path)  # the folder itself is imported, and has no class
    with pytest.raises(ConfigError, match=rf"no attribute 'Mine'\)\. {said}"):
        build({"_target_": "folded.Mine"}, ["folded"])


@pytest.mark.parametrize(
    ("fields", "options", "said"),
    [
        ("    x: float\n", {}, r"method\.x: no value; expected one"),
        ("    x: float = 1\n", {"x": "much"}, r"method\.x: found 'much'; expected float"),
        ("    strength: float = 1\n", {"strenght": 1}, r"Did you mean method\.strength"),
        ("    x: set[str] = field(default_factory=set)\n", {}, "cannot take options by its field x"),
        ("    x: 'np.ndarray | None' = None\n", {}, "cannot take options by its fields"),
        ("    x: int = 1\n    def __post_init__(self): raise KeyError('k')\n", {}, "cannot be made .KeyError: 'k'"),
    ],
)
def test_fields_that_are_no_options(own: Path, fields: str, options: dict[str, Any], said: str) -> None:
    text = f"from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass Mine:\n{fields}"
    (own / "odd_fields.py").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        build({"_target_": "odd_fields.Mine", **options}, ["odd_fields"], "method")
