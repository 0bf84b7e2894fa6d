"""Universal Scene Description by `pxr`: meshes, points, curves and characters, with a sample for each time code.

Characters are a skeleton, its animation, a skin, and morph targets as blend shapes.  USD multiplies row vectors:
its matrices are transposed.

Source: the schemas UsdGeom and UsdSkel of OpenUSD; UsdPreviewSurface specification 2.6.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdLux, UsdShade, UsdSkel, Vt

from sinew.sim.assets.model import AlphaMode, Material, Sampled, Skeleton, Skin
from sinew.sim.export.formats import UsdOptions
from sinew.sim.export.gltf_parts import is_metal_exact, metal_and_base
from sinew.sim.export.scene.recording import (
    SENSOR_ASPECT,
    SENSOR_WIDTH,
    CameraTrack,
    FoundNode,
    JointMotion,
    LightTrack,
    SceneRecording,
    Topology,
    Track,
    plain_material,
)
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.transform import compose
from sinew.sim.printable import numbered

TYPES = Sdf.ValueTypeNames
Four = tuple[float, float, float, float]
Three = tuple[float, float, float]

_BLACK = (0.0, 0.0, 0.0)
_WRAPS = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
_COLOURS = "diffuseColor", "specularColor", "emissiveColor"


@dataclass(frozen=True, slots=True)
class _Texture:
    """An image as value * scale + bias, and the surface input of each channel."""

    name: str
    used: Sampled
    inputs: Mapping[str, str]
    scale: Four = (1.0, 1.0, 1.0, 1.0)
    bias: Four = (0.0, 0.0, 0.0, 0.0)
    is_colour: bool = False


def add_material(mesh: Any, name: str, material: Material, *, has_colours: bool = False) -> Any:
    """Writes a material below a mesh.

    Args:
        name: Valid and unique below the mesh.
        material: With image files.
        has_colours: Whether sections without image take their colour from the vertices.
    """
    stage, path = mesh.GetPrim().GetStage(), mesh.GetPath().AppendChild(name)
    written = UsdShade.Material.Define(stage, path)
    surface = _shader(stage, path.AppendChild("Surface"), "UsdPreviewSurface")
    for key, value in _values(material).items():
        if key in _COLOURS:
            surface.CreateInput(key, TYPES.Color3f).Set(Gf.Vec3f(*value))
        else:
            surface.CreateInput(key, TYPES.Int if isinstance(value, int) else TYPES.Float).Set(value)
    shown = "emissiveColor" if material.is_unlit else "diffuseColor"
    if has_colours and material.image is None:
        reader = _shader(stage, path.AppendChild("Colours"), "UsdPrimvarReader_float3")
        reader.CreateInput("varname", TYPES.String).Set("displayColor")
        surface.GetInput(shown).ConnectToSource(reader.CreateOutput("result", TYPES.Float3))
    textures = list(_textures(material, shown))
    if textures:
        reader = _shader(stage, path.AppendChild("Coordinates"), "UsdPrimvarReader_float2")
        reader.CreateInput("varname", TYPES.String).Set("st")
        coordinates = reader.CreateOutput("result", TYPES.Float2)
    for texture in textures:
        made = _texture(stage, path, texture, coordinates)
        for key, channel in texture.inputs.items():
            output = made.CreateOutput(channel, TYPES.Float3 if channel == "rgb" else TYPES.Float)
            target = surface.GetInput(key) or surface.CreateInput(
                key, TYPES.Normal3f if key == "normal" else TYPES.Float
            )
            target.ConnectToSource(output)
    written.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", TYPES.Token))
    return written


def bind_material(prim: Any, material: Any) -> None:
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def base_colour(material: Material) -> Three:
    return _base(material)[0]


def _base(material: Material) -> tuple[Three, float, bool]:
    """Returns base colour, metallic factor, and True if they are exact; else the colours are diffuse and specular."""
    if material.surface_image is not None:
        return material.diffuse, material.metal, True  # the colour applies to both; the image says which is metallic
    base, metal = metal_and_base(material)
    return (base, metal, True) if is_metal_exact(material, base, metal) else (material.diffuse, 0.0, False)


def _values(material: Material) -> dict[str, Any]:
    base, metal, is_exact = _base(material)
    values: dict[str, Any] = {"diffuseColor": base, "roughness": material.reflectance.roughness}
    if material.is_unlit:
        # An index of 1 disables reflection.
        values |= {"diffuseColor": _BLACK, "emissiveColor": base, "metallic": 0.0, "roughness": 1.0, "ior": 1.0}
    elif is_exact:
        values["metallic"] = metal
    else:
        values |= {"useSpecularWorkflow": 1, "specularColor": material.specular}
    if any(material.emission) and not material.is_unlit:
        values["emissiveColor"] = material.emission
    if material.alpha_mode is not AlphaMode.OPAQUE:
        values["opacity"] = material.opacity
    if material.alpha_mode is AlphaMode.MASK:
        values["opacityThreshold"] = material.alpha_cutoff
    return values


def _textures(material: Material, shown: str) -> Iterator[_Texture]:
    base, metal, _ = _base(material)
    if (used := material.sampled("texture")) is not None:
        inputs = {shown: "rgb"} | ({"opacity": "a"} if material.alpha_mode is not AlphaMode.OPAQUE else {})
        yield _Texture("Texture", used, inputs, (*base, material.opacity), is_colour=True)
    if material.is_unlit:
        return
    if (used := material.sampled("surface_image")) is not None:
        scale = (1.0, material.reflectance.roughness, metal, 1.0)
        yield _Texture("Metal", used, {"roughness": "g", "metallic": "b"}, scale)
    if (used := material.sampled("normal_image")) is not None:
        lean = material.normal_scale
        scale, bias = (2.0 * lean, 2.0 * lean, 2.0, 1.0), (-lean, -lean, -1.0, 0.0)
        yield _Texture("Normals", used, {"normal": "rgb"}, scale, bias)
    if (used := material.sampled("occlusion_image")) is not None:
        part = material.occlusion
        scale, bias = (part, part, part, 1.0), (1.0 - part, 1.0 - part, 1.0 - part, 0.0)
        yield _Texture("Occlusion", used, {"occlusion": "r"}, scale, bias)
    if (used := material.sampled("emission_image")) is not None and any(material.emission):
        yield _Texture("Emission", used, {"emissiveColor": "rgb"}, (*material.emission, 1.0), is_colour=True)


def _texture(stage: Any, path: Any, texture: _Texture, coordinates: Any) -> Any:
    made = _shader(stage, path.AppendChild(texture.name), "UsdUVTexture")
    made.CreateInput("st", TYPES.Float2).ConnectToSource(coordinates)
    # The dot makes the path relative to the stage; without it, search paths apply.
    image, sampler = texture.used
    assert isinstance(image, Path), "images are files next to the stage"
    place = f"./{image.parent.name}/{image.name}"
    made.CreateInput("file", TYPES.Asset).Set(Sdf.AssetPath(place))
    made.CreateInput("sourceColorSpace", TYPES.Token).Set("sRGB" if texture.is_colour else "raw")
    made.CreateInput("scale", TYPES.Float4).Set(Gf.Vec4f(*texture.scale))
    made.CreateInput("bias", TYPES.Float4).Set(Gf.Vec4f(*texture.bias))
    for axis, wrap in zip("ST", (sampler.wrap_s, sampler.wrap_t), strict=True):
        made.CreateInput(f"wrap{axis}", TYPES.Token).Set(_WRAPS[wrap])
    return made


def _shader(stage: Any, path: Any, kind: str) -> Any:
    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(kind)
    return shader


def vectors(values: npt.NDArray[Any]) -> Any:
    """Returns vectors of shape (N, 3)."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def write_topology(mesh: Any, track: Track) -> None:
    assert track.triangles is not None
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(track.triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(track.triangles.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if track.texcoords is not None:
        write_texcoords(mesh, track.texcoords, UsdGeom.Tokens.vertex)
    _write_materials(mesh, track)


def write_texcoords(prim: Any, texcoords: Float32, interpolation: Any) -> None:
    st = UsdGeom.PrimvarsAPI(prim).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation)
    st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(texcoords, np.float32)))


