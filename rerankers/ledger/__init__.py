"""Amortised exposure: one ledger, where it is kept, and the one driver that serves sequences of queries with it.

A ledger books, for every entity (document, author or group), the exposure it was served and the exposure it is due.
Controllers choose each ranking with the ledger in view; `rerankers.methods` has the methods that set them up.

A ledger is the account of one configuration. It also keeps, of every query that it has served, what the candidates were
and who has accounts for them, and of every impression which query was asked: jobs that say otherwise are refused before
anything is served (`rerankers.ledger.continued`). Beliefs about relevance are no part of this, since they may grow.
"""

from rerankers.ledger.book import SCOPES
from rerankers.ledger.driver import Served, canonical, drive
from rerankers.ledger.entities import AUTHORS, DOCUMENTS, MISSING, Entities, author_alignment
from rerankers.ledger.equity import Equity
from rerankers.ledger.impressions import Impressions
from rerankers.ledger.job import Controller, Job
from rerankers.ledger.ledger import Ledger, check_config, merge
from rerankers.ledger.merged import merge_files
from rerankers.ledger.plan import Planner
from rerankers.ledger.rows import TARGETS, UNITS, Rows, believed_browsing, expected_target, make_rows
from rerankers.ledger.scored import ACCOUNTING, Scored
from rerankers.ledger.show import show
from rerankers.ledger.sqlite_file import open_ledger
from rerankers.ledger.sqlite_store import SQLite, SQLiteStore
from rerankers.ledger.store import Memory, MemoryStore, Store

__all__ = [
    "ACCOUNTING",
    "AUTHORS",
    "DOCUMENTS",
    "MISSING",
    "SCOPES",
    "TARGETS",
    "UNITS",
    "Controller",
    "Entities",
    "Equity",
    "Impressions",
    "Job",
    "Ledger",
    "Memory",
    "MemoryStore",
    "Planner",
    "Rows",
    "SQLite",
    "SQLiteStore",
    "Scored",
    "Served",
    "Store",
    "author_alignment",
    "believed_browsing",
    "canonical",
    "check_config",
    "drive",
    "expected_target",
    "make_rows",
    "merge",
    "merge_files",
    "open_ledger",
    "show",
]
