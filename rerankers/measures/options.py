"""How a run is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.browsing import GERR, BrowsingModel
from rerankers.measures.browse import with_cutoff
from rerankers.measures.universe import UNIVERSES


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is judged. The defaults are those of ``evaluate`` without a preset.

    Attributes
    ----------
    browsing
        the model of measures that name none.
    universe
        ``union`` or ``judged``, see `Universe`.
    cutoff
        depth at which browsing stops, for exposure and target alike; None for no such depth.
    samples, seed
        draws of a policy, for classic measures and where exposure has no closed form.
    force_draws
        judge the draws themselves, as if they were a run that was read, even where there is a closed form: then
        `evaluate` of the published run gives the same numbers. Squared terms are larger than the policy's own.
    max_grade
        highest grade of the whole collection, which err browsing needs.
    permutations
        draws of shuffled group labels, for placebos without closed form and for p-values; 0 for none.

    Raises
    ------
    ConfigError
        for an unknown universe, a cutoff or samples below 1, or permutations below 0.
    """

    browsing: BrowsingModel = field(default_factory=GERR)
    universe: str = "union"
    cutoff: int | None = None
    samples: int = 100
    seed: int = 0
    force_draws: bool = False
    max_grade: int | None = None
    permutations: int = 200

    def __post_init__(self) -> None:
        choose("universe", self.universe, UNIVERSES)
        if self.samples < 1:
            raise ConfigError(f"samples: found {self.samples}; expected 1 or more")
        if self.permutations < 0:
            raise ConfigError(f"measures.permutations: found {self.permutations}; expected 0 or more")
        if self.cutoff is not None:
            with_cutoff(self.browsing, self.cutoff)

    @property
    def model(self) -> BrowsingModel:
        """The default browsing model, cutoff and highest grade included."""
        spec = self.browsing if self.cutoff is None else with_cutoff(self.browsing, self.cutoff)
        return spec if self.max_grade is None else spec.completed([self.max_grade])