def write_colours(prim: Any, colours: npt.NDArray[Any], interpolation: Any, code: Any = None) -> None:
    """Writes linear colours, (N, 3), or with alpha, (N, 4); without a time code, for all times."""
    when = () if code is None else (code,)
    prim.CreateDisplayColorPrimvar(interpolation).Set(vectors(colours[:, :3]), *when)
    if colours.shape[1] == 4:
        opacity = np.ascontiguousarray(colours[:, 3], np.float32)
        prim.CreateDisplayOpacityPrimvar(interpolation).Set(Vt.FloatArray.FromNumpy(opacity), *when)


def _write_materials(mesh: Any, track: Track) -> None:
    """Writes materials; plain colours are for programs that show none."""
    sections, has_colours = track.sections, track.colours is not None
    mesh.CreateDoubleSidedAttr(any(section.has_backs for section in sections))
    taken: set[str] = set()
    written: dict[str, Any] = {}
    for section in sections:
        prim, name = mesh.GetPrim(), section.material.name
        if track.ranges:
            faces = Vt.IntArray.FromNumpy(np.arange(section.first, section.first + section.count, dtype=np.int32))
            part = identifier(f"{name}_faces", taken)
            prim = UsdGeom.Subset.CreateGeomSubset(
                mesh, part, UsdGeom.Tokens.face, faces, "materialBind", UsdGeom.Tokens.nonOverlapping
            ).GetPrim()
        if name not in written:
            written[name] = add_material(mesh, identifier(name, taken), section.material, has_colours=has_colours)
        bind_material(prim, written[name])
    if track.colours is not None:
        write_colours(mesh, _coloured(track), UsdGeom.Tokens.vertex)
        return
    colours = np.array([base_colour(section.material) for section in sections])
    if len(sections) > 1:
        counts = [section.count for section in sections]
        write_colours(mesh, np.repeat(colours, counts, axis=0), UsdGeom.Tokens.uniform)
    else:
        write_colours(mesh, colours, UsdGeom.Tokens.constant)


