"""The report of a job: one HTML page with its pictures, and a table for the terminal."""

from rerankers.report.data import PlainTable, ReportData
from rerankers.report.groups import group_exposure
from rerankers.report.html import remove_pictures, write_report
from rerankers.report.picture import Picture
from rerankers.report.planes import disparity_relevance, utility_loss
from rerankers.report.terminal import terminal_table

__all__ = [
    "Picture",
    "PlainTable",
    "ReportData",
    "disparity_relevance",
    "group_exposure",
    "remove_pictures",
    "terminal_table",
    "utility_loss",
    "write_report",
]
