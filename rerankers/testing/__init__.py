"""Checks that a method, a collection or a measure of your own can be held against, in a test or in a notebook.

Each raises `AssertionError` with what was found and what was expected, in words; none needs a file or a network.

>>> from rerankers.methods import PlackettLuce
>>> from rerankers.testing import check_method
>>> check_method(PlackettLuce(temperature=0.5))
"""

from rerankers.testing.collections import check_collection
from rerankers.testing.measures import check_measure
from rerankers.testing.methods import check_method
from rerankers.testing.worlds import alone, method_block

__all__ = ["alone", "check_collection", "check_measure", "check_method", "method_block"]
