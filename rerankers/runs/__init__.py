"""Run files: one file a format, which reads, writes and validates it; and the compact form of policies."""

from rerankers.runs.policy import PolicyWriter, StoredPolicy, count_policy_blocks, read_policy, write_policy
from rerankers.runs.read import read_run
from rerankers.runs.run import ARROW_FILE, PARQUET_FILE, POLICY_FILE, TREC_FILE, Run, run_name
from rerankers.runs.writer import RunWriter, write_run

__all__ = [
    "ARROW_FILE",
    "PARQUET_FILE",
    "POLICY_FILE",
    "TREC_FILE",
    "PolicyWriter",
    "Run",
    "RunWriter",
    "StoredPolicy",
    "count_policy_blocks",
    "read_policy",
    "read_run",
    "run_name",
    "write_policy",
    "write_run",
]
