"""Unknown, wrong or sampled group labels: what a group measure can be, and whether it tells two systems apart."""

from rerankers.measures.unknown_labels.bounds import Bounds, QueryBounds, completion_bounds, group_bounds
from rerankers.measures.unknown_labels.confusion import (
    condition_number,
    corrected_measure,
    corrected_sums,
    inverse_confusion,
)
from rerankers.measures.unknown_labels.design import (
    Design,
    Estimate,
    group_sum,
    independent_design,
    mean_measure,
    simple_design,
)
from rerankers.measures.unknown_labels.drawn_flips import drawn_sweep
from rerankers.measures.unknown_labels.flips import FlipPath, Sweep, flip_sweep
from rerankers.measures.unknown_labels.form import MEASURES, GroupForm, difference_form, group_form
from rerankers.measures.unknown_labels.labels import alignment_of, hard_labels, with_unknown
from rerankers.measures.unknown_labels.moments import Moments
from rerankers.measures.unknown_labels.order import DETERMINED, LEVEL, OPEN, UNDETERMINED, Order, order_of
from rerankers.measures.unknown_labels.shares import ShareBounds, share_bounds

__all__ = [
    "DETERMINED",
    "LEVEL",
    "MEASURES",
    "OPEN",
    "UNDETERMINED",
    "Bounds",
    "Design",
    "Estimate",
    "FlipPath",
    "GroupForm",
    "Moments",
    "Order",
    "QueryBounds",
    "ShareBounds",
    "Sweep",
    "alignment_of",
    "completion_bounds",
    "condition_number",
    "corrected_measure",
    "corrected_sums",
    "difference_form",
    "drawn_sweep",
    "flip_sweep",
    "group_bounds",
    "group_form",
    "group_sum",
    "hard_labels",
    "independent_design",
    "inverse_confusion",
    "mean_measure",
    "order_of",
    "share_bounds",
    "simple_design",
    "with_unknown",
]
