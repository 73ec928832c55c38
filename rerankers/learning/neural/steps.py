"""Steps of an optimiser, and its state as plain values and tensors that can be stored without pickle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from rerankers.learning.neural.networks import Network
    from rerankers.learning.neural.options import Training

MOMENTUM = 0.9


def optimizer_of(options: Training, network: Network) -> torch.optim.Optimizer:
    """Return the optimiser of a network; its learning rate is set anew before each step."""
    weights = [values for values in network.parameters() if values.requires_grad]
    if options.optimizer == "lbfgs":
        return torch.optim.LBFGS(weights, lr=options.rate, max_iter=1, line_search_fn="strong_wolfe")
    groups: list[dict[str, Any]] = [
        {"params": [values for values in weights if values.ndim > 1], "weight_decay": options.weight_decay},
        {"params": [values for values in weights if values.ndim <= 1], "weight_decay": 0.0},
    ]
    if options.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=options.rate, momentum=MOMENTUM)
    kind = torch.optim.AdamW if options.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=options.rate)


def set_rate(optimizer: torch.optim.Optimizer, options: Training, step: int, steps: int) -> None:
    """Set the learning rate of step 0, 1, … of ``steps``: a function of the step alone."""
    rate = options.rate
    if options.schedule == "cosine":
        rate *= 0.5 * (1.0 + math.cos(math.pi * step / steps))
    for group in optimizer.param_groups:
        group["lr"] = rate


def pack(value: Any, tensors: dict[str, torch.Tensor], name: str) -> Any:
    """Return nested lists and mappings as JSON values, their tensors put into ``tensors`` under names from ``name``."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value.detach().cpu().clone().contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        return {"mapping": [[key, pack(item, tensors, f"{name}.{key}")] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [pack(item, tensors, f"{name}.{place}") for place, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name}: no way to store a {type(value).__name__}")


def unpack(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """Return what `pack` was given."""
    if isinstance(value, list):
        return [unpack(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    return {key: unpack(item, tensors) for key, item in value["mapping"]}
