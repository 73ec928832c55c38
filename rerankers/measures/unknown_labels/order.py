"""Whether the known labels determine which of two systems is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.measures.unknown_labels.bounds import Bounds, completion_bounds
from rerankers.measures.unknown_labels.form import GroupForm, difference_form
from rerankers.measures.unknown_labels.products import EXACT

if TYPE_CHECKING:
    from rerankers.values import GroupAlignment

DETERMINED, UNDETERMINED, OPEN, LEVEL = "determined", "not determined", "open", "level"


@dataclass(frozen=True, slots=True)
class Order:
    """Two systems under all completions.

    Attributes
    ----------
    verdict
        ``determined``: the difference has one sign under every completion; ``not determined``: two completions, with
        one label a document, have been found under which it has different signs; ``level``: it is 0 under every
        completion; ``open``: none of these is known.
    difference
        bounds of the mean over queries of the first's value less the second's, both under the same completion.
    """

    verdict: str
    difference: Bounds


def order_of(
    one: GroupForm, two: GroupForm, alignment: GroupAlignment, none: bool = False, exact: int = EXACT
) -> Order:
    """Return whether the sign of the difference of two sums of squares (group_EEL, group_EED) is known.

    Much more is known about the difference than about the two values, whose bounds may overlap widely: a completion
    moves both alike.

    Raises
    ------
    InputError
        as `difference_form` and `completion_bounds`.
    """
    difference = completion_bounds(difference_form(one, two), alignment, none, exact).mean
    if difference.lower == difference.upper == 0:
        return Order(LEVEL, difference)
    if difference.lower > 0 or difference.upper < 0:
        return Order(DETERMINED, difference)
    if difference.lower_found < 0 < difference.upper_found:
        return Order(UNDETERMINED, difference)
    return Order(OPEN, difference)
