"""NumPy archives whose bytes depend on their arrays alone."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt


def write_npz(arrays: Mapping[str, npt.NDArray[Any]], file: BinaryIO) -> None:
    """Writes named arrays, uncompressed, in the order given; equal arrays give equal bytes."""
    plain: dict[str, Any] = dict(arrays)
    np.savez(file, allow_pickle=False, **plain)
