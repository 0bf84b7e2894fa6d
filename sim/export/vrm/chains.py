"""New bones and weights of one section, in the file that a model was read from; everything else stays."""

from collections.abc import Iterator, Sequence

import numpy as np

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import GltfDocument
from sinew.sim.assets.gltf.reader import shown_nodes
from sinew.sim.assets.influences import Influences
from sinew.sim.assets.model import CharacterModel
from sinew.sim.export.gltf_parts import VERTEX_DATA
from sinew.sim.export.vrm.file import GlbFile, Json
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.transform import inverse_affine

_TRIANGLES = 4


def add_chains(
    file: GlbFile, model: CharacterModel, anchor: int, places: Float64, names: Sequence[str],
    rows: Intp, influences: Influences,
) -> None:  # fmt: skip
    """Adds chains of joints below one, and gives vertices their weights.

    Args:
        model: As the file is read, node i is joint i.
        places: Places of the joints in the model at rest, chain by chain, (C, N, 3).
        names: Of the joints, C * N.
        rows: Vertices with new weights (R,).
        influences: Their joints, the new ones after the joints of the model.

    Raises:
        ElementFault: If a vertex has no skin, or the data is in other files.
    """
    skeleton = model.skeleton
    assert skeleton is not None
    rest = skeleton.model_from_bind[anchor]
    chains, count = places.shape[:2]
    frames, numbers, first = [], list[int](), skeleton.joint_count
    for chain in range(chains):
        # Of each other's frames only the places differ.
        local = (places[chain] - rest[:3, 3]) @ np.linalg.inv(rest[:3, :3]).T
        steps = np.diff(local, axis=0, prepend=np.zeros((1, 3)))
        for joint in range(count):
            node: Json = {"name": names[len(numbers)], "translation": steps[joint].tolist()}
            numbers.append(file.append("nodes", node))
            frame = rest.copy()
            frame[:3, 3] = places[chain, joint]
            frames.append(frame)
    tree = np.array(numbers).reshape(chains, count)
    for above, below in zip(tree[:, :-1].ravel().tolist(), tree[:, 1:].ravel().tolist(), strict=True):
        file.change("nodes", above, children=[below])
    children = file.member("nodes")[anchor].get("children", [])
    file.change("nodes", anchor, children=[*children, *tree[:, 0].tolist()])
    _Skins(file, model, anchor, np.array(frames), numbers, first).apply(rows, influences)


