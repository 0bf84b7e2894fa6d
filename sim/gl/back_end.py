"""What kernels run on: transform feedback, which every card has, or compute; switched while a simulation goes on.

Both read and write the same buffers, so nothing is rebuilt but programs.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.gl.context import Context

SIZES = (4_096, 32_768, 131_072)
"""Records that the back ends are compared with; below the first transform feedback is taken unseen."""


class BackEnd(StrEnum):
    """What runs a kernel."""

    TF = "tf"
    COMPUTE = "compute"


class BackEndChoice(StrEnum):
    """What the user wants; automatic takes what is faster here for the number of records."""

    AUTO = "auto"
    TF = "tf"
    COMPUTE = "compute"


TITLES = {BackEndChoice.AUTO: "Automatic", BackEndChoice.TF: "Transform feedback", BackEndChoice.COMPUTE: "Compute"}


@dataclass(frozen=True, slots=True)
class BackEndComparison:
    """How the back ends compare on this machine.

    Attributes:
        ratios: Time of transform feedback over that of compute for each of `SIZES`.
    """

    ratios: tuple[float, ...]

    @property
    def compute_from(self) -> int | None:
        """Records from which on compute is faster, also with all larger numbers; None if it never is."""
        found = None
        for size, ratio in zip(reversed(SIZES), reversed(self.ratios), strict=True):
            if ratio <= 1.0:
                break
            found = size
        return found


_COMPARED: dict[str, BackEndComparison] = {}
"""By renderer: what was found in this process."""


class BackEnds:
    """What the kernels of one context run on.

    Args:
        context: Whose kernels.

    Attributes:
        choice: What is wanted; may be set between two frames, after `ShaderLibrary.prepare` without a pause.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context
        self.choice = BackEndChoice.AUTO
        self.has_compute = context.capabilities.has_compute

    def chosen(self, records: int, size: int, choice: BackEndChoice | None = None) -> BackEnd:
        """What a kernel runs on that makes so many records of so many bytes at a time, now or with another choice.

        The first question that needs it compares the two, which takes a tenth of a second; the context is current.
        """
        choice = choice or self.choice
        if choice is BackEndChoice.TF or not self.has_compute or not self._holds(records * size):
            return BackEnd.TF
        if choice is BackEndChoice.COMPUTE:
            return BackEnd.COMPUTE
        if records < SIZES[0]:
            return BackEnd.TF
        least = self.compare().compute_from
        return BackEnd.TF if least is None or records < least else BackEnd.COMPUTE

    @property
    def compared(self) -> BackEndComparison | None:
        """Which is faster here; None where that was not found out yet in this process."""
        return _COMPARED.get(self._context.capabilities.renderer)

    def compare(self) -> BackEndComparison:
        """Which is faster here, found out by a trial the first time; the context is current and has compute."""
        found = self.compared
        if found is None:
            from sim.gl.back_end_trials import compare_back_ends  # which needs kernels, and these a context

            found = _COMPARED[self._context.capabilities.renderer] = compare_back_ends(self._context)
        return found

    @property
    def status(self) -> str:
        """What kernels run on, and why, in one line."""
        if not self.has_compute:
            version = ".".join(map(str, self._context.capabilities.version_number))
            return f"transform feedback: compute needs OpenGL 4.3, here is {version}"
        if self.choice is not BackEndChoice.AUTO:
            return f"{TITLES[self.choice].lower()}: chosen"
        found = self.compared
        if found is None:
            return f"automatic: transform feedback, which is faster below {_grouped(SIZES[0])} records"
        most, least = f"{found.ratios[-1]:.2f} times as fast with {_grouped(SIZES[-1])} records", found.compute_from
        if least is None:
            return f"automatic: transform feedback; compute was {most}"
        ratio = f"{found.ratios[SIZES.index(least)]:.2f}"
        return f"automatic: compute from {_grouped(least)} records on ({ratio} times as fast there, {most})"

    def _holds(self, size: int) -> bool:
        return size <= self._context.capabilities.max_storage_block_size


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
