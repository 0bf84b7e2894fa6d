from dataclasses import dataclass

import numpy as np

PIXEL_TOLERANCE = 12
"""A pixel differs when a channel does by more than this; edges move a little between versions of the rasteriser."""

SHARE_TOLERANCE = 0.005  # part of the pixels that may differ
MEAN_TOLERANCE = 0.5  # largest mean difference over all pixels and channels: nothing shifts as a whole


@dataclass(frozen=True, slots=True)
class Difference:
    share: float  # part of the pixels that differ, 0 to 1; 1 for other sizes
    mean: float  # mean absolute difference of a channel, 0 to 255

    @property
    def acceptable(self) -> bool:
        return self.share <= SHARE_TOLERANCE and self.mean <= MEAN_TOLERANCE

    def __str__(self) -> str:
        return f"{100.0 * self.share:.2f} % of the pixels differ, {self.mean:.2f} of 255 on average"


def compare(actual: np.ndarray, expected: np.ndarray) -> Difference:
    """Difference of two RGB pictures, shape (height, width, 3), uint8."""
    if actual.shape != expected.shape:
        return Difference(1.0, 255.0)
    distance = np.abs(actual.astype(np.int16) - expected)
    return Difference(float((distance.max(axis=2) > PIXEL_TOLERANCE).mean()), float(distance.mean()))


def exaggerated(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    distance = np.abs(actual.astype(np.int16) - expected)
    return np.clip(distance * 8, 0, 255).astype(np.uint8)
