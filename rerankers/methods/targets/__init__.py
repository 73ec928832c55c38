"""Target specs: the shares of exposure that methods aim at, group by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.methods.targets.base import Target
from rerankers.methods.targets.believed import believed_browsing
from rerankers.methods.targets.candidates import EqualExposure, EstimatedShare, FirstStageShare, Merit, Uniform
from rerankers.methods.targets.given import Custom, Population, RelevantShare

__all__ = [
    "TARGETS",
    "Custom",
    "EqualExposure",
    "EstimatedShare",
    "FirstStageShare",
    "Merit",
    "Population",
    "RelevantShare",
    "Target",
    "Uniform",
    "as_target",
    "believed_browsing",
]

TARGETS: dict[str, type[Any]] = {
    "equal_exposure": EqualExposure,
    "uniform": Uniform,
    "population": Population,
    "relevant_share": RelevantShare,
    "estimated_share": EstimatedShare,
    "first_stage_share": FirstStageShare,
    "merit": Merit,
    "custom": Custom,
}


def as_target(value: object, groups: tuple[str, ...] = ()) -> Target:
    """Return a target from what a caller may hand over.

    Parameters
    ----------
    value
        a spec; the name of one without required options; a mapping group -> share; or numbers, one for each of
        ``groups``.
    groups
        the names behind numbers.

    Raises
    ------
    ConfigError
        for anything else.
    InputError
        for another number of shares than groups.
    """
    if (
        not isinstance(value, type)
        and callable(getattr(value, "bind", None))
        and callable(getattr(value, "about", None))
    ):
        spec: Target = value  # type: ignore[assignment]
        return spec
    if isinstance(value, str) and value in TARGETS and value != "custom":
        named: Target = TARGETS[value]()
        return named
    if isinstance(value, Mapping):
        return Population({str(group): share for group, share in value.items()})
    if isinstance(value, list | tuple | np.ndarray):
        if np.shape(value) != (len(groups),):
            raise InputError.one("target", f"shape {np.shape(value)}", f"({len(groups)},), a share for each group")
        return Population({group: float(share) for group, share in zip(groups, value, strict=True)})
    raise ConfigError(
        f"target: found {value!r}; expected a target, a mapping group -> share, or one of "
        f"{', '.join(name for name in TARGETS if name != 'custom')}"
    )
