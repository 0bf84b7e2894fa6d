"""Wavefront OBJ text, numbered sequences, and the point caches PC2 and MDD, whose mesh is an OBJ of their name.

Sources: Wavefront Advanced Visualizer manual, appendix B1, "Object Files", the polygonal part; "PointCache2 file
format" of 3ds Max (little-endian); the MDD files of LightWave (big-endian).
"""

import io
import itertools
import re
import struct
from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import MAX_FILE_BYTES, MAX_MAGNITUDE, MAX_VERTICES, ElementFault, PartCounter, quoted
from sinew.sim.assets.formats import MODEL_FORMATS, UTF8_MARK
from sinew.sim.assets.frame_mesh import (
    FRAMES_MAX,
    add_frames,
    check_positions,
    check_size,
    clip_of,
    even_clip,
    sibling_file,
)
from sinew.sim.assets.load import read_bytes
from sinew.sim.assets.raw import LoadWatch, ModelError, RawClip, RawMesh, RawModel, RawSection, RawVertices
from sinew.sim.maths.arrays import Float32, Int64
from sinew.sim.maths.polygons import triangulated
from sinew.sim.notes import Notes

_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>[0-9]{3,9})$")


def following(path: Path) -> list[Path]:
    """Returns the files that continue a sequence numbered with at least three digits, up to the first gap."""
    match = _NUMBERED.match(path.stem)
    if match is None:
        return []
    number, digits = int(match["number"]), len(match["number"])
    names = (f"{match['stem']}{later:0{digits}}{path.suffix}" for later in range(number + 1, number + FRAMES_MAX))
    return list(itertools.takewhile(Path.is_file, map(path.with_name, names)))


def add_sequence(model: RawModel, later: list[Path], of_vertex: Int64, first: Float32, watch: LoadWatch) -> None:
    """Adds the later files as frames.

    Args:
        model: The first file.
        later: The other files.
        of_vertex: Point of each vertex, shape (V,).
        first: Points of the first file, shape (P, 3).
    """
    check_size("the sequence", 1 + len(later), len(first))
    positions = np.empty((1 + len(later), len(first), 3), np.float32)
    positions[0] = first
    read = 0
    for frame, path in enumerate(later, start=1):
        place = f"frame {frame}: {path.name}"
        try:
            data = read_bytes(sibling_file(model.path, path.name))
        except ModelError as error:
            raise ElementFault(place, error.reason) from None
        read += len(data)
        if read > MAX_FILE_BYTES:
            raise ElementFault(place, f"the sequence has more than {MAX_FILE_BYTES >> 20} MiB")
        points = _points(data, place)
        if len(points) != len(first):
            raise ElementFault(place, f"has {len(points)} points, {model.path.name} has {len(first)}")
        positions[frame] = points
        watch.advance()
    names = [model.path.stem, *(path.stem for path in later)]
    add_frames(model, positions, of_vertex, names, watch)
    model.clips = [even_clip(model.path.stem.rstrip("0123456789").rstrip("_-. ") or "frames", len(positions))]


def _points(data: bytes, place: str) -> Float32:
    """Reads the points of a file, shape (P, 3); skips all other elements."""
    rows = [line.split()[1:4] for line in data.splitlines() if line.startswith((b"v ", b"v\t"))]
    try:
        points = np.array(rows, np.float64).reshape(-1, 3)
    except ValueError:
        raise ElementFault(place, "a point is not made of three numbers") from None
    if not (np.abs(points) <= MAX_MAGNITUDE).all():
        raise ElementFault(place, "a point has an unusable place")
    return points.astype(np.float32)


OBJ_KEYWORDS = frozenset((b"v", b"vt", b"vn", b"f", b"o", b"g", b"usemtl", b"mtllib", b"s", b"l", b"p", b"vp"))
MAX_CORNERS = 1 << 12

MAX_LINE = 1 << 20
"""Longest line [characters]."""

