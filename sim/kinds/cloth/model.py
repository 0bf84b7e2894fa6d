import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.grid import GridShape, cell_shares, grid_springs, grid_surface
from sinew.sim.kinds.cloth.maps import UNLIMITED_DISTANCE, ClothMap, ClothTopology, Values
from sinew.sim.kinds.cloth.pattern import pattern_of, seams_of
from sinew.sim.kinds.cloth.pins import pin_flags, pin_weights
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings, ClothSource
from sinew.sim.kinds.cloth.springs import Springs, area_shares, mesh_springs
from sinew.sim.kinds.cloth.surface import ClothSurface, weld
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.params import SettingsError

_LIGHTEST = 0.05
"""Smallest share of a particle, relative to the mean: lighter ones would need far too short steps."""

_SMALLEST_CELL = 1e-9
"""Smallest edge of the cells of a sheet [m], well above the smallest float32 when squared."""


@dataclass(frozen=True, slots=True)
class ClothModel:
    positions: Float64  # Rest positions in the world [m], shape (P, 3)
    shares: Float64  # Share of each particle in the mass: its area [m²], or 1, shape (P,)
    springs: Springs  # All springs
    faces: npt.NDArray[np.uint32]  # Triangles between particles, shape (T', 3)
    grid: GridShape | None  # The sheet, or None for a mesh
    surface: ClothSurface  # The drawn triangles, in the world
    particle_of_vertex: npt.NDArray[np.int32]  # Particle of each drawn vertex, shape (V,)
    is_material: bool  # Whether springs share the constants of a material
    seams: float = 0.0  # Largest difference of the two sides of a seam of the pattern, as a part of their mean

    @property
    def particle_count(self) -> int:
        return len(self.positions)

    @property
    def rows(self) -> int:
        """Rows of particles of a sheet or a garment; 0 for other meshes."""
        return self.grid.rows if self.grid is not None else self.surface.rows

    @property
    def extent(self) -> float:
        """Longest edge of the box around the rest shape [m]."""
        return float(np.ptp(self.positions, axis=0).max())

    @property
    def border_share(self) -> float:
        return 0.5 if self.is_material else 1.0

    def spring_factors(self) -> dict[str, float]:
        assert self.grid is not None
        factors = self.grid.spring_factors()
        return factors if self.is_material else dict.fromkeys(factors, 1.0)

    def pinned(self, settings: ClothSettings) -> npt.NDArray[np.bool_]:
        """Returns flags of the pinned particles, (P,); raises SettingsError for an invalid pin list."""
        return pin_flags(settings.pins, settings.pin_list, self.particle_count, self.rows)

    def pin_weights(self, settings: ClothSettings, values: Values) -> Float64:
        """Returns weights of the pins, (P,); a largest distance of 0 pins too. Raises as `pinned`."""
        painted = values.get(ClothMap.PIN, 0.0)
        weights = pin_weights(settings.pins, settings.pin_list, self.particle_count, self.rows, painted)
        weights = np.where(self.pinned(settings), np.maximum(settings.pin_strength, painted), weights)
        return np.where(values.get(ClothMap.DISTANCE, UNLIMITED_DISTANCE) == 0.0, 1.0, weights)

    def topology(self, world_from_cloth: Float64) -> ClothTopology:
        """Returns what maps belong to; `world_from_cloth` is the transform that the cloth was built with."""
        cloth_from_world: Float64 = np.linalg.pinv(world_from_cloth).astype(np.float64)
        places = transform_points(cloth_from_world, self.positions)
        if self.grid is not None:
            return ClothTopology(f"{self.grid.columns}x{self.grid.rows}", places)
        return ClothTopology(hashlib.sha256(self.faces.astype("<u4").tobytes()).hexdigest()[:16], places)