def _coloured(track: Track) -> Float32:
    """Returns colours of vertices times the colour of their section, (N, 4), as materials read them."""
    assert track.colours is not None
    assert track.triangles is not None
    colours: Float32 = track.colours[0].astype(np.float32)
    for section in track.sections:
        corners = np.unique(track.triangles[section.first : section.first + section.count])
        colours[corners, :3] = track.colours[0][corners, :3] * np.array(base_colour(section.material), np.float32)
    return colours


def identifier(name: str, taken: set[str]) -> str:
    """Returns a name that is unique, and allowed by USD."""
    return numbered(Tf.MakeValidIdentifier(name), taken, "_")


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


def write_character(stage: Any, path: Any, track: Track, first: int) -> Any:
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
    skel = UsdSkel.Skeleton.Define(stage, path.AppendChild(f"{path.name}_skeleton"))
    skel.CreateJointsAttr(Vt.TokenArray(bones.paths))
    skel.CreateBindTransformsAttr(_matrices(bones.bound))
    skel.CreateRestTransformsAttr(_matrices(bones.rest))
    motion = UsdSkel.Animation.Define(stage, path.AppendChild(f"{path.name}_motion"))
    motion.CreateJointsAttr(Vt.TokenArray(bones.paths))
    translations, rotations = motion.CreateTranslationsAttr(), motion.CreateRotationsAttr()
    scales = motion.CreateScalesAttr()
    for frame in range(len(rig.positions)):
        moves, turns, sizes = bones.local(rig.positions[frame], rig.orientations[frame], rig.scales[frame])
        translations.Set(vectors(moves), first + frame)
        rotations.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(turns, np.float32)), first + frame)
        scales.Set(Vt.Vec3hArray.FromNumpy(np.ascontiguousarray(sizes, np.float16)), first + frame)
    drawn = UsdGeom.Mesh.Define(stage, path.AppendChild(f"{path.name}_mesh"))
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


def read_character(prim: Any, codes: list[Any]) -> list[Float32]:
    """Returns world positions at time codes, as USD skins them."""
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
    """The joints in USD's order: parents first, names as paths, one bind matrix each.

    If palette entries are not simply the joints, each is an additional joint that stays at rest below its joint.
    """

    def __init__(self, skeleton: Skeleton, skin: Skin) -> None:
        order = np.concatenate((np.flatnonzero(skeleton.parents < 0), *skeleton.hierarchy.levels))
        self._order = order
        paths, taken = [""] * skeleton.joint_count, set[str]()
        for joint in order.tolist():
            parent = int(skeleton.parents[joint])
            above = f"{paths[parent]}/" if parent >= 0 else ""
            paths[joint] = f"{above}{identifier(skeleton.names[joint], taken)}"
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
        """Returns local transforms in the order of USD, (J, 3), (J, 4) xyzw, (J, 3)."""
        added = self._entries
        still = np.tile([0.0, 0.0, 0.0, 1.0], (added, 1))
        return (
            np.concatenate((positions[self._order], np.zeros((added, 3)))),
            np.concatenate((orientations[self._order], still)),
            np.concatenate((scales[self._order], np.ones((added, 3)))),
        )


