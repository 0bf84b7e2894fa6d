"""A stylised head with eight named morph targets, and a clip that plays them: the test piece for faces.

A grid of directions about the middle of the head, shaped by soft bumps; the mouth is a slit in it with a dark lining
behind, and lids are shells over the eyes.  Lengths in metres, y up, the face looks along z.
"""

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.assets.model import EmbeddedImage, Material
from sinew.sim.assets.raw import (
    RawBone,
    RawChannel,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawSkin,
    RawVertices,
)
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
Grid = npt.NDArray[np.int64]

TARGETS = ("Smile", "Frown", "Jaw open", "Blink left", "Blink right", "Brows up", "Brows down", "Puff cheeks")

COLUMNS, ROWS = 88, 82
AXES = np.array([0.078, 0.112, 0.096])  # half axes of the skull

CENTRE = np.array([0.0, 0.16, 0.0])
MOUTH_ROW, MOUTH_HALF = 28, 0.30  # row of the slit, and half of its width [rad]

EYE, EYE_RADIUS = np.array([0.034, 0.010, 0.071]), 0.0175  # middle of the left eye relative to the middle of the head

HINGE = np.array([0.0, -0.015, 0.005])
STILL = 1e-4  # way [m] below which a vertex does not move

LENGTH = 8.0  # [s], of the clip


def build_head(path: Path) -> RawModel:
    stream = io.BytesIO()
    painted_head().save(stream, "PNG", optimize=True)
    image = EmbeddedImage("head", stream.getvalue())
    model = RawModel(path, "gltf", None, asset_name="head", up_axis="Y", texture_origin="top")
    model.skeletons.append(RawSkeleton("head", [_bone("Head")]))
    model.skins.append(RawSkin([0], np.eye(4)[None]))
    specular, shininess = (0.03, 0.03, 0.03), 12.0
    model.materials = [
        RawMaterial("Skin", "", Material("Skin", "head", None, specular=specular, shininess=shininess, embedded=image)),
        RawMaterial("Eyes", "", Material("Eyes", "head", None, embedded=image, shininess=120.0)),
        RawMaterial(
            "Mouth",
            "",
            Material("Mouth", None, None, diffuse=(0.10, 0.015, 0.018), specular=specular, shininess=shininess),
        ),
    ]
    parts = [("Skin", _skull()), ("Skin", _neck()), ("Mouth", _lining())]
    parts += [("Eyes", _eye(side)) for side in (1.0, -1.0)]
    parts += [("Skin", _lids(side)) for side in (1.0, -1.0)]
    buffers = [_buffer(*part) for _, part in parts]
    sections = [
        RawSection(material, "", number, faces.astype(np.uint32), is_double_sided=False)
        for number, (material, (_, faces, _, _)) in enumerate(parts)
    ]
    mesh = RawMesh("Head", "", buffers, sections, joint=0)
    mesh.target_names, mesh.rest_weights = list(TARGETS), [0.0] * len(TARGETS)
    model.meshes.append(mesh)
    model.clips.append(_clip())
    return model


Part = tuple[Float64, Grid, Float64, dict[str, Float64]]
"""Places (V, 3), faces (T, 3), texture coordinates (V, 2), and differences (V, 3) by target."""


def _bone(name: str) -> RawBone:
    return RawBone(name, -1, np.zeros(3), quaternion.IDENTITY.copy(), np.ones(3))


def _buffer(places: Float64, faces: Grid, texcoords: Float64, moves: dict[str, Float64]) -> RawVertices:
    normals = _normals(places, faces)
    attributes = {"position": places, "normal": normals, "texcoord1": texcoords}
    buffer = RawVertices(len(places), {name: values.astype(np.float32) for name, values in attributes.items()})
    for name in TARGETS:
        move = moves.get(name, np.zeros_like(places))
        move = np.where(np.linalg.norm(move, axis=1, keepdims=True) < STILL, 0.0, move)
        turned = _normals(places + move, faces) - normals
        buffer.targets.append({"position": move.astype(np.float32), "normal": turned.astype(np.float32)})
    return buffer


