"""Baked steps: the exact states of nodes in a folder, from where they are shown again without simulating, on any GPU.

The folder holds `index.json` and a file for each node.  A file is rows of bytes, each what `System.state` gave after a
step, at the offsets that the index tells.  Rows are written first and the index last, in one piece: whatever ends the
writing leaves the bake of before.  Bytes that the index does not name are ignored, and a file that is too short loses
its last steps alone.
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

from sim.export.atomic_file import write_atomically
from sim.scene.clock import STEP_TIME
from sim.scene.params import param_of
from sim.scene.playback import PlaybackSettings
from sim.scene.scene import NodeId

FORMAT, VERSION = "sinew-cache", 1
INDEX = "index.json"
INDEX_MAX = 256 * 1024**2
"""Largest index that is read [bytes]."""

COPIED_MAX = 64 * 1024**2
"""Largest file of rows that is copied for a project of another name [bytes]."""

ROWS = "steps"
"""How the names of the files of nodes end."""

FIRST_MAX = round((param_of(PlaybackSettings, "run_up").declared.hi or 0.0) / STEP_TIME) + 1
"""Largest number of a first step: that after the longest run-up."""

_LANES = 1021
"""Numbers of 8 bytes in a line of the sum of a row; a prime, so that no two sectors of a disk add up alike."""


class BakeError(ValueError):
    """A bake that cannot be read or written; one line that names the file."""


class BakedNode(msgspec.Struct, frozen=True, kw_only=True):
    """What is baked of one node.

    Attributes:
        file: Name of its file in the folder.
        key: What it was made with, see `sim.cache.keys.digest`.
        first: The step of the first row.
        rows: Offset and size of every row [bytes].
        sums: `checksum` of every row; none where an older version wrote them.
    """

    file: str
    key: str
    first: int = 0
    rows: tuple[tuple[int, int], ...] = ()
    sums: tuple[int, ...] = ()


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The index of a bake.

    Attributes:
        dt: Length of a step [s].
        start: Moment of the scene of step 0 [s].
        renderer: What it was simulated on.
        nodes: By their ids.
    """

    format: str = FORMAT
    version: int = VERSION
    dt: float = STEP_TIME
    start: float = 0.0
    renderer: str = ""
    nodes: dict[NodeId, BakedNode] = {}


class DamagedRow(NamedTuple):
    """A row that cannot be used: of which node, after which step, in which file, and why."""

    node: NodeId
    step: int
    path: Path
    reason: str

    def __str__(self) -> str:
        place = f"{self.path.parent.name}/{self.path.name}"
        return f"step {self.step} of {place} {self.reason}; it is simulated from there on"


