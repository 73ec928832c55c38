"""The report that the tests of this folder change to their needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from report_worlds import build_report

from rerankers.report import ReportData


@pytest.fixture
def report() -> Callable[..., ReportData]:
    """Return the function that builds a report; keyword arguments change its parts."""
    return build_report
