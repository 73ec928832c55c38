"""``fair-rerank doctor``: say what is wrong with this installation, and what to type."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from rerankers import _checks as checks
from rerankers._base.errors import FairRerankersError, MissingError
from rerankers._checks import Check

__all__ = ["Check", "main", "report"]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; return 0, or 3 when something is an error (2 for a wrong command line)."""
    parser = argparse.ArgumentParser("fair-rerank doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    rows = report()
    if options.json:
        print(json.dumps([asdict(check) for check in rows], indent=1))
    elif sys.stdout.isatty():
        _print_table(rows)
    else:
        print(_plain(rows))
    return MissingError.exit_code if any(check.status == "error" for check in rows) else 0


def report() -> list[Check]:
    """Return all checks, in a fixed order; one that fails by itself becomes an error of its own."""
    imports = [(name, checks.importing(name, code)) for name, code in checks.IMPORTS.items()]
    looks: list[tuple[str, Callable[[], Iterator[Check]]]] = [
        ("python", checks.python),
        ("package", checks.package),
        ("import name", checks.import_name),
        ("dependencies", checks.dependencies),
        ("java", checks.java),
        ("anserini", checks.anserini),
        ("java start", checks.java_start),
        *imports,
        ("memory", checks.memory),
        ("threads", checks.threads),
        ("cache folder", checks.cache_folder),
        ("config folder", checks.config_folder),
        ("data folder", checks.data_folder),
    ]

    def safely(look: tuple[str, Callable[[], Iterator[Check]]]) -> list[Check]:
        name, check = look
        try:
            return list(check())
        except FairRerankersError as error:
            detail, _, mend = str(error).partition(" Type: ")
            return [Check(name, "error", detail, mend)]
        except Exception as error:
            return [Check(name, "error", f"the check itself failed: {error!r}", checks.REINSTALL)]

    # What starts a process of its own runs beside the rest. What imports stays in this thread: modules that import
    # each other must not be imported by two threads at once.
    apart = {"java start", *checks.IMPORTS}
    with ThreadPoolExecutor(4) as pool:
        started = {look[0]: pool.submit(safely, look) for look in looks if look[0] in apart}
        found = [[] if look[0] in apart else safely(look) for look in looks]
        return [
            check
            for look, here in zip(looks, found, strict=True)
            for check in (started[look[0]].result() if look[0] in apart else here)
        ]


def _plain(rows: Sequence[Check]) -> str:
    width = max(len(check.name) for check in rows)
    lines = []
    for check in rows:
        lines.append(f"{check.status:<8} {check.name:<{width}}  {check.detail}")
        if check.mend:
            lines.append(f"{'':<8} {'':<{width}}  type: {check.mend}")
    return "\n".join(lines)


def _print_table(rows: Sequence[Check]) -> None:
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        print(_plain(rows))
        return
    table = Table("", "check", "found", "to type", highlight=False)
    colours = {"ok": "green", "warning": "yellow", "error": "bold red"}
    for check in rows:
        status = f"[{colours[check.status]}]{check.status}[/]"
        table.add_row(status, *(escape(text) for text in (check.name, check.detail, check.mend)))
    Console().print(table)
