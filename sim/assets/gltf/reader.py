"""Reads glTF 2.0, text and binary: rigid and skinned meshes with morph targets, their materials and clips.

Vertices are those of the placed primitives, ordered by node, then by primitive; a mesh on two nodes is copied.
Every node is a joint, so rigid parts are skins with one joint.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault, PartCounter
from sinew.sim.assets.formats import GltfOptions
from sinew.sim.assets.gltf.accessors import Accessors, Budget
from sinew.sim.assets.gltf.container import Buffers, ModelFolder, split_file
from sinew.sim.assets.gltf.document import GltfDocument, GltfMesh, GltfNode, Instancing, decode_document, part_of
from sinew.sim.assets.gltf.materials import MaterialReader
from sinew.sim.assets.gltf.nodes import read_clips, read_skeleton, shown_nodes
from sinew.sim.assets.gltf.primitives import LEFT_OUT, PrimitiveReader
from sinew.sim.assets.raw import LoadWatch, RawMesh, RawModel, RawSkin
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.notes import Notes
from sinew.sim.printable import counted

Float64 = npt.NDArray[np.float64]


def read_gltf(data: bytes, path: Path, watch: LoadWatch, options: GltfOptions) -> RawModel:
    """The content of a glTF file and of the files next to it.

    Source: Khronos Group, glTF 2.0 specification, version 2.0.1.
    """
    text, binary = split_file(data)
    warnings = Notes()
    document = decode_document(text, warnings)
    budget = Budget()
    budget.stored(len(data))
    folder = ModelFolder(path)
    accessors = Accessors(document, Buffers(document, binary, folder, budget.stored), budget)
    model = RawModel(path, "gltf", None, asset_info=document.asset.generator, warnings=warnings)
    model.up_axis, model.texture_origin, model.files = "Y", "top", folder.files
    if document.nodes:
        model.skeletons = [read_skeleton(document, warnings)]
    model.materials = MaterialReader(document, accessors, folder, warnings).read()
    watch.advance()
    _Placer(document, accessors, budget, model, watch).place(shown_nodes(document, options.scene))
    if LEFT_OUT in warnings and not model.meshes:
        raise ElementFault("meshes", "hold points and lines alone; only triangles are drawn")
    model.clips = read_clips(document, accessors, budget, warnings)
    cameras = sum(node.camera is not None for node in document.nodes)
    lights = sum(node.extensions.lights is not None for node in document.nodes)
    skipped = [counted(count, what) for count, what in ((cameras, "camera"), (lights, "light")) if count]
    if skipped:
        warnings.append(f"{' and '.join(skipped)} of the file {'is' if cameras + lights == 1 else 'are'} left out.")
    return model


class _Placer:
    def __init__(
        self, document: GltfDocument, accessors: Accessors, budget: Budget, model: RawModel, watch: LoadWatch
    ) -> None:
        self._document, self._accessors, self._model, self._watch = document, accessors, model, watch
        self._primitives = PrimitiveReader(document, accessors, budget, model.warnings)
        self._names = [material.name for material in model.materials]
        self._parts = PartCounter()
        self._skins: dict[int, int] = {}

    def place(self, nodes: list[int]) -> None:
        for index in nodes:
            node = self._document.nodes[index]
            if node.mesh is None:
                continue
            mesh = part_of(self._document.meshes, node.mesh, f"nodes[{index}].mesh", "meshes")
            self._watch.advance()
            skins = self._skins_of(index, node)
            place = f"nodes[{index}]" + (f" with {len(skins):,} instances" if len(skins) > 1 else "")
            if skins:
                for number in range(len(mesh.primitives)):
                    self._primitives.charge(node.mesh, number, self._names, len(skins), place)
            for skin in skins:
                self._place(index, node, mesh, skin)

    def _place(self, index: int, node: GltfNode, mesh: GltfMesh, skin: int) -> None:
        assert node.mesh is not None
        self._parts.add("placed meshes")
        name = mesh.name.strip() or self._model.skeletons[0].bones[index].name
        placed = RawMesh(name, "", [], [], skin=skin, joint=index)
        for number in range(len(mesh.primitives)):
            self._parts.add("placed primitives")
            made = self._primitives.read(node.mesh, number, self._names)
            if made is None:
                continue
            vertices, section = made
            placed.sections.append(replace(section, buffer=len(placed.buffers)))
            if node.skin is None:  # influences have no meaning without a skin
                attributes = vertices.attributes.items()
                vertices = replace(vertices, attributes={k: v for k, v in attributes if not k.startswith("blend")})
            placed.buffers.append(vertices)
        count = max((len(buffer.targets) for buffer in placed.buffers), default=0)
        if count:
            stored = node.weights if node.weights is not None else mesh.weights
            placed.rest_weights = (list(stored) + [0.0] * count)[:count]
            placed.target_names = _target_names(mesh, count)
        if placed.buffers:
            self._model.meshes.append(placed)

    def _skins_of(self, index: int, node: GltfNode) -> list[int]:
        """Numbers of the skins of a node's mesh: one, or one for each instance."""
        if node.skin is not None:
            if node.skin not in self._skins:
                self._skins[node.skin] = self._added(self._skin(node.skin, f"nodes[{index}].skin"))
            return [self._skins[node.skin]]
        if node.extensions.instancing is None:
            return [self._added(RawSkin([index], np.eye(4)[None]))]
        placements = self._instances(node.extensions.instancing, f"nodes[{index}].extensions.EXT_mesh_gpu_instancing")
        self._parts.add("instances", count=len(placements))
        return [self._added(RawSkin([index], placement[None])) for placement in placements]

    def _added(self, skin: RawSkin) -> int:
        self._parts.add("skins")
        self._model.skins.append(skin)
        return len(self._model.skins) - 1

    def _skin(self, index: int, place: str) -> RawSkin:
        stored = part_of(self._document.skins, index, place, "skins")
        own = f"skins[{index}]"
        for joint in stored.joints:
            part_of(self._document.nodes, joint, f"{own}.joints", "nodes")
        count = len(stored.joints)
        if stored.inverse_bind_matrices is None:
            return RawSkin(list(stored.joints), np.tile(np.eye(4), (count, 1, 1)))
        own += ".inverseBindMatrices"
        values = self._accessors.floats(stored.inverse_bind_matrices, own, ("MAT4",))
        if len(values) < count:
            raise ElementFault(own, f"has {len(values)} matrices for {count} joints")
        # Stored column after column; the last row of an affine matrix is known.
        matrices = values[:count].reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
        return RawSkin(list(stored.joints), matrices)

    def _instances(self, stored: Instancing, place: str) -> Float64:
        """Transforms of the instances of a mesh, shape (N, 4, 4)."""
        parts = {}
        for name, kind in (("TRANSLATION", "VEC3"), ("ROTATION", "VEC4"), ("SCALE", "VEC3")):
            if name in stored.attributes:
                parts[name] = self._accessors.floats(stored.attributes[name], f"{place}.{name}", (kind,))
        counts = {len(values) for values in parts.values()}
        if len(counts) != 1:
            raise ElementFault(place, "needs attributes of equal counts")
        count = counts.pop()
        return compose(
            parts.get("TRANSLATION", np.zeros((count, 3))).astype(np.float64),
            quaternion.normalised(parts.get("ROTATION", np.tile(quaternion.IDENTITY, (count, 1))).astype(np.float64)),
            parts.get("SCALE", np.ones((count, 3))).astype(np.float64),
        )


def _target_names(mesh: GltfMesh, count: int) -> list[str]:
    """Names of morph targets as most writers store them, else numbers."""
    stored = mesh.extras.get("targetNames") if isinstance(mesh.extras, dict) else None
    names = stored if isinstance(stored, list) else []
    return [
        names[index] if index < len(names) and isinstance(names[index], str) else f"target {index}"
        for index in range(count)
    ]
