"""A ledger in a file: resumed after a kill, shared by processes, merged, and refused with a reason."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import serve_in_a_process as served_there
from ledger_worlds import asked, docnos, world
from serve_in_a_process import LENGTH, METHODS, SEQUENCES

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.ledger import Memory, SQLite, SQLiteStore, merge_files, open_ledger, show
from rerankers.ledger.marks import Mark
from rerankers.ledger.store import Stretch, Turn

HERE = Path(__file__).parent


def reference(name: str) -> tuple[str, np.ndarray]:
    block = world()
    served, ledger = METHODS[name].serve(block, asked(block, SEQUENCES, LENGTH), Memory(), docnos(block))
    return ledger.digest, served.item


def start(name: str, path: Path, pause: float) -> subprocess.Popen[str]:
    root = HERE.parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(HERE)])}
    command = [sys.executable, str(HERE / "serve_in_a_process.py"), name, str(path), str(pause)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def go(*processes: subprocess.Popen[str]) -> None:
    """Let processes begin together, once all are ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


@pytest.mark.parametrize("name", ["nle", "plan"])
def test_killed_at_any_moment_and_resumed_gives_the_same_bits(tmp_path: Path, name: str) -> None:
    expected = reference(name)
    path = tmp_path / "ledger.sqlite"
    process = start(name, path, 0.002)
    go(process)
    assert process.stdout is not None
    assert process.stdin is not None
    for _ in range(12):
        process.stdout.readline()
    time.sleep(0.0013)  # somewhere in a turn, or between two
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    before = open_ledger(path).impressions.sum()
    assert 200 <= before < SEQUENCES * LENGTH, "it was killed on the way"
    block = world()
    resumed, ledger = METHODS[name].serve(block, asked(block, SEQUENCES, LENGTH), SQLite(str(path), 20), docnos(block))
    assert ledger.digest == expected[0]
    np.testing.assert_array_equal(resumed.item, expected[1])


