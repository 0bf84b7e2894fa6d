"""Writing of scenes; files are read back and compared before they appear."""

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from sinew.sim.assets.formats import ImageFormat, resolved
from sinew.sim.assets.model import EmbeddedImage
from sinew.sim.export.atomic_file import atomic_path, naming
from sinew.sim.export.formats import BoneOptions, Characters, ExportError, SceneFormat, failures_of_libraries
from sinew.sim.export.image import ImageStore, Placed
from sinew.sim.export.scene.bones import with_bones
from sinew.sim.export.scene.recording import FoundNode, SceneRecording, Topology, Track, as_chosen

TOLERANCE = 1e-5
"""Maximum read-back error, relative to the extent."""

CHARACTERS = "characters"
"""Name of the option of formats with skins."""

Report = Callable[[str], None]


def files_of(recording: SceneRecording, path: Path, format: SceneFormat) -> list[tuple[Path, tuple[Track, ...]]]:
    """Returns files and their tracks; formats with one object per file get one per track, named after it."""
    held = tuple(track for track in recording.tracks if track.form.value in format.holds)
    if not format.is_single or len(held) < 2:
        return [(path, held)] if held else []
    return [(path.with_name(f"{path.stem}-{_word(track.name)}{path.suffix}"), (track,)) for track in held]


