"""Painted maps of cloth, in settings and project files, and as numbers of the particles.

Maps belong to a topology. Another sheet, or a file with other triangles, takes the values of the nearest rest places,
both within the box around their rest shape.
"""

import base64
import binascii
import enum
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.points import nearest_vertices

PARTICLES_MAX = 1 << 22
UNLIMITED_DISTANCE = 65504.0
"""Largest distance of a particle that may move freely [m], the largest number of 16 bits."""

_PLACES = 65535.0
"""Inverse of the unit in which rest places are stored, in the box around them."""

_SHEET = re.compile(r"([0-9]{1,7})x([0-9]{1,7})")


class ClothMap(enum.Enum):
    PIN = "pin"
    DISTANCE = "distance"
    STRETCH = "stretch"
    BEND = "bend"
    MASS = "mass"
    FRICTION = "friction"


@dataclass(frozen=True, slots=True)
class MapRange:
    label: str
    doc: str
    neutral: float  # Value without the map
    lo: float
    hi: float
    shown: float  # Value at the upper end of the colour ramp
    unit: str = ""


RANGES = {
    ClothMap.PIN: MapRange("Pins", "1 pins a particle, less pulls it to its place.", 0.0, 0.0, 1.0, 1.0),
    ClothMap.DISTANCE: MapRange(
        "Largest distance", "How far a particle may be from its place on the skin.", UNLIMITED_DISTANCE, 0.0,
        UNLIMITED_DISTANCE, 0.5, "m",
    ),
    ClothMap.STRETCH: MapRange("Stretch stiffness", "Factor of the threads and of shear.", 1.0, 0.0, 100.0, 2.0),
    ClothMap.BEND: MapRange("Bend stiffness", "Factor of bending.", 1.0, 0.0, 100.0, 2.0),
    ClothMap.MASS: MapRange("Mass", "Factor of the mass.", 1.0, 0.01, 100.0, 2.0),
    ClothMap.FRICTION: MapRange("Friction", "Factor of the friction with colliders.", 1.0, 0.0, 100.0, 2.0),
}  # fmt: skip

Values = Mapping[ClothMap, Float64]
"""Numbers of the particles, shape (P,) each, of the maps that are painted."""


