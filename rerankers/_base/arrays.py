"""Arrays as compiled loops take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_only(array: NDArray[Any], dtype: type[np.generic] | None = None) -> NDArray[Any]:
    """Return an array as one kind of argument, contiguous and not writable: loops are compiled for each kind.

    Parameters
    ----------
    dtype
        what it is converted to; None leaves its type.
    """
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view
