"""Baked steps: exact states of nodes in a folder, which can be shown without simulating on any GPU.

The folder has `index.json` and a file of rows for each node.  A row is the packed `System.snapshot` after a step,
at an offset that the index states.  Rows are written first and the index last, atomically: an interrupted bake
leaves the previous one.  Bytes that the index does not name are ignored; a file that is cut off loses only its last
steps.
"""

import contextlib
import itertools
import json
import math
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np

from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.printable import counted
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import param_of
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import NodeId

FORMAT, VERSION = "sinew-cache", 1
INDEX = "index.json"
INDEX_MAX = 256 * 1024**2
"""Largest index that is accepted [bytes]."""

COPIED_MAX = 64 * 1024**2
"""Largest file that `carry` copies [bytes]."""

ROWS = "steps"
"""Extension of the files of nodes."""

FIRST_MAX = round((param_of(PlaybackSettings, "run_up").declared.hi or 0.0) / STEP_TIME) + 1
"""Largest first step: after the longest pre-roll."""

_LANES = 1021
"""64-bit numbers per line of a checksum; a prime, so that exchanged disk sectors change it."""


class BakeError(ValueError):
    """Error about a bake in one line that names the file."""


class BakedNode(msgspec.Struct, frozen=True, kw_only=True):
    file: str  # Name in the folder
    key: str  # See `sinew.sim.cache.keys.node_keys`
    first: int = 0  # The step of the first row
    rows: tuple[tuple[int, int], ...] = ()  # Offset and size of every row [bytes]
    sums: tuple[int, ...] = ()  # `checksum` of every row; empty in bakes of older versions
    package: str | msgspec.UnsetType = msgspec.UNSET  # Plug-in that simulated it, if it was one


class Index(msgspec.Struct, frozen=True, kw_only=True):
    format: str = FORMAT
    version: int = VERSION
    dt: float = STEP_TIME  # Length of a step [s]
    start: float = 0.0  # Scene time of step 0 [s]
    renderer: str = ""  # The GPU that simulated it
    nodes: dict[NodeId, BakedNode] = {}


def bake_note(name: str, count: int, *, is_of_now: bool) -> str:
    """Returns a line about a bake that is shown, with the number of its steps."""
    return f"{name}: bake of {counted(count, 'step')}{'' if is_of_now else ', other settings'}"


class DamagedRow(NamedTuple):
    node: NodeId
    step: int
    path: Path
    reason: str

    def __str__(self) -> str:
        place = f"{self.path.parent.name}/{self.path.name}"
        return f"step {self.step} of {place} {self.reason}; the following steps are simulated"


