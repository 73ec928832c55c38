"""Serve a small world in a ledger file, telling of every commit: a process of its own, for tests that end it."""

from __future__ import annotations

import sys
import time

from ledger_worlds import asked, docnos, world

from rerankers.ledger import Memory, SQLite
from rerankers.methods import fair_co, horizon_planner, nle_controller

METHODS = {
    "nle": nle_controller.NleController(scope="sequence", entities="authors"),
    "corpus": nle_controller.NleController(scope="corpus"),
    "decay": fair_co.FairCo(scope="sequence", decay=0.9),
    "plan": horizon_planner.HorizonPlanner(scope="sequence", replan=40, passes=2),
}
SEQUENCES, LENGTH = 3, 400


def serve(name: str, path: str, pause: float = 0.0) -> None:
    """Serve what is left, 20 impressions a turn."""
    block = world()

    def told(_: int) -> None:
        print("turn", flush=True)
        time.sleep(pause)

    METHODS[name].serve(block, asked(block, SEQUENCES, LENGTH), SQLite(path, 20, 30.0), docnos(block), told)


if __name__ == "__main__":
    world_of_one = world()
    METHODS[sys.argv[1]].serve(world_of_one, asked(world_of_one, 1, 1), Memory())  # compiled loops are loaded
    print("ready", flush=True)
    sys.stdin.readline()
    serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
