"""Fair rerankings of the original query: what a user would get without being asked to type anything else."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.streams import query_streams
from rerankers.methods import GROUP_TIERS, METHODS, answered
from rerankers.methods.targets.base import all_but_unknown
from rerankers.queries.axis_scores import Axis, joint_axis
from rerankers.queries.distributions import rank_weights
from rerankers.queries.looks import Look, browsing_of, look_at
from rerankers.values import Block, Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEFAULT_METHODS = (
    "deterministic",
    "plackett_luce(temperature=0.1)",
    "kl_tilt(temperature=0.1, strength=0.5)",
    "kl_tilt(temperature=0.1, strength=1.0)",
    "kl_tilt(temperature=1.0, strength=1.0)",
    "kl_greedy(fairness_weight=0.5)",
    "kl_greedy(fairness_weight=0.9)",
    "det_const_sort",
)


@dataclass(frozen=True, slots=True)
class AlternativeOptions:
    """How the original query is reranked to be set beside recommendations.

    Attributes
    ----------
    methods
        rerankers with their options, such as ``kl_tilt(strength=0.5)``. Those that take groups are run once for each
        axis, and `kl_tilt` and others that take several attributes once for all axes together.
    n
        ranks that count, as for recommendations.
    weights, patience
        of ranks, see `rerankers.queries.distributions.rank_weights`; the policies aim at them, too.
    joint
        also for the combinations of the groups of all axes.
    draws
        rankings drawn for what has no closed form, and for what a single user sees.
    seed
        of the draws.
    """

    methods: list[str] = field(default_factory=lambda: list(DEFAULT_METHODS))
    n: int = 20
    weights: str = "uniform"
    patience: float = 0.5
    joint: bool = False
    draws: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n < 1 or self.draws < 2:
            raise ConfigError(f"alternatives: found n={self.n}, draws={self.draws}; expected n >= 1 and draws >= 2")
        for text in self.methods:
            method_of(text)

    @property
    def by_rank(self) -> Floats:
        """The weights of ranks, float64 (n,)."""
        return rank_weights(self.weights, self.n, self.patience)


@dataclass(frozen=True, slots=True, eq=False)
class Reranking:
    """One method on the candidates of the original query.

    Attributes
    ----------
    name
        the method as it was written.
    axis
        the axis whose groups it takes, those of several joined by ``+``; None for methods that take none.
    look
        how much documents are seen.
    counts
        what the method met, such as targets that cannot be reached.
    """

    name: str
    axis: str | None
    look: Look
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class AxisTargets:
    """The targets of axes as what methods aim at (`rerankers.methods.targets.Target`)."""

    axes: Mapping[str, Axis]
    tier: ClassVar[str] = "given_groups"

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return bool (G,): all groups but "unknown", and that too where it counts as a group."""
        if self.axes[attribute].unknown == "count":
            return np.ones(len(groups), dtype=np.bool_)
        return all_but_unknown(groups)

    def bind(self, block: Block, attribute: str) -> Floats:
        """Return the shares for each row, float64 (B, G)."""
        axis = self.axes[attribute]
        shares = dict(zip(axis.groups, axis.aim.tolist(), strict=True))
        row = np.array([shares.get(group, 0.0) for group in block.groups[attribute].groups])
        return np.tile(row, (len(block.candidates), 1))


def method_of(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a method that is written ``name`` or ``name(option=value, …)``.

    Raises
    ------
    ConfigError
        for another form, an unknown method, and options that are no plain values or that the method does not take.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else ast.Call(func=tree, args=[], keywords=[])
        if not isinstance(call.func, ast.Name) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError(text)
        name = call.func.id
        options = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError):
        message = f"alternatives.methods: found {text!r}; expected a method such as kl_tilt(strength=0.5)"
        raise ConfigError(message) from None
    method: Any = METHODS[choose("alternatives.methods", name, METHODS)]
    for key in options:
        choose(f"alternatives.methods: {name}", key, [one.name for one in fields(method)])
    try:
        method(**options)
    except (TypeError, ConfigError) as error:
        raise ConfigError(f"alternatives.methods: found {text!r}; {error}") from error
    return name, options


def rerankings(
    topic: str, docs: NDArray[np.integer], scores: Floats, axes: Sequence[Axis], options: AlternativeOptions
) -> list[Reranking]:
    """Return the rerankings of the original query of a topic.

    Parameters
    ----------
    topic
        its id: the key of what is drawn.
    docs, scores
        int (m,), float64 (m,), the candidates of the first stage, best first.
    axes
        that the topic has a target on; ``entropy``, which has none, aims at equal shares.
    options
        the methods, and what they aim at.

    Raises
    ------
    ConfigError, InputError
        as the methods.
    """
    aims = {axis.name: axis for axis in axes}
    together = list(aims)
    if options.joint and len(aims) > 1:
        both = joint_axis(list(aims.values()))
        aims |= {both.name: both}
    single = [[name] for name in aims]
    found = []
    for text in options.methods:
        name, given = method_of(text)
        method = METHODS[name](**given)
        groups: list[list[str]] = single if method.tier in GROUP_TIERS else [[]]
        if method.tier in GROUP_TIERS and len(together) > 1 and hasattr(method, "attributes"):
            groups = [*groups, together]
        for chosen in groups:
            block = _block(topic, docs, scores, {one: aims[one] for one in chosen}, options)
            policy, counts = answered(method, block)
            look = look_at(policy, options.draws, options.seed)
            found.append(Reranking(text, "+".join(chosen) or None, look, dict(counts)))
    return found


def _block(
    topic: str, docs: NDArray[np.integer], scores: Floats, aims: Mapping[str, Axis], options: AlternativeOptions
) -> Block:
    columns = {"score": np.asarray(scores, dtype=np.float64)}
    candidates = Candidates(np.zeros(1, np.int32), np.array([0, len(docs)]), np.asarray(docs, dtype=np.int32), columns)
    groups = {name: axis.alignment.resolve(axis.unknown) for name, axis in aims.items()}
    return Block(
        candidates,
        query_streams([topic]),
        groups,
        browsing=browsing_of(options.by_rank),
        target=AxisTargets(aims) if aims else None,
        seed=options.seed,
    )
