"""A column that a file of scores lacks is told by the file's name."""

from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.retrieval.score_files import read_scores


def test_the_file_is_named_and_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("qid,doc_id,p,z\nq1,d1,.2,1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"two\.csv, column of scores: found 'nope'; expected one of p, z"):
        read_scores(str(path), "nope")
