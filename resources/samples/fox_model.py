"""A fox that trots: a small quadruped for fur, with maps that say where it grows, how long and in what colour."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.resources.samples.figure_model import bones_of
from sinew.resources.samples.figure_skeleton import Draft, Joint
from sinew.resources.samples.motion import Motion, frame_times, turn
from sinew.resources.samples.sdf import Distances, Points, capsule, ellipsoid, smooth_union
from sinew.resources.samples.surface import Surface, polygonise
from sinew.resources.samples.weights import diffused_weights, strongest
from sinew.sim.assets.raw import RawClip, RawMaterial, RawMesh, RawModel, RawSection, RawSkeleton, RawVertices

Float64 = npt.NDArray[np.float64]
Place = tuple[float, float, float]

CELL = 0.0125  # edge of a cell of the grid on which the body is modelled [m]

LOW, HIGH = (-0.70, -0.02), (0.58, 0.72)  # part of the plane of z and y that the images show [m]

SIZE = 512
COLOUR, DENSITY, LENGTH = "fox.png", "fox_density.png", "fox_length.png"

STEPS = 32
PERIOD = 0.72  # [s], of a stride

_ROUND: tuple[tuple[Place, Place, float, float], ...] = (
    ((0.0, 0.355, 0.17), (0.0, 0.365, -0.02), 0.080, 0.072),
    ((0.0, 0.365, -0.02), (0.0, 0.375, -0.20), 0.072, 0.074),
    ((0.0, 0.400, 0.20), (0.0, 0.510, 0.315), 0.064, 0.048),
    ((0.0, 0.518, 0.400), (0.0, 0.500, 0.492), 0.036, 0.017),
    ((0.0, 0.400, -0.26), (0.0, 0.370, -0.40), 0.026, 0.040),
    ((0.0, 0.370, -0.40), (0.0, 0.310, -0.52), 0.040, 0.046),
    ((0.0, 0.310, -0.52), (0.0, 0.275, -0.64), 0.046, 0.014),
)
"""Trunk, neck, muzzle and tail: from, to, and the radius at both [m]."""

_LIMBS: tuple[tuple[Place, Place, float, float], ...] = (
    ((0.048, 0.575, 0.335), (0.066, 0.655, 0.325), 0.026, 0.006),
    ((0.050, 0.340, 0.175), (0.055, 0.205, 0.165), 0.046, 0.027),
    ((0.055, 0.205, 0.165), (0.055, 0.045, 0.180), 0.025, 0.019),
    ((0.050, 0.350, -0.190), (0.058, 0.215, -0.140), 0.058, 0.034),
    ((0.058, 0.215, -0.140), (0.058, 0.115, -0.245), 0.030, 0.019),
    ((0.058, 0.115, -0.245), (0.058, 0.040, -0.222), 0.019, 0.018),
)
"""Of the left side."""


def build_fox(path: Path) -> tuple[RawModel, dict[str, Image.Image]]:
    joints = build_joints()
    body = polygonise(fox_field, (-0.13, -0.01, -0.70), (0.13, 0.70, 0.56), CELL)
    model = RawModel(path, "ezm", "MeshSystem", asset_name="fox", asset_info="metres, y up, faces +z")
    model.skeletons.append(RawSkeleton("fox", bones_of(joints)))
    model.clips.append(build_trot(joints))
    model.materials.append(RawMaterial("coat", f"diffuse={COLOUR},Ns=12,Ks=(0.03,0.03,0.03)"))
    model.meshes.append(_mesh(body, joints))
    return model, {COLOUR: _image(_colour), DENSITY: _image(_density), LENGTH: _image(_length)}


def fox_field(points: Points) -> Distances:
    found = ellipsoid(points, (0.0, 0.530, 0.360), (0.060, 0.054, 0.074))
    for start, end, first, last in _ROUND:
        found = smooth_union(found, capsule(points, start, end, first, last), 0.035)
    sided = np.stack([np.abs(points[:, 0]), points[:, 1], points[:, 2]], axis=1)
    for start, end, first, last in _LIMBS:
        found = smooth_union(found, capsule(sided, start, end, first, last), 0.018)
    for centre in ((0.055, 0.024, 0.200), (0.058, 0.024, -0.200)):
        found = smooth_union(found, ellipsoid(sided, centre, (0.025, 0.021, 0.038)), 0.014)
    return found


def build_joints() -> list[Joint]:
    draft = Draft()
    draft.add("root", None, (0, 0, 0), (0, 0.1, 0), 0.05, [])
    draft.add("hips", "root", (0, 0.375, -0.20), (0, 0.372, -0.06), 0.05)
    draft.add("spine", "hips", (0, 0.372, -0.06), (0, 0.362, 0.08), 0.05)
    draft.add("chest", "spine", (0, 0.362, 0.08), (0, 0.380, 0.20), 0.05)
    draft.add("neck", "chest", (0, 0.400, 0.20), (0, 0.510, 0.315), 0.04)
    head = [((0, 0.520, 0.325), (0, 0.500, 0.490)), ((-0.06, 0.65, 0.325), (-0.05, 0.58, 0.335)),
            ((0.05, 0.58, 0.335), (0.06, 0.65, 0.325))]  # fmt: skip
    draft.add("head", "neck", (0, 0.520, 0.325), (0, 0.500, 0.490), 0.035, head)
    for number, (start, end, _, _) in enumerate(_ROUND[4:], 1):
        draft.add(f"tail_{number}", f"tail_{number - 1}" if number > 1 else "hips", start, end, 0.04)
    for suffix, side in (("_l", 1.0), ("_r", -1.0)):
        fore, hind = [_sided(limb, side) for limb in _LIMBS[1:3]], [_sided(limb, side) for limb in _LIMBS[3:]]
        draft.add(f"arm{suffix}", "chest", *fore[0], 0.04)
        draft.add(f"forearm{suffix}", f"arm{suffix}", *fore[1], 0.025)
        draft.add(f"paw{suffix}", f"forearm{suffix}", fore[1][1], (side * 0.055, 0.02, 0.225), 0.02)
        draft.add(f"thigh{suffix}", "hips", *hind[0], 0.045)
        draft.add(f"shin{suffix}", f"thigh{suffix}", *hind[1], 0.025)
        draft.add(f"hock{suffix}", f"shin{suffix}", *hind[2], 0.02)
        draft.add(f"foot{suffix}", f"hock{suffix}", hind[2][1], (side * 0.058, 0.02, -0.175), 0.02)
    return draft.joints


def build_trot(joints: list[Joint]) -> RawClip:
    """On the spot: diagonal legs together; the last key repeats the first."""
    phase = frame_times(STEPS + 1, 1.0 / STEPS)
    motion = Motion(joints, STEPS + 1)
    motion.travel[:, 1] = 0.008 * _wave(phase, 2, 0.05) - 0.006
    for suffix, shift in (("_l", 0.0), ("_r", 0.5)):
        _leg(motion, phase - shift, (f"arm{suffix}", f"forearm{suffix}", f"paw{suffix}"), (24.0, -52.0, 30.0))
        _leg(motion, phase - shift - 0.5, (f"thigh{suffix}", f"shin{suffix}", f"hock{suffix}"), (22.0, 40.0, -46.0))
    _nod(motion, phase)
    return motion.clip("trot", PERIOD / STEPS)


def _leg(motion: Motion, phase: Float64, names: tuple[str, str, str], angles: tuple[float, float, float]) -> None:
    """The leg swings to and fro; while it goes forwards the lower joints fold [degrees]."""
    swing, fold, tuck = angles
    lifted = np.clip(_wave(phase, 1, 0.75), 0.0, 1.0) ** 2
    motion.set_turn(names[0], turn((1, 0, 0), -swing * _wave(phase, 1, 0.0)))
    motion.set_turn(names[1], turn((1, 0, 0), -fold * lifted))
    motion.set_turn(names[2], turn((1, 0, 0), -tuck * lifted))


def _nod(motion: Motion, phase: Float64) -> None:
    motion.set_turn("hips", turn((0, 1, 0), 3.0 * _wave(phase, 1, 0.2)))
    motion.set_turn("spine", turn((0, 1, 0), -5.0 * _wave(phase, 1, 0.2)))
    motion.set_turn("neck", turn((1, 0, 0), 3.0 * _wave(phase, 2, 0.1)))
    motion.set_turn("head", turn((1, 0, 0), -4.0 * _wave(phase, 2, 0.15)))
    for number, size in ((1, 7.0), (2, 9.0), (3, 11.0)):
        motion.set_turn(f"tail_{number}", turn((0, 1, 0), size * _wave(phase, 1, 0.1 + 0.08 * number)))


def _wave(phase: Float64, harmonic: int, shift: float) -> Float64:
    value: Float64 = np.cos(2.0 * np.pi * harmonic * (phase - shift))
    return value


def _sided(limb: tuple[Place, Place, float, float], side: float) -> tuple[Place, Place]:
    (a, b, c), (d, e, f) = limb[:2]
    return (side * a, b, c), (side * d, e, f)


def _mesh(body: Surface, joints: list[Joint]) -> RawMesh:
    names = [joint.name for joint in joints if len(joint.segments)]
    indices, weights = strongest(diffused_weights(body, joints, names))
    low, span = np.array(LOW), np.array(HIGH) - np.array(LOW)
    places = (body.vertices[:, [2, 1]] - low) / span
    places[:, 1] = 1.0 - places[:, 1]
    attributes: dict[str, npt.NDArray[np.generic]] = {
        "position": (np.round(body.vertices, 5) + 0.0).astype(np.float32),
        "normal": (np.round(body.normals, 4) + 0.0).astype(np.float32),
        "texcoord1": np.round(places, 5).astype(np.float32),
        "blendweights": weights.astype(np.float32),
        "blendindices": indices.astype(np.uint16),
    }
    section = RawSection("coat", "", 0, body.triangles().astype(np.uint32))
    return RawMesh("fox", "fox", [RawVertices(len(body.vertices), attributes)], [section])


# --- images: seen from the side, the head to the right ----------------------------------------------------------------


def _image(paint: Callable[[Float64, Float64], Float64]) -> Image.Image:
    """Image of a function of z and y [m]; both sides of the fox are alike."""
    across, up = (np.arange(SIZE) + 0.5) / SIZE, 1.0 - (np.arange(SIZE) + 0.5) / SIZE
    z, y = np.meshgrid(LOW[0] + across * (HIGH[0] - LOW[0]), LOW[1] + up * (HIGH[1] - LOW[1]))
    values = paint(z, y)
    return Image.fromarray(np.rint(255.0 * values.clip(0.0, 1.0)).astype(np.uint8))


def _soft(value: Float64, edge: float, width: float) -> Float64:
    """From 0 to 1 where a value passes an edge."""
    share = np.clip((value - edge) / width + 0.5, 0.0, 1.0)
    smooth: Float64 = share * share * (3.0 - 2.0 * share)
    return smooth


def _spot(z: Float64, y: Float64, at: tuple[float, float], radius: float) -> Float64:
    return 1.0 - _soft(np.hypot(z - at[0], y - at[1]), radius, 0.4 * radius)


def _dark(z: Float64, y: Float64) -> Float64:
    """Nose and eyes."""
    return np.maximum(_spot(z, y, (0.507, 0.502), 0.014), _spot(z, y, (0.402, 0.548), 0.009))


def _colour(z: Float64, y: Float64) -> Float64:
    orange, white, black = np.array([0.86, 0.42, 0.13]), np.array([0.97, 0.94, 0.88]), np.array([0.09, 0.06, 0.05])
    belly = (1.0 - _soft(y, 0.315, 0.03)) * _soft(z, -0.27, 0.04) * (1.0 - _soft(z, 0.30, 0.04))
    cheek = (1.0 - _soft(y - 0.42 * (z - 0.30), 0.478, 0.016)) * _soft(z, 0.295, 0.03)
    throat = (1.0 - _soft(y - 1.0 * (z - 0.25), 0.405, 0.03)) * _soft(z, 0.215, 0.03)
    pale = np.max([belly, cheek, throat, 1.0 - _soft(z, -0.575, 0.035)], axis=0)
    legs = (1.0 - _soft(y, 0.165, 0.06)) * _soft(z, -0.31, 0.02)
    tips = _soft(y, 0.628, 0.02)
    dark = np.max([legs, tips, _dark(z, y)], axis=0)
    base = orange + pale[..., None] * (white - orange)
    found: Float64 = base + dark[..., None] * (black - base)
    return found


def _density(z: Float64, y: Float64) -> Float64:
    found: Float64 = (1.0 - _dark(z, y)) * _soft(y, 0.012, 0.01)
    return found


def _length(z: Float64, y: Float64) -> Float64:
    """Short on face and legs, long on the tail and at the neck."""
    tail = 1.0 - _soft(z, -0.36, 0.12)
    ruff = _spot(z, y, (0.245, 0.43), 0.085)
    face = _soft(z, 0.335, 0.07)
    legs = 1.0 - _soft(y, 0.225, 0.09)
    plain = 0.55 + 0.45 * np.maximum(tail, ruff)
    found: Float64 = plain * (1.0 - 0.72 * face) * (1.0 - 0.68 * legs * (1.0 - tail))
    return found
