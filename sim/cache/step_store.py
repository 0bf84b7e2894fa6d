"""Store of blocks of bytes in one temporary file, within a budget; reuses freed space."""

import contextlib
import enum
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GRAIN = 4096
"""Alignment of blocks [bytes], so that blocks of nearly the same size can replace each other."""


class CacheBudget(enum.Enum):
    """Size of the cache, at most half of the free disk space."""

    SMALL = "256 MiB"
    REDUCED = "1 GiB"
    USUAL = "2 GiB"
    LARGE = "8 GiB"
    LARGEST = "32 GiB"

    @property
    def size(self) -> int:
        number, unit = self.value.split()
        return int(number) * {"MiB": 1024**2, "GiB": 1024**3}[unit]


@dataclass(frozen=True, slots=True)
class Block:
    offset: int  # [bytes]
    size: int  # [bytes]

    @property
    def room(self) -> int:
        """Space in the file [bytes]."""
        return -(-self.size // GRAIN) * GRAIN


class StepStore:
    """A temporary file that grows up to a budget.

    Args:
        budget: Upper limit [bytes].
        folder: The system's folder for temporary files by default.

    Attributes:
        used: Size of all blocks [bytes].
        wanted: Upper limit [bytes] if the disk has enough space.
    """

    def __init__(self, budget: int = CacheBudget.USUAL.size, folder: Path | None = None) -> None:
        self._folder, self.wanted = folder or Path(tempfile.gettempdir()), budget
        self._file: IO[bytes] | None = None
        self._free: dict[int, list[int]] = {}
        self._end = self.used = 0

    @property
    def budget(self) -> int:
        """Current upper limit [bytes], given the free disk space."""
        return min(self.wanted, (shutil.disk_usage(self._folder).free + self._end) // 2)

    @property
    def has_room(self) -> bool:
        return self.used <= self.budget

    def put(self, data: bytes) -> Block | None:
        """Stores bytes and returns their block; None if the disk is full."""
        room = Block(0, len(data)).room
        spare = self._free.get(room)
        offset = spare.pop() if spare else self._end
        try:
            self._write(data, offset)
        except OSError:
            if offset != self._end:
                self._free.setdefault(room, []).append(offset)
            return None
        self._end = max(self._end, offset + room)
        self.used += room
        return Block(offset, len(data))

    def _write(self, data: bytes, offset: int) -> None:
        file = self._opened()
        file.seek(offset)
        written = file.write(data)
        if written != len(data):
            raise OSError(f"{written} of {len(data)} bytes were written")

    def get(self, block: Block) -> bytes:
        """Returns the bytes of a block; raises OSError if it cannot be read."""
        file = self._opened()
        file.seek(block.offset)
        return file.read(block.size)

    def drop(self, block: Block) -> None:
        self._free.setdefault(block.room, []).append(block.offset)
        self.used -= block.room
        if not self.used:
            self.clear()

    def clear(self) -> None:
        """Deletes all cached steps and frees the disk space."""
        self._free.clear()
        self._end = self.used = 0
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)

    def cool(self) -> bool:
        """Drops the file from the page cache, for measurements; returns False if the system offers no way."""
        if self._file is None or not hasattr(os, "posix_fadvise"):
            return False
        os.fsync(self._file.fileno())
        os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0, prefix="sinew-steps-", dir=self._folder)  # noqa: SIM115
        return self._file
