"""Licences of data that is not part of this project: each is shown once a machine before its files are used."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

LICENCES = {
    "S2": "TREC Fair Ranking 2019 and 2020 come from Semantic Scholar. Its S2 dataset licence allows non-commercial "
    "use only; neither the files nor excerpts nor lists of ids may be passed on.",
    "NIST": "Annotations of authors in TREC Fair Ranking 2019 and 2020 are by NIST, over documents of Semantic "
    "Scholar, whose terms hold for them too; never pass on names of authors.",
    "CC BY-SA 3.0": "TREC Fair Ranking 2021 and 2022 come from Wikipedia, CC BY-SA 3.0: name the source, and pass on "
    "what you make of the texts under the same licence only.",
    "MIT": "Files of the TREC Fair Ranking repositories are under the MIT licence: keep its notice with copies.",
}
"""What is shown once a machine before files of a licence are used."""

_told: set[str] = set()  # by this process


def show_licences(licences: Iterable[str]) -> None:
    """Print notices of `LICENCES` to standard error, each once a machine: a small file in the cache folder remembers.

    Where the cache cannot be written they are shown once a process.
    """
    for licence in dict.fromkeys(licences):
        if licence not in _told:
            _told.add(licence)
            if _first_here(licence):
                print(f"licence: {LICENCES[licence]}", file=sys.stderr)


def _first_here(licence: str) -> bool:
    """Leave the mark that a notice was shown; return whether it was not there, or could not be left."""
    try:
        given = os.environ.get("FAIR_RERANK_CACHE")
        folder = (Path(given) if given else Path.home() / ".cache" / "fair-rerankers") / "licences"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{licence.replace(' ', '-')}.txt").open("x", encoding="utf-8") as stream:
            stream.write(f"{LICENCES[licence]}\n")
    except FileExistsError:
        return False
    except (OSError, RuntimeError):  # no home, or nothing may be written there
        return True
    return True
