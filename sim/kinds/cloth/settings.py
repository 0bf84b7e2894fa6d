import enum
import functools
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS
from sinew.sim.kinds.air import Turbulence, TurbulenceScale, TurbulenceSeed, Wind, field_weight_param
from sinew.sim.kinds.cloth.maps import ClothMaps
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.scene import NodeId
from sinew.sim.scene.vectors import MOST, Amounts, Colour

COLUMNS_MAX = 1024
SUBSTEPS_MAX = 4096
EASE_MAX = 200.0


class ClothSource(enum.Enum):
    GRID = "grid"
    MESH = "mesh"
    GARMENT = "garment"


class Garment(enum.Enum):
    SKIRT = "skirt"
    CAPE = "cape"
    DRESS = "dress"


class ClothPlacement(enum.Enum):
    """Rest pose: HANGING has its top edge through the origin, FLAT is horizontal, FREE is upright about the origin."""

    HANGING = "hanging"
    FLAT = "flat"
    FREE = "free"


class ClothMode(enum.Enum):
    MATERIAL = "material"
    SPRINGS = "springs"


class ClothSolving(enum.Enum):
    """SPRINGS are explicit; LINES solve all threads of a direction together, however stiff they are."""

    SPRINGS = "springs"
    LINES = "lines"


class ClothComparisonChoice(enum.Enum):
    NONE = "none"
    SPRINGS = "springs"
    LINES = "lines"


class PinPreset(enum.Enum):
    """Pinned edges and corners, with names from a hanging sheet seen from the front."""

    NONE = "none"
    CORNERS = "top corners"
    ALL_CORNERS = "all corners"
    TOP = "top edge"
    BOTTOM = "bottom edge"
    LEFT = "left edge"
    RIGHT = "right edge"
    BORDER = "whole border"
    ALL = "all"


class PinTarget(enum.Enum):
    WORLD = "world"
    BONE = "bone"
    SURFACE = "surface"
    RIGID = "rigid surface"

    @property
    def is_skin(self) -> bool:
        return self in (PinTarget.SURFACE, PinTarget.RIGID)


class ClothLook(enum.Enum):
    SURFACE = "surface"
    STRAIN = "strain"
    SPRINGS = "springs"
    POINTS = "points"


SECTIONS_MAX = 4096
Name = Annotated[str, msgspec.Meta(max_length=4096)]

_shape = functools.partial(param, group="Shape", effect=Effect.REBUILD)
_garment = functools.partial(param, group="Garment", effect=Effect.REBUILD, sparse=True)
_fabric = functools.partial(param, group="Fabric")
_spring = functools.partial(param, group="Springs")
_air = functools.partial(param, group="Air")
_pins = functools.partial(param, group="Pins")
_look = functools.partial(param, group="Look", effect=Effect.VIEW)
_solver = functools.partial(param, group="Solver")