def _matrices(values: Float64) -> Any:
    return Vt.Matrix4dArray([Gf.Matrix4d(one.T.tolist()) for one in values])


def _write_extent(root: Any, track: Track, placements: Float64, first: int) -> None:
    """Writes the extent of a character in its own space."""
    extent = UsdGeom.Boundable(root.GetPrim()).CreateExtentAttr()
    for frame, matrix in enumerate(placements):
        world = track.positions[frame].astype(np.float64)
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


ROOT = Sdf.Path("/World")
TENTHS = 10.0
"""Lenses are stored in tenths of the unit of the stage."""


def write_usd(recording: SceneRecording, files: tuple[Path, ...], options: UsdOptions) -> list[str]:
    """Writes a scene in metres, y up, by frame numbers; image files exist. Returns lines about skipped content."""
    stage = Usd.Stage.CreateNew(str(files[0]))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(recording.rate)
    stage.SetFramesPerSecond(recording.rate)
    stage.SetStartTimeCode(recording.first)
    stage.SetEndTimeCode(recording.first + recording.frame_count - 1)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, ROOT).GetPrim())
    taken: set[str] = set()
    for track in recording.tracks:
        path = ROOT.AppendChild(identifier(track.name, taken))
        if track.rig is not None:
            prim = write_character(stage, path, track, recording.first)
        else:
            prim = _WRITERS[track.form](stage, path, track, recording.first, options)
        prim.SetDisplayName(track.name)
    for camera in recording.cameras:
        _write_camera(stage, ROOT.AppendChild(identifier(camera.name, taken)), camera, recording.first)
    for light in recording.lights:
        _write_light(stage, ROOT.AppendChild(identifier(light.name, taken)), light, recording.first)
    stage.GetRootLayer().Save()
    # A preview surface takes its colour from a single source.
    coloured = (track for track in recording.tracks if track.form is Topology.SURFACE and track.colours is not None)
    both = [t.name for t in coloured if any(section.material.image is not None for section in t.sections)]
    return [f"left out: colours of vertices where there is an image, of {name}" for name in both]


def read_usd(files: tuple[Path, ...]) -> list[FoundNode]:
    """Reads nodes in world space; USD itself skins characters."""
    stage = Usd.Stage.Open(str(files[0]))
    codes = [Usd.TimeCode(t) for t in range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)]
    nodes = []
    for prim in stage.GetDefaultPrim().GetChildren():
        if prim.IsA(UsdSkel.Root):
            nodes.append(FoundNode(read_character(prim, codes)))
        elif prim.IsA(UsdGeom.PointBased):
            based, strands = UsdGeom.PointBased(prim), UsdGeom.BasisCurves(prim)
            sized = strands or UsdGeom.Points(prim)
            widths = _stored(sized.GetWidthsAttr(), codes) if sized else []
            counts = [np.array(strands.GetCurveVertexCountsAttr().Get(), np.int32)] * len(codes) if strands else []
            positions, normals = (_stored(one, codes, 3) for one in (based.GetPointsAttr(), based.GetNormalsAttr()))
            nodes.append(FoundNode(positions, widths, normals, counts))
    return nodes


def _stored(attribute: Any, codes: list[Any], *shape: int) -> list[Float32]:
    """Returns the values of an attribute at time codes; [] if the file has none."""
    if not attribute.HasAuthoredValue():
        return []
    return [np.array(attribute.Get(code), np.float32).reshape(-1, *shape) for code in codes]


def _write_mesh(stage: Any, path: Any, track: Track, first: int, options: UsdOptions) -> Any:
    mesh = UsdGeom.Mesh.Define(stage, path)
    write_topology(mesh, track)
    if options.normals:
        normals = mesh.CreateNormalsAttr()
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying if any(track.flat) else UsdGeom.Tokens.vertex)
        for frame in range(len(track.positions)):
            normals.Set(vectors(track.shading_normals(frame)), first + frame)
    _write_points(mesh, track, first)
    return mesh.GetPrim()


def _write_strands(stage: Any, path: Any, track: Track, first: int, _options: UsdOptions) -> Any:
    assert track.counts is not None
    curves = UsdGeom.BasisCurves.Define(stage, path)
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(track.counts.astype(np.int32)))
    if track.texcoords is not None:
        write_texcoords(curves, track.texcoords, UsdGeom.Tokens.uniform)
    material = track.materials[0] if track.materials else plain_material(track.name)
    place = identifier(material.name, set())
    bind_material(curves.GetPrim(), add_material(curves, place, material, has_colours=track.colours is not None))
    _write_widths_and_colours(curves, track, first)
    _write_points(curves, track, first)
    return curves.GetPrim()


