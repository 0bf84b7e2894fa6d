"""Springs of a cloth: who is tied to whom, at which rest length, and how the fabric shares its stiffness among them.

A spring's constants are those of its kind times its factor, so that a change of the fabric is a change of a few
numbers.  The factor holds the geometry: it is 1 for springs described one by one.
"""

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]


class SpringKind(enum.IntEnum):
    """What a spring stands for."""

    STRUCTURAL = 0
    SHEAR = 1
    BEND = 2


@dataclass(frozen=True, slots=True)
class Springs:
    """All springs, each once.

    Attributes:
        pairs: Particles at its ends, shape (S, 2).
        kinds: `SpringKind` of each, shape (S,).
        rest: Rest lengths [m], shape (S,).
        factors: Share of the constants of its kind, shape (S,).
    """

    pairs: Int32
    kinds: Int32
    rest: Float64
    factors: Float64

    @property
    def count(self) -> int:
        return len(self.pairs)

    def of_kind(self, kind: SpringKind) -> "Springs":
        chosen = self.kinds == kind
        return Springs(self.pairs[chosen], self.kinds[chosen], self.rest[chosen], self.factors[chosen])


def joined(parts: list[Springs]) -> Springs:
    return Springs(
        np.concatenate([part.pairs for part in parts]).astype(np.int32),
        np.concatenate([part.kinds for part in parts]).astype(np.int32),
        np.concatenate([part.rest for part in parts]),
        np.concatenate([part.factors for part in parts]),
    )