class ClothMaps(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Packed maps.

    Attributes:
        count: Number of particles.
        topology: Columns and rows of a sheet, such as "48x48"; of a mesh a sum of its triangles.
        places: Rest places of the particles of a mesh in the box around them; base64, 3 × uint16, little endian.
        pin, distance, stretch, bend, mass, friction: Base64 of a float16 for each particle, or "".

    Raises:
        ValueError: If a map has the wrong size, or a value is out of range.
    """

    count: Annotated[int, msgspec.Meta(ge=1, le=PARTICLES_MAX)]
    topology: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    places: str = ""
    pin: str = ""
    distance: str = ""
    stretch: str = ""
    bend: str = ""
    mass: str = ""
    friction: str = ""

    def __post_init__(self) -> None:
        sheet = _SHEET.fullmatch(self.topology)
        if sheet is None:
            _decoded(self, "places", 6)
        elif int(sheet[1]) * int(sheet[2]) != self.count:
            raise ValueError(f"topology: a sheet of {self.topology} has no {self.count} particles")
        unpacked(self)

    def __str__(self) -> str:
        return ", ".join(RANGES[one].label.lower() for one in unpacked(self))


@dataclass(frozen=True, slots=True, eq=False)
class ClothTopology:
    """Particles that maps belong to; `places` (P, 3) [m] are at rest, in the frame of the cloth."""

    name: str
    places: Float64

    @property
    def in_box(self) -> Float64:
        low = self.places.min(axis=0)
        found: Float64 = (self.places - low) / np.maximum(np.ptp(self.places, axis=0), 1e-12)
        return found


@functools.lru_cache(maxsize=16)
def unpacked(maps: ClothMaps) -> Values:
    """Unpacks the painted maps; raises ValueError, one line, for a wrong size or value."""
    found: dict[ClothMap, Float64] = {}
    for one, allowed in RANGES.items():
        if getattr(maps, one.value):
            values = np.frombuffer(_decoded(maps, one.value, 2), "<f2").astype(np.float64)
            wrong = np.flatnonzero(~((values >= np.float16(allowed.lo)) & (values <= allowed.hi)))
            if len(wrong):
                allowed_text = f"between {allowed.lo:g} and {allowed.hi:g}"
                raise ValueError(f"{one.value}: {values[wrong[0]]:g} of particle {wrong[0]} is not {allowed_text}")
            found[one] = values
    return found


def packed(values: Values, topology: ClothTopology) -> tuple[ClothMaps, ...]:
    """Packs maps, without those that change nothing."""
    texts = {}
    for one, numbers in values.items():
        if (numbers != RANGES[one].neutral).any():
            texts[one.value] = _encoded(np.clip(numbers, RANGES[one].lo, RANGES[one].hi).astype("<f2"))
    if not texts:
        return ()
    is_sheet = _SHEET.fullmatch(topology.name)
    places = "" if is_sheet else _encoded(np.rint(topology.in_box * _PLACES).astype("<u2"))
    return (ClothMaps(count=len(topology.places), topology=topology.name, places=places, **texts),)


def values_on(maps: tuple[ClothMaps, ...], topology: ClothTopology) -> Values:
    if not maps:
        return {}
    stored, values = maps[0], unpacked(maps[0])
    if (stored.topology, stored.count) == (topology.name, len(topology.places)):
        return values
    source, target = _SHEET.fullmatch(stored.topology), _SHEET.fullmatch(topology.name)
    if source and target:
        (columns, rows), size = map(int, source.groups()), tuple(map(int, target.groups()))
        across = np.rint(np.linspace(0, columns - 1, size[0])).astype(np.intp)
        along = np.rint(np.linspace(0, rows - 1, size[1])).astype(np.intp)
        near = (along[:, None] * columns + across).ravel()
    else:
        bare = ClothMaps(count=stored.count, topology=stored.topology, places=stored.places)
        near = _nearest_stored(bare, np.rint(topology.in_box * _PLACES).astype("<u2").tobytes())
    return {one: numbers[near] for one, numbers in values.items()}


def extremes(maps: tuple[ClothMaps, ...]) -> tuple[float, float, float]:
    """Returns the largest factors of stretching and bending stiffness, and the least factor of the mass."""
    values = unpacked(maps[0]) if maps else {}
    stretch, bend = (float(values[one].max()) if one in values else 1.0 for one in (ClothMap.STRETCH, ClothMap.BEND))
    return stretch, bend, float(values[ClothMap.MASS].min()) if ClothMap.MASS in values else 1.0


def particle_texels(values: Values, weights: Float64, substeps: int) -> Float64:
    """Returns a texel for each particle (P, 4): share of its pin, distance, friction, bending.

    `weights` (P,) are parts of the way that a particle at rest goes to its place in a step. The share is s / (1 + s),
    where s is the rate of the critically damped spring that does so, times the substep.
    """
    texels = np.zeros((len(weights), 4))
    different, numbers = np.unique(weights, return_inverse=True)  # a cloth has few, and the search takes many powers
    texels[:, 0] = (1.0 - _left_in_substep(1.0 - different, substeps))[numbers]
    texels[:, 1] = values.get(ClothMap.DISTANCE, UNLIMITED_DISTANCE)
    texels[:, 2] = values.get(ClothMap.FRICTION, 1.0)
    texels[:, 3] = values.get(ClothMap.BEND, 1.0)
    return texels


def _left_in_substep(left: Float64, substeps: int) -> Float64:
    """Returns the q in 0 to 1 with (1 + n (1 - q)) q^n = `left` for n substeps, by bisection."""
    low, high = np.zeros_like(left), np.ones_like(left)
    for _ in range(54):
        middle = 0.5 * (low + high)
        is_above = (1.0 + substeps * (1.0 - middle)) * middle**substeps > left
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.where(left > 0.0, high, 0.0)


def _decoded(maps: ClothMaps, name: str, size: int) -> bytes:
    try:
        data = base64.b64decode(getattr(maps, name), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{name}: not base64") from None
    if len(data) != size * maps.count:
        raise ValueError(f"{name}: {len(data)} bytes, not the {size * maps.count} of {maps.count} particles")
    return data


def _encoded(data: npt.NDArray[np.generic]) -> str:
    return base64.b64encode(data.tobytes()).decode("ascii")


@functools.lru_cache(maxsize=8)
def _nearest_stored(maps: ClothMaps, places: bytes) -> npt.NDArray[np.int64]:
    """Returns the nearest particle of the maps for each place, which is stored as in `ClothMaps.places`."""
    return nearest_vertices(np.frombuffer(places, "<u2").reshape(-1, 3) / _PLACES, _stored_places(maps))


def _stored_places(maps: ClothMaps) -> Float64:
    sheet = _SHEET.fullmatch(maps.topology)
    if sheet is None:
        return np.frombuffer(_decoded(maps, "places", 6), "<u2").reshape(-1, 3) / _PLACES
    columns, rows = map(int, sheet.groups())
    row, column = np.divmod(np.arange(maps.count), columns)
    across, up = column / max(columns - 1, 1), 1.0 - row / max(rows - 1, 1)
    return np.stack([across, up, np.zeros(maps.count)], axis=1)


class ShownMap:
    """The painted map that is shown in colours; `map` is None if none is."""

    def __init__(self) -> None:
        self.map: ClothMap | None = None
        self._preview: np.ndarray | None = None

    def show(self, one: ClothMap | None, preview: np.ndarray | None = None) -> None:
        """Shows a map as it is or as a preview (P,); None ends that."""
        self.map, self._preview = one, None if preview is None else preview.copy()

    def values(self, count: int, values: Mapping[ClothMap, np.ndarray]) -> np.ndarray | None:
        """Returns the values of the shown map (P,) of a cloth of `count` particles with these maps, or None."""
        if self.map is None:
            return None
        if self._preview is not None and len(self._preview) == count:
            return self._preview
        found = values.get(self.map)
        return np.full(count, RANGES[self.map].neutral) if found is None else found
