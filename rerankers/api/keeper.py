"""A temporary folder that lives as long as somebody holds on to it."""

from __future__ import annotations

import shutil
import tempfile
import weakref


class Keeper:
    """Makes a folder, and removes it when the last reference to this object is gone, or Python ends.

    Attributes
    ----------
    name
        path of the folder.
    """

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="fair-rerank-")
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)
