"""Measures how far cloths are from blowing up, off the GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.background import run_in_background
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.stability import ClothStability, StabilityEstimator


class StabilityGauge:
    """Measures stability off the GUI thread, one measurement at a time and only where something changed.

    Args:
        arrived: Called when a measurement is there, while the owner lives.
    """

    def __init__(self, arrived: Callable[[], None], owner: QObject) -> None:
        self._arrived, self._owner = arrived, owner
        self._model: ClothModel | None = None
        self._meter: StabilityEstimator | None = None
        self._settings: ClothSettings | None = None
        self._latest: ClothStability | None = None
        self._busy = False

    def read(self, cloth: Cloth) -> ClothStability | None:
        """Newest stability of a cloth; None before the first of its model arrives."""
        model, settings = cloth.model, cloth.settings
        if model is not self._model:
            self._latest = None
        if not self._busy and (model is not self._model or settings != self._settings):
            self._measure(model, settings)
        return self._latest

    def _measure(self, model: ClothModel, settings: ClothSettings) -> None:
        self._busy = True
        meter = self._meter if model is self._model else None
        self._model, self._settings = model, settings

        def work() -> tuple[StabilityEstimator, ClothStability]:
            made = meter or StabilityEstimator(model, settings)
            return made, made.read(settings)

        run_in_background(work, self._take, self._owner)

    def _take(self, result: tuple[StabilityEstimator, ClothStability]) -> None:
        self._busy = False
        self._meter, self._latest = result
        self._arrived()
