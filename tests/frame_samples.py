import struct
from pathlib import Path

import numpy as np

TRIANGLES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])  # of a tetrahedron, counter-clockwise from outside
POINTS = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)[[0, 2, 1, 3]]


def frames(count: int = 4) -> np.ndarray:
    """A tetrahedron that grows, shape (F, 4, 3)."""
    return np.stack([POINTS * (1.0 + 0.5 * frame) for frame in range(count)]).astype(np.float32)


def obj_text(points: np.ndarray) -> bytes:
    lines = [f"v {x:.7g} {y:.7g} {z:.7g}" for x, y, z in points.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES.tolist()]
    return "\n".join(lines).encode() + b"\n"


def pc2(places: np.ndarray, step: float = 1.0) -> bytes:
    count, points = places.shape[:2]
    return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, 0.0, step, count) + places.astype("<f4").tobytes()


def mdd(places: np.ndarray, times: np.ndarray) -> bytes:
    count, points = places.shape[:2]
    return struct.pack(">ii", count, points) + times.astype(">f4").tobytes() + places.astype(">f4").tobytes()


def md2(names: tuple[str, ...] = ("run1", "run2", "run3", "jump1", "jump2")) -> tuple[bytes, np.ndarray]:
    """A file, and the places of its points in every frame (F, 4, 3)."""
    random = np.random.default_rng(2)
    scale, move = np.array([0.5, 0.25, 0.125], np.float32), np.array([-3.0, 1.0, 2.0], np.float32)
    stored = random.integers(0, 256, (len(names), 4, 3)).astype(np.uint8)
    body = b""
    for name, points in zip(names, stored, strict=True):
        rows = np.column_stack([points, np.zeros(4, np.uint8)])
        body += scale.tobytes() + move.tobytes() + name.encode().ljust(16, b"\0") + rows.tobytes()
    corners = b"".join(struct.pack("<6H", *face, 0, 1, 2) for face in TRIANGLES.tolist())
    pixels = struct.pack("<6h", 0, 0, 63, 0, 0, 31)
    skin = b"players/blue.pcx".ljust(64, b"\0")
    at = 68
    places = [at, at + 64, at + 64 + len(pixels), at + 64 + len(pixels) + len(corners)]
    counts = (64, 32, 40 + 4 * 4, 1, 4, 3, len(TRIANGLES), 0, len(names))
    head = struct.pack("<4s16i", b"IDP2", 8, *counts, *places, 0, 0)
    return head + skin + pixels + corners + body, stored * scale + move


def write_all(folder: Path) -> dict[str, Path]:
    places = frames()
    (folder / "cache.obj").write_bytes(obj_text(places[0]))
    made = {
        "md2": (folder / "quake.md2", md2()[0]),
        "pc2": (folder / "cache.pc2", pc2(places)),
        "mdd": (folder / "cache.mdd", mdd(places, np.array([0.0, 0.5, 1.0, 2.0]))),
    }
    for path, data in made.values():
        path.write_bytes(data)
    for number, points in enumerate(places):
        (folder / f"grow_{number:03}.obj").write_bytes(obj_text(points))
    return {key: path for key, (path, _) in made.items()} | {"obj": folder / "grow_000.obj"}
