"""Options of ledgers that cannot be."""

import pytest

from rerankers._base.errors import ConfigError
from rerankers.ledger import Memory, SQLite


@pytest.mark.parametrize("store", [Memory, SQLite])
def test_chunks_have_an_impression(store: type[Memory] | type[SQLite]) -> None:
    with pytest.raises(ConfigError, match=r"ledger\.chunk: found 0"):
        store(chunk=0)
