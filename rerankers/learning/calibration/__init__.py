"""Calibration: from scores to probabilities of relevance, by a map that never falls."""

from rerankers.learning.calibration.base import Calibration, Calibrator, PerQuery
from rerankers.learning.calibration.beta import Beta, BetaCalibrator
from rerankers.learning.calibration.isotonic import Isotonic, IsotonicCalibrator
from rerankers.learning.calibration.list_count import ListCount, ListCountCalibrator
from rerankers.learning.calibration.none import NoCalibration
from rerankers.learning.calibration.plain import calibrator_from_plain
from rerankers.learning.calibration.platt import Platt, PlattCalibrator
from rerankers.stats.scoring import LEAST

__all__ = [
    "LEAST",
    "Beta",
    "BetaCalibrator",
    "Calibration",
    "Calibrator",
    "Isotonic",
    "IsotonicCalibrator",
    "ListCount",
    "ListCountCalibrator",
    "NoCalibration",
    "PerQuery",
    "Platt",
    "PlattCalibrator",
    "calibrator_from_plain",
]
