"""``variants`` as a command: what it says of inputs and options that are wrong, with its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.variants_worlds import failed, files, run_text

__all__ = ["files"]

WRONG = [
    ([], 2, "sets: found none; expected at least one"),
    (["sets=[human]"], 2, "sets: found 'human'; expected NAME:FILE"),
    (["sets=[a:{files}/human.txt,a:{files}/model.jsonl]"], 2, "found the name 'a' 2 times"),
    (["sets=[a:{files}/human.txt]", "generate=[a]", "llm=scripted", "llm.otherwise=x"], 2, "found the name 'a', which"),
    (["sets=[a:{files}/human.txt]", "reference=b"], 2, "reference: found 'b'; expected one of a"),
    (["sets=[a:{files}/none.txt]"], 3, "no such file"),
    (["sets=[topics:title]"], 2, "found topics:title without a collection"),
    (["sets=[a:{files}/human.txt]", "exclude_topics=[9]"], 2, "exclude_topics: found '9'"),
    (["sets=[a:{files}/human.txt]", "exclude_topics=[1,2,3]"], 1, "no variant of a topic that is not excluded"),
    (["sets=[a:{files}/human.txt]", "most=0"], 2, "most: found 0"),
    (["sets=[a:{files}/human.txt]", "depth=0"], 2, "depth: found 0"),
    (["sets=[a:{files}/human.txt]", "weights=even"], 2, "weights: found 'even'"),
    (["sets=[a:{files}/human.txt]", "forms=[a:odd]"], 2, "form: found 'odd'"),
    (["sets=[a:{files}/human.txt]", "forms=[b:plain]"], 2, "forms: found 'b'; expected one of a"),
    (["sets=[a:{files}/human.txt]", "qrels={files}/qrels.txt"], 2, "which has no effect: nothing is retrieved"),
    (["sets=[a:{files}/human.txt]", "runs=[a]"], 2, "runs: found 'a'; expected NAME:FILE"),
    (["sets=[a:{files}/human.txt]", "runs=[b:{files}/human.run]"], 2, "runs: found 'b'; expected names of sets: a"),
    (["sets=[a:{files}/human.txt]", "runs=[a:{files}/human.txt]"], 1, "human.txt"),
    (["sets=[a:{files}/model.jsonl]", "runs=[a:{files}/other.run]"], 1, "expected ids of the variants of a: 1-0"),
    (["sets=[a:{files}/human.txt]", "generate=[b:hot]"], 2, "generate: found 'b:hot'; expected NAME"),
    (["sets=[a:{files}/human.txt]", "generate=[b]"], 2, "llm: found none"),
    (["sets=[a:{files}/human.txt]", "generate=[b:1]", "llm=scripted", "llm.otherwise=x"], 2, "has no temperature"),
    (["sets=[a:{files}/human.txt,b:{files}/other.txt]"], 1, "other.txt: found topics x, y; expected those of the"),
    (["collection=jsonl", "collection.path={files}/small", "sets=[topics:story]"], 2, "query_field: found 'story'"),
    (["sets=[a:{files}/human.txt]", "analysis.rbo_p=1"], 2, "rbo_p: found 1"),
    (["sets=[a:{files}/human.txt]", "depths=[x]"], 2, "depths: found"),
    (
        [
            "sets=[a:{files}/human.txt]",
            "generate=[b]",
            "llm=scripted",
            "llm.otherwise=x",
            "generation.prompt=variants_backstory",
        ],
        2,
        "generation.backstory: no value",
    ),
    (["sets=[a:{files}/human.txt,b:{files}/model.jsonl]", "runs=[a:{files}/human.run]"], 2, "runs: none for b"),
    (
        [
            "collection=jsonl",
            "collection.path={files}/small",
            "sets=[a:topics:query]",
            "method=fair_co",
            "method.scope=corpus",
        ],
        2,
        "keeps one ledger",
    ),
]


@pytest.mark.parametrize(("words", "code", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong(
    files: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    (files / "other.txt").write_text("x:text\ny:text\n")
    (files / "other.run").write_text(run_text({"q": "ab"}))
    told = failed(capsys, files, *(word.format(files=files) for word in words), code=code)
    assert message in told, told