def build_cloth(
    settings: ClothSettings, surface: ClothSurface | None = None, world_from_cloth: Float64 | None = None
) -> ClothModel:
    """Builds particles and springs of a sheet, or of a surface.

    Args:
        surface: Triangles in the frame of the node, for the sources MESH and GARMENT.
        world_from_cloth: World transform of the node, shape (4, 4); the springs are at rest after it, scale included.

    Raises:
        SettingsError: If the surface is missing, has no area, or has too many springs at one particle.
    """
    placement = np.eye(4) if world_from_cloth is None else world_from_cloth
    material = settings.mode is ClothMode.MATERIAL
    if settings.source is ClothSource.GRID:
        return _sheet(settings, placement, material)
    if surface is None:
        raise SettingsError("a cloth from a mesh needs a file with triangles")
    unit = settings.pattern_scale * float(np.abs(np.linalg.det(placement[:3, :3]))) ** (1.0 / 3.0)
    has_pattern = settings.pattern and settings.source is ClothSource.MESH
    model = _from_surface(placed(surface, placement), material, unit if has_pattern else 0.0)
    if surface.rows and model.particle_count % surface.rows:
        raise SettingsError("the cells of the garment are too small for its size")
    return model


def _sheet(settings: ClothSettings, placement: Float64, material: bool) -> ClothModel:
    scale = np.linalg.norm(placement[:3, :3], axis=0)
    if scale.min() < 1e-9:
        raise SettingsError("the node of the cloth is scaled to nothing")
    across = settings.width / (settings.columns - 1)
    along = settings.height / (settings.rows - 1)
    local = grid_surface(GridShape(settings.columns, settings.rows, across, along), settings.placement)
    surface = placed(local, placement)
    # Shear in the placement cannot happen: a node has no shear.  The scale stretches the cells.
    steps = surface.positions.reshape(settings.rows, settings.columns, 3)
    shape = GridShape(
        settings.columns,
        settings.rows,
        across if _is_rigid(scale) else float(np.linalg.norm(steps[0, 1] - steps[0, 0])),
        along if _is_rigid(scale) else float(np.linalg.norm(steps[1, 0] - steps[0, 0])),
    )
    if min(shape.across, shape.along) < _SMALLEST_CELL:
        raise SettingsError("the cells of the cloth are too small for the place where it is")
    return ClothModel(
        positions=surface.positions,
        shares=cell_shares(shape) if material else np.ones(shape.particle_count),
        springs=grid_springs(shape, material=material),
        faces=surface.triangles,
        grid=shape,
        surface=surface,
        particle_of_vertex=np.arange(shape.particle_count, dtype=np.int32),
        is_material=material,
    )


def _from_surface(surface: ClothSurface, material: bool, unit: float = 0.0) -> ClothModel:
    """Builds the cloth of a mesh, or with a `unit` of its texture coordinates [m], which then are the rest shape."""
    welded = weld(surface)
    pattern = pattern_of(surface, welded, unit) if unit > 0.0 and len(welded.triangles) else None
    areas = area_shares(welded.positions, welded.triangles, pattern.areas if pattern is not None else None)
    if not len(welded.triangles) or not areas.sum() > 0.0:
        raise SettingsError("the triangles of the cloth have no area")
    areas = np.maximum(areas, _LIGHTEST * areas.mean())
    return ClothModel(
        positions=welded.positions,
        shares=areas if material else np.ones(len(areas)),
        springs=mesh_springs(welded.positions, welded.triangles, material=material, pattern=pattern),
        faces=welded.triangles,
        grid=None,
        surface=surface,
        particle_of_vertex=welded.particle_of_vertex,
        is_material=material,
        seams=seams_of(pattern, welded.triangles) if pattern is not None else 0.0,
    )


def placed(surface: ClothSurface, placement: Float64) -> ClothSurface:
    if np.array_equal(placement, np.eye(4)):
        return surface
    return ClothSurface(
        surface.positions @ placement[:3, :3].T + placement[:3, 3], surface.texcoords, surface.triangles, surface.rows
    )


def _is_rigid(scale: Float64) -> bool:
    return bool(np.allclose(scale, 1.0, rtol=0.0, atol=1e-12))