class _Skins:
    def __init__(
        self, file: GlbFile, model: CharacterModel, anchor: int, frames: Float64, numbers: list[int], first: int
    ) -> None:
        self._file, self._model, self._anchor, self._frames = file, model, anchor, frames
        self._numbers, self._first = numbers, first
        self._made: dict[int, tuple[int, dict[int, int]]] = {}  # By skin: the new one, and the entry of each joint

    def apply(self, rows: Intp, influences: Influences) -> None:
        new_joints = np.full((self._model.mesh.vertex_count, influences.joints.shape[1]), -1, np.intp)
        new_weights = np.zeros(new_joints.shape)
        new_joints[rows], new_weights[rows] = influences.joints, influences.weights
        skin = self._model.skin
        assert skin is not None
        for node, mesh, number, run, used in _primitives(self._file.document, self._model):
            changed = used[np.isin(used, rows)]
            if not len(changed):
                continue
            stored = self._file.document.nodes[node].skin
            if stored is None:
                raise ElementFault(f"nodes[{node}]", "is not bound to bones; give the section weights first")
            target, entry_of = self._skin(stored)
            width = max(new_joints.shape[1], skin.joints.shape[1])
            joints, weights = (np.zeros((len(run), width)) for _ in range(2))
            old = skin.joints_of(skin.joints[run])
            joints[:, : old.shape[1]], weights[:, : old.shape[1]] = old, skin.weights[run]
            place = changed - run[0]
            joints[place], weights[place] = 0, 0.0
            own = slice(0, new_joints.shape[1])
            joints[place, own], weights[place, own] = new_joints[changed], new_weights[changed]
            entries = np.array([[entry_of.get(int(j), -1) for j in row] for row in joints], np.intp)
            if (entries[weights > 0.0] < 0).any():
                raise ElementFault(f"skins[{stored}]", "lacks bones that move the section")
            self._write(mesh, number, np.where(weights > 0.0, entries, 0), weights)
            self._file.change("nodes", node, skin=target)

    def _write(self, mesh: int, number: int, entries: Intp, weights: Float64) -> None:
        primitives = self._file.member("meshes")[mesh]["primitives"]
        attributes = {k: v for k, v in primitives[number]["attributes"].items() if k[:6] not in ("JOINTS", "WEIGHT")}
        sets = max(1, -(-int((weights > 0.0).sum(axis=1).max()) // 4))
        order = np.argsort(-weights, axis=1, kind="stable")
        entries, weights = np.take_along_axis(entries, order, 1), np.take_along_axis(weights, order, 1)
        pad = ((0, 0), (0, max(4 * sets - entries.shape[1], 0)))
        entries, weights = np.pad(entries, pad), np.pad(weights, pad)
        for part in range(sets):
            own = slice(4 * part, 4 * part + 4)
            joints = entries[:, own].astype(np.uint16)
            attributes[f"JOINTS_{part}"] = self._file.add_rows(joints, target=VERTEX_DATA)
            shares = weights[:, own].astype(np.float32)
            attributes[f"WEIGHTS_{part}"] = self._file.add_rows(shares, target=VERTEX_DATA)
        primitives[number]["attributes"] = attributes
        self._file.change("meshes", mesh, primitives=primitives)

    def _skin(self, number: int) -> tuple[int, dict[int, int]]:
        """Returns a copy of a skin with the new joints, made once, and the entry of each joint."""
        if number not in self._made:
            stored, model = self._file.member("skins")[number], self._model
            skin, skeleton = model.skin, model.skeleton
            assert skin is not None and skeleton is not None  # noqa: PT018
            old = np.tile(np.eye(4), (len(stored["joints"]), 1, 1))
            if "inverseBindMatrices" in stored:
                columns = self._file.floats(stored["inverseBindMatrices"], "MAT4")
                old = columns.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
            entry = stored["joints"].index(self._anchor) if self._anchor in stored["joints"] else 0
            moved = skeleton.model_from_bind[stored["joints"][entry]] @ old[entry]
            new = inverse_affine(self._frames) @ moved
            every = np.concatenate([old, new]).swapaxes(1, 2).reshape(-1, 16).astype(np.float32)
            made = {**stored, "joints": [*stored["joints"], *self._numbers]}
            made["inverseBindMatrices"] = self._file.add_rows(every)
            joints = [*stored["joints"], *range(self._first, self._first + len(self._numbers))]
            self._made[number] = self._file.append("skins", made), {joint: i for i, joint in enumerate(joints)}
        return self._made[number]


def _primitives(document: GltfDocument, model: CharacterModel) -> Iterator[tuple[int, int, int, Intp, Intp]]:
    """Yields node, mesh and number of each primitive, its vertices of the model, and those that triangles use."""
    start = section = 0
    for index in shown_nodes(document, None):
        node = document.nodes[index]
        if node.mesh is None:
            continue
        if node.extensions.instancing is not None:
            raise ElementFault(f"nodes[{index}]", "has instances, whose vertices have no places in the file")
        for number, primitive in enumerate(document.meshes[node.mesh].primitives):
            if primitive.mode < _TRIANGLES:
                continue
            count = document.accessors[primitive.attributes["POSITION"]].count
            run = np.arange(start, start + count)
            part = model.mesh.sections[section]
            corners = model.mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count]
            yield index, node.mesh, number, run, np.unique(corners).astype(np.intp)
            start, section = start + count, section + 1
