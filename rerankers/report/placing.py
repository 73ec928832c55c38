"""Labels beside points, placed so that they hide neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEADER = 12.0  # points: from this distance on a line leads from the label to its point

_ANGLES = np.radians([0, 180, 45, -45, 135, -135, 90, -90, 22, -22, 158, -158, 68, -68, 112, -112])  # preferred first
_REACHES = np.array([8.0, 11.0, 15.0, 24.0, 35.0, 48.0, 64.0, 84.0, 110.0])  # points
_MARKER = 4.0  # points, half the size of a point's symbol


def place(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: tuple[float, float, float, float],
    obstacles: Sequence[tuple[float, float, float, float]] = (),
) -> NDArray[np.float64]:
    """Place one label a point, in the given order and then once more, each at the cheapest position.

    Positions are 16 directions at 9 distances. The cost of one is the area it hides (labels weigh most), the area
    outside the frame, the nearness of other points (whose label it would seem to be) and its distance.

    Parameters
    ----------
    points
        positions in points (1/72 inch).
    sizes
        (width, height) of each label in points.
    frame
        (left, bottom, right, top) where labels should stay.
    obstacles
        boxes that labels should avoid beside the points, for instance error bars.

    Returns
    -------
    float64 (len(points), 3)
        of each label: its centre relative to the point (x, y), and how far its edge is from the point.
    """
    centres = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    extents = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)
    symbols = _boxes(centres, np.full_like(centres, 2 * _MARKER))
    barred = np.asarray(obstacles, dtype=np.float64).reshape(-1, 4)
    whole = np.asarray(frame, dtype=np.float64).reshape(1, 4)
    taken = np.full((len(centres), 4), np.nan)
    placed = np.zeros((len(centres), 3))
    for index in [*range(len(centres))] * 2:
        offsets, reach = _positions(extents[index])
        boxes = _boxes(centres[index] + offsets, np.broadcast_to(extents[index], offsets.shape))
        others = np.arange(len(centres)) != index
        cost = (
            20 * _overlap(boxes, taken[others & ~np.isnan(taken[:, 0])]).sum(axis=1)
            + 10 * _overlap(boxes, symbols).sum(axis=1)
            + 12 * _overlap(boxes, barred).sum(axis=1)
            + 20 * (extents[index].prod() - _overlap(boxes, whole)[:, 0])
            + 6 * np.maximum(reach[:, None] - _distance(boxes, symbols[others]), 0.0).sum(axis=1)
            + 4 * reach
            + np.tile(np.arange(len(_ANGLES)), len(_REACHES))
        )
        best = int(np.argmin(cost))
        taken[index] = boxes[best]
        placed[index] = *offsets[best], reach[best]
    return placed


def _positions(size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # the edge of the label, not its centre, is ``reach`` from the point
    reach = np.repeat(_REACHES, len(_ANGLES))
    angle = np.tile(_ANGLES, len(_REACHES))
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return directions * (reach[:, None] + size / 2), reach


def _boxes(centres: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)


def _overlap(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shared areas of boxes (m, 4) and boxes (n, 4), shape (m, n)."""
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.clip(high - low, 0.0, None).prod(axis=2))


def _distance(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances of boxes (m, 4) and boxes (n, 4), 0 where they touch, shape (m, n)."""
    gap = np.maximum(some[:, None, :2] - others[None, :, 2:], others[None, :, :2] - some[:, None, 2:])
    return np.asarray(np.linalg.norm(np.clip(gap, 0.0, None), axis=2))