def _write_particles(stage: Any, path: Any, track: Track, first: int, _options: UsdOptions) -> Any:
    points = UsdGeom.Points.Define(stage, path)
    ids, velocities = points.CreateIdsAttr(), points.CreateVelocitiesAttr()
    for frame in range(len(track.positions)):
        if track.ids is not None:
            ids.Set(Vt.Int64Array.FromNumpy(np.ascontiguousarray(track.living(track.ids, frame))), first + frame)
        if track.velocities is not None:
            velocities.Set(vectors(track.living(track.velocities, frame)), first + frame)
    _write_widths_and_colours(points, track, first)
    _write_points(points, track, first)
    return points.GetPrim()


def _write_camera(stage: Any, path: Any, camera: CameraTrack, first: int) -> None:
    written = UsdGeom.Camera.Define(stage, path)
    placement = written.AddTransformOp()
    for frame, matrix in enumerate(camera.world_from_camera):
        placement.Set(Gf.Matrix4d(matrix.T.tolist()), first + frame)
    width = SENSOR_WIDTH / 1000.0
    if camera.height:
        written.CreateProjectionAttr(UsdGeom.Tokens.orthographic)
        width = camera.height * SENSOR_ASPECT
    written.CreateHorizontalApertureAttr(width * TENTHS)
    written.CreateVerticalApertureAttr(width / SENSOR_ASPECT * TENTHS)
    written.CreateFocalLengthAttr((0.05 if camera.height else camera.focal_length / 1000.0) * TENTHS)
    written.CreateClippingRangeAttr(Gf.Vec2f(camera.near, camera.far))
    written.GetPrim().SetDisplayName(camera.name)


LIGHT_RADIUS = 0.05
"""Radius of the spheres that stand for point lights [m]; their power does not depend on it."""


def _write_light(stage: Any, path: Any, light: LightTrack, first: int) -> None:
    written = UsdLux.SphereLight.Define(stage, path)
    written.CreateRadiusAttr(LIGHT_RADIUS)
    written.CreateNormalizeAttr(True)
    placement, colour, intensity = written.AddTranslateOp(), written.CreateColorAttr(), written.CreateIntensityAttr()
    values = (light.positions, placement, Gf.Vec3d), (light.colours, colour, Gf.Vec3f)
    for rows, attribute, kind in values:
        for frame, code in _codes(_if_moving(rows), first):
            attribute.Set(kind(*rows[frame].tolist()), code)
    # A white surface reflects 1/pi of its irradiance, of which the sphere gives a quarter of its power at 1 m.
    for frame, code in _codes(_if_moving(light.strengths), first):
        intensity.Set(4.0 * math.pi * float(light.strengths[frame]), code)
    written.GetPrim().SetDisplayName(light.name)


def _if_moving(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values[:1] if (values == values[:1]).all() else values


def _write_widths_and_colours(prim: Any, track: Track, first: int) -> None:
    if track.widths is not None:
        widths = prim.CreateWidthsAttr()
        prim.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        for frame, code in _codes(track.widths, first):
            values = np.ascontiguousarray(track.living(track.widths, frame), np.float32)
            widths.Set(Vt.FloatArray.FromNumpy(values), code)
    if track.colours is not None:
        for frame, code in _codes(track.colours, first):
            write_colours(prim, track.living(track.colours, frame), UsdGeom.Tokens.vertex, code)


def _codes(values: npt.NDArray[Any], first: int) -> Iterator[tuple[int, Any]]:
    if len(values) == 1:
        yield 0, Usd.TimeCode.Default()
    else:
        yield from ((frame, Usd.TimeCode(first + frame)) for frame in range(len(values)))


def _write_points(prim: Any, track: Track, first: int) -> None:
    points, extent = prim.CreatePointsAttr(), prim.CreateExtentAttr()
    for frame in range(len(track.positions)):
        living = track.living(track.positions, frame)
        points.Set(vectors(living), first + frame)
        box = np.stack((living.min(axis=0), living.max(axis=0))) if len(living) else np.zeros((2, 3))
        extent.Set(vectors(box), first + frame)


_WRITERS = {Topology.SURFACE: _write_mesh, Topology.STRANDS: _write_strands, Topology.POINTS: _write_particles}