def _normals(places: Float64, faces: Grid) -> Float64:
    """Smooth normals, over the seam of the texture too; the slit of the mouth stays two edges."""
    rounded, first = np.unique(np.round(places[:, :3], 7), axis=0, return_inverse=True)
    of_place = vertex_normals(rounded.astype(np.float32), first.reshape(-1)[faces].astype(np.uint32))
    return of_place[first.reshape(-1)].astype(np.float64)


# --- the skull -------------------------------------------------------------------------------------------------------


def _directions() -> tuple[Float64, Float64]:
    """Azimuth from the front and elevation of the grid, shape (ROWS, COLUMNS + 1) both."""
    around = np.linspace(-np.pi, np.pi, COLUMNS + 1)
    # Denser in front.
    around = around - 0.35 * np.sin(around)
    up = np.linspace(-np.pi / 2.0, np.pi / 2.0, ROWS)
    azimuth, elevation = np.meshgrid(around, up)
    return azimuth, elevation


def _bump(azimuth: Float64, elevation: Float64, place: tuple[float, float], size: tuple[float, float]) -> Float64:
    """Height 1 at a place, on both sides unless the place is in the middle."""
    fall = ((elevation - place[1]) / size[1]) ** 2
    sides = {place[0], -place[0]}
    return sum((np.exp(-(((azimuth - side) / size[0]) ** 2) - fall) for side in sides), np.zeros_like(azimuth))


def _shape(azimuth: Float64, elevation: Float64) -> Float64:
    """Places in directions, shape (..., 3)."""
    unit = np.stack(
        [np.cos(elevation) * np.sin(azimuth), np.sin(elevation), np.cos(elevation) * np.cos(azimuth)], axis=-1
    )
    places = AXES * unit
    radius = np.linalg.norm(places, axis=-1, keepdims=True)
    bumps = [
        (0.020, (0.0, -0.13), (0.10, 0.15)),  # tip of the nose
        (0.010, (0.0, 0.07), (0.075, 0.22)),  # bridge
        (0.005, (0.12, -0.20), (0.07, 0.07)),  # nostrils
        (-0.0085, (0.40, 0.08), (0.17, 0.12)),  # sockets
        (0.006, (0.34, 0.30), (0.28, 0.07)),  # brows
        (0.007, (0.62, -0.16), (0.20, 0.20)),  # cheekbones
        (0.0065, (0.0, -0.42), (0.24, 0.05)),  # upper lip
        (0.0070, (0.0, -0.60), (0.20, 0.055)),  # lower lip
        (-0.0030, (0.0, -0.72), (0.22, 0.05)),  # below it
        (0.012, (0.0, -0.92), (0.50, 0.20)),  # chin
        (0.010, (1.62, 0.00), (0.10, 0.20)),  # ears
        (-0.006, (0.95, -0.55), (0.30, 0.30)),  # below the cheeks
    ]
    height = sum((size * _bump(azimuth, elevation, at, wide) for size, at, wide in bumps), np.zeros_like(azimuth))
    places = places * (1.0 + height[..., None] / radius)
    # A narrower jaw and a flatter face.
    low = np.clip(-places[..., 1] / AXES[1], 0.0, 1.0)
    places[..., 0] *= 1.0 - 0.10 * low**1.5
    return np.asarray(places)


def _skull() -> Part:
    azimuth, elevation = _directions()
    rows, columns = azimuth.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    slit = np.abs(azimuth[MOUTH_ROW]) < MOUTH_HALF
    below = number.copy()
    below[MOUTH_ROW, slit] = rows * columns + np.arange(int(slit.sum()))
    # The face above a row takes it from `number`, the face below from `below`.
    a, b, c, d = below[1:, :-1], below[1:, 1:], number[:-1, 1:], number[:-1, :-1]
    faces = np.concatenate([np.stack([d, c, b], -1).reshape(-1, 3), np.stack([d, b, a], -1).reshape(-1, 3)])
    azimuth = np.concatenate([azimuth.ravel(), azimuth[MOUTH_ROW, slit]])
    elevation = np.concatenate([elevation.ravel(), elevation[MOUTH_ROW, slit]])
    is_lower = np.arange(len(azimuth)) >= rows * columns
    places = _shape(azimuth, elevation)
    # Lips part in the middle of the slit so that they never touch.
    places[is_lower, 1] -= 2e-5
    texcoords = np.column_stack([0.5 + azimuth / (2.0 * np.pi), 0.5 - elevation / np.pi])
    return places + CENTRE, faces, texcoords, _expressions(azimuth, elevation, places, is_lower)


