"""Back ends of kernels: transform feedback, which every driver supports, or compute; switched between two frames.

Both read and write the same buffers, so switching rebuilds programs only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

SIZES = (4_096, 32_768, 131_072)
"""Numbers of records to compare the back ends with; below the first, automatic always takes transform feedback."""


class BackEnd(StrEnum):
    TF = "tf"
    COMPUTE = "compute"


class BackEndChoice(StrEnum):
    """Choice of the back end; automatic takes the faster one on this machine for the number of records."""

    AUTO = "auto"
    TF = "tf"
    COMPUTE = "compute"

    @property
    def label(self) -> str:
        return TITLES[self]


TITLES = {BackEndChoice.AUTO: "Automatic", BackEndChoice.TF: "Transform feedback", BackEndChoice.COMPUTE: "Compute"}


@dataclass(frozen=True, slots=True)
class BackEndComparison:
    """Time of transform feedback over time of compute for each of `SIZES`."""

    ratios: tuple[float, ...]

    @property
    def compute_from(self) -> int | None:
        """Number of records from which on compute is always faster; None if it never is."""
        least = None
        for size, ratio in zip(reversed(SIZES), reversed(self.ratios), strict=True):
            if ratio <= 1.0:
                break
            least = size
        return least


_COMPARED: dict[str, BackEndComparison] = {}
"""Comparisons of this process, by renderer."""


class BackEnds:
    """Back ends of the kernels of one context; `choice` may be set between two frames."""

    def __init__(self, context: "Context", compare: Callable[["Context"], BackEndComparison]) -> None:
        self._context, self._compare = context, compare
        self.choice = BackEndChoice.AUTO
        self.has_compute = context.capabilities.has_compute

    def chosen(self, records: int, size: int, choice: BackEndChoice | None = None) -> BackEnd:
        """Returns the back end for records; `size` of a record is in bytes.

        The first automatic choice may compare the back ends, which takes 0.1 s; the context must be current.
        """
        choice = choice or self.choice
        is_too_large = records * size > self._context.capabilities.max_storage_block_size
        if choice is BackEndChoice.TF or not self.has_compute or is_too_large:
            return BackEnd.TF
        if choice is BackEndChoice.COMPUTE:
            return BackEnd.COMPUTE
        if records < SIZES[0]:
            return BackEnd.TF
        least = self.compare().compute_from
        return BackEnd.TF if least is None or records < least else BackEnd.COMPUTE

    @property
    def compared(self) -> BackEndComparison | None:
        return _COMPARED.get(self._context.capabilities.renderer)

    def compare(self) -> BackEndComparison:
        """Measures both back ends at the first call; the context must be current and support compute."""
        renderer = self._context.capabilities.renderer
        if renderer not in _COMPARED:
            _COMPARED[renderer] = self._compare(self._context)
        return _COMPARED[renderer]

    @property
    def status(self) -> str:
        """One line of text: the back end and the reason for it."""
        if not self.has_compute:
            version = ".".join(map(str, self._context.capabilities.version_number))
            return f"transform feedback: compute needs OpenGL 4.3, here is {version}"
        if self.choice is not BackEndChoice.AUTO:
            return f"{TITLES[self.choice].lower()}: chosen"
        comparison = self.compared
        if comparison is None:
            return f"automatic: transform feedback, which is faster below {_grouped(SIZES[0])} records"
        least = comparison.compute_from
        most = f"{comparison.ratios[-1]:.2f} times as fast with {_grouped(SIZES[-1])} records"
        if least is None:
            return f"automatic: transform feedback; compute was {most}"
        ratio = f"{comparison.ratios[SIZES.index(least)]:.2f}"
        return f"automatic: compute from {_grouped(least)} records on ({ratio} times as fast there, {most})"


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
