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