def _expressions(
    azimuth: Float64, elevation: Float64, places: Float64, is_lower: npt.NDArray[np.bool_]
) -> dict[str, Float64]:
    mouth = float(np.linspace(-np.pi / 2.0, np.pi / 2.0, ROWS)[MOUTH_ROW])
    outward = places / np.linalg.norm(places, axis=1, keepdims=True)
    side = np.sign(azimuth)[:, None] * np.array([1.0, 0.0, 0.0])
    up = np.array([0.0, 1.0, 0.0])

    def at(place: tuple[float, float], size: tuple[float, float]) -> Float64:
        return _bump(azimuth, elevation, place, size)[:, None]

    corners, middle = at((0.29, mouth), (0.16, 0.17)), at((0.0, mouth), (0.20, 0.12))
    cheeks, brows = at((0.55, -0.22), (0.22, 0.20)), at((0.36, 0.33), (0.30, 0.13))
    inner = at((0.14, 0.32), (0.14, 0.12))
    # The jaw turns about a hinge below the ears; everything below the slit and in front follows.
    front = np.clip(1.6 - np.abs(azimuth), 0.0, 1.0)
    beside = np.clip((MOUTH_HALF + 0.12 - np.abs(azimuth)) / 0.12, 0.0, 1.0)
    lower = np.where(is_lower | (elevation < mouth - 1e-6), beside, 0.0)
    lower = np.maximum(lower, np.clip((mouth - elevation) / 0.16, 0.0, 1.0))
    held = np.clip((elevation + 1.50) / 0.35, 0.0, 1.0)
    weight = (front * lower * held)[:, None]
    weight = weight * weight * (3.0 - 2.0 * weight)
    jaw = (places - HINGE) @ _turn_x(0.30).T + HINGE - places
    return {
        "Smile": corners * (0.011 * up + 0.009 * side - 0.004 * outward)
        + 0.004 * cheeks * (outward + up)
        - 0.002 * middle * outward,
        "Frown": corners * (-0.012 * up - 0.002 * side) + 0.002 * middle * up,
        "Jaw open": weight * jaw,
        "Brows up": brows * (0.011 * up + 0.001 * outward),
        "Brows down": inner * (-0.011 * up + 0.003 * outward) - 0.004 * inner * side - 0.003 * brows * up,
        "Puff cheeks": 0.014 * at((0.62, -0.45), (0.26, 0.22)) * outward,
    }


def _turn_x(angle: float) -> Float64:
    return np.array([[1.0, 0.0, 0.0], [0.0, np.cos(angle), -np.sin(angle)], [0.0, np.sin(angle), np.cos(angle)]])


# --- lining, neck, eyes and lids -------------------------------------------------------------------------------------


def _sheet(rows: int, columns: int) -> Grid:
    """Faces of a grid of places, seen from where columns run to the right and rows up."""
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])


def _lining() -> Part:
    """A dark sheet behind the lips, upright, so that nothing shines in it."""
    x, y = np.meshgrid(np.linspace(-0.035, 0.035, 9), np.linspace(-0.088, -0.030, 9))
    places = np.stack([x, y, 0.050 - 8.0 * x**2 - 0.4 * np.abs(y + 0.06)], axis=-1).reshape(-1, 3)
    return places + CENTRE, _sheet(*x.shape), np.zeros((len(places), 2)), {}


def _neck() -> Part:
    around, down = np.meshgrid(np.linspace(-np.pi, np.pi, 49), np.linspace(0.0, 1.0, 17))
    wide = 0.050 + 0.010 * (1.0 - down) ** 2 + 0.030 * np.clip(down - 0.72, 0.0, 1.0) ** 1.5
    wide = np.where(down > 0.999, 0.0, np.where(down < 1e-9, 0.020, wide))
    places = np.stack(
        [wide * np.sin(around), CENTRE[1] - 0.055 - 0.105 * np.minimum(down, 0.96), wide * np.cos(around) - 0.014],
        axis=-1,
    )
    texcoords = np.stack([0.5 + around / (2.0 * np.pi), 0.86 + 0.02 * down], axis=-1).reshape(-1, 2)
    return places.reshape(-1, 3), _sheet(*around.shape)[:, [0, 2, 1]], texcoords, {}


