"""Arrays as compiled loops take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def read_only(array: NDArray[T]) -> NDArray[T]:
    """Return an array as one kind of argument, contiguous and not writable: loops are compiled for each kind."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