def checksum(row: bytes) -> int:
    """Another number, as good as always, for another row; some thirty times as fast as CRC-32 on large ones."""
    lines = np.frombuffer(row, "<u8", len(row) // (8 * _LANES) * _LANES).reshape(-1, _LANES)
    return zlib.crc32(np.add.reduce(lines, axis=0, dtype="<u8"), zlib.crc32(memoryview(row)[lines.nbytes :]))


def _is_sound(row: bytes, known: int | None) -> bool:
    """Whether a row is what was written; without a checksum, whether it can be read at all."""
    if known is not None:
        return checksum(row) == known
    try:
        msgspec.msgpack.decode(row)
    except (msgspec.MsgspecError, ValueError):
        return False
    return True


class Bake:
    """A bake that is read; no file stays open.

    Args:
        folder: Where it lies.

    Attributes:
        damaged: Rows that were found to be damaged, one a node, not told yet; the reader clears it.

    Raises:
        BakeError: If there is no index that can be used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = _read_index(folder)
        self._steps: dict[NodeId, range] = {}
        self._sound: set[tuple[NodeId, int]] = set()
        self.damaged: list[DamagedRow] = []

    def steps(self, node: NodeId) -> range:
        """The steps that are there of a node; neither those whose rows are cut off, nor any from a damaged one on."""
        baked = self.index.nodes.get(node)
        if baked is None:
            return range(0)
        if node not in self._steps:
            self._steps[node] = self._whole(baked)
        return self._steps[node]

    def _whole(self, baked: BakedNode) -> range:
        path = self.folder / baked.file
        with _reported(path):
            size = path.stat().st_size
        there = next((i for i, (offset, length) in enumerate(baked.rows) if offset + length > size), len(baked.rows))
        return range(baked.first, baked.first + there)

    def state(self, node: NodeId, step: int) -> bytes | None:
        """What was kept of a node after a step; None where that is not there, or damaged."""
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
        """Lets a node have no baked steps from one on that cannot be used, and notes why."""
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
    """Writes a bake step by step; what is there of other nodes stays.

    Args:
        folder: Where it lies; it is made.
        keys: What each node is made with, by its id.
        start: Moment of the scene of step 0 [s].
        renderer: What simulates.

    Raises:
        BakeError: From every call, if something cannot be written; the bake of before stays.
    """

    def __init__(self, folder: Path, keys: Mapping[NodeId, str], start: float, renderer: str = "") -> None:
        self._folder, self._keys, self._start, self._renderer = folder, keys, start, renderer
        self._nodes: dict[NodeId, _Writing] = {}
        with _reported(folder):
            folder.mkdir(exist_ok=True)

    def add(self, step: int, states: Mapping[NodeId, bytes]) -> None:
        """Adds the states after a step, which follows the one before."""
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
        """Gives up what is not finished: the bake of before stays."""
        for writing in self._nodes.values():
            writing.file.close()
            with contextlib.suppress(OSError):
                (self._folder / writing.name).unlink()
        self._nodes.clear()
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # where there was nothing before

    def _made(self) -> dict[NodeId, BakedNode]:
        return {
            node: BakedNode(
                file=one.name, key=self._keys[node], first=one.first, rows=tuple(one.rows), sums=tuple(one.sums)
            )
            for node, one in self._nodes.items()
        }

    def _write(self, nodes: Mapping[NodeId, BakedNode]) -> None:
        index = Index(start=self._start, renderer=self._renderer, nodes=dict(nodes))
        write_atomically(self._folder / INDEX, msgspec.json.encode(index))
        _sweep(self._folder, {node.file for node in nodes.values()})

    def _begun(self, node: NodeId, step: int) -> _Writing:
        """A new file beside the one of before, which the index still names."""
        name = _new_name(self._folder, node)
        self._nodes[node] = _Writing((self._folder / name).open("xb"), name, step)
        return self._nodes[node]


def is_bake(folder: Path) -> bool:
    """Whether a bake lies there; writing that was killed may leave a folder without one."""
    return (folder / INDEX).is_file()


def free(folder: Path, nodes: Iterable[NodeId]) -> None:
    """Takes nodes out of a bake.

    Raises:
        BakeError: If it cannot be read or written.
    """
    index = _read_index(folder)
    gone = set(nodes)
    cached = {node: baked for node, baked in index.nodes.items() if node not in gone}
    with _reported(folder):
        write_atomically(folder / INDEX, msgspec.json.encode(msgspec.structs.replace(index, nodes=cached)))
        _sweep(folder, {node.file for node in cached.values()})


def carry(source: Path, target: Path) -> None:
    """Lets a bake be in another folder too.

    Both name the same bytes, which are never written again, where the disk can do that; else small ones are copied.

    Raises:
        BakeError: If it cannot be read or written, or would take long to copy.
    """
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
    """Removes files of rows that no index names, such as an interrupted bake leaves."""
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
        raise BakeError(f"{path}: is no index of baked steps: {error}") from error
    if index.format != FORMAT or index.version > VERSION:
        raise BakeError(f"{path}: is no index of baked steps that this version reads")
    if not math.isclose(index.dt, STEP_TIME) or not math.isfinite(index.start):
        raise BakeError(f"{path}: has steps of another length, or from no moment on")
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
