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

    def __copy__(self) -> Keeper:
        """Return this one: copies of a result share the folder, and hold on to it."""
        return self

    def __deepcopy__(self, memo: object) -> Keeper:
        """Return this one."""
        return self
