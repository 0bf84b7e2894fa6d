"""Scenes over time as binary glTF: characters with skins and keys for every frame, other surfaces as morph targets.

All move in one animation with linear keys, so that viewers play them together.  Where a skin cannot give what is
drawn, frame 0 is the mesh, and every further frame a target of differences to it, whose weight is 1 at its own key.
Strands are lines that move so too.  Particles come and go: those of every frame are points of a node of their own,
which is scaled to nothing at all other times, as the specification proposes for what is hidden.

Source: glTF 2.0 specification; skins blend linearly there.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.load import load_model
from sim.assets.model import AlphaMode, CharacterModel
from sim.export.error import ExportError
from sim.export.gltf_file import INDEX_DATA, VERTEX_DATA, GlbChunk
from sim.export.gltf_materials import MaterialWriter
from sim.export.options import Characters, GlbOptions
from sim.export.scene.glb_frames import LooseFrames
from sim.export.scene.recording import Form, Recording, Rig, Track, plain_material
from sim.jobs.evaluate import bind_pose, evaluate_poses
from sim.jobs.pose import Pose
from sim.maths.transform import decompose
from sim.printable import size_text

Json = dict[str, Any]
Float32 = npt.NDArray[np.float32]

MORPH_BYTES = 2 << 30
"""Largest size of the frames of a node; readers keep them all."""

_POINTS, _LINES = 0, 1


def write_glb_scene(recording: Recording, files: tuple[Path, ...], options: GlbOptions) -> list[str]:
    """Writes a file in metres, y up; gives a line for what it does not hold."""
    scene = _Scene(recording)
    for track in recording.tracks:
        rig = track.rig
        if rig is not None and not rig.is_dual and options.characters is Characters.SKELETON:
            scene.add_character(track, rig)
        elif track.form is Form.POINTS:
            scene.add_flip_book(track)
        else:
            scene.add_morphs(track)
    files[0].write_bytes(scene.file())
    return [f"left out: brightness beyond 1 of {track.name}" for track in recording.tracks if _glows(track)]


def read_glb_scene(files: tuple[Path, ...]) -> list[list[Float32]]:
    """The points of every node and frame, surfaces by our own reader and linear blending."""
    loose = LooseFrames(files[0])
    poses = []
    if loose.surfaces:
        model = load_model(files[0])
        clip = model.clips[0] if model.clips else None
        times = loose.times.tolist()
        moved = evaluate_poses(model, clip, times) if clip is not None else [bind_pose(model)] * len(times)
        poses = [_skinned(model, pose) for pose in moved]
    found, place = [], 0
    for node in loose.shown:
        if node in loose.surfaces:
            count, parts = loose.surfaces[node]
            found.append([pose[place : place + count] for pose in poses])
            place += count * parts
        else:
            found.append(loose.frames_of(node))
    return found


def _skinned(model: CharacterModel, pose: Pose) -> Float32:
    """Places of all vertices under a pose, shape (V, 3)."""
    places = model.mesh.positions.astype(np.float64)
    if (targets := model.mesh.targets) is not None:
        for run, weight in enumerate(pose.local.weights[targets.weight_of].tolist()):
            if weight:
                first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
                places[first : first + count] += weight * targets.deltas[start : start + count, 0, :3]
    assert model.skin is not None
    moved = np.zeros_like(places)
    for joints, weights in zip(model.skin.joints.T, model.skin.weights.T, strict=True):
        matrices = pose.palette[joints]
        moved += weights[:, None] * (np.einsum("vij,vj->vi", matrices[:, :3, :3], places) + matrices[:, :3, 3])
    return moved.astype(np.float32)


class _Scene:
    """A file in the making."""

    def __init__(self, recording: Recording) -> None:
        self._chunk = GlbChunk()
        self._materials = MaterialWriter(self._chunk)
        self._parts: dict[str, list[Json]] = {"nodes": [], "meshes": []}
        self._roots: list[int] = []
        self._moments = np.arange(recording.frame_count, dtype=np.float32)[:, None] / np.float32(recording.rate)
        self._times = self._chunk.once(self._moments, bounded=True)
        self._channels: list[Json] = []
        self._samplers: list[Json] = []
        self._is_moving = recording.frame_count > 1

    def file(self) -> bytes:
        """Its bytes."""
        document: Json = {"asset": {"version": "2.0", "generator": "Sinew"}, "scene": 0}
        document["scenes"] = [{"nodes": self._roots}]
        if self._channels:
            animation = {"name": "scene", "channels": self._channels, "samplers": self._samplers}
            document["animations"] = [animation]
        return self._chunk.file(document | self._parts | self._materials.parts)

    def add_morphs(self, track: Track) -> None:
        """A surface or strands whose frames are targets."""
        positions = np.asarray(track.positions)
        _require_size(track, positions.nbytes)
        count = len(positions) - 1
        targets = [
            {"POSITION": self._chunk.once(positions[frame] - positions[0], VERTEX_DATA, bounded=True)}
            for frame in range(1, count + 1)
        ]
        if track.form is Form.SURFACE:
            mesh = self._mesh(track, positions[0], track.surface().normals, {}, targets)
        else:
            mesh = self._lines(track, positions[0], targets)
        if count:
            mesh["weights"] = [0.0] * count
        self._roots.append(self._put("nodes", {"name": track.name, "mesh": self._put("meshes", mesh)}))
        if count:
            keys = np.eye(count + 1, dtype=np.float32)[:, 1:].reshape(-1, 1)
            self._move(self._roots[-1], "weights", keys)

    def add_flip_book(self, track: Track) -> None:
        """Particles: a node for each frame that has any, of which one shows."""
        frames = [np.ascontiguousarray(track.living(track.positions, frame)) for frame in range(len(track.positions))]
        _require_size(track, sum(points.nbytes for points in frames))
        pages = []
        for frame, points in enumerate(frames):
            if not len(points):
                continue
            name = f"{track.name} {frame}"
            primitive = self._loose(track, points, frame) | {"mode": _POINTS}
            mesh = self._put("meshes", {"name": name, "primitives": [primitive]})
            pages.append(self._put("nodes", {"name": name, "mesh": mesh, "scale": [float(frame == 0)] * 3}))
            if self._is_moving:
                self._show(pages[-1], frame, len(frames))
        book: Json = {"name": track.name} | ({"children": pages} if pages else {})
        self._roots.append(self._put("nodes", book))

    def add_character(self, track: Track, rig: Rig) -> None:
        """A surface with a skin, on joints that move as they did."""
        model = rig.model
        assert model.skeleton is not None
        assert model.skin is not None
        placement = self._put("nodes", {"name": track.name, "children": []})
        self._roots.append(placement)
        self._place(placement, *_decomposed(rig.world_from_model))
        joints = [self._put("nodes", {"name": name}) for name in model.skeleton.names]
        for joint, parent in enumerate(model.skeleton.parents.tolist()):
            above = joints[parent] if parent >= 0 else placement
            self._parts["nodes"][above].setdefault("children", []).append(joints[joint])
            self._place(joints[joint], rig.positions[:, joint], rig.orientations[:, joint], rig.scales[:, joint])
        skin_joints, binds = joints, model.skeleton.bind_from_model
        if model.skin.palette is not None:
            # A joint may be bound in several ways, which a skin allows once.
            binds, skin_joints = model.skin.palette.bind_from_mesh, []
            for entry, joint in enumerate(model.skin.palette.entry_joints.tolist()):
                skin_joints.append(self._put("nodes", {"name": f"{model.skeleton.names[joint]} {entry}"}))
                self._parts["nodes"][joints[joint]].setdefault("children", []).append(skin_joints[-1])
        columns = np.ascontiguousarray(binds.astype(np.float32).swapaxes(1, 2).reshape(-1, 16))
        number = self._put(
            "skins", {"joints": skin_joints, "inverseBindMatrices": self._chunk.once(columns), "skeleton": placement}
        )
        targets, weights = self._targets(model)
        mesh = self._mesh(track, model.mesh.positions, model.mesh.normals, _influences(self._chunk, model), targets)
        if targets:
            mesh["weights"] = rig.weights[0].tolist()
            assert model.mesh.targets is not None
            mesh["extras"] = {"targetNames": list(model.mesh.targets.names)}
        node = self._put("nodes", {"name": f"{track.name} mesh", "mesh": self._put("meshes", mesh), "skin": number})
        self._roots.append(node)
        if weights:
            self._move(node, "weights", rig.weights.astype(np.float32).reshape(-1, 1))

    def _targets(self, model: CharacterModel) -> tuple[list[Json], bool]:
        """Morph targets of a character, one for each weight."""
        targets = model.mesh.targets
        if targets is None or not len(targets.names):
            return [], False
        found = []
        for weight in range(len(targets.names)):
            moved = np.zeros((2, model.mesh.vertex_count, 3), np.float32)
            for run in np.flatnonzero(targets.weight_of == weight):
                first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
                moved[:, first : first + count] += targets.deltas[start : start + count, :2, :3].swapaxes(0, 1)
            found.append({"POSITION": self._chunk.sparse(moved[0], VERTEX_DATA, bounded=True)})
            if moved[1].any():
                found[-1]["NORMAL"] = self._chunk.sparse(moved[1], VERTEX_DATA)
        return found, True

    def _mesh(
        self, track: Track, positions: Float32, normals: Float32, more: dict[str, int], targets: list[Json]
    ) -> Json:
        """A mesh whose sections share their vertices."""
        assert track.triangles is not None
        attributes = {"POSITION": self._chunk.once(np.asarray(positions, np.float32), VERTEX_DATA, bounded=True)}
        shaded = {"NORMAL": self._chunk.once(_unit(normals), VERTEX_DATA)}
        if track.texcoords is not None and track.texcoords.any():
            flipped = np.column_stack((track.texcoords[:, 0], 1.0 - track.texcoords[:, 1])).astype(np.float32)
            attributes["TEXCOORD_0"] = self._chunk.once(flipped, VERTEX_DATA)
        if track.colours is not None:
            attributes["COLOR_0"] = self._chunk.once(_within_one(track.colours[0]), VERTEX_DATA)
        primitives = []
        for section in track.sections:
            corners = track.triangles[section.first : section.first + section.count].astype(np.uint32).reshape(-1, 1)
            if not len(corners):
                continue
            own = attributes | more | ({} if section.is_flat else shaded)  # without normals, readers shade flat
            primitive: Json = {"attributes": own, "indices": self._chunk.once(corners, INDEX_DATA)}
            primitive["material"] = self._materials.add(section.material, double_sided=section.has_backs)
            if targets:
                primitive["targets"] = [{k: t[k] for k in t if k in own} for t in targets]
            primitives.append(primitive)
        return {"name": track.name, "primitives": primitives}

    def _lines(self, track: Track, positions: Float32, targets: list[Json]) -> Json:
        """A mesh of strands, each from knot to knot."""
        assert track.counts is not None
        ends = np.cumsum(track.counts)
        starts = np.setdiff1d(np.arange(len(positions), dtype=np.uint32), ends - 1)
        pairs = np.column_stack((starts, starts + 1)).astype(np.uint32).reshape(-1, 1)
        primitive = self._loose(track, positions) | {"indices": self._chunk.once(pairs, INDEX_DATA), "mode": _LINES}
        if targets:
            primitive["targets"] = targets
        return {"name": track.name, "primitives": [primitive]}

    def _loose(self, track: Track, positions: Float32, frame: int = 0) -> Json:
        """A primitive without faces, which is not lit."""
        material = replace(plain_material(track.name), is_unlit=True)
        attributes = {"POSITION": self._chunk.once(positions, VERTEX_DATA, bounded=True)}
        if track.colours is not None:
            colours = _within_one(track.living(track.colours, frame))
            attributes["COLOR_0"] = self._chunk.once(colours, VERTEX_DATA)
            mode = AlphaMode.BLEND if (np.nan_to_num(track.colours[..., 3], nan=1.0) < 1.0).any() else AlphaMode.OPAQUE
            material = replace(material, diffuse=(1.0, 1.0, 1.0), alpha_mode=mode)
        return {"attributes": attributes, "material": self._materials.add(material, double_sided=False)}

    def _show(self, node: int, frame: int, count: int) -> None:
        """Shows a node in one frame of several."""
        frames = sorted({0, frame, min(frame + 1, count - 1)})
        times = self._chunk.once(self._moments[frames], bounded=True)
        scales = np.repeat(np.array(frames, np.float32)[:, None] == frame, 3, axis=1).astype(np.float32)
        self._sample(node, "scale", times, scales, "STEP")

    def _place(self, node: int, positions: Any, orientations: Any, scales: Any) -> None:
        """Where a node is in every frame; keys only where it moves."""
        turns = orientations.copy()
        for frame in range(1, len(turns)):
            if turns[frame] @ turns[frame - 1] < 0.0:  # the same turn, the short way
                turns[frame] *= -1.0
        for path, values, plain in (
            ("translation", positions, (0.0, 0.0, 0.0)),
            ("rotation", turns, (0.0, 0.0, 0.0, 1.0)),
            ("scale", scales, (1.0, 1.0, 1.0)),
        ):
            if (values != values[0]).any():
                self._move(node, path, values.astype(np.float32))
            if (values[0] != plain).any():
                self._parts["nodes"][node][path] = values[0].tolist()

    def _move(self, node: int, path: str, keys: Float32) -> None:
        if self._is_moving:
            self._sample(node, path, self._times, keys, "LINEAR")

    def _sample(self, node: int, path: str, times: int, keys: Float32, mode: str) -> None:
        self._samplers.append({"input": times, "output": self._chunk.once(keys), "interpolation": mode})
        target = {"node": node, "path": path}
        self._channels.append({"sampler": len(self._samplers) - 1, "target": target})

    def _put(self, key: str, part: Json) -> int:
        parts = self._parts.setdefault(key, [])
        parts.append(part)
        return len(parts) - 1


def _within_one(colours: Float32) -> Float32:
    """Colours as the format has them, none brighter than 1, of the same hue; shape (N, 4)."""
    bright = np.maximum(colours[:, :3].max(axis=1, keepdims=True), 1.0)
    within = np.concatenate((colours[:, :3] / bright, colours[:, 3:]), axis=1)
    clipped: Float32 = np.clip(within, 0.0, 1.0).astype(np.float32)
    return clipped


def _glows(track: Track) -> bool:
    """Whether some of its colours are brighter than 1."""
    return track.colours is not None and bool((np.nan_to_num(track.colours[..., :3]) > 1.0 + 1e-6).any())


def _require_size(track: Track, size: int) -> None:
    if size > MORPH_BYTES:
        raise ExportError(f"{track.name}: {size_text(size)} of frames are too much; fewer frames take less")


def _influences(chunk: GlbChunk, model: CharacterModel) -> dict[str, int]:
    """Attributes of the skin, four influences each."""
    assert model.skin is not None
    joints = np.where(model.skin.weights > 0.0, model.skin.joints, 0).astype(np.uint16)
    weights = model.skin.weights.copy()
    weights[:, 0] = 1.0 - weights[:, 1:].sum(axis=1, dtype=np.float64)
    found = {}
    for number in range(joints.shape[1] // 4):
        own = slice(4 * number, 4 * number + 4)
        if number == 0 or weights[:, own].any():
            found[f"JOINTS_{number}"] = chunk.once(np.ascontiguousarray(joints[:, own]), VERTEX_DATA)
            found[f"WEIGHTS_{number}"] = chunk.once(np.ascontiguousarray(weights[:, own], np.float32), VERTEX_DATA)
    return found


def _decomposed(matrices: npt.NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Places, turns and scales of placements (F, 4, 4)."""
    parts = [decompose(matrix) for matrix in matrices]
    return tuple(np.stack([part[index] for part in parts]) for index in range(3))  # type: ignore[return-value]


def _unit(normals: Float32) -> Float32:
    wide = normals.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = np.where(length > 1e-12, wide / np.where(length > 1e-12, length, 1.0), (0.0, 1.0, 0.0))
    return unit.astype(np.float32)
