"""Linked programs on disk, so that the next start need not compile them."""

import contextlib
import hashlib
import logging
import os
import struct
from pathlib import Path

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.program_build import ProgramSources

LIMIT = 64 << 20
"""Maximum size of all files [byte]; the least recently used are deleted first."""

_HEAD = struct.Struct("<8sI32s")
_MAGIC = b"sinewpb1"
_log = logging.getLogger(__name__)


class ProgramBinaries:
    """A folder of program binaries of one driver, and of facts about it; unusable files count as missing.

    Args:
        driver: Strings that identify the driver; binaries depend on them and on the sources.
        limit: Maximum size of the folder [byte].
    """

    def __init__(self, folder: Path, driver: tuple[str, ...], limit: int = LIMIT) -> None:
        self.folder, self._driver, self._limit = folder, "\0".join(driver), limit
        self._used: int | None = None
        self.loaded = self.refused = self.failed = 0

    def load(self, sources: ProgramSources) -> int | None:
        """Loads a program; returns None if it must be compiled."""
        path = self._path(_text(sources))
        binary = self._read(path)
        if binary is None:
            return None
        binary_format, data = binary
        program = int(GL.glCreateProgram())
        GL.glProgramBinary(program, binary_format, np.frombuffer(data, np.uint8), len(data))
        if GL.glGetProgramiv(program, GL.GL_LINK_STATUS):
            self.loaded += 1
            return program
        GL.glDeleteProgram(program)
        self._refuse(path)
        return None

    def keep(self, sources: ProgramSources, program: int) -> None:
        size = int(GL.glGetProgramiv(program, GL.GL_PROGRAM_BINARY_LENGTH))
        if size <= 0:
            return
        data, length, binary_format = np.zeros(size, np.uint8), GL.GLsizei(), GL.GLenum()
        GL.glGetProgramBinary(program, size, length, binary_format, data)
        self._write(self._path(_text(sources)), int(binary_format.value), data[: length.value].tobytes())

    def knows(self, fact: str) -> bool:
        """Returns True if `note` saved this text for this driver."""
        return self._read(self._path(fact)) is not None

    def note(self, fact: str) -> None:
        self._write(self._path(fact), 0, b"")

    def _path(self, text: str) -> Path:
        return self.folder / hashlib.sha256(f"{self._driver}\0{text}".encode()).hexdigest()

    def _read(self, path: Path) -> tuple[int, bytes] | None:
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        data = content[_HEAD.size :]
        if len(content) >= _HEAD.size:
            magic, binary_format, digest = _HEAD.unpack_from(content)
            if magic == _MAGIC and hashlib.sha256(data).digest() == digest:
                return binary_format, data
        self._refuse(path)
        return None

    def _refuse(self, path: Path) -> None:
        self.refused += 1
        _log.info("program binary %s is unusable", path)
        with contextlib.suppress(OSError):
            path.unlink()

    def _write(self, path: Path, binary_format: int, data: bytes) -> None:
        # No temporary file: the digest makes a file that was not written completely unusable.
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._evict(path.write_bytes(_HEAD.pack(_MAGIC, binary_format, hashlib.sha256(data).digest()) + data))
        except OSError as error:
            self.failed += 1
            _log.info("program binary", exc_info=error)

    def _evict(self, added: int) -> None:
        """Deletes the least recently used files of a folder above its limit, down to three quarters."""
        if self._used is not None and self._used + added <= self._limit:
            self._used += added
            return
        files = sorted((file.stat().st_mtime_ns, file.stat().st_size, file.path) for file in os.scandir(self.folder))
        self._used = sum(size for _, size, _ in files)
        least = self._limit if self._used <= self._limit else self._limit * 3 // 4
        for _, size, path in files:
            if self._used <= least:
                break
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                os.unlink(path)
            self._used -= size


def _text(sources: ProgramSources) -> str:
    stages = ((stage, source.text) for stage, source in sources.stages.items())
    return repr((*stages, sources.captures, sources.separate))