def checksum(row: bytes) -> int:
    """Returns the checksum of a row, some thirty times as fast as CRC-32 on large rows."""
    lines = np.frombuffer(row, "<u8", len(row) // (8 * _LANES) * _LANES).reshape(-1, _LANES)
    return zlib.crc32(np.add.reduce(lines, axis=0, dtype="<u8"), zlib.crc32(memoryview(row)[lines.nbytes :]))


def _is_sound(row: bytes, known: int | None) -> bool:
    """Returns True for an undamaged row; without a checksum, if it can be decoded."""
    if known is not None:
        return checksum(row) == known
    try:
        msgspec.msgpack.decode(row)
    except (msgspec.MsgspecError, ValueError):
        return False
    return True


class Bake:
    """A bake on the disk, which keeps no file open; the constructor raises BakeError if its index cannot be used.

    A folder without an index is a bake of no node.

    Attributes:
        damaged: Damaged rows that were not reported yet, one per node; the reader clears it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = _read_index(folder) if is_bake(folder) else Index()
        self._steps: dict[NodeId, range] = {}
        self._sound: set[tuple[NodeId, int]] = set()
        self.damaged: list[DamagedRow] = []

    def steps(self, node: NodeId) -> range:
        """Returns the steps of a node, up to the first row that is cut off or damaged."""
        baked = self.index.nodes.get(node)
        if baked is None:
            return range(0)
        if node not in self._steps:
            path = self.folder / baked.file
            with _reported(path):
                size = path.stat().st_size
            there = next(
                (i for i, (offset, length) in enumerate(baked.rows) if offset + length > size), len(baked.rows)
            )
            self._steps[node] = range(baked.first, baked.first + there)
        return self._steps[node]

    def foreign_bytes(self, node: NodeId) -> int:
        """Returns the number of bytes in the file of a node that belong to none of its rows; negative if rows lack."""
        baked = self.index.nodes[node]
        path = self.folder / baked.file
        with _reported(path):
            return path.stat().st_size - sum(size for _, size in baked.rows)

    def state(self, node: NodeId, step: int) -> bytes | None:
        """Returns the state of a node; None if it is missing or damaged."""
        if step not in self.steps(node):
            return None
        baked = self.index.nodes[node]
        offset, length = baked.rows[step - baked.first]
        with _reported(self.folder / baked.file), (self.folder / baked.file).open("rb") as file:
            file.seek(offset)
            row = file.read(length)
        if (node, step) not in self._sound:
            if len(row) < length or not _is_sound(row, baked.sums[step - baked.first] if baked.sums else None):
                self.spoil(node, step, "is damaged")
                return None
            self._sound.add((node, step))
        return row

    def spoil(self, node: NodeId, step: int, reason: str) -> None:
        """Drops the steps from this one on, and records the reason."""
        self._steps[node] = range(self.index.nodes[node].first, step)
        self.damaged.append(DamagedRow(node, step, self.folder / self.index.nodes[node].file, reason))


@dataclass
class _Writing:
    file: BinaryIO
    name: str
    first: int
    end: int = 0
    rows: list[tuple[int, int]] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)


class BakeWriter:
    """Writer of a bake step by step, which keeps the steps of other nodes in the folder.

    Args:
        folder: Created if necessary.
        keys: See `sinew.sim.cache.keys.node_keys`.
        start: Scene time of step 0 [s].
        renderer: The GPU that simulates.
        packages: See `sinew.sim.kinds.packages`.

    Raises:
        BakeError: From every call, if writing fails; the previous bake stays.
    """

    def __init__(
        self,
        folder: Path,
        keys: Mapping[NodeId, str],
        start: float,
        renderer: str = "",
        packages: Mapping[NodeId, str] | None = None,
    ) -> None:
        self._folder, self._keys, self._start, self._renderer = folder, keys, start, renderer
        self._packages = packages or {}
        self._nodes: dict[NodeId, _Writing] = {}
        with _reported(folder):
            folder.mkdir(exist_ok=True)

    def add(self, step: int, states: Mapping[NodeId, bytes]) -> None:
        """Adds a step, which must follow the previous one."""
        with _reported(self._folder):
            for node in self._keys:
                if node not in states:
                    continue
                writing = self._nodes.get(node) or self._begun(node, step)
                writing.file.write(states[node])
                writing.rows.append((writing.end, len(states[node])))
                writing.sums.append(checksum(states[node]))
                writing.end += len(states[node])

    def finish(self) -> None:
        with _reported(self._folder):
            for writing in self._nodes.values():
                writing.file.flush()
                os.fsync(writing.file.fileno())
                writing.file.close()
            before: Mapping[NodeId, BakedNode] = {}
            with contextlib.suppress(BakeError):
                before = _read_index(self._folder).nodes
            self._write({**before, **self._made()})
            self._nodes.clear()

    def cancel(self) -> None:
        """Cancels writing and removes the new files; the previous bake stays."""
        for writing in self._nodes.values():
            writing.file.close()
            with contextlib.suppress(OSError):
                (self._folder / writing.name).unlink()
        self._nodes.clear()
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # if it is empty

    def _made(self) -> dict[NodeId, BakedNode]:
        return {
            node: BakedNode(
                file=one.name,
                key=self._keys[node],
                first=one.first,
                rows=tuple(one.rows),
                sums=tuple(one.sums),
                package=self._packages.get(node, msgspec.UNSET),
            )
            for node, one in self._nodes.items()
        }

    def _write(self, nodes: Mapping[NodeId, BakedNode]) -> None:
        index = Index(start=self._start, renderer=self._renderer, nodes=dict(nodes))
        write_atomically(self._folder / INDEX, msgspec.json.encode(index))
        _sweep(self._folder, {node.file for node in nodes.values()})

    def _begun(self, node: NodeId, step: int) -> _Writing:
        """Opens a new file next to the previous one, which the index still names."""
        name = _new_name(self._folder, node)
        self._nodes[node] = _Writing((self._folder / name).open("xb"), name, step)
        return self._nodes[node]


def is_bake(folder: Path) -> bool:
    """Returns True for a folder with a bake; an interrupted first bake leaves one without."""
    return (folder / INDEX).is_file()


def free(folder: Path, nodes: Iterable[NodeId]) -> None:
    """Removes nodes from a bake.  Raises BakeError if it cannot be read or written."""
    index = _read_index(folder)
    gone = set(nodes)
    cached = {node: baked for node, baked in index.nodes.items() if node not in gone}
    with _reported(folder):
        write_atomically(folder / INDEX, msgspec.json.encode(msgspec.structs.replace(index, nodes=cached)))
        _sweep(folder, {node.file for node in cached.values()})


def carry(source: Path, target: Path) -> None:
    """Copies a bake by hard links, else only small files; raises BakeError if a file fails or is too large."""
    index = _read_index(source)
    with _reported(target):
        target.mkdir(exist_ok=True)
        names = {}
        for node, baked in index.nodes.items():
            row_file, name = source / baked.file, _new_name(target, node)
            try:
                os.link(row_file, target / name)
            except OSError as error:
                if row_file.stat().st_size > COPIED_MAX:
                    raise BakeError(f"{source}: is too large to be copied at once; copy it to {target.name}") from error
                shutil.copyfile(row_file, target / name)
            names[baked.file] = name
        nodes = {node: msgspec.structs.replace(baked, file=names[baked.file]) for node, baked in index.nodes.items()}
        write_atomically(target / INDEX, msgspec.json.encode(msgspec.structs.replace(index, nodes=nodes)))
        _sweep(target, set(names.values()))


def _new_name(folder: Path, node: NodeId) -> str:
    stem = re.sub(r"[^\w-]", "_", node)[:80]
    return next(name for n in itertools.count() if not (folder / (name := f"{stem}-{n}.{ROWS}")).exists())


def _sweep(folder: Path, used: set[str]) -> None:
    """Removes files that no index names, as an interrupted bake leaves them."""
    for path in folder.glob(f"*.{ROWS}"):
        if path.name not in used:
            with contextlib.suppress(OSError):
                path.unlink()


def _read_index(folder: Path) -> Index:
    path = folder / INDEX
    try:
        if path.stat().st_size > INDEX_MAX:
            raise BakeError(f"{path}: is larger than {INDEX_MAX // 2**20} MiB")
        content: Any = json.loads(path.read_bytes())
        index = msgspec.convert(content, Index)
    except OSError as error:
        raise BakeError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BakeError(f"{path}: is not an index of baked steps: {error}") from error
    if index.format != FORMAT or index.version > VERSION:
        raise BakeError(f"{path}: is not an index of baked steps that this version can read")
    if not math.isclose(index.dt, STEP_TIME) or not math.isfinite(index.start):
        raise BakeError(f"{path}: has steps of another length, or an invalid start")
    for node, baked in index.nodes.items():
        if Path(baked.file).name != baked.file or not baked.file.endswith(f".{ROWS}"):
            raise BakeError(f"{path}: {node}: names a file outside its folder")
        if not 0 <= baked.first <= FIRST_MAX:
            raise BakeError(f"{path}: {node}: begins with step {baked.first}, not one from 0 to {FIRST_MAX}")
        ends = [0, *(offset + size for offset, size in baked.rows)]
        if any(size <= 0 or offset < end for (offset, size), end in zip(baked.rows, ends, strict=False)):
            raise BakeError(f"{path}: {node}: names rows that are empty, overlap, or lie before the start of its file")
        if baked.sums and len(baked.sums) != len(baked.rows):
            raise BakeError(f"{path}: {node}: has {len(baked.sums)} checksums for {len(baked.rows)} rows")
    return index


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BakeError(f"{path}: {error.strerror or error}") from error
