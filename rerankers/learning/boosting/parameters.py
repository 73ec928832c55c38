"""From our options to LightGBM's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import MissingError
from rerankers._base.streams import generator

if TYPE_CHECKING:
    from rerankers.learning.boosting.native import NativeTask
    from rerankers.learning.boosting.options import LightGBM

_SEEDS = 2**31 - 1  # LightGBM's seeds are 32-bit integers
_AT_NODES = ("feature_fraction_bynode", "extra_trees")


def engine() -> Any:
    """Return the module of LightGBM.

    Raises
    ------
    MissingError
        when it cannot be imported.
    """
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: the OpenMP library that it is linked to is not there
        raise MissingError(f"lightgbm: cannot be imported ({error}). Type: pip install lightgbm") from error
    return lightgbm


def tree_parameters(options: LightGBM, task: NativeTask | None, seed: int) -> dict[str, Any]:
    """Return the parameters of one member.

    Parameters
    ----------
    options
        ours.
    task
        the native objective; None for one of our own.
    seed
        LightGBM's, from `member_seeds`.
    """
    return {
        "objective": "none",
        **({} if task is None else task.parameters),
        **options.parameters,
        "boosting": "gbdt",
        "metric": "None",
        "learning_rate": options.learning_rate,
        "num_leaves": options.leaves,
        "max_depth": -1 if options.depth is None else options.depth,
        "min_data_in_leaf": options.min_rows,
        "min_sum_hessian_in_leaf": options.min_curvature,
        "min_gain_to_split": options.min_gain,
        "lambda_l1": options.l1,
        "lambda_l2": options.l2,
        "max_delta_step": options.max_step,
        "max_bin": options.max_bin,
        "feature_fraction": options.feature_fraction,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": options.threads,
        "verbosity": -1,
    }


def member_seeds(seed: int, members: int) -> list[int]:
    """Return LightGBM's seed of every member: the seed itself for the first if it is one, else drawn by its key."""
    first = seed if 0 <= seed <= _SEEDS else _drawn(seed, 0)
    return [first, *(_drawn(seed, member) for member in range(1, members))]


def _drawn(seed: int, member: int) -> int:
    return int(generator(seed, "lightgbm", member).integers(_SEEDS))


def draws(parameters: Mapping[str, Any]) -> bool:
    """Say whether LightGBM draws anything."""
    shares = ("feature_fraction", "feature_fraction_bynode")
    return (
        any(parameters.get(name, 1.0) < 1 for name in shares)
        or bool(parameters.get("extra_trees"))
        or parameters["objective"] == "rank_xendcg"
    )


def can_be_passed(parameters: Mapping[str, Any]) -> bool:
    """Say whether what LightGBM draws for a tree can be passed over without growing it (see `Member`).

    The features of a tree are drawn before it is grown. But LightGBM's own objectives cannot be told to grow nothing,
    and what is drawn at every node depends on the nodes.
    """
    return not draws(parameters) or (
        parameters["objective"] == "none" and not any(name in parameters for name in _AT_NODES)
    )
