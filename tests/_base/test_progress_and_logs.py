"""Bars where somebody looks on, lines in the log everywhere."""

from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
import termios
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rerankers._base import progress
from rerankers._base.errors import ConfigError, InputError
from rerankers._base.logs import FILE, job_log, log_to

SLOW_STEPS = """
import time
from rerankers._base import progress
progress.DELAY = 0.1
for _ in progress.steps(range(4), "thinking", "thought"):
    time.sleep(0.15)
with progress.busy("waiting"):
    time.sleep(0.9)
"""


def on_terminal(code: str, **environment: str) -> str:
    """Return what a program writes to a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    clean = {key: value for key, value in os.environ.items() if key != "CI"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env={**clean, "TERM": "xterm", **environment})
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the terminal is gone with the program
            break
        if not part:
            break
        found += part
    os.close(ours)
    assert child.wait() == 0
    return found.decode()


def test_bars_on_a_terminal_and_nothing_in_continuous_integration() -> None:
    shown = on_terminal(SLOW_STEPS)
    assert "thinking" in shown
    assert "waiting" in shown
    assert on_terminal(SLOW_STEPS, CI="true") == ""
    assert on_terminal(SLOW_STEPS, TERM="dumb") == ""


def test_nothing_into_a_file() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW_STEPS], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_what_is_quick_is_not_shown() -> None:
    assert on_terminal("from rerankers._base import progress\nlist(progress.steps([1, 2], 'a', 'b'))") == ""


def test_steps_are_the_items_and_long_ones_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with caplog.at_level(logging.INFO, "rerankers"):
        assert list(progress.steps(iter("abc"), "letters", "letter", 3)) == ["a", "b", "c"]
        with pytest.raises(KeyError), progress.busy("failing"):
            raise KeyError
    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith("letters: 1 of 3 (letter), ")
    assert told[-2].startswith("letters: 3 of 3 (letter), ")
    assert told[-1].startswith("failing: ")
    assert not progress._inner


def test_a_log_begins_with_the_command_and_ends_with_the_end(tmp_path: Path) -> None:
    with job_log("fair-rerank run method=uniform"):
        logging.getLogger("rerankers.anything").info("before the folder is known")
        log_to(tmp_path / "new")
        log_to(tmp_path / "other")
        logging.getLogger("rerankers.anything").info("behind")
        assert "behind" in (tmp_path / "new" / FILE).read_text()  # written at once: a killed job leaves it
    lines = [line.split(" ", 2)[2] for line in (tmp_path / "new" / FILE).read_text().splitlines()]
    assert lines == [
        "INFO fair-rerank run method=uniform",
        "INFO before the folder is known",
        "INFO behind",
        "INFO done",
    ]
    assert not (tmp_path / "other").exists()


def test_errors_are_logged_behind_earlier_jobs(tmp_path: Path) -> None:
    def failing(problem: Exception) -> None:
        with job_log("command"):
            log_to(tmp_path)
            raise problem

    wrong = InputError.one("a.run", "nothing", "a run")
    with pytest.raises(InputError):
        failing(wrong)
    assert not (tmp_path / FILE).exists()  # the message says it all, and a job that could not begin leaves nothing
    for problem in (ZeroDivisionError("0"), wrong):
        with pytest.raises(type(problem)):
            failing(problem)
    text = (tmp_path / FILE).read_text()
    assert text.count("INFO command") == 2
    assert "ERROR a.run: found nothing; expected a run" in text
    assert "ERROR stopped: ZeroDivisionError" in text
    assert "Traceback" in text


def test_a_disabled_logger_logs_all_the_same(tmp_path: Path) -> None:
    quietened = logging.getLogger("rerankers.quietened")
    quietened.disabled = True
    with job_log("command"):
        log_to(tmp_path)
        quietened.info("heard")
    assert "heard" in (tmp_path / FILE).read_text()


def test_jobs_in_threads_have_logs_of_their_own(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def job(name: str) -> None:
        with job_log(name):
            log_to(tmp_path / name)
            both.wait()
            logging.getLogger("rerankers.anything").info("of %s", name)
            both.wait()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(job, ["alpha", "beta"]))
    for name, other in (("alpha", "beta"), ("beta", "alpha")):
        text = (tmp_path / name / FILE).read_text()
        assert f"of {name}" in text
        assert other not in text


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(ConfigError, match=r"log\.txt"), job_log("command"):
        log_to(tmp_path)


def test_without_a_job_nothing_is_written(tmp_path: Path) -> None:
    log_to(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_library_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("rerankers.stages").warning("not for the terminal")
    assert capsys.readouterr().err == ""
