"""What the package itself has written, damaged since: results, ledgers, replies, models. Data or one clear error."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damage import damaged, told
from hypothesis import given
from hypothesis import strategies as st

from rerankers import cli
from rerankers._base.errors import FairRerankersError, InputError, MissingError
from rerankers._base.own_files import own_json, own_mapping, own_yaml
from rerankers._base.yaml_values import parse_yaml
from rerankers.ledger import SQLite, merge
from rerankers.ledger.sqlite_file import open_ledger
from rerankers.llm.records import Record
from rerankers.llm.replay import open_replies
from rerankers.stages.compare_configs import options_of
from rerankers.stages.drawn import drawn_of
from rerankers.stages.explain_rebuild import job_of, read_config, stored_row
from rerankers.stages.gathered import read_results
from rerankers.stages.sweep_value import read_means

LAUGHS = "a: &a [1]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
"""Eight lines that mean a hundred million values."""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LAUGHS, "more than 1,000,000 values"),
        ("a: &a [*a]", r"\*a within itself"),
        ("[" * 300, "levels deep"),
        ("a: [1", "expected"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: 2001-99-99", "month must be in"),
        ("a: *b", "undefined alias"),
        ("\x00", "control characters|not allowed|special characters"),
    ],
)
def test_yaml_that_is_none_or_means_too_much_is_told(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        parse_yaml(text)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=says):
        own_yaml(tmp_path / "config.yaml", "a config")


def test_repeats_that_mean_little_are_read() -> None:
    assert parse_yaml("a: &x [1, {b: 2}]\nc: *x\nd: [*x, *x]") == {
        "a": [1, {"b": 2}],
        "c": [1, {"b": 2}],
        "d": [[1, {"b": 2}]] * 2,
    }


def test_own_files_say_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "measures.json"
    with pytest.raises(MissingError):
        own_json(path, "results")
    for content, says in (
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff", "no JSON"),
        (b"[1]", "found a list"),
        (b"9" * 5000, "no JSON"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=says):
            own_mapping(path, "results", mend="Start over.")
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError):
        own_mapping(path, "results")
    large = tmp_path / "config.yaml"
    with large.open("wb") as stream:
        stream.truncate((16 << 20) + 1)
    with pytest.raises(InputError, match="more than 16 MiB"):
        own_yaml(large, "a config")


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results of two groups of queries, with a ledger."""
    folder = tmp_path_factory.mktemp("own")
    words = ["method=fair_co", "method.impressions=3", "collection.documents=200", "collection.topics=4", "samples=3"]
    few = ["measures.resamples=10", "measures.permutations=5", "measures.fronts=false"]
    ledger = ["ledger=sqlite", f"ledger.path={folder / 'l.sqlite'}", f"paths.cache={folder / 'cache'}"]
    assert cli.main(["run", *words, *few, *ledger, f"output={folder / 'results'}"]) == 0
    return folder


READERS: dict[str, tuple[list[str], Callable[[Path], Any]]] = {
    "results": (["measures.json", "measures.parquet", "metadata.yaml"], lambda folder: read_results(folder).collection),
    "job": (["config.yaml"], lambda folder: job_of(folder, read_config(folder))),
    "options": (["config.yaml"], options_of),
    "drawn": (["config.yaml", "measures.parquet", "run.parquet"], drawn_of),
    "means": (["measures.json"], read_means),
    "policy": (["policy.parquet"], lambda folder: stored_row(folder, "q1")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_results_are_read_or_told(results: Path, name: str, seed: int) -> None:
    files, read = READERS[name]
    chance = random.Random(seed)
    file = chance.choice(files)
    folder = results / f"damaged-{name}"
    if not folder.exists():
        shutil.copytree(results / "results", folder)
    whole = (results / "results" / file).read_bytes()
    (folder / file).write_bytes(damaged(whole, chance))
    try:
        assert told(lambda place: [read(place)], folder) is not None  # nothing may be known of a folder
    finally:
        (folder / file).write_bytes(whole)


ODD: list[Any] = [None, "x", "", b"\x01\x02\x03", 2**62, -1, 0, 1.5, "[]", "[[[", "null", '{"a":1}', b""]


def spoiled(path: Path, chance: random.Random) -> None:
    """Change rows of a database to what they never were."""
    base = sqlite3.connect(path)
    table = chance.choice([name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")])
    columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
    kind = chance.randrange(8)
    if kind == 0:
        base.execute(f"DROP TABLE {table}")
    elif kind == 1:
        base.execute(f"DELETE FROM {table}")
    elif kind == 2:
        base.execute(f"PRAGMA user_version={chance.choice([0, 99])}")
    else:
        with contextlib.suppress(sqlite3.IntegrityError):  # numbers of rows take nothing but numbers
            base.execute(f"UPDATE OR IGNORE {table} SET {chance.choice(columns)}=?", (chance.choice(ODD),))
    base.commit()
    base.close()


def whole_ledger(path: Path) -> Any:
    ledger = open_ledger(path)
    return merge([ledger]).digest, ledger.loss, ledger.positions


def served(path: Path) -> Any:
    """Do with a ledger what a job does that goes on with it."""
    config = json.loads(sqlite3.connect(path).execute("SELECT json FROM config").fetchone()[0])
    store = SQLite(str(path)).open(config)
    try:
        store.begin()
        found = [store.positions(), store.marks(), store.balances(["q1"]), store.ledger()]
        found += [list(store.stretches([name])) + list(store.asked(name, 0)) for name in store.positions()]
        store.rollback()
        return found
    finally:
        store.close()


@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_ledgers_are_read_or_told(results: Path, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("ledger") / "l.sqlite"
    if chance.random() < 0.3:
        path.write_bytes(damaged((results / "l.sqlite").read_bytes(), chance))
    else:
        shutil.copy(results / "l.sqlite", path)
        spoiled(path, chance)
    assert told(whole_ledger, path) is not None
    try:
        assert told(served, path) is not None
    except (sqlite3.Error, ValueError, TypeError):  # of the first line of `served`, which is the test's own
        with pytest.raises(FairRerankersError):
            open_ledger(path)


def test_rows_of_another_kind_in_a_ledger_are_counted(results: Path, tmp_path: Path) -> None:
    shutil.copy(results / "l.sqlite", tmp_path / "l.sqlite")
    base = sqlite3.connect(tmp_path / "l.sqlite")
    base.execute("UPDATE balance SET served='much' WHERE entity=(SELECT min(entity) FROM balance)")
    wrong = base.execute("SELECT count(*) FROM balance WHERE typeof(served)='text'").fetchone()[0]
    base.commit()
    base.close()
    with pytest.raises(InputError, match=f"{wrong} rows of the table balance"):
        open_ledger(tmp_path / "l.sqlite")


def every_reply(path: Path) -> Any:
    replies = open_replies(path, read_only=True)
    try:
        found = list(replies.every())
        return found, replies.find([record.key for record in found])
    finally:
        replies.close()


@pytest.mark.parametrize("name", ["x.sqlite", "x.jsonl"])
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_replies_are_read_or_told(tmp_path_factory: pytest.TempPathFactory, name: str, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("replies") / name
    replies = open_replies(path)
    replies.add([Record(f"k{number}", f"text {number}", prompt_tokens=number) for number in range(5)])
    replies.close()
    if name == "x.sqlite" and chance.random() < 0.7:
        spoiled(path, chance)
    else:
        path.write_bytes(damaged(path.read_bytes(), chance))
    assert told(every_reply, path) is not None
