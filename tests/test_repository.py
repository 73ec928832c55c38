"""What the repository may not hold: anything out of the Semantic Scholar corpus, whose document ids are 40 digits."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT_ID = re.compile(rb"(?<![0-9a-zA-Z])[0-9a-fA-F]{40}(?![0-9a-zA-Z])")
COMMIT = re.compile(rb"git -C [\w.-]+ checkout [0-9a-f]{40}")
"""A commit by its full name, which only this command needs, is no document."""

EXEMPT = (".lock",)
"""Files of digests of packages."""


def ids_in(text: bytes) -> list[str]:
    """Return what looks like a document id."""
    return [found.decode() for found in DOCUMENT_ID.findall(COMMIT.sub(b"", text))]


def tracked() -> list[Path]:
    """Return the files that git knows, or skip."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        top = subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    if Path(top.decode().strip()).resolve() != ROOT:
        pytest.skip("inside another checkout")
    return [ROOT / name.decode() for name in listed.split(b"\0") if name]


def test_no_document_id_is_tracked() -> None:
    files = [path for path in tracked() if path.suffix not in EXEMPT and path.is_file()]
    assert len(files) > 100
    found = {str(path.relative_to(ROOT)): ids for path in files if (ids := ids_in(path.read_bytes()))}
    assert found == {}


def test_the_scan_can_fail() -> None:
    invented = b"0a1B" * 10
    assert ids_in(b'{"doc_id": "' + invented + b'"}') == [invented.decode()]
    assert ids_in(b"a," + invented + b",level") == [invented.decode()]
    assert ids_in(b"git -C expeval checkout " + invented.lower()) == []
    assert ids_in(invented + b"0") == ids_in(b"0a1b" * 16) == []
