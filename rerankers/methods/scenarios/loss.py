r"""What is minimised over policies in scenarios: a convex function of the exposures of all documents in all of them.

    1 / M \sum_m [ i \sum_d (E_d - T_d)^2 + g \sum_k (\sum_d a_{kd} (E_d - T_d))^2 + t (\sum_d E_d - T_d)^2
                    - u \sum_d s_d E_d ]

with everything inside taken in scenario m: exposure E, target T, the memberships a of documents in groups, the
satisfaction s. It is the expected loss of Diaz et al. (2020) of documents and of groups, and the expected utility.

The third part is what can be said about groups that are not known. If every document belongs to group k with
probability \pi_k, independently, the mean of the group loss is (1 - a) \sum_d x_d^2 + a (\sum_d x_d)^2 with x = E - T
and a = \sum_k \pi_k^2.

Where S independent draws of a policy are published, the expected loss of their mean exposure is larger: with W the
quadratic form of the losses and E(y) the exposures of a ranking, by (E[W(E(y))] - W(E)) / S, the variance of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.scenarios.rows import Scenarios


@dataclass(frozen=True, slots=True, eq=False)
class ScenarioLoss:
    """The objective of one row; see the module.

    Attributes
    ----------
    scenarios
        the row.
    individual, group, utility, total
        the weights i, g, u and t, at least 0.
    member
        float64 (G, n), the memberships; None where there are no groups.
    published
        the number S of independent draws whose mean is judged; None for the policy itself.
    """

    scenarios: Scenarios
    individual: float
    group: float
    utility: float
    member: NDArray[np.float64] | None
    published: int | None = None
    total: float = 0.0

    def parts(self, exposure: NDArray[np.float64]) -> tuple[float, float, float]:
        """Return the mean loss of documents, that of groups, and the mean utility of exposures (n, M)."""
        rest = exposure - self.scenarios.target
        documents = float(np.vdot(rest, rest)) / self.scenarios.count
        groups = 0.0
        if self.member is not None:
            of_groups = self.member @ rest
            groups = float(np.vdot(of_groups, of_groups)) / self.scenarios.count
        return documents, groups, float(np.vdot(self.scenarios.satisfaction, exposure)) / self.scenarios.count

    def value(self, exposure: NDArray[np.float64], second: float = 0.0) -> float:
        """Return the objective at exposures (n, M); ``second`` is the mean of `second_moment` over the policy."""
        documents, groups, utility = self.parts(exposure)
        found = self.individual * documents + self.group * groups - self.utility * utility
        if self.total > 0:
            of_all = (exposure - self.scenarios.target).sum(axis=0)
            found += self.total * float(of_all @ of_all) / self.scenarios.count
        if self.published is not None:
            found += (second - self.second_moment(exposure)) / self.published
        return found

    def second_moment(self, exposure: NDArray[np.float64]) -> float:
        """Return the quadratic form of the losses W at exposures (n, M), the mean over scenarios."""
        return 0.5 * float(np.vdot(exposure, self._square(exposure)))

    def gradient(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient (n, M) at exposures (n, M), apart from that of the mean of `second_moment`."""
        scenarios = self.scenarios
        slope = self._square(self._kept * exposure - scenarios.target)
        slope -= self.utility / scenarios.count * scenarios.satisfaction
        return slope

    def bent(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative times directions, both (k, n M)."""
        shape = self.scenarios.continuation.shape
        return np.stack([self._kept * self._square(direction.reshape(shape)).ravel() for direction in directions])

    @property
    def _kept(self) -> float:
        return 1.0 if self.published is None else 1.0 - 1.0 / self.published

    def _square(self, rest: NDArray[np.float64]) -> NDArray[np.float64]:
        slope: NDArray[np.float64] = (2.0 * self.individual / self.scenarios.count) * rest
        if self.member is not None and self.group > 0:
            slope += (2.0 * self.group / self.scenarios.count) * (self.member.T @ (self.member @ rest))
        if self.total > 0:
            slope += (2.0 * self.total / self.scenarios.count) * rest.sum(axis=0)
        return slope
