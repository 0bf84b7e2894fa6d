"""Blocks of bytes in one file of a temporary folder, within a budget; freed room is used again."""

import contextlib
import enum
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GRAIN = 4096
"""Blocks begin and end at multiples of this [bytes], so that blocks of nearly one size take each other's places."""


class CacheBudget(enum.Enum):
    """Room for kept steps on the disk; half of what that has free is the most."""

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
    """Where something is kept: offset and size in the file [bytes]."""

    offset: int
    size: int

    @property
    def room(self) -> int:
        """What it takes of the file [bytes]."""
        return -(-self.size // GRAIN) * GRAIN


class StepStore:
    """A raw file that grows up to a budget; nothing of it lies in memory but what the system keeps there.

    Args:
        budget: Most bytes.
        folder: Where the file lies; that of temporary files for None.

    Attributes:
        used: Bytes of the blocks that are kept.
        wanted: Most bytes that may be, where the disk has room.
    """

    def __init__(self, budget: int = CacheBudget.USUAL.size, folder: Path | None = None) -> None:
        self._folder, self.wanted = folder or Path(tempfile.gettempdir()), budget
        self._file: IO[bytes] | None = None
        self._free: dict[int, list[int]] = {}
        self._end = self.used = 0

    @property
    def budget(self) -> int:
        """Most bytes now, as the disk allows."""
        return min(self.wanted, (shutil.disk_usage(self._folder).free + self._end) // 2)

    @property
    def has_room(self) -> bool:
        """Whether no more is used than may be."""
        return self.used <= self.budget

    def put(self, data: bytes) -> Block | None:
        """Keeps bytes; None where the disk does not take them, and then nothing is kept."""
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
        """What was kept.

        Raises:
            OSError: If it cannot be read.
        """
        file = self._opened()
        file.seek(block.offset)
        return file.read(block.size)

    def drop(self, block: Block) -> None:
        """Lets go of a block; its room is used again."""
        self._free.setdefault(block.room, []).append(block.offset)
        self.used -= block.room
        if not self.used:
            self.clear()

    def clear(self) -> None:
        """Lets go of everything, and gives the disk back."""
        self._free.clear()
        self._end = self.used = 0
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)

    def cool(self) -> bool:
        """Has what is read next come from the disk, and not from what the system keeps of it; for measurements.

        Returns:
            Whether the system offers that.
        """
        if self._file is None or not hasattr(os, "posix_fadvise"):
            return False
        os.fsync(self._file.fileno())
        os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return True

    def close(self) -> None:
        """Ends; may be called twice."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0, prefix="sinew-steps-", dir=self._folder)  # noqa: SIM115
        return self._file
