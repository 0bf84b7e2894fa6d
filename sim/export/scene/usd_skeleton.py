"""Characters and fitted bones of USD: skeletons, their animations, skins, and morph targets as blend shapes.

USD multiplies row vectors: its matrices are transposed.

Source: the schema UsdSkel of OpenUSD.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from sinew.sim.export.scene.recording import BoneMotion, JointMotion, Topology, Track
from sinew.sim.export.scene.usd_parts import define_strands, identifier, vectors, write_topology
from sinew.sim.maths.arrays import Float32, Float64, Intp
from sinew.sim.maths.transform import compose, inverse_affine

HALF_TOLERANCE = 3e-6
"""Maximum relative rounding error of a scale, which USD stores in half precision."""


def as_skin(rig: JointMotion) -> tuple[JointMotion | None, str]:
    """Returns the rig that USD can show, None for no skin, and why it differs, or ""."""
    assert rig.model.skin is not None
    assert rig.model.skeleton is not None
    palette = rig.model.skin.palette
    bound = rig.model.skeleton.bind_from_model if palette is None else palette.bind_from_mesh
    if not (np.linalg.cond(bound) < 1e8).all():
        return None, "a joint is bound flat, which USD cannot"
    rounded = rig.scales.astype(np.float16).astype(np.float64)
    shown = replace(rig, scales=rounded, is_dual=False)
    if rig.is_dual and not (rig.scales == 1.0).all():  # dual quaternions of this program exclude scale
        return shown, "dual quaternions with joints that scale"
    if (np.abs(rounded - rig.scales) > HALF_TOLERANCE * np.abs(rig.scales)).any():
        return shown, "scales of joints, which USD rounds to half precision"
    return rig, ""


def write_skinned(stage: Any, path: Any, track: Track, followers: Sequence[Track], first: int) -> Any:
    """Writes a track with joints, or with bones below the world, and the tracks whose bones are below its joints."""
    rig, bound = track.rig, [one for one in (track, *followers) if one.bones is not None]
    root = UsdSkel.Root.Define(stage, path)
    placements = np.eye(4)[None] if rig is None else rig.world_from_model
    if rig is not None:
        placement = root.AddTransformOp()
        for frame, matrix in enumerate(placements):
            placement.Set(Gf.Matrix4d(matrix.T.tolist()), first + frame)
    bones = _Bones(rig, [one.bones for one in bound if one.bones is not None])
    skel = UsdSkel.Skeleton.Define(stage, path.AppendChild(f"{path.name}_skeleton"))
    skel.CreateJointsAttr(Vt.TokenArray(bones.paths))
    skel.CreateBindTransformsAttr(_matrices(bones.bound))
    skel.CreateRestTransformsAttr(_matrices(bones.rest))
    motion = UsdSkel.Animation.Define(stage, path.AppendChild(f"{path.name}_motion"))
    motion.CreateJointsAttr(Vt.TokenArray(bones.paths))
    translations, rotations = motion.CreateTranslationsAttr(), motion.CreateRotationsAttr()
    scales = motion.CreateScalesAttr()
    for frame in range(len(track.positions)):
        moves, turns, sizes = bones.local(frame)
        translations.Set(vectors(moves), first + frame)
        rotations.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(turns, np.float32)), first + frame)
        scales.Set(Vt.Vec3hArray.FromNumpy(np.ascontiguousarray(sizes, np.float16)), first + frame)
    UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([motion.GetPath()])
    _write_extent(root, [track, *followers], placements, first)
    if rig is not None:
        mesh, skin = rig.model.mesh, rig.model.skin
        assert skin is not None
        drawn = UsdGeom.Mesh.Define(stage, path.AppendChild(f"{path.name}_mesh"))
        write_topology(drawn, track)
        _write_rest(drawn, mesh.positions, mesh.normals)
        _bind(drawn, skel, bones.of_entry[skin.joints], skin.weights)
        if rig.is_dual:
            UsdSkel.BindingAPI(drawn.GetPrim()).CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
        if mesh.targets is not None and len(mesh.targets.names):
            _write_shapes(stage, drawn, motion, track, first)
    taken = {child.GetName() for child in root.GetPrim().GetChildren()}
    for one, numbers in zip(bound, bones.of_bones, strict=True):
        assert one.bones is not None
        place = path.AppendChild(identifier(one.name, taken))
        if one.form is Topology.SURFACE:
            moved = UsdGeom.Mesh.Define(stage, place)
            write_topology(moved, one)
            _write_rest(moved, one.bones.rest, replace(one, positions=one.bones.rest[None]).surface().normals)
        else:
            moved = define_strands(stage, place, one, first)
            moved.CreatePointsAttr(vectors(one.bones.rest))
        _bind(moved, skel, numbers[one.bones.entries], one.bones.weights)
        moved.GetPrim().SetDisplayName(one.name)
    return root.GetPrim()


def _write_rest(mesh: Any, positions: Float32, normals: Float32) -> None:
    mesh.CreatePointsAttr(vectors(positions))
    mesh.CreateNormalsAttr(vectors(normals))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)


def _bind(prim: Any, skel: Any, joints: Intp, weights: Float32) -> None:
    binding, width = UsdSkel.BindingAPI.Apply(prim.GetPrim()), joints.shape[1]
    binding.CreateSkeletonRel().SetTargets([skel.GetPath()])
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(joints.astype(np.int32).ravel()))
    values = np.ascontiguousarray(weights, np.float32).ravel()
    binding.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray.FromNumpy(values))
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))


def read_skinned(prim: Any, codes: list[Any]) -> list[tuple[Any, list[Float32]]]:
    """Returns the prims of a root with their world positions at time codes, as USD skins them."""
    root = UsdSkel.Root(prim)
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies())
    skeleton = cache.GetSkelQuery(binding.GetSkeleton())
    return [(t.GetPrim(), _skinned_positions(root, skeleton, t, codes)) for t in binding.GetSkinningTargets()]


def _skinned_positions(root: Any, skeleton: Any, target: Any, codes: list[Any]) -> list[Float32]:
    rest = UsdGeom.PointBased(target.GetPrim()).GetPointsAttr().Get()
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(target.GetPrim())) if target.HasBlendShapes() else None
    found = []
    for code in codes:
        points = Vt.Vec3fArray(rest)
        if shapes is not None:
            weights = skeleton.GetAnimQuery().ComputeBlendShapeWeights(code)
            mapper = target.GetBlendShapeMapper()
            mapped = mapper.Remap(weights) if mapper else weights
            subs, indices, sub_indices = shapes.ComputeSubShapeWeights(mapped)
            offsets, numbers = shapes.ComputeSubShapePointOffsets(), shapes.ComputeBlendShapePointIndices()
            shapes.ComputeDeformedPoints(subs, indices, sub_indices, numbers, offsets, points)
        target.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(code), points, code)
        matrix = np.array(root.ComputeLocalToWorldTransform(code))
        found.append((np.array(points, np.float64) @ matrix[:3, :3] + matrix[3, :3]).astype(np.float32))
    return found


class _Bones:
    """Joints of a character and fitted bones in USD's order: parents first, names as paths, one bind matrix each.

    If palette entries are not simply the joints, each is an additional joint that stays at rest below its joint.

    Attributes:
        of_entry: Joint of USD of each palette entry of the character.
        of_bones: The same for the entries of each `BoneMotion`.
    """

    def __init__(self, rig: JointMotion | None, motions: Sequence[BoneMotion]) -> None:
        self._rig, self._motions, self._order, self._entries = rig, motions, np.zeros(0, np.intp), 0
        self.paths, self.of_entry, taken = list[str](), np.zeros(0, np.intp), set[str]()
        bound, rest = list[Float64](), None
        of_joint = self.of_entry
        if rig is not None:
            skeleton, palette = rig.model.skeleton, rig.model.skin.palette if rig.model.skin is not None else None
            assert skeleton is not None
            self._order = np.concatenate((np.flatnonzero(skeleton.parents < 0), *skeleton.hierarchy.levels))
            above = [""] * skeleton.joint_count
            for joint in self._order.tolist():
                parent = int(skeleton.parents[joint])
                above[joint] = self._add(f"{above[parent]}/" if parent >= 0 else "", skeleton.names[joint], taken)
            of_joint = self.of_entry = np.argsort(self._order)
            bound.append(skeleton.model_from_bind[self._order])
            rest = skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales
            if palette is not None:
                self._entries = len(palette.entry_joints)
                for entry, joint in enumerate(palette.entry_joints.tolist()):
                    self._add(f"{above[joint]}/", f"skin_{entry}", set())
                self.of_entry = len(self._order) + np.arange(self._entries)
                bound.append(inverse_affine(palette.bind_from_mesh))
        self.of_bones = []
        for motion in motions:
            numbers = len(self.paths) + np.arange(len(motion.names))
            for name in motion.names:
                self._add(f"{above[motion.parent]}/" if motion.owner and motion.parent >= 0 else "", name, taken)
            self.of_bones.append(np.concatenate((numbers, of_joint[motion.joints])))
            bound.append(inverse_affine(motion.bind_from_mesh))
        self.bound = np.concatenate(bound)
        turns = (np.tile([0.0, 0.0, 0.0, 1.0], (len(motion.names), 1)) for motion in motions)
        self.rest = compose(*self._together(rest, zip((m.pivots for m in motions), turns, strict=True)))

    def _add(self, above: str, name: str, taken: set[str]) -> str:
        self.paths.append(f"{above}{identifier(name, taken)}")
        return self.paths[-1]

    def local(self, frame: int) -> tuple[Float64, Float64, Float64]:
        """Returns local transforms in the order of USD, (J, 3), (J, 4) xyzw, (J, 3)."""
        rig = self._rig
        joints = (rig.positions[frame], rig.orientations[frame], rig.scales[frame]) if rig is not None else None
        return self._together(joints, ((m.positions[frame], m.orientations[frame]) for m in self._motions))

    def _together(
        self, joints: tuple[Float64, ...] | None, bones: Iterable[tuple[Float64, Float64]]
    ) -> tuple[Float64, Float64, Float64]:
        added = np.zeros((self._entries, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (self._entries, 1))
        moves, turns = map(list, zip(added, *bones, strict=True))
        sizes = np.ones((sum(map(len, moves)), 3))
        if joints is None:
            return np.concatenate(moves), np.concatenate(turns), sizes
        ordered = [one[self._order] for one in joints]
        return (
            np.concatenate((ordered[0], *moves)),
            np.concatenate((ordered[1], *turns)),
            np.concatenate((ordered[2], sizes)),
        )


def _matrices(values: Float64) -> Any:
    return Vt.Matrix4dArray([Gf.Matrix4d(one.T.tolist()) for one in values])


def _write_extent(root: Any, tracks: Sequence[Track], placements: Float64, first: int) -> None:
    """Writes the extent of all tracks of a root in its own space."""
    extent = UsdGeom.Boundable(root.GetPrim()).CreateExtentAttr()
    for frame in range(len(tracks[0].positions)):
        matrix = placements[min(frame, len(placements) - 1)]
        world = np.concatenate([track.positions[frame] for track in tracks]).astype(np.float64)
        local = np.linalg.solve(matrix[:3, :3], (world - matrix[:3, 3]).T).T
        extent.Set(vectors(np.stack((local.min(axis=0), local.max(axis=0)))), first + frame)


def _write_shapes(stage: Any, mesh: Any, motion: Any, track: Track, first: int) -> None:
    assert track.rig is not None
    targets = track.rig.model.mesh.targets
    assert targets is not None
    tokens, paths, taken = [], [], {child.GetName() for child in mesh.GetPrim().GetChildren()}
    for weight, name in enumerate(targets.names):
        token = identifier(name, taken)
        runs = np.flatnonzero(targets.weight_of == weight)
        vertices = [np.arange(targets.counts[t]) + targets.firsts[t] for t in runs]
        rows = [np.arange(targets.counts[t]) + targets.starts[t] for t in runs]
        moved = np.concatenate(vertices) if vertices else np.zeros(0, np.int64)
        deltas = targets.deltas[np.concatenate(rows)] if rows else np.zeros((0, 2, 4), np.float32)
        shape = UsdSkel.BlendShape.Define(stage, mesh.GetPath().AppendChild(token))
        shape.CreateOffsetsAttr(vectors(deltas[:, 0, :3]))
        shape.CreateNormalOffsetsAttr(vectors(deltas[:, 1, :3]))
        shape.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(moved.astype(np.int32)))
        tokens.append(token)
        paths.append(shape.GetPath())
    binding = UsdSkel.BindingAPI(mesh.GetPrim())
    binding.CreateBlendShapesAttr(Vt.TokenArray(tokens))
    binding.CreateBlendShapeTargetsRel().SetTargets([Sdf.Path(path) for path in paths])
    motion.CreateBlendShapesAttr(Vt.TokenArray(tokens))
    weights = motion.CreateBlendShapeWeightsAttr()
    for frame, row in enumerate(track.rig.weights):
        weights.Set(Vt.FloatArray.FromNumpy(np.ascontiguousarray(row, np.float32)), first + frame)
