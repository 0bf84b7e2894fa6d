"""Characters as UsdSkel: a skeleton, its animation, a skin, and morph targets as blend shapes.

USD multiplies row vectors: its matrices are transposed.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdSkel, Vt

from sinew.sim.assets.model import Skeleton, Skin
from sinew.sim.export.scene.recording import JointMotion, Track
from sinew.sim.export.scene.usd_parts import vectors, write_topology
from sinew.sim.maths.transform import compose

HALF_TOLERANCE = 3e-6
"""Largest relative rounding error of a scale; USD stores half precision."""


def as_skin(rig: JointMotion) -> tuple[JointMotion | None, str]:
    """The rig that USD can show, None for no skin, and why it differs, or ""."""
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


def write_character(stage: Any, path: Any, track: Track, first: int) -> Any:
    """Writes a character below `path`; returns its prim."""
    rig = track.rig
    assert rig is not None
    skeleton, skin, mesh = rig.model.skeleton, rig.model.skin, rig.model.mesh
    assert skeleton is not None
    assert skin is not None
    root = UsdSkel.Root.Define(stage, path)
    placement = root.AddTransformOp()
    for frame, matrix in enumerate(rig.world_from_model):
        placement.Set(Gf.Matrix4d(matrix.T.tolist()), first + frame)
    bones = _Bones(skeleton, skin)
    skel = UsdSkel.Skeleton.Define(stage, path.AppendChild("Skeleton"))
    skel.CreateJointsAttr(Vt.TokenArray(bones.paths))
    skel.CreateBindTransformsAttr(_matrices(bones.bound))
    skel.CreateRestTransformsAttr(_matrices(bones.rest))
    motion = UsdSkel.Animation.Define(stage, path.AppendChild("Motion"))
    motion.CreateJointsAttr(Vt.TokenArray(bones.paths))
    translations, rotations = motion.CreateTranslationsAttr(), motion.CreateRotationsAttr()
    scales = motion.CreateScalesAttr()
    for frame in range(len(rig.positions)):
        moves, turns, sizes = bones.local(rig.positions[frame], rig.orientations[frame], rig.scales[frame])
        translations.Set(vectors(moves), first + frame)
        rotations.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(turns, np.float32)), first + frame)
        scales.Set(Vt.Vec3hArray.FromNumpy(np.ascontiguousarray(sizes, np.float16)), first + frame)
    drawn = UsdGeom.Mesh.Define(stage, path.AppendChild("Mesh"))
    write_topology(drawn, track)
    drawn.CreatePointsAttr(vectors(mesh.positions))
    drawn.CreateNormalsAttr(vectors(mesh.normals))
    drawn.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    binding = UsdSkel.BindingAPI.Apply(drawn.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skel.GetPath()])
    width = skin.joints.shape[1]
    indices = bones.of_entry[skin.joints].astype(np.int32)
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(indices.ravel()))
    weights = np.ascontiguousarray(skin.weights, np.float32).ravel()
    binding.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray.FromNumpy(weights))
    if rig.is_dual:
        binding.CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([motion.GetPath()])
    _write_extent(root, track, rig.world_from_model, first)
    if mesh.targets is not None and len(mesh.targets.names):
        _write_shapes(stage, drawn, motion, track, first)
    return root.GetPrim()


def read_character(prim: Any, codes: list[Any]) -> list[npt.NDArray[np.float32]]:
    """World positions of a character at time codes, as USD skins them."""
    root = UsdSkel.Root(prim)
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies())
    (target,) = binding.GetSkinningTargets()
    skeleton = cache.GetSkelQuery(binding.GetSkeleton())
    rest = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr().Get()
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(target.GetPrim())) if target.HasBlendShapes() else None
    found = []
    for code in codes:
        points = Vt.Vec3fArray(rest)
        if shapes is not None:
            _add_shapes(shapes, target, skeleton, points, code)
        target.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(code), points, code)
        matrix = np.array(root.ComputeLocalToWorldTransform(code))
        found.append((np.array(points, np.float64) @ matrix[:3, :3] + matrix[3, :3]).astype(np.float32))
    return found


class _Bones:
    """The joints in USD's order: parents first, names as paths, one bind matrix each.

    If palette entries are not simply the joints, each is an additional joint that stays at rest below its joint.
    """

    def __init__(self, skeleton: Skeleton, skin: Skin) -> None:
        order = np.concatenate((np.flatnonzero(skeleton.parents < 0), *skeleton.levels))
        self._order = order
        paths: list[str] = [""] * skeleton.joint_count
        for joint in order.tolist():
            parent = int(skeleton.parents[joint])
            above = f"{paths[parent]}/" if parent >= 0 else ""
            paths[joint] = f"{above}{Tf.MakeValidIdentifier(skeleton.names[joint])}_{joint}"
        self.paths = [paths[joint] for joint in order]
        self.of_entry = np.argsort(order)
        self.bound = skeleton.model_from_bind[order]
        self._entries = 0 if skin.palette is None else len(skin.palette.entry_joints)
        if skin.palette is not None:
            joints = skin.palette.entry_joints
            self.paths += [f"{paths[joint]}/skin_{entry}" for entry, joint in enumerate(joints.tolist())]
            self.of_entry = len(order) + np.arange(self._entries)
            self.bound = np.concatenate((self.bound, np.linalg.inv(skin.palette.bind_from_mesh)))
        self.rest = compose(*self.local(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales))

    def local(self, positions: Any, orientations: Any, scales: Any) -> tuple[Any, Any, Any]:
        """Local transforms in this order, (J, 3), (J, 4) xyzw, (J, 3)."""
        added = self._entries
        still = np.tile([0.0, 0.0, 0.0, 1.0], (added, 1))
        return (
            np.concatenate((positions[self._order], np.zeros((added, 3)))),
            np.concatenate((orientations[self._order], still)),
            np.concatenate((scales[self._order], np.ones((added, 3)))),
        )


def _matrices(values: npt.NDArray[np.float64]) -> Any:
    return Vt.Matrix4dArray([Gf.Matrix4d(one.T.tolist()) for one in values])


def _write_extent(root: Any, track: Track, placements: npt.NDArray[np.float64], first: int) -> None:
    """Bounding box of every frame in the space of the character."""
    extent = UsdGeom.Boundable(root.GetPrim()).CreateExtentAttr()
    for frame, matrix in enumerate(placements):
        world = track.positions[frame].astype(np.float64)
        local = np.linalg.solve(matrix[:3, :3], (world - matrix[:3, 3]).T).T
        extent.Set(vectors(np.stack((local.min(axis=0), local.max(axis=0)))), first + frame)


def _write_shapes(stage: Any, mesh: Any, motion: Any, track: Track, first: int) -> None:
    """Morph targets, each with the vertices it moves, and their weights over time."""
    assert track.rig is not None
    targets = track.rig.model.mesh.targets
    assert targets is not None
    tokens, paths = [], []
    for weight, name in enumerate(targets.names):
        token = f"{Tf.MakeValidIdentifier(name)}_{weight}"
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


def _add_shapes(shapes: Any, target: Any, skeleton: Any, points: Any, code: Any) -> None:
    """Applies the blend shapes at a time code."""
    weights = skeleton.GetAnimQuery().ComputeBlendShapeWeights(code)
    mapper = target.GetBlendShapeMapper()
    mapped = mapper.Remap(weights) if mapper else weights
    subs, indices, sub_indices = shapes.ComputeSubShapeWeights(mapped)
    offsets, numbers = shapes.ComputeSubShapePointOffsets(), shapes.ComputeBlendShapePointIndices()
    shapes.ComputeDeformedPoints(subs, indices, sub_indices, numbers, offsets, points)