_SIZES = {"v": 3, "vt": 2, "vn": 3}

_SKIPPED_MAX = 10
_WATCHED_LINES = 4096
_ABSENT = -1
_VERTEX = re.compile(rb"v [-+.0-9]")

Corner = tuple[int, int, int]


def is_obj(start: bytes) -> bool:
    """Returns True for comments and known keywords, among them a vertex with numbers."""
    text = start.removeprefix(UTF8_MARK).splitlines()
    lines = [words for line in text if (words := line.split()) and not words[0].startswith(b"#")]
    return bool(lines) and lines[0][0] in OBJ_KEYWORDS and any(_VERTEX.match(b" ".join(words)) for words in lines)


def read_obj(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """Reads an OBJ file; files numbered after it become frames, errors name the line."""
    model, of_vertex, positions = _read(data, path, watch)
    later = following(path)
    if later:
        add_sequence(model, later, of_vertex, positions, watch)
    return model


def _read(data: bytes, path: Path, watch: LoadWatch) -> tuple[RawModel, Int64, Float32]:
    """Reads a file without its sequence; returns also the point of each vertex, (V,), and the points, (P, 3)."""
    reader = _ObjReader(watch)
    watch.total = len(data)
    for number, line in _lines(data):
        reader.take(number, line)
    reader.flush()
    model = RawModel(path, "obj", None, asset_name=path.name, warnings=reader.warnings())
    model.up_axis, model.texture_origin = "Y", "bottom"
    buffer, sections = reader.mesh()
    if not sections and reader.skipped.keys() & {"p", "l"}:
        raise ElementFault("", "has points and lines alone; only polygons are drawn")
    model.meshes.append(RawMesh(path.stem, "", [buffer], sections))
    return model, reader.points(), reader.positions()


class _ObjReader:
    def __init__(self, watch: LoadWatch) -> None:
        self._watch, self._parts = watch, PartCounter()
        self._values = {key: array("f") for key in _SIZES}
        self._corners: dict[Corner, int] = {}
        self._sections: dict[str, tuple[array[int], array[int]]] = {}  # corners of all polygons, and their numbers
        self._names = {"o": "", "g": "", "usemtl": ""}
        self.skipped: dict[str, int] = {}
        self._pending = 0

    def take(self, number: int, line: str) -> None:
        """Reads a line; skips comments and elements other than polygons."""
        self._pending += len(line) + 1
        if number % _WATCHED_LINES == 0:
            self.flush()
        words = line.partition("#")[0].split()
        if not words:
            return
        key, rest = words[0], words[1:]
        if key in self._values:
            self._values[key].extend(_numbers(f"line {number}", key, rest))
        elif key == "f":
            self._take_polygon(f"line {number}", rest)
        elif key in self._names:
            self._names[key] = " ".join(rest)
            if key == "o":
                self._names["g"] = ""
        elif key in self.skipped or (key not in ("s", "mtllib") and len(self.skipped) < _SKIPPED_MAX):
            self.skipped[key] = self.skipped.get(key, 0) + 1

    def flush(self) -> None:
        self._watch.advance(self._pending)
        self._pending = 0

    def warnings(self) -> Notes:
        return Notes(
            f"Elements called {quoted(key)} are no polygons; {count:,} were left out."
            for key, count in sorted(self.skipped.items())
        )

    def mesh(self) -> tuple[RawVertices, list[RawSection]]:
        """Returns one vertex for each combination of position, texture coordinate and normal that polygons use."""
        corners = np.array(list(self._corners), np.int64).reshape(-1, 3)
        attributes: dict[str, npt.NDArray[np.generic]] = {"position": _gathered(self._values["v"], corners[:, 0], 3)}
        for column, key, semantic in ((1, "vt", "texcoord1"), (2, "vn", "normal")):
            if (corners[:, column] != _ABSENT).any():
                attributes[semantic] = _gathered(self._values[key], corners[:, column], _SIZES[key])
        sections = []
        for name, (vertices, counts) in self._sections.items():
            vertex, count = np.array(vertices, np.uint32), np.array(counts, np.int64)
            places = attributes["position"][vertex].astype(np.float64)
            triangles, _ = triangulated(places, np.cumsum(count) - count, count)
            sections.append(RawSection(name, "", 0, vertex[triangles]))
        return RawVertices(len(corners), attributes), sections

    def points(self) -> Int64:
        """Returns the point of each vertex, shape (V,)."""
        return np.array(list(self._corners), np.int64).reshape(-1, 3)[:, 0]

    def positions(self) -> Float32:
        """Returns the points, shape (P, 3)."""
        return np.array(self._values["v"], np.float32).reshape(-1, 3)

    def _take_polygon(self, place: str, words: list[str]) -> None:
        if not 3 <= len(words) <= MAX_CORNERS:
            allowed = "at least 3 are needed" if len(words) < 3 else f"at most {MAX_CORNERS} are allowed"
            raise ElementFault(place, f"a polygon has {len(words)} corners, {allowed}")
        numbers = [self._corners.setdefault(self._corner(place, word), len(self._corners)) for word in words]
        if len(self._corners) > MAX_VERTICES:
            raise ElementFault(place, f"there are more than {MAX_VERTICES} vertices")
        name = self._names["g"] or self._names["o"] or self._names["usemtl"]
        if name not in self._sections:
            self._parts.add("group")
            self._sections[name] = array("I"), array("I")
        vertices, counts = self._sections[name]
        vertices.extend(numbers)
        counts.append(len(numbers))

    def _corner(self, place: str, word: str) -> Corner:
        parts = word.split("/")
        if len(parts) > 3:
            raise ElementFault(place, f"{quoted(word)} is no corner of a polygon")
        position = self._index(place, "v", parts[0])
        texcoord = self._index(place, "vt", parts[1]) if len(parts) > 1 and parts[1] else _ABSENT
        normal = self._index(place, "vn", parts[2]) if len(parts) > 2 and parts[2] else _ABSENT
        return position, texcoord, normal

    def _index(self, place: str, key: str, text: str) -> int:
        """Parses an index to count from 0; files count from 1, or backwards from the newest with negative numbers."""
        known = len(self._values[key]) // _SIZES[key]
        try:
            number = int(text)
        except ValueError:
            raise ElementFault(place, f"{quoted(text)} is no index") from None
        index = number - 1 if number > 0 else known + number
        if number == 0 or not 0 <= index < known:
            raise ElementFault(place, f"{key} {number} is out of range, there are {known} so far")
        return index


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yields lines and their numbers from 1; joins lines continued by a backslash. Memory is bounded."""
    parts: list[str] = []
    size = first = 0
    with io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "replace") as file:
        for number, line in enumerate(iter(partial(file.readline, MAX_LINE), ""), start=1):
            first = first or number
            size += len(line)
            if size >= MAX_LINE:
                raise ElementFault(f"line {first}", f"is longer than {MAX_LINE} characters")
            if line.endswith("\\\n"):
                parts.append(line[:-2])
                continue
            yield first, " ".join([*parts, line]) if parts else line
            parts.clear()
            size = first = 0
    if parts:
        yield first, " ".join(parts)


def _numbers(place: str, key: str, words: list[str]) -> list[float]:
    """Parses three numbers, or the first two of a texture coordinate."""
    size = _SIZES[key]
    if len(words) < size and not (key == "vt" and len(words) == 1):
        raise ElementFault(place, f"{key} has {len(words)} numbers, {size} are needed")
    try:
        values = [float(word) for word in words[:size]]
    except ValueError:
        raise ElementFault(place, f"{key} {quoted(' '.join(words))} is not made of numbers") from None
    if not all(abs(value) <= MAX_MAGNITUDE for value in values):
        raise ElementFault(place, f"{key} has the unusable value {max(values, key=abs):.9g}")
    return values if len(values) == size else [*values, 0.0]


def _gathered(values: "array[float]", indices: Int64, size: int) -> Float32:
    """Returns the indexed rows, shape (len(indices), size); zeros for missing indices."""
    rows = np.array(values, np.float32).reshape(-1, size)
    gathered: Float32 = np.zeros((len(indices), size), np.float32)
    used = indices != _ABSENT
    gathered[used] = rows[indices[used]]
    return gathered


PC2_MAGIC = b"POINTCACHE2\0"
NOMINAL_RATE = 30.0
PC2_HEADER = struct.Struct("<12siiffi")
MDD_HEADER = struct.Struct(">ii")


def read_pc2(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    if len(data) < PC2_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {PC2_HEADER.size} are needed")
    _, version, points, start, step, frames = PC2_HEADER.unpack_from(data)
    if version != 1:
        raise ElementFault("header", f"version is {version}, version 1 is read")
    positions = _positions(data, PC2_HEADER.size, frames, points, "<f4")
    # Steps are in frames of the program that wrote the file.
    usable = np.isfinite(start) and np.isfinite(step) and 1e-3 <= step <= 1e3
    return _animated(
        path, "pc2", positions, even_clip(path.stem, frames, NOMINAL_RATE / (step if usable else 1.0)), watch
    )


def read_mdd(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    if len(data) < MDD_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {MDD_HEADER.size} are needed")
    frames, points = MDD_HEADER.unpack_from(data)
    check_size("header", frames, max(points, 0))
    positions = _positions(data, MDD_HEADER.size + 4 * frames, frames, points, ">f4")
    times = np.frombuffer(data, ">f4", frames, MDD_HEADER.size).astype(np.float64)
    times = times - times[0]
    if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        frame = int(np.flatnonzero(~np.isfinite(times) | (np.diff(times, prepend=-1.0) <= 0.0))[0])
        raise ElementFault(f"frame {frame}", "its time is not later than the one before")
    return _animated(path, "mdd", positions, clip_of(path.stem, range(frames), times), watch)


def _positions(data: bytes, start: int, frames: int, points: int, dtype: str) -> Float32:
    """Reads the positions of a point cache, shape (F, P, 3)."""
    if points < 1:
        raise ElementFault("header", f"has {points} points")
    check_size("header", frames, points)
    needed = start + 12 * frames * points
    if needed > len(data):
        complete = max(len(data) - start, 0) // (12 * points)
        raise ElementFault(
            f"frame {complete}", f"the file ends within it: {needed} bytes are needed, it has {len(data)}"
        )
    positions = np.frombuffer(data, dtype, 3 * frames * points, start).reshape(frames, points, 3).astype(np.float32)
    check_positions("frames", positions)
    return positions


def _animated(path: Path, key: str, positions: Float32, clip: RawClip, watch: LoadWatch) -> RawModel:
    suffixes = next(known.suffixes for known in MODEL_FORMATS if known.key == "obj")
    names = [path.stem + suffix for suffix in suffixes]
    found = [sibling_file(path, name) for name in names if (path.parent / name).exists()]
    if not found:
        raise ElementFault("", f"needs the mesh next to it: {names[0]}")
    try:
        model, of_vertex, points = _read(read_bytes(found[0]), found[0], watch)
    except ModelError as error:
        raise ElementFault(found[0].name, error.reason) from None
    except ElementFault as fault:
        raise ElementFault(f"{found[0].name}: {fault.element}", fault.reason) from None
    if len(points) != positions.shape[1]:
        raise ElementFault("frame 0", f"has {positions.shape[1]} points, {found[0].name} has {len(points)}")
    model.path, model.format, model.asset_name = path, key, path.name
    add_frames(model, positions, of_vertex, [f"frame {number}" for number in range(len(positions))], watch)
    model.clips = [clip]
    return model
