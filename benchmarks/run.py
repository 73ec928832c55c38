"""All benchmarks of the exposure engine in one command: ``python benchmarks/run.py``.

One thread, every contender warmed up, then timed in turn; ratios of medians in this one run. ``--help`` lists the
options and how to get the published code that is compared with. Take numbers on an idle machine only.
"""

# ruff: noqa: E402  (the number of threads must be set before numpy is imported)

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

for variable in ("OMP", "MKL", "OPENBLAS", "NUMBA"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import _machine
import _peers
import _tables
from _peers import Peers
from _settings import Settings
from _timing import Finding, NotRun, Report, Result

CONTESTS = {  # name -> module
    "exposure": "contest_exposure",
    "gradient": "contest_gradient",
    "sampler": "contest_sampler",
    "front": "contest_front",
    "foeir": "contest_foeir",
    "evaluation": "contest_evaluation",
    "lambdamart": "contest_lambdamart",
    "training": "contest_training",
    "kl": "contest_kl",
    "ledger": "contest_ledger",
    "fa_star_ir": "contest_fa_star_ir",
    "scenarios": "contest_scenarios",
    "rbo": "contest_rbo",
    "growth": "growth",
    "memory": "memory",
    "schedules": "schedules",
}


def main() -> int:
    """Hold the contests, show what came of them, and return the exit status."""
    options = _options()
    facts = _machine.facts()
    peers = Peers(options.peers)
    facts["published peers"] = ", ".join(f"{name} @{peers.commit(name)}" for name in peers.held()) or "none (--peers)"
    settings, report = Settings(peers, options.repetitions, options.seed), Report()
    for name in options.only or CONTESTS:
        for found in importlib.import_module(CONTESTS[name]).results(settings):
            report.add(found)
            print(_progress(found), file=sys.stderr, flush=True)
    _tables.show(report, facts)
    if options.output is not None:
        options.output.write_text(_tables.markdown(report, facts), encoding="utf-8")
    return int(options.check and any(result.missed for result in report.results))


def _progress(found: Finding) -> str:
    if isinstance(found, Result):
        return f"  {found.contest}: {found.ratio:.3g} times"
    return f"  {found.contest}: {found.reason}" if isinstance(found, NotRun) else f"  {found.what}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=_peers.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(CONTESTS)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=CONTESTS, help=f"hold these only: {names}")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="folder with checkouts of the published code")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the tables in Markdown")
    parser.add_argument("--repetitions", type=int, default=7, help="timings a contender, at least 5 (7)")
    parser.add_argument("--seed", type=int, default=0, help="of all inputs (0)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a demanded ratio is missed")
    options = parser.parse_args()
    if options.peers is not None and not options.peers.is_dir():
        parser.error(f"--peers: there is no folder {options.peers}")
    return options


if __name__ == "__main__":
    sys.exit(main())
