"""NumPy archives whose bytes depend on their arrays alone."""

import math
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

IN_MEMORY = 1 << 26
"""Size of an array of frames [bytes] above which it moves to the disk."""

COPIED_AT_ONCE = 1 << 20


class FrameArrays:
    """Array that grows by frames of a shape, in bounded memory; a long one is in a temporary file in `folder`."""

    def __init__(self, folder: Path, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._count = 0
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(folder))  # noqa: SIM115 - `close` closes it

    def append(self, frame: npt.NDArray[Any]) -> None:
        """Appends a frame; raises ValueError if it has another shape, OSError if the disk is full."""
        if frame.shape != self._shape:
            raise ValueError(f"a frame has shape {frame.shape}, expected {self._shape}")
        self._file.write(np.ascontiguousarray(frame, self._dtype).tobytes())
        self._count += 1

    def read(self) -> npt.NDArray[Any]:
        """Returns the array, shape (F, ...); a long one is memory-mapped and valid until `close`."""
        shape = (self._count, *self._shape)
        if math.prod(shape) * self._dtype.itemsize <= IN_MEMORY:
            self._file.seek(0)
            return np.frombuffer(self._file.read(), self._dtype).reshape(shape)
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r", shape=shape)

    def write_npy(self, file: Any) -> None:
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, header | {"shape": (self._count, *self._shape)})
        self._file.seek(0)
        shutil.copyfileobj(self._file, file, COPIED_AT_ONCE)

    def close(self) -> None:
        self._file.close()


def write_npz(arrays: Mapping[str, npt.NDArray[Any] | FrameArrays], file: BinaryIO) -> None:
    """Writes arrays uncompressed, in the given order; equal arrays give equal bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                if isinstance(array, FrameArrays):
                    array.write_npy(member)
                else:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
