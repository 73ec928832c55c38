"""Workers end soon after the process that started them was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

CODE = """
import os, sys
from rerankers.execution import Joblib

def number(value):
    return os.getpid()

if __name__ == "__main__":
    print(*set(Joblib(workers=2).map(number, range(6))), flush=True)
    sys.stdin.read()
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_workers_end_with_their_parent(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "job.py").write_text(CODE)
    job = subprocess.Popen(
        [sys.executable, tmp_path / "job.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert job.stdout is not None
    workers = [int(word) for word in job.stdout.readline().split()]
    assert workers
    assert all(map(alive, workers))
    job.send_signal(signal.SIGKILL)
    job.communicate()
    end = time.monotonic() + 60
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.2)
    assert not any(map(alive, workers))


def test_a_job_that_fails_between_blocks_ends(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The writer of results fails while workers are at the next blocks: nobody waits for them for ever."""
    head = CODE.partition("if __name__")[0]
    body = "    for one in Joblib(workers=2).map(number, range(50)):\n        raise OSError('full')\n"
    (tmp_path / "job.py").write_text(f'{head}if __name__ == "__main__":\n{body}')
    words = [sys.executable, tmp_path / "job.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "OSError: full" in done.stderr
