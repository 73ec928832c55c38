"""FOEIR with one group constraint against the linear program over documents and ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from _numpy_peers import foeir_program
from _settings import Settings
from _timing import Result, interleaved

from rerankers.exposure import foeir

N, DEMANDED = 100, 300.0


def results(settings: Settings) -> Iterator[Result]:
    """Hold a contest a constraint. Building the program's matrices is not counted."""
    from scipy.optimize import linprog

    rng = settings.generator("foeir")
    groups, position = (rng.random(N) < 0.4).astype(np.int64), 1 / np.log2(np.arange(N) + 2)
    relevance = np.clip(rng.normal(0.55 - 0.1 * groups, 0.15), 0.01, 1.0)  # one group is behind, as in the source
    for constraint in ("parity", "treatment", "impact"):
        program = foeir_program(relevance, groups, position, constraint)

        def ours(constraint: str = constraint) -> object:
            return foeir(relevance, groups, position, constraint)

        def peer(program: dict = program) -> object:
            return linprog(**program)

        mine, theirs = interleaved([ours, peer], settings.repetitions)
        utility, solved = float(relevance @ ours()[0]), peer()
        assert solved.status == 0, solved.message
        yield Result(
            f"FOEIR, {constraint}, n={N}, DCG weights",
            mine,
            theirs,
            "scipy linprog (HiGHS), sparse matrices",
            DEMANDED,
            f"utility of ours minus the peer's {utility + solved.fun:.0e}",
        )
