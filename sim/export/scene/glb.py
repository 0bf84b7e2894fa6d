"""Scenes over time as binary glTF: characters with skins and keys for every frame, other surfaces as morph targets.

All move in one animation with linear keys, so that viewers play them together.  Where a skin cannot give what is
drawn, frame 0 is the mesh, and every further frame a target of differences to it, whose weight is 1 at its own key.

Source: glTF 2.0 specification; skins blend linearly there.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.load import load_model
from sim.assets.model import CharacterModel, Interpolation, Material
from sim.export.error import ExportError
from sim.export.gltf_file import INDEX_DATA, VERTEX_DATA, GlbChunk
from sim.export.gltf_materials import MaterialWriter
from sim.export.options import Characters, GlbOptions
from sim.export.scene.recording import Recording, Rig, Track
from sim.jobs.evaluate import evaluate_pose
from sim.jobs.pose import Pose
from sim.maths.transform import decompose

Json = dict[str, Any]
Float32 = npt.NDArray[np.float32]

MORPH_BYTES = 2 << 30
"""Largest size of the targets of a surface; readers keep them all."""


def write_glb_scene(recording: Recording, files: tuple[Path, ...], options: GlbOptions) -> None:
    """Writes a file in metres, y up."""
    scene = _Scene(recording)
    for track in recording.tracks:
        rig = track.rig
        if rig is not None and not rig.is_dual and options.characters is Characters.SKELETON:
            scene.add_character(track, rig)
        else:
            scene.add_morphs(track)
    files[0].write_bytes(scene.file())


def read_glb_scene(files: tuple[Path, ...]) -> list[list[Float32]]:
    """The points of every node and frame, by our own reader and linear blending."""
    model = load_model(files[0])
    places = np.cumsum([0, *(count * parts for count, parts in _layout(files[0]))])
    counts = [count for count, _ in _layout(files[0])]
    clip = model.clips[0] if model.clips else None
    found: list[list[Float32]] = [[] for _ in counts]
    for time in clip.key_times if clip is not None else (0.0,):
        pose = evaluate_pose(model, clip, float(time), interpolation=Interpolation.LINEAR)
        skinned = _skinned(model, pose)
        for frames, place, count in zip(found, places[:-1].tolist(), counts, strict=True):
            frames.append(skinned[place : place + count])
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


def _layout(path: Path) -> list[tuple[int, int]]:
    """Vertices of every mesh that is shown, and how many parts share them; a reader has them once for each part."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    meshes = [document["meshes"][node["mesh"]]["primitives"] for node in document["nodes"] if "mesh" in node]
    return [(document["accessors"][parts[0]["attributes"]["POSITION"]]["count"], len(parts)) for parts in meshes]


class _Scene:
    """A file in the making."""

    def __init__(self, recording: Recording) -> None:
        self._chunk = GlbChunk()
        self._materials = MaterialWriter(self._chunk)
        self._parts: dict[str, list[Json]] = {"nodes": [], "meshes": []}
        self._roots: list[int] = []
        self._times = self._chunk.once(
            np.arange(recording.frame_count, dtype=np.float32)[:, None] / np.float32(recording.rate), bounded=True
        )
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
        """A surface whose frames are targets."""
        positions = np.asarray(track.positions)
        if positions.nbytes > MORPH_BYTES:
            size = positions.nbytes / 1e9
            raise ExportError(f"{track.name}: {size:.1f} GB of morph targets are too much; fewer frames take less")
        count = len(positions) - 1
        targets = [
            {"POSITION": self._chunk.once(positions[frame] - positions[0], VERTEX_DATA, bounded=True)}
            for frame in range(1, count + 1)
        ]
        mesh = self._mesh(track, positions[0], track.surface().normals, {}, targets)
        if count:
            mesh["weights"] = [0.0] * count
        self._roots.append(self._put("nodes", {"name": track.name, "mesh": self._put("meshes", mesh)}))
        if count:
            keys = np.eye(count + 1, dtype=np.float32)[:, 1:].reshape(-1, 1)
            self._move(self._roots[-1], "weights", keys)

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
            moved = np.zeros((model.mesh.vertex_count, 3), np.float32)
            for run in np.flatnonzero(targets.weight_of == weight):
                first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
                moved[first : first + count] += targets.deltas[start : start + count, 0, :3]
            found.append({"POSITION": self._chunk.sparse(moved, VERTEX_DATA, bounded=True)})
        return found, True

    def _mesh(
        self, track: Track, positions: Float32, normals: Float32, more: dict[str, int], targets: list[Json]
    ) -> Json:
        """A mesh whose sections share their vertices."""
        assert track.triangles is not None
        attributes = {"POSITION": self._chunk.once(np.asarray(positions, np.float32), VERTEX_DATA, bounded=True)}
        attributes["NORMAL"] = self._chunk.once(_unit(normals), VERTEX_DATA)
        if track.texcoords is not None and track.texcoords.any():
            flipped = np.column_stack((track.texcoords[:, 0], 1.0 - track.texcoords[:, 1])).astype(np.float32)
            attributes["TEXCOORD_0"] = self._chunk.once(flipped, VERTEX_DATA)
        materials = {one.name: one for one in track.materials}
        primitives = []
        for name, first, count in track.ranges or ((track.name, 0, len(track.triangles)),):
            corners = track.triangles[first : first + count].astype(np.uint32).reshape(-1, 1)
            if not len(corners):
                continue
            material = materials.get(name, Material(name, None, None, diffuse=(0.52, 0.53, 0.55)))
            primitive: Json = {"attributes": attributes | more, "indices": self._chunk.once(corners, INDEX_DATA)}
            primitive["material"] = self._materials.add(material, double_sided=not track.ranges)
            if targets:
                primitive["targets"] = targets
            primitives.append(primitive)
        return {"name": track.name, "primitives": primitives}

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
            sampler = {"input": self._times, "output": self._chunk.once(keys), "interpolation": "LINEAR"}
            self._samplers.append(sampler)
            target = {"node": node, "path": path}
            self._channels.append({"sampler": len(self._samplers) - 1, "target": target})

    def _put(self, key: str, part: Json) -> int:
        parts = self._parts.setdefault(key, [])
        parts.append(part)
        return len(parts) - 1


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