class ClothSettings(Settings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "cloth"

    source: Annotated[
        ClothSource,
        _shape(
            "A rectangular sheet, the triangles of a file, or a garment that fits the character that is the parent.",
        ),
    ] = ClothSource.GRID
    mesh_path: Annotated[str, _shape(
        "Model file that becomes cloth; stored relative to the project.", label="Mesh file", role=Role.PATH,
        suffixes=MODEL_FORMATS.suffixes,
    )] = ""  # fmt: skip
    mesh_section: Annotated[str, _shape(
        "Section of the file that becomes cloth; empty for the whole file.", role=Role.SECTION, source="mesh_path",
    )] = ""  # fmt: skip
    pattern: Annotated[bool, _shape(
        "Take rest lengths and masses from the texture coordinates, as the pattern of a garment is cut.",
        label="Rest lengths from UVs", sparse=True,
    )] = False  # fmt: skip
    pattern_scale: Annotated[float, _shape(
        "Length of one unit of the texture coordinates.", label="Scale of the UVs", unit="m", lo=1e-3, hi=1e3,
        soft=(0.01, 100.0), scale=Scale.LOG, sparse=True,
    )] = 1.0  # fmt: skip
    columns: Annotated[int, _shape("Particles across the sheet.", lo=2, hi=COLUMNS_MAX, soft=(2, 256))] = 48
    rows: Annotated[int, _shape("Particles along the sheet.", lo=2, hi=COLUMNS_MAX, soft=(2, 256))] = 48
    width: Annotated[float, _shape(
        "Size of the sheet across.", unit="m", lo=1e-3, hi=1e3, soft=(0.1, 10.0), scale=Scale.LOG,
    )] = 1.5  # fmt: skip
    height: Annotated[float, _shape(
        "Size of the sheet along.", unit="m", lo=1e-3, hi=1e3, soft=(0.1, 10.0), scale=Scale.LOG,
    )] = 1.5  # fmt: skip
    placement: Annotated[ClothPlacement, _shape(
        "Orientation of the sheet at the start, in the frame of its node.",
    )] = ClothPlacement.HANGING  # fmt: skip

    garment: Annotated[Garment, _garment(
        "A skirt begins at the waist, a cape at the neck, a dress below the arm pits.",
    )] = Garment.SKIRT  # fmt: skip
    garment_length: Annotated[float, _garment(
        "Part of the way from the top edge to the ground.", label="Length", lo=0.05, hi=1.0, step=0.05,
    )] = 0.5  # fmt: skip
    garment_ease: Annotated[float, _garment(
        "Distance to the body, for a height of 1.8 m.", label="Ease", unit="mm", lo=0.0, hi=EASE_MAX, soft=(5.0, 50.0),
        step=1.0,
    )] = 15.0  # fmt: skip
    garment_flare: Annotated[float, _garment(
        "Angle to the vertical by which it widens downwards, beyond the body.", label="Flare", unit="°", lo=0.0,
        hi=60.0, step=1.0,
    )] = 12.0  # fmt: skip
    garment_opening: Annotated[float, _garment(
        "Angle without cloth, at the front; 0 closes the garment.", label="Opening", unit="°", lo=0.0, hi=340.0,
        step=5.0,
    )] = 0.0  # fmt: skip
    garment_top: Annotated[float, _garment(
        "Shift of the top edge, as a part of the way from hips to neck.", label="Top", lo=-0.3, hi=0.5, step=0.01,
    )] = 0.0  # fmt: skip
    garment_cell: Annotated[float, _garment(
        "Distance of neighbouring particles, for a height of 1.8 m.", label="Cells", unit="mm", lo=10.0, hi=200.0,
        soft=(20.0, 80.0), step=1.0,
    )] = 40.0  # fmt: skip

    mode: Annotated[ClothMode, _fabric(
        "A material that does not depend on the resolution, or the constants of the springs.", effect=Effect.REBUILD,
    )] = ClothMode.MATERIAL  # fmt: skip
    density: Annotated[float, _fabric(
        "Mass per square metre.", unit="kg/m²", lo=1e-4, hi=1e3, soft=(0.01, 2.0), scale=Scale.LOG,
    )] = 0.2  # fmt: skip
    stretch_stiffness: Annotated[float, _fabric(
        "Force along the threads that doubles the length, per metre of width.", unit="N/m", lo=0.0, hi=1e7,
        soft=(1.0, 1e4), scale=Scale.LOG,
    )] = 300.0  # fmt: skip
    shear_stiffness: Annotated[float, _fabric(
        "Resistance to a change of the angle between the threads, per metre of width.", unit="N/m", lo=0.0, hi=1e7,
        soft=(0.1, 1e4), scale=Scale.LOG,
    )] = 60.0  # fmt: skip
    bend_stiffness: Annotated[float, _fabric(
        "Moment for a curvature of one per metre, per metre of width.", unit="N·m", lo=0.0, hi=1e3, soft=(1e-7, 1e-1),
        scale=Scale.LOG,
    )] = 2e-5  # fmt: skip
    internal_damping: Annotated[float, _fabric(
        "Damping of every spring: its damping constant is this time multiplied by its stiffness.", unit="s", lo=0.0,
        hi=1.0, soft=(1e-6, 1e-2), scale=Scale.LOG,
    )] = 1e-4  # fmt: skip

    particle_mass: Annotated[float, _spring(
        "Mass of every particle.", unit="kg", lo=1e-9, hi=1e6, soft=(1e-4, 10.0), scale=Scale.LOG,
    )] = 1e-3  # fmt: skip
    structural_stiffness: Annotated[float, _spring(
        "Stiffness of the springs to the next particles.", unit="N/m", lo=0.0, hi=1e8, soft=(0.1, 1e4), scale=Scale.LOG,
    )] = 500.0  # fmt: skip
    shear_stiffness_spring: Annotated[float, _spring(
        "Stiffness of the springs across the cells.", unit="N/m", lo=0.0, hi=1e8, soft=(0.1, 1e4), scale=Scale.LOG,
        label="Shear stiffness",
    )] = 500.0  # fmt: skip
    bend_stiffness_spring: Annotated[float, _spring(
        "Stiffness of the springs to the particles after the next.", unit="N/m", lo=0.0, hi=1e8, soft=(0.1, 1e4),
        scale=Scale.LOG, label="Bend stiffness",
    )] = 50.0  # fmt: skip
    structural_damping: Annotated[float, _spring(
        "Damping of the springs to the next particles.", unit="N·s/m", lo=0.0, hi=1e6, soft=(1e-5, 10.0),
        scale=Scale.LOG,
    )] = 0.01  # fmt: skip
    shear_damping: Annotated[float, _spring(
        "Damping of the springs across the cells.", unit="N·s/m", lo=0.0, hi=1e6, soft=(1e-5, 10.0), scale=Scale.LOG,
    )] = 0.01  # fmt: skip
    bend_damping: Annotated[float, _spring(
        "Damping of the springs to the particles after the next.", unit="N·s/m", lo=0.0, hi=1e6, soft=(1e-5, 10.0),
        scale=Scale.LOG,
    )] = 0.001  # fmt: skip

    air_drag: Annotated[float, _air(
        "Part of the velocity that is lost to still air each second.", unit="1/s", lo=0.0, hi=1e4, soft=(0.0, 5.0),
        step=0.05,
    )] = 0.1  # fmt: skip
    wind: Wind = (0.0, 0.0, 0.0)
    turbulence: Turbulence = 0.0
    turbulence_scale: TurbulenceScale = 1.0
    turbulence_seed: TurbulenceSeed = 1
    normal_drag: Annotated[float, _air(
        "Drag coefficient for air across the surface.", lo=0.0, hi=100.0, soft=(0.0, 4.0), step=0.1,
    )] = 1.2  # fmt: skip
    tangent_drag: Annotated[float, _air(
        "Drag coefficient for air along the surface.", lo=0.0, hi=100.0, soft=(0.0, 1.0), step=0.01,
    )] = 0.05  # fmt: skip

    pressure: Annotated[float, _air(
        "Pressure that pushes faces towards their outside, as in a balloon; negative towards their inside.", unit="Pa",
        lo=-1e4, hi=1e4, soft=(-100.0, 100.0), step=1.0, sparse=True,
    )] = 0.0  # fmt: skip

    field_weight: Annotated[float, field_weight_param(group="Air")] = 1.0

    pins: Annotated[PinPreset, _pins("Pinned particles.")] = PinPreset.CORNERS
    pin_list: Annotated[str, _pins(
        "Numbers of more pinned particles, such as 0 21 40-60; a minus before a number unpins it. Particles of a mesh "
        "are counted in the order in which its triangles name them; the viewport shows the number under the mouse.",
    )] = ""  # fmt: skip
    pin_strength: Annotated[float, _pins(
        "Part of the way to its place that a resting pinned particle goes in a step; below 1 a damped spring pulls it, "
        "it collides, and threads move it.",
        label="Strength", lo=0.01, hi=1.0, step=0.01, sparse=True,
    )] = 1.0  # fmt: skip
    pin_target: Annotated[PinTarget, _pins(
        "What the pinned particles follow; rigid surface: the skin near them, without changing their distances.",
        label="Pins follow", effect=Effect.RESET,
    )] = PinTarget.WORLD  # fmt: skip
    pin_bone: Annotated[str, _pins(
        "Bone that the pinned particles follow.", label="Bone of the pins", role=Role.BONE, effect=Effect.RESET,
    )] = ""  # fmt: skip
    pin_sections: Annotated[tuple[Name, ...], msgspec.Meta(max_length=SECTIONS_MAX), _pins(
        "Sections of the model that the pinned particles follow.", role=Role.SECTION, bounded=False, sparse=True,
        effect=Effect.RESET)] = ()  # fmt: skip

    maps: Annotated[
        tuple[ClothMaps, ...],
        param("Painted maps.", group="Pins", role=Role.HIDDEN, bounded=False, sparse=True),
        msgspec.Meta(max_length=1),
    ] = ()  # fmt: skip

    look: Annotated[ClothLook, _look(
        "Render the surface, the strain of the surface or the threads, or the particles.", label="Render as",
    )] = ClothLook.SURFACE  # fmt: skip
    colour: Annotated[Colour, _look("Colour of the fabric without a texture.", role=Role.COLOUR)] = (0.62, 0.16, 0.17)
    texture: Annotated[str, _look(
        "Image on the fabric; stored relative to the project.", role=Role.PATH, suffixes=IMAGE_FORMATS.suffixes,
    )] = ""  # fmt: skip

    driven_path: Annotated[str, _look(
        "Model file with a fine mesh that the cloth moves, drawn in its place; stored relative to the project.",
        label="Driven mesh", role=Role.PATH, suffixes=MODEL_FORMATS.suffixes, sparse=True,
    )] = ""  # fmt: skip
    driven_section: Annotated[str, _look(
        "Section of the file that the cloth moves; empty for the whole file.", role=Role.SECTION, source="driven_path",
        sparse=True,
    )] = ""  # fmt: skip

    thickness: Annotated[float, _solver(
        "Thickness of the fabric; half of it is the distance kept from colliders.", unit="m", lo=0.0, hi=1.0,
        soft=(0.0, 0.05), step=0.001,
    )] = 0.01  # fmt: skip
    self_collision: Annotated[bool, _solver(
        "Keep the thickness between particles too; fabric much thinner than the distance of neighbours passes through.",
    )] = False  # fmt: skip
    self_friction: Annotated[float, _solver(
        "Coefficient of friction between layers of the cloth, and with other cloths.", lo=0.0, hi=10.0,
        soft=(0.0, 1.0), step=0.05,
    )] = 0.3  # fmt: skip
    solver: Annotated[ClothSolving, _solver(
        "Springs need more substeps the stiffer the fabric is. Threads hold every stiffness, but need a material.",
        effect=Effect.REBUILD, sparse=True,
    )] = ClothSolving.SPRINGS  # fmt: skip
    rival: Annotated[ClothComparisonChoice, _solver(
        "Another solver to run in parallel: the inspector shows the distance and both costs, the split view renders "
        "it on the right.", label="Compare with", sparse=True,
    )] = ClothComparisonChoice.NONE  # fmt: skip
    rival_substeps: Annotated[int, _solver(
        "Substeps of the solver to compare with.", lo=1, hi=SUBSTEPS_MAX, soft=(1, 200), label="Its substeps",
        sparse=True,
    )] = 48  # fmt: skip
    other_cloths: Annotated[bool, _solver(
        "Collide with other cloths, at the mean of both thicknesses; all of them take the largest number of substeps.",
        sparse=True,
    )] = False  # fmt: skip
    met_cloths: Annotated[tuple[NodeId, ...], _solver(
        "Cloths and groups that it collides with; all if none is chosen.", label="Only with", role=Role.TARGET,
        source="cloth", sparse=True,
    )] = ()  # fmt: skip
    gravity: Annotated[Amounts, _solver(
        "Acceleration of all particles.", unit="m/s²", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, -9.81, 0.0)  # fmt: skip
    substeps: Annotated[int, _solver(
        "Substeps of a step; more of them allow stiffer springs, or more load on lines.", lo=1, hi=SUBSTEPS_MAX,
        soft=(1, 200),
    )] = 48  # fmt: skip
    more_substeps: Annotated[bool, _solver(
        "Take more substeps from the step on in which the threads need them; a reset begins with the number above.",
        label="More if needed", sparse=True,
    )] = False  # fmt: skip
    stretch_limit: Annotated[float, _solver(
        "Stretch of a thread at which the cloth is stopped.", unit="×", lo=1.01, hi=1000.0, soft=(1.5, 20.0),
    )] = 5.0  # fmt: skip

    @property
    def has_lines(self) -> bool:
        """Threads need a material."""
        return self.solver is ClothSolving.LINES and self.mode is ClothMode.MATERIAL

    @property
    def pulls_pins(self) -> bool:
        """Whether particles are pulled to their places instead of held there, or kept near them."""
        maps = self.maps[0] if self.maps else None
        return self.pin_strength < 1.0 or (maps is not None and bool(maps.pin or maps.distance))

    @property
    def step_time(self) -> float:
        return STEP_TIME

    @property
    def substep_time(self) -> float:
        return STEP_TIME / self.substeps


def compared_settings(settings: ClothSettings) -> ClothSettings | None:
    """Returns the settings of the second solver; None without a comparison."""
    solver = next((one for one in ClothSolving if one.value == settings.rival.value), None)
    if solver in (None, settings.solver) or settings.mode is not ClothMode.MATERIAL:
        return None
    return msgspec.structs.replace(settings, solver=solver, substeps=settings.rival_substeps)