def _eye(side: float) -> Part:
    """A ball whose pupil is in front; its part of the image is a disc in the lower left corner."""
    around, out = np.meshgrid(np.linspace(-np.pi, np.pi, 33), np.linspace(0.0, np.pi, 25))
    unit = np.stack([np.sin(out) * np.sin(around), np.sin(out) * np.cos(around), np.cos(out)], axis=-1).reshape(-1, 3)
    places = EYE * (side, 1.0, 1.0) + EYE_RADIUS * unit
    far = np.clip(out / np.pi, 0.0, 1.0).ravel() * 0.060
    texcoords = np.column_stack([0.066 + far * np.sin(around.ravel()), 0.934 - 2.0 * far * np.cos(around.ravel())])
    return places + CENTRE, _sheet(*around.shape), texcoords, {}


def _lids(side: float) -> Part:
    """The upper and the lower lid, shells that turn about the axis through both eyes."""
    parts = []
    for open_at, closed_at, back in ((0.50, -0.32, 2.2), (-0.52, -0.16, -2.2)):
        across, over = np.meshgrid(np.linspace(-1.35, 1.35, 25), np.linspace(0.0, 1.0, 13))
        shells = []
        for edge in (open_at, closed_at):
            angle = edge + (back - edge) * over
            x = np.sin(across)
            round_ = np.cos(across)
            unit = np.stack([x, round_ * np.sin(angle), round_ * np.cos(angle)], axis=-1).reshape(-1, 3)
            # The edge is thicker, so that it throws a shadow.
            shells.append((1.10 + 0.05 * (1.0 - over.reshape(-1, 1)) ** 4) * EYE_RADIUS * unit)
        faces = _sheet(*across.shape)
        parts.append((shells[0], shells[1] - shells[0], faces if back > 0.0 else faces[:, [0, 2, 1]]))
    places = np.concatenate([shell for shell, _, _ in parts]) + EYE * (side, 1.0, 1.0) + CENTRE
    moves = np.concatenate([move for _, move, _ in parts])
    faces = np.concatenate([parts[0][2], parts[1][2] + len(parts[0][0])])
    texcoords = np.tile([0.5 + side * 0.11, 0.60], (len(places), 1))
    return places, faces, texcoords, {"Blink left" if side > 0.0 else "Blink right": moves}


# --- the clip --------------------------------------------------------------------------------------------------------


def _clip() -> RawClip:
    """Every target in turn, with blinks in between."""
    times = np.arange(0.0, LENGTH + 1e-9, 1.0 / 12.0)

    def lod_scale(start: float, end: float) -> Float64:
        part = np.clip((times - start) / (end - start), 0.0, 1.0)
        return np.sin(np.pi * part) ** 2

    blink = lod_scale(0.6, 1.1) + lod_scale(3.4, 3.9) + lod_scale(6.1, 6.6)
    talk = 0.8 * lod_scale(3.0, 3.7) + 0.5 * lod_scale(3.7, 4.1) + 0.7 * lod_scale(4.1, 4.9)
    keys = {
        "Smile": lod_scale(0.4, 2.6) + 0.6 * lod_scale(6.8, 7.9),
        "Frown": lod_scale(4.9, 6.6),
        "Jaw open": talk,
        "Blink left": blink + lod_scale(7.0, 7.6),
        "Blink right": blink,
        "Brows up": lod_scale(1.0, 2.4) + 0.7 * lod_scale(3.0, 4.4),
        "Brows down": lod_scale(4.9, 6.4),
        "Puff cheeks": lod_scale(2.2, 3.2),
    }
    values = np.column_stack([keys[name] for name in TARGETS])
    return RawClip("faces", 0, 0.0, 0.0, [], [RawChannel(0, "weights", "LINEAR", times, values)])