def write_scene(
    recording: SceneRecording,
    path: Path,
    format: SceneFormat,
    options: msgspec.Struct | None,
    reported: Report,
    warned: Report,
    progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Writes a recording; each file appears complete and verified, or not at all.

    Args:
        path: The file, or the stem of several files if the format holds one object.
        options: Of the format; the defaults for None.
        reported: Receives a line for every file, such as "cape.pc2: 181 frames, 828 vertices, max read-back error 0".
        warned: Receives a line about skipped content.
        progress: Receives the finished fraction of fitting bones, and may raise to cancel.

    Raises:
        ExportError: If bones cannot be fitted, the format can store nothing of it, or the read-back differs.
        OSError: If a file cannot be written.
    """
    lost_by_bones = list[str]()
    if format.as_skin:
        chosen = format.chosen(options)[0]
        choice = getattr(chosen, CHARACTERS)
        fitted = chosen if isinstance(chosen, BoneOptions) and chosen.has_bones else None
        choice = Characters.SKIN if fitted is not None and choice is Characters.AUTO else choice
        recording, lines = as_chosen(recording, choice, resolved(format.as_skin))
        for line in lines:
            warned(f"{path}: {line}")
        if fitted is not None:
            with about(path):
                recording, results = with_bones(recording, fitted, progress)
            lost_by_bones = [result.text() for result in results]
            for line in (warning for result in results for warning in result.warnings()):
                warned(f"{path}: {line}")
    if format.variant:
        format, recording, lines = resolved(format.variant)(format, recording, *format.chosen(options))
        for line in lines:
            warned(f"{path}: {line}")
    files = files_of(recording, path, format)
    left = [track.name for track in recording.tracks if track.form.value not in format.holds]
    lost: dict[tuple[str, ...], list[str]] = {}
    for track in (track for _, held in files for track in held):
        if missed := lost_of(track, format.keeps):
            lost.setdefault(missed, []).append(track.name)
    if not files:
        raise ExportError(f"{path}: {format.name} holds {' and '.join(sorted(format.holds))}, of which there is none")
    if left:
        warned(f"{path}: left out: {', '.join(left)}; {format.name} holds {' and '.join(sorted(format.holds))} only")
    if recording.cameras and "cameras" not in format.keeps:
        lost["cameras",] = [camera.name for camera in recording.cameras]
    if recording.lights and "lights" not in format.keeps:
        lost["lights",] = [light.name for light in recording.lights]
    for what, names in lost.items():
        warned(f"{path}: {format.name} cannot store {', '.join(what)}; skipped for {', '.join(names)}")
    for target, tracks in files:
        reported(_written(replace(recording, tracks=tracks), target, format, options, warned))
    for line in lost_by_bones:
        reported(f"{path}: {line}")


@contextlib.contextmanager
def about(path: Path) -> Iterator[None]:
    """Makes an ExportError within the block name the file."""
    try:
        yield
    except ExportError as error:
        raise ExportError(f"{path}: {error}") from error


def lost_of(track: Track, keeps: Collection[str]) -> tuple[str, ...]:
    """Returns the content that a format loses; velocities of surfaces and strands follow from the positions."""
    is_loose = track.form is Topology.POINTS
    known = {
        "materials": not is_loose and bool(track.materials),
        "images": is_loose and bool(track.materials),
        "colours": track.colours is not None,
        "widths": track.form is not Topology.SURFACE and track.widths is not None,
        "velocities": is_loose and track.velocities is not None,
        "ids": is_loose and track.ids is not None,
    }
    return tuple(what for what, there in known.items() if there and what not in keeps)


def _require_room(recording: SceneRecording, path: Path) -> None:
    """Checks the disk; raises OSError without space for the points, as some libraries hang or do not notice."""
    needed = sum(track.positions.nbytes for track in recording.tracks if track.form is not Topology.POINTS)
    if needed > shutil.disk_usage(path.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _written(
    recording: SceneRecording, path: Path, format: SceneFormat, options: msgspec.Struct | None, warned: Report
) -> str:
    _require_room(recording, path)
    chosen = format.chosen(options)
    with contextlib.ExitStack() as stack:
        names = [path, *(path.with_suffix(suffix) for suffix in format.beside)]
        if format.files:
            path, *_ = names = resolved(format.files)(path, *chosen)
        files = tuple(stack.enter_context(atomic_path(name)) for name in names)
        with failures_of_libraries(path), naming(path):
            if "materials" in format.keeps:
                places = ImageStore(_beside(path, stack) if format.has_image_folder else _within)
                held = tuple(
                    replace(
                        one, materials=tuple(map(places.material, one.materials if one.triangles is not None else ()))
                    )
                    for one in recording.tracks
                )
                recording = replace(recording, tracks=held)
                for line in places.lost:
                    warned(f"{path}: {line}")
            for line in resolved(format.write)(recording, files, *chosen) or ():
                warned(f"{path}: {line}")
            has_normals = all(getattr(one, "normals", True) for one in chosen)
            keeps = format.keeps if has_normals else format.keeps - {"normals"}
            difference = largest_difference(recording, resolved(format.read)(files), path, keeps)
        bound = resolved(format.bound)(recording, *chosen) if format.bound else 0.0
        if difference > TOLERANCE * recording.extent() + bound:
            raise ExportError(f"{path}: the read-back differs by {difference:.2g} m; no file was written")
    points = sum(track.point_count for track in recording.tracks)
    what = "points" if all(track.triangles is None for track in recording.tracks) else "vertices"
    return f"{path}: {recording.frame_count} frames, {points} {what}, max read-back error {difference:.1g}"


def _within(name: str, data: bytes, _format: ImageFormat) -> EmbeddedImage:
    return EmbeddedImage(name, data)


def _beside(path: Path, stack: contextlib.ExitStack) -> Placed:
    """Returns a function that stores images next to a file; they appear at the end of the stack, or not on failure."""
    folder, taken = path.with_name(f"{path.stem}_textures"), set[str]()

    def placed(name: str, data: bytes, format: ImageFormat) -> Path:
        if not taken:
            stack.enter_context(_folder(folder))
        stem = _word(Path(name).stem if format.has_suffix(Path(name)) else name)
        word, number = stem, 2
        while word.lower() in taken:
            word, number = f"{stem}_{number}", number + 1
        taken.add(word.lower())
        image = folder / f"{word}{format.suffixes[0]}"
        stack.enter_context(atomic_path(image)).write_bytes(data)
        return image

    return placed


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Makes a folder; on failure it is removed if it is new and empty."""
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def largest_difference(
    recording: SceneRecording, found: Sequence[FoundNode], path: Path, keeps: Collection[str] = ()
) -> float:
    """Returns the largest distance of positions along an axis [m].

    Args:
        keeps: What the file has beside positions.

    Raises:
        ExportError: If a node, frame or point is missing, or widths, normals or counts of strands differ.
    """
    largest = 0.0
    for index, track in enumerate(recording.tracks):
        node = found[index] if index < len(found) else FoundNode(())
        for what, frames, wanted_of in _compared(track, node, keeps):
            if len(frames) != recording.frame_count:
                raise ExportError(
                    f"{path}: node {track.name!r}: {len(frames)} frames of {what} read back of {recording.frame_count}"
                )
            for number in range(recording.frame_count):
                wanted, got = wanted_of(number), np.asarray(frames[number])
                place = f"{path}: node {track.name!r}: frame {recording.first + number}"
                if wanted.shape != got.shape:
                    raise ExportError(f"{place}: {len(got)} {what} read back of {len(wanted)}")
                apart = np.abs(np.subtract(got, wanted, dtype=np.float64)).max(initial=0.0)
                if what == POSITIONS:
                    largest = max(largest, float(apart) if np.isfinite(apart) else np.inf)
                elif not apart <= TOLERANCE * max(1.0, np.abs(wanted).max(initial=0.0)):
                    raise ExportError(f"{place}: {what} read back differ by {apart:.2g}")
    return largest


POSITIONS = "points"

Compared = tuple[str, Sequence[np.ndarray] | np.ndarray, Callable[[int], np.ndarray]]


def _compared(track: Track, node: FoundNode, keeps: Collection[str]) -> Iterator[Compared]:
    """Yields the arrays of a node that were read back: name, found frames, and a function of wanted values."""
    yield POSITIONS, node.positions, lambda number: track.living(track.positions, number)
    if "widths" in keeps and track.widths is not None and track.form is not Topology.SURFACE:
        yield "widths", node.widths, lambda number: track.living(track.widths, number)
    if "normals" in keeps and track.form is Topology.SURFACE and track.rig is None and track.bones is None:
        yield "normals", node.normals, track.shading_normals
    if node.counts and track.counts is not None:
        counts = track.counts
        yield "counts", node.counts, lambda _: counts


def _word(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "node"
