"""A striped arm that twists and bends: the test piece for comparing skinning methods.

The tube runs along x, is round, and ends in a hand with a thumb, so that its roll can be read.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.resources.samples.motion import Curve, eased, frame_times, turn
from sinew.sim.assets.raw import (
    RawBone,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawTrack,
    RawVertices,
)
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

RADIUS = 0.105  # [m], of the tube

JOINTS = (("base", 0.0), ("lower", 0.40), ("upper", 0.85), ("hand", 1.30))  # places along the arm [m]

ORIGIN = (-0.80, 0.75, 0.0)  # of the first joint [m]

FRAME_STEP = 1.0 / 30.0
FRAMES = 91  # of both clips; the turn is complete in the middle frame

TWIST, BEND = 180.0, 150.0  # largest angles of the two clips [degrees]

TEXTURE = "arm_stripes.png"

_AROUND = 48
_PASSAGE = 0.24  # length over which the skin passes from one joint to the next [m]

_TEXTURE_SIZE = 512
_LENGTH = 1.72
_HALF_Y = Curve([(0.0, 0.0), (0.012, 0.055), (0.04, RADIUS), (1.20, RADIUS), (1.36, 0.056), (1.55, 0.050),
                 (1.66, 0.042), (1.705, 0.025), (_LENGTH, 0.0)])  # fmt: skip
_HALF_Z = Curve([(0.0, 0.0), (0.012, 0.055), (0.04, RADIUS), (1.20, RADIUS), (1.33, 0.085), (1.46, 0.130),
                 (1.58, 0.125), (1.66, 0.095), (1.705, 0.055), (_LENGTH, 0.0)])  # fmt: skip
_THUMB = ((1.36, 0.000, 0.070), (1.43, 0.000, 0.135), (1.50, 0.002, 0.185), (1.555, 0.004, 0.205))
_THUMB_RADII = (0.040, 0.043, 0.039, 0.030)


def build_arm(path: Path) -> tuple[RawModel, dict[str, Image.Image]]:
    """`path` is the file for which the model is built."""
    model = RawModel(path, "ezm", "MeshSystem", asset_name="arm", asset_info="metres, y up, along x")
    bones = [RawBone("base", -1, np.array(ORIGIN), quaternion.IDENTITY, np.ones(3))]
    for number, (name, place) in enumerate(JOINTS[1:]):
        offset = np.array([place - JOINTS[number][1], 0.0, 0.0])
        bones.append(RawBone(name, number, offset, quaternion.IDENTITY, np.ones(3)))
    model.skeletons.append(RawSkeleton("arm", bones))
    model.clips += [_clip("twist", bones, (1, 0, 0), TWIST), _clip("bend", bones, (0, 0, 1), BEND)]
    model.materials.append(RawMaterial("stripes", f"diffuse={TEXTURE},Ns=20,Ks=(0.04,0.04,0.04)"))
    model.meshes.append(_mesh())
    return model, {TEXTURE: _texture()}


def _clip(name: str, bones: list[RawBone], axis: tuple[int, int, int], angle: float) -> RawClip:
    """The joint `upper` turns by `angle` about `axis` and back."""
    time = frame_times(FRAMES, FRAME_STEP)
    half = float(time[-1]) / 2.0
    angles = angle * eased(half - np.abs(time - half), 0.1, half)
    angles[FRAMES // 2] = angle
    tracks = []
    for bone in bones:
        turns = turn(axis, angles) if bone.name == "upper" else np.tile(quaternion.IDENTITY, (FRAMES, 1))
        tracks.append(RawTrack(bone.name, np.tile(bone.position, (FRAMES, 1)), np.round(turns, 6) + 0.0, None))
    return RawClip(name, FRAMES, round((FRAMES - 1) * FRAME_STEP, 9), FRAME_STEP, tracks)


def _mesh() -> RawMesh:
    along = np.concatenate([
        [0.004, 0.016, 0.04], np.linspace(0.07, 0.70, 16), np.linspace(0.725, 0.98, 12), np.linspace(1.02, 1.20, 6),
        np.linspace(1.23, 1.66, 15), [1.685, 1.705, 1.716],
    ])  # fmt: skip
    centres = np.stack([along, np.zeros_like(along), np.zeros_like(along)], axis=1)
    sections = np.stack([_HALF_Y(along), _HALF_Z(along)], axis=1)
    arm = _tube(centres, np.tile(np.eye(3), (len(along), 1, 1)), sections, _AROUND)
    spine = np.array(_THUMB)
    ends = 0.5 * (1.0 - np.cos(np.linspace(0.06, 0.94, 13) * np.pi))
    knots = np.linspace(0.0, 1.0, len(spine))
    path = np.stack([np.interp(ends, knots, spine[:, i]) for i in range(3)], axis=1)
    width = np.interp(ends, knots, _THUMB_RADII) * np.sqrt(np.clip(1.0 - (2.0 * ends - 1.0) ** 8, 0.0, 1.0))
    thumb = _tube(path, _frames(path), np.stack([width, width], axis=1), 20)
    return _joined([arm, thumb])


def _frames(path: Float64) -> Float64:
    """Axes along a path in the plane y = const: rows are forwards, up, sideways, shape (N, 3, 3)."""
    forwards = np.gradient(path, axis=0)
    forwards /= np.linalg.norm(forwards, axis=1, keepdims=True)
    side = np.cross(forwards, np.array([0.0, 1.0, 0.0]))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return np.stack([forwards, np.cross(side, forwards), side], axis=1)


def _tube(centres: Float64, axes: Float64, halves: Float64, around: int) -> tuple[Float64, Float64, Float64, Indices]:
    """Closed tube of elliptic rings with a pole at each end, cut along one line.

    Returns:
        Points (V, 3), unit normals (V, 3), turn and place along 0 to 1 (V, 2), triangles (T, 3).
    """
    turns = np.linspace(0.0, 1.0, around + 1)
    angle = 2.0 * np.pi * turns[:-1]
    ring = np.cos(angle)[:, None] * axes[:, None, 1] * halves[:, None, :1]
    ring = ring + np.sin(angle)[:, None] * axes[:, None, 2] * halves[:, None, 1:]
    rings = centres[:, None, :] + ring
    reach = 0.035 * float(halves[:, 0].mean())
    poles = np.stack([centres[0] - axes[0, 0] * reach, centres[-1] + axes[-1, 0] * reach])
    rings = np.concatenate([np.tile(poles[0], (1, around, 1)), rings, np.tile(poles[1], (1, around, 1))])
    normals = _ring_normals(rings)
    rows = len(rings)
    place = np.broadcast_to(np.linspace(0.0, 1.0, rows)[:, None], (rows, around + 1))
    flat = np.stack([np.broadcast_to(turns, (rows, around + 1)), place], axis=-1).reshape(-1, 2)
    return _with_seam(rings), _with_seam(normals), flat, _ring_triangles(rows, around)


def _with_seam(rings: Float64) -> Float64:
    """Flat list of the points of rings (R, N, 3) with the first of each ring repeated at its end."""
    return np.concatenate([rings, rings[:, :1]], axis=1).reshape(-1, 3)


def _ring_normals(rings: Float64) -> Float64:
    """From the neighbouring points; normals of a pole point along the tube."""
    around = np.roll(rings, -1, axis=1) - np.roll(rings, 1, axis=1)
    along = np.gradient(rings, axis=0)
    normals = np.cross(around, along)
    for pole, inner in ((0, 1), (-1, -2)):
        normals[pole] = rings[pole] - rings[inner].mean(axis=0)
    unit: Float64 = normals / np.linalg.norm(normals, axis=2, keepdims=True)
    return unit


def _ring_triangles(rows: int, around: int) -> Indices:
    """Two triangles for each cell of the grid, one where it touches a pole."""
    number = np.arange(rows * (around + 1)).reshape(rows, around + 1)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    first, second = np.stack([a, c, d], axis=-1), np.stack([a, b, c], axis=-1)
    return np.concatenate([first[:-1].reshape(-1, 3), second[1:].reshape(-1, 3)])


def _joined(tubes: list[tuple[Float64, Float64, Float64, Indices]]) -> RawMesh:
    points = np.concatenate([tube[0] for tube in tubes])
    normals = np.concatenate([tube[1] for tube in tubes])
    first = np.cumsum([0, *(len(tube[0]) for tube in tubes)])
    triangles = np.concatenate([tube[3] + start for tube, start in zip(tubes, first, strict=False)])
    around = np.concatenate([tubes[0][2][:, 0], 0.02 + 0.0 * tubes[1][2][:, 0]])
    joints, weights = _weights(points[:, 0])
    attributes = {
        "position": np.round(points + ORIGIN, 5) + 0.0,
        "normal": np.round(normals, 4) + 0.0,
        "texcoord1": np.round(np.stack([points[:, 0] / _LENGTH, around], axis=1), 5),
        "blendweights": weights,
    }
    buffer = RawVertices(len(points), {name: values.astype(np.float32) for name, values in attributes.items()})
    buffer.attributes["blendindices"] = joints.astype(np.uint16)
    return RawMesh("arm", "arm", [buffer], [RawSection("stripes", "", 0, triangles.astype(np.uint32))])


def _weights(along: Float64) -> tuple[Indices, Float64]:
    """Smooth passage from each joint to the next; at most two influences, the stronger one first."""
    share = np.zeros((len(along), len(JOINTS)))
    left = np.ones(len(along))
    for number in range(len(JOINTS) - 1, 0, -1):
        s = np.clip((along - JOINTS[number][1]) / _PASSAGE + 0.5, 0.0, 1.0)
        share[:, number] = left * s * s * (3.0 - 2.0 * s)
        left = left - share[:, number]
    share[:, 0] = left
    order = np.argsort(-share, axis=1, kind="stable")
    units = np.round(np.take_along_axis(share, order, axis=1) * 10_000)
    units[:, 0] += 10_000 - units.sum(axis=1)
    return np.where(units > 0, order, 0), units / 10_000


def _texture() -> Image.Image:
    """Checks along the tube with one red line, a plain hand with a red line on its back."""
    v, u = np.meshgrid(*[(np.arange(_TEXTURE_SIZE) + 0.5) / _TEXTURE_SIZE] * 2, indexing="ij")
    along = u * _LENGTH
    check = (np.floor(v * 16.0 + 0.5) + np.floor(along / 0.0425)) % 2.0
    image = np.where(check[..., None] > 0.5, (0.84, 0.81, 0.74), (0.15, 0.34, 0.42))
    image = np.where((along > 1.275)[..., None], (0.76, 0.56, 0.44), image)
    image = np.where((np.abs(along - 1.275) < 0.012)[..., None], (0.16, 0.20, 0.26), image)
    line = np.minimum(v, 1.0 - v) < 0.030
    image = np.where((line & (along < 1.275))[..., None], (0.84, 0.22, 0.16), image)
    return Image.fromarray(np.round(image * 255.0).astype(np.uint8), "RGB")