@pytest.mark.slow
def test_two_processes_take_turns_and_leave_the_same_bits(tmp_path: Path) -> None:
    expected = reference("corpus")
    path = tmp_path / "ledger.sqlite"
    both = [start("corpus", path, 0.003) for _ in range(2)]
    go(*both)
    turns = [process.communicate()[0].count("turn") for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(turns) == SEQUENCES * LENGTH // 20
    assert min(turns) > 0, "each had its turn"
    assert open_ledger(path).digest == expected[0]


@pytest.mark.parametrize("name", METHODS)
def test_nothing_depends_on_turns_or_on_the_store(tmp_path: Path, name: str) -> None:
    expected = reference(name)
    block = world()
    for chunk in (7, 64, 5000):
        spec = SQLite(str(tmp_path / f"{chunk}.sqlite"), chunk)
        served, ledger = METHODS[name].serve(block, asked(block, SEQUENCES, LENGTH), spec, docnos(block))
        assert ledger.digest == expected[0]
        np.testing.assert_array_equal(served.item, expected[1])
        again, same = METHODS[name].serve(block, asked(block, SEQUENCES, LENGTH), spec, docnos(block))
        assert same.digest == expected[0], "nothing is served twice"
        np.testing.assert_array_equal(again.item, expected[1])


def test_merged_files(tmp_path: Path) -> None:
    block, method = world(), METHODS["nle"]
    sequence = asked(block, SEQUENCES, LENGTH)
    paths = []
    for number in range(SEQUENCES):
        paths.append(tmp_path / f"{number}.sqlite")
        own = sequence.take(np.flatnonzero(sequence.sequence == number))
        method.serve(block, own, SQLite(str(paths[-1])), docnos(block))
    whole = merge_files(paths[::-1], tmp_path / "whole.sqlite")
    assert whole.digest == reference("nle")[0] == open_ledger(tmp_path / "whole.sqlite").digest
    served, _ = method.serve(block, sequence, SQLite(str(tmp_path / "whole.sqlite")), docnos(block))
    np.testing.assert_array_equal(served.item, reference("nle")[1])
    with pytest.raises(InputError, match="a merged ledger is a new one"):
        merge_files(paths, tmp_path / "whole.sqlite")
    with pytest.raises(InputError, match="twice"):
        merge_files([paths[0], paths[0]], tmp_path / "twice.sqlite")


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    served_there.serve("nle", path)
    block = world()
    other = nle(theta=0.8)
    with pytest.raises(InputError, match=r"another configuration \(theta=0.9\); expected theta=0.8"):
        other.serve(block, asked(block, SEQUENCES, LENGTH), SQLite(path), docnos(block))
    late = continued(asked(block, SEQUENCES, LENGTH), 500)
    with pytest.raises(InputError, match="from 400 on, where the ledger stands"):
        METHODS["nle"].serve(block, late, SQLite(path), docnos(block))
    _, ledger = METHODS["nle"].serve(block, continued(asked(block, SEQUENCES, 5), 400), SQLite(path), docnos(block))
    assert ledger.spans["s0"] == ((0, 405),)


def nle(theta: float) -> object:
    from rerankers.methods.nle_controller import NleController

    return NleController(theta=theta, scope="sequence", entities="authors")


def continued(impressions: object, first: int) -> object:
    from dataclasses import replace

    return replace(impressions, number=impressions.number + first)  # type: ignore[attr-defined,type-var]


def test_files_that_are_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="found no file"):
        show(tmp_path / "absent.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be taken for a header of one" * 3)
    for use in (lambda: show(text), lambda: SQLite(str(text)).open({})):
        with pytest.raises(InputError, match="not a database"):
            use()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE t (x)")
    for use in (lambda: show(other), lambda: SQLite(str(other)).open({})):
        with pytest.raises(InputError, match="no ledger"):
            use()
    with pytest.raises(InputError, match="folder there"):
        SQLite(str(tmp_path / "no" / "folder.sqlite")).open({})
    newer = tmp_path / "newer.sqlite"
    SQLite(str(newer)).open({}).close()
    with sqlite3.connect(newer) as base:
        base.execute("PRAGMA user_version=99")
    with pytest.raises(InputError, match=r"version 99; expected version 2\. Take a new ledger"):
        show(newer)
    for wrong in ({"chunk": 0}, {"path": ""}, {"timeout": -1.0}):
        with pytest.raises((InputError, ConfigError), match="ledger"):
            SQLite(**wrong)  # type: ignore[arg-type]


def turn(number: int) -> Turn:
    stretch = Stretch("s", number, ["q"], np.array([1], np.int32), np.array([0], np.int32))
    return Turn({("a", "x" * 3000 + str(number)): (1, 2, 0)}, {"a": number + 1}, [stretch], {"q": Mark("c", "e")})


def fill(store: SQLiteStore) -> None:
    for number in range(100):
        store.begin()
        store.commit(turn(number))


def test_a_full_disk_a_read_only_file_and_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with SQLite(str(path)).open({}) as store:
        store._base.execute("PRAGMA max_page_count=12")
        with pytest.raises(InputError, match="Make room"):
            fill(store)
        store.rollback()
        kept = store.ledger()
        assert 0 < len(kept.served) < 100
        assert kept.positions["s"] == len(kept.served), "the turn that did not fit is gone as a whole"
        store._base.execute("PRAGMA query_only=1")
        with pytest.raises(InputError, match="Make the file and its folder writable"):
            store.commit(turn(50))
        store.rollback()
        store._base.execute("PRAGMA query_only=0")
        store.begin()
        waiting = SQLiteStore.__new__(SQLiteStore)
        with pytest.raises(InputError, match="Another process holds it"):
            waiting.__init__(path, {}, 0.05)  # type: ignore[misc]
        store.rollback()


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    served_there.serve("nle", str(path))
    with sqlite3.connect(path) as base:
        assert base.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        config = json.loads(base.execute("SELECT json FROM config").fetchone()[0])
        assert config["method"] == "NleController"
        rows = base.execute("SELECT count(*), sum(impressions) FROM account").fetchone()
    assert rows == (SEQUENCES, SEQUENCES * LENGTH)
    assert "NleController" in show(path)