WIDTH, HEIGHT = 1024, 512
MOUTH = -0.4848  # elevation of the line between the lips [rad]

SKIN, LIPS, BLUSH = (0.87, 0.66, 0.54), (0.70, 0.34, 0.33), (0.88, 0.50, 0.44)
HAIR, BROWS = (0.20, 0.12, 0.08), (0.24, 0.15, 0.10)
WHITE, IRIS, PUPIL = (0.93, 0.92, 0.90), (0.22, 0.42, 0.52), (0.02, 0.02, 0.03)


def painted_head() -> Image.Image:
    """sRGB pixels; column 0 is the back of the head, row 0 its top."""
    u, v = np.meshgrid((np.arange(WIDTH) + 0.5) / WIDTH, (np.arange(HEIGHT) + 0.5) / HEIGHT)
    azimuth, elevation = 2.0 * np.pi * (u - 0.5), np.pi * (0.5 - v)
    picture = np.broadcast_to(np.array(SKIN), (HEIGHT, WIDTH, 3)).copy()
    side = np.abs(azimuth)
    _mix(picture, BLUSH, 0.45 * np.exp(-(((side - 0.62) / 0.22) ** 2) - ((elevation + 0.24) / 0.18) ** 2))
    _mix(picture, BLUSH, 0.30 * np.exp(-((azimuth / 0.12) ** 2) - ((elevation + 0.15) / 0.12) ** 2))
    half = np.clip(1.0 - (azimuth / 0.33) ** 2, 0.0, 1.0)
    upper = 0.10 * half**0.7 * (1.0 - 0.25 * np.exp(-((azimuth / 0.05) ** 2)))
    lower = 0.12 * half**0.6
    _mix(
        picture, LIPS, _soft(elevation, MOUTH - lower, 0.012) * _soft(-elevation, -MOUTH - upper, 0.012) * (half > 0.0)
    )
    arch = 0.315 + 0.05 * np.clip(1.0 - ((side - 0.42) / 0.34) ** 2, 0.0, 1.0)
    thick = 0.036 * np.clip(1.0 - ((side - 0.38) / 0.27) ** 2, 0.0, 1.0) ** 0.5
    _mix(picture, BROWS, 0.9 * _soft(thick - np.abs(elevation - arch), 0.0, 0.008) * (thick > 0.0))
    line = 0.66 + 0.10 * np.cos(3.0 * azimuth) * (side < 1.0) - 1.15 * np.clip((side - 0.95) / 0.75, 0.0, 1.0) ** 1.3
    strands = 0.5 + 0.5 * np.sin(90.0 * azimuth + 7.0 * np.sin(9.0 * elevation))
    hair = np.array(HAIR) * (0.85 + 0.5 * strands[..., None] * np.clip(elevation, 0.0, 1.0)[..., None])
    covered = _soft(elevation, line, 0.03)[..., None]
    picture = picture * (1.0 - covered) + hair * covered
    _painted_eye(picture, u, v)
    return Image.fromarray((np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8))


def _painted_eye(picture: Float64, u: Float64, v: Float64) -> None:
    """A ball seen from its front, out to its back, where the neck has no use for the image."""
    far = np.hypot((u - 0.066) / 0.060, (v - 0.934) / 0.120)
    inside = far < 1.08
    for colour, edge in ((WHITE, 2.0), ((0.08, 0.16, 0.20), 0.205), (IRIS, 0.185), (PUPIL, 0.085)):
        _mix(picture, colour, np.where(inside, _soft(-far, -edge, 0.012), 0.0))
    shine = np.hypot((u - 0.0685) / 0.060, (v - 0.926) / 0.120)
    _mix(picture, (1.0, 1.0, 1.0), _soft(-shine, -0.035, 0.01))


def _soft(value: Float64, edge: Float64 | float, width: float) -> Float64:
    """From 0 below an edge to 1 above it."""
    part = np.clip((value - edge) / width + 0.5, 0.0, 1.0)
    smooth: Float64 = part * part * (3.0 - 2.0 * part)
    return smooth


def _mix(picture: Float64, colour: tuple[float, float, float], part: Float64) -> None:
    picture += part[..., None] * (np.array(colour) - picture)
