"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Machines that run the tests are shared: how long one example takes says nothing.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with the real data and the reference values, or skip."""
    folder = Path(os.environ.get("FAIR_RERANK_SHARED", ROOT.parent / "shared")).resolve()
    if not (folder / "data").is_dir():
        pytest.skip("the shared data folder is absent; set FAIR_RERANK_SHARED to its path")
    return folder
