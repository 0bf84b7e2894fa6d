import enum
import functools
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.assets.formats import IMAGE_FORMATS, STRAND_FORMATS
from sinew.sim.characters.settings import UpAxis
from sinew.sim.kinds.air import Turbulence, TurbulenceScale, TurbulenceSeed, Wind, field_weight_param
from sinew.sim.kinds.hair.groom_edits import GroomEdits
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.vectors import MOST, Amounts, Colour

KNOTS_MIN, KNOTS_MAX = 3, 16
GUIDES_MAX, CHILDREN_MAX = 100_000, 1_000_000

Radius = Annotated[float, msgspec.Meta(ge=1e-4, le=1e3)]
Radii = tuple[Radius, Radius, Radius]


class HairSource(enum.Enum):
    FACES = "faces"
    VERTICES = "vertices"
    ELLIPSOID = "ellipsoid"
    FILE = "file"


class Region(enum.Enum):
    EVERYWHERE = "everywhere"
    SCALP = "scalp"


ON_SKIN = (HairSource.FACES, HairSource.VERTICES)


class ImageChannel(enum.Enum):
    BRIGHTNESS = "brightness"
    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    ALPHA = "alpha"


MAPPED = ("density", "length", "curl", "clump", "noise")


_roots = functools.partial(param, group="Roots", effect=Effect.REBUILD)
_maps = functools.partial(param, group="Maps", effect=Effect.REBUILD)
_bone = functools.partial(_maps, role=Role.BONE)
_image = functools.partial(_maps, role=Role.PATH, suffixes=IMAGE_FORMATS.suffixes)
_groom = functools.partial(param, group="Groom", effect=Effect.REBUILD)
_motion = functools.partial(param, group="Motion")
_air = functools.partial(param, group="Air")
_collision = functools.partial(param, group="Collision")
_strands = functools.partial(param, group="Strands", effect=Effect.VIEW)
_look = functools.partial(param, group="Look", effect=Effect.VIEW)


class RootSettings(Settings, frozen=True, kw_only=True):
    source: Annotated[HairSource, _roots(
        "What strands grow on: faces or vertices of the model, an ellipsoid, or a file of strands.", label="Grows on",
    )] = HairSource.FACES  # fmt: skip
    radii: Annotated[Radii, _roots(
        "Semi-axes of the ellipsoid; hair grows on its upper half.", unit="m", lo=1e-4, hi=1e3, step=0.01,
        bounded=False)] = (0.5, 0.5, 0.5)  # fmt: skip
    file: Annotated[str, _roots(
        "File of strands; stored relative to the project.", role=Role.PATH, suffixes=STRAND_FORMATS.suffixes,
    )] = ""  # fmt: skip
    file_scale: Annotated[float, _roots(
        "Scale of the strands; 1 is the usual unit of the format: 0.1 inch, or a centimetre for TressFX.", lo=1e-6,
        hi=1e6, soft=(0.01, 100.0), scale=Scale.LOG, label="Scale")] = 1.0  # fmt: skip
    file_up: Annotated[UpAxis, _roots(
        "Up axis of the file; auto uses the usual one of the format.", label="Up axis")] = UpAxis.AUTO  # fmt: skip
    file_every: Annotated[int, _roots(
        "Every n-th strand is simulated; the others are interpolated.", lo=1, hi=1_000_000, soft=(1, 100),
        scale=Scale.LOG, label="Guide stride")] = 1  # fmt: skip
    file_look: Annotated[bool, _roots(
        "Use the colours and widths of the file.", label="Use file colours and width")] = True  # fmt: skip
    density_section: Annotated[str, _roots("Section of the model to grow on; empty for all.")] = ""
    region: Annotated[Region, _roots(
        "Part of the model to grow on: everywhere, or the scalp; everywhere if no bone is named as the head.",
    )] = Region.EVERYWHERE  # fmt: skip
    guides: Annotated[int, _roots(
        "Number of simulated strands.", lo=1, hi=GUIDES_MAX, soft=(100, 5_000), scale=Scale.LOG)] = 600  # fmt: skip
    children: Annotated[int, _roots(
        "Number of rendered strands, interpolated between the guides; 0 renders the guides.", lo=0, hi=CHILDREN_MAX,
        soft=(0, 100_000))] = 20_000  # fmt: skip
    knots: Annotated[int, _roots(
        "Points per strand, including the root.", lo=KNOTS_MIN, hi=KNOTS_MAX, soft=(6, 16), label="Points per strand",
    )] = 12  # fmt: skip
    seed: Annotated[int, _roots("Random seed.", lo=0, hi=2**31 - 1, soft=(0, 100))] = 1

    density_bone: Annotated[str, _bone("Bone whose weights are the density; empty for everywhere.")] = ""
    density_texture: Annotated[str, _image("Density map; stored relative to the project.")] = ""
    density_channel: Annotated[ImageChannel, _maps("Channel of the map.")] = ImageChannel.BRIGHTNESS
    length_bone: Annotated[str, _bone("Bone whose weights scale the length; empty for none.")] = ""
    length_texture: Annotated[str, _image("Map that scales the length; stored relative to the project.")] = ""
    length_channel: Annotated[ImageChannel, _maps("Channel of the map.")] = ImageChannel.BRIGHTNESS
    curl_bone: Annotated[str, _bone("Bone whose weights scale the curls; empty for none.")] = ""
    curl_texture: Annotated[str, _image("Map that scales the curls; stored relative to the project.")] = ""
    curl_channel: Annotated[ImageChannel, _maps("Channel of the map.")] = ImageChannel.BRIGHTNESS
    clump_bone: Annotated[str, _bone("Bone whose weights scale the clumps; empty for none.")] = ""
    clump_texture: Annotated[str, _image("Map that scales the clumps; stored relative to the project.")] = ""
    clump_channel: Annotated[ImageChannel, _maps("Channel of the map.")] = ImageChannel.BRIGHTNESS
    noise_bone: Annotated[str, _bone("Bone whose weights scale the noise; empty for none.")] = ""
    noise_texture: Annotated[str, _image("Map that scales the noise; stored relative to the project.")] = ""
    noise_channel: Annotated[ImageChannel, _maps("Channel of the map.")] = ImageChannel.BRIGHTNESS
    colour_bone: Annotated[str, _bone("Bone whose weights control the tint; empty for none.")] = ""
    colour_texture: Annotated[str, _image("Map that multiplies the colours; stored relative to the project.")] = ""


def images_of(settings: RootSettings) -> dict[str, Path]:
    if settings.source not in ON_SKIN:
        return {}
    named = {what: getattr(settings, f"{what}_texture") for what in (*MAPPED, "colour")}
    return {what: Path(path) for what, path in named.items() if path}


SUBSTEPS_MAX = 64
SHELLS_MIN = 4


class HairSolver(enum.Enum):
    ROD = "rod"
    SPRINGS = "springs"
    LAYERS = "layers"


class ComparisonSolverChoice(enum.Enum):
    NONE = "none"
    ROD = "rod"
    SPRINGS = "springs"
    LAYERS = "layers"


class HairLook(enum.Enum):
    HAIR = "hair"
    KAJIYA = "kajiya-kay"


class HairDisplay(enum.Enum):
    HAIR = "hair"
    GUIDES = "guides"
    MASSES = "masses"
    SPRINGS = "springs"
    BEND = "bend"
    STRETCH = "stretch"
    DISTANCE = "distance"


class HairForm(enum.Enum):
    RIBBONS = "ribbons"
    LINES = "lines"
    SHELLS = "shells"
    AUTOMATIC = "automatic"


class HairSettings(RootSettings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "hair"

    length: Annotated[float, _groom(
        "Length of the longest strands.", unit="m", lo=1e-4, hi=10.0, soft=(0.005, 1.0), scale=Scale.LOG,
    )] = 0.25  # fmt: skip
    length_spread: Annotated[float, _groom(
        "Variation of the length: at 0.2 strands have 80 to 100 % of it.", lo=0.0, hi=1.0, step=0.05,
        label="Length variation")] = 0.2  # fmt: skip
    comb: Annotated[Amounts, _groom(
        "Direction in which strands are combed, in the frame of the model.", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, -1.0, -0.4)  # fmt: skip
    lean: Annotated[float, _groom(
        "Lean of the strands at their roots: 0 along the normal of the skin, 1 flat.", lo=0.0, hi=1.0, step=0.05,
    )] = 0.3  # fmt: skip
    bow: Annotated[float, _groom(
        "How far strands bend into the combed direction towards their tips.", lo=0.0, hi=1.0, step=0.05, label="Bend",
    )] = 0.0  # fmt: skip
    part_strength: Annotated[float, _groom(
        "How far strands fall to either side of a parting; 0 for no parting.", lo=0.0, hi=1.0, step=0.05,
        label="Parting")] = 0.0  # fmt: skip
    part_across: Annotated[Amounts, _groom(
        "Direction across the parting, in the frame of the model.", lo=-MOST, hi=MOST, step=0.1,
        label="Parting direction", bounded=False)] = (1.0, 0.0, 0.0)  # fmt: skip
    part_place: Annotated[float, _groom(
        "Offset of the parting in that direction, from the centre of the model.", unit="m", lo=-1e3, hi=1e3,
        soft=(-0.1, 0.1), step=0.005, label="Parting offset")] = 0.0  # fmt: skip
    part_width: Annotated[float, _groom(
        "Distance from the parting at which its effect ends.", unit="m", lo=1e-4, hi=1e3, soft=(0.01, 0.3),
        scale=Scale.LOG, label="Parting width")] = 0.08  # fmt: skip
    disorder: Annotated[float, _groom(
        "Random deviation of the growth directions.", lo=0.0, hi=1.0, step=0.05, label="Direction noise",
    )] = 0.1  # fmt: skip

    groom: Annotated[
        tuple[GroomEdits, ...],
        param("Combed and cut strands.", group="Groom", role=Role.HIDDEN, bounded=False),
        msgspec.Meta(max_length=1),
    ] = ()  # fmt: skip

    solver: Annotated[HairSolver, _motion(
        "Rods keep length and shape, springs stretch, layers suit short fur.")] = HairSolver.ROD  # fmt: skip
    rival: Annotated[ComparisonSolverChoice, _motion(
        "Another solver to run in parallel: the inspector shows the distance and both costs, the split view renders "
        "it on the right.", label="Compare with")] = ComparisonSolverChoice.NONE  # fmt: skip
    bending_length: Annotated[float, _motion(
        "Length at which a strand visibly droops under its own weight; 5 cm for a hair of 80 µm.", unit="m", lo=0.0,
        hi=100.0, soft=(0.002, 1.0), scale=Scale.LOG)] = 0.05  # fmt: skip
    carried: Annotated[float, _motion(
        "Fraction of the weight that the groom compensates, so that it does not sag.", lo=0.0, hi=1.0, step=0.05,
        label="Gravity compensation")] = 0.8  # fmt: skip
    hold: Annotated[float, _motion(
        "Stiffness that pulls strands back into the groom near their roots.", unit="1/s²", lo=0.0, hi=1e6,
        soft=(0.0, 1000.0), label="Root stiffness")] = 0.0  # fmt: skip
    hold_fade: Annotated[float, _motion(
        "Fraction of the length at which the root stiffness has faded.", lo=0.0, hi=1.0, step=0.05,
        label="Root stiffness falloff")] = 0.3  # fmt: skip
    damping: Annotated[float, _motion(
        "Damping of bending, as a time.", unit="s", lo=0.0, hi=1.0, soft=(0.0, 0.05), step=0.001)] = 0.01  # fmt: skip
    exact_rest: Annotated[bool, _motion(
        "Damping and substeps do not change the shape at rest; with full gravity compensation it is the combed shape. "
        "Older projects have this off.", label="Exact rest shape", sparse=True)] = False  # fmt: skip
    spring_stiffness: Annotated[float, _motion(
        "Stiffness of the springs between points.", unit="N/m", lo=0.0, hi=1e8, soft=(1.0, 1e4), scale=Scale.LOG,
    )] = 100.0  # fmt: skip
    knot_mass: Annotated[float, _motion(
        "Mass of each point.", unit="kg", lo=1e-9, hi=1e6, soft=(1e-4, 1.0), scale=Scale.LOG, label="Point mass",
    )] = 0.05  # fmt: skip
    knot_drag: Annotated[float, _motion(
        "Air drag of each point.", unit="N·s/m", lo=0.0, hi=1e6, soft=(1e-3, 10.0), scale=Scale.LOG, label="Point drag",
    )] = 1.0  # fmt: skip
    head_stiffness: Annotated[float, _motion(
        "Stiffness of the contact with the ellipsoid; the force grows with the square of the depth.", unit="N/m²",
        lo=0.0, hi=1e9, soft=(0.0, 1e5), label="Contact stiffness")] = 1e4  # fmt: skip
    fur_stiffness: Annotated[float, _motion(
        "Acceleration that straightens the layers.", unit="m/s²", lo=0.0, hi=1e3, soft=(0.0, 5.0), step=0.1,
    )] = 1.0  # fmt: skip
    fur_damping: Annotated[float, _motion(
        "Damping of the layers.", unit="1/s", lo=0.0, hi=100.0, soft=(0.0, 2.0), step=0.05)] = 0.5  # fmt: skip
    felt: Annotated[float, _motion(
        "Fraction of the motion of the roots that acts on the strands; lower values calm fast characters.", lo=0.0,
        hi=1.0, step=0.05, label="Motion scale")] = 1.0  # fmt: skip
    gravity: Annotated[Amounts, _motion(
        "Gravitational acceleration.", unit="m/s²", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, -9.81, 0.0)  # fmt: skip
    substeps: Annotated[int, _motion("Number of substeps per step.", lo=1, hi=SUBSTEPS_MAX, soft=(1, 8))] = 4

    drag: Annotated[float, _air(
        "Fraction of its velocity that a strand loses to the air per second.", unit="1/s", lo=0.0, hi=1e3,
        soft=(0.0, 10.0), step=0.1)] = 1.5  # fmt: skip
    wind: Wind = (0.0, 0.0, 0.0)
    turbulence: Turbulence = 0.0
    turbulence_scale: TurbulenceScale = 1.0
    turbulence_seed: TurbulenceSeed = 1
    field_weight: Annotated[float, field_weight_param(group="Air")] = 1.0

    collide: Annotated[bool, _collision("Collide with the colliders of the scene.")] = True
    clearance: Annotated[float, _collision(
        "Distance kept from colliders; less near roots inside a collider.", unit="m", lo=0.0, hi=0.1, soft=(0.0, 0.01),
        step=0.0005)] = 0.001  # fmt: skip
    friction: Annotated[float, _collision(
        "Coefficient of friction on colliders.", lo=0.0, hi=10.0, soft=(0.0, 1.0), step=0.05)] = 0.3  # fmt: skip

    clump: Annotated[float, _strands(
        "How far strands approach the nearest guide towards their tips.", lo=0.0, hi=1.0, step=0.05)] = 0.4  # fmt: skip
    curl_radius: Annotated[float, _strands(
        "Radius of the curls.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 0.02), step=0.001)] = 0.0  # fmt: skip
    curl_turns: Annotated[float, _strands(
        "Turns per metre of length.", unit="1/m", lo=0.0, hi=1e4, soft=(0.0, 100.0), step=1.0)] = 20.0  # fmt: skip
    noise: Annotated[float, _strands(
        "Amplitude of random waves of each strand.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 0.02), step=0.001,
    )] = 0.002  # fmt: skip

    show: Annotated[HairDisplay, _look(
        "What to render: hair, or guides with their points, springs, bend, stretch or solver distance.",
    )] = HairDisplay.HAIR  # fmt: skip
    form: Annotated[HairForm, _look(
        "Ribbons as wide as strands; lines of one pixel; or shells, copies of the skin that are fast and suit short, "
        "distant fur. Automatic uses shells at a distance where they are faster.", label="Render as",
    )] = HairForm.RIBBONS  # fmt: skip
    shells: Annotated[int, _look("Number of shells.", lo=SHELLS_MIN, hi=64, soft=(8, 32))] = 16
    soft_tips: Annotated[float, _look(
        "Fraction of the strands, from their tips, that is blended by coverage.", lo=0.0, hi=1.0, step=0.05,
    )] = 0.0  # fmt: skip
    undercoat: Annotated[float, _look(
        "How much the skin takes the colour of the roots where hair grows.", lo=0.0, hi=1.0, step=0.05,
    )] = 0.0  # fmt: skip
    look: Annotated[HairLook, _look(
        "Physically based highlights, or the model of Kajiya and Kay.", label="Lighting")] = HairLook.HAIR  # fmt: skip
    root_radius: Annotated[float, _look(
        "Radius of a strand at its root.", unit="m", lo=0.0, hi=1.0, soft=(1e-5, 5e-4), scale=Scale.LOG,
    )] = 6e-5  # fmt: skip
    tip_radius: Annotated[float, _look(
        "Radius of a strand at its tip.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 5e-4))] = 0.0  # fmt: skip
    root_colour: Annotated[Colour, _look("Colour at the roots.", role=Role.COLOUR)] = (0.28, 0.18, 0.11)
    tip_colour: Annotated[Colour, _look("Colour at the tips.", role=Role.COLOUR)] = (0.42, 0.28, 0.16)
    dye_colour: Annotated[Colour, _look(
        "Colour of strands where the dye bone has weight.", role=Role.COLOUR)] = (0.6, 0.12, 0.2)  # fmt: skip
    colour_spread: Annotated[float, _look(
        "Variation of the brightness between strands.", lo=0.0, hi=1.0, step=0.05, label="Colour variation",
    )] = 0.25  # fmt: skip
    roughness: Annotated[float, _look("Width of the highlights.", lo=0.05, hi=1.0, soft=(0.1, 0.6), step=0.05)] = 0.3
    tilt: Annotated[float, _look(
        "Shift of the highlights by the tilt of the cuticle scales.", unit="rad", lo=-0.5, hi=0.5, soft=(0.0, 0.1),
        step=0.005)] = 0.035  # fmt: skip
    skin_shade: Annotated[float, _look(
        "How much strands darken the skin around their roots in the standard look: dense, long and thick ones most.",
        lo=0.0, hi=1.0, step=0.05, sparse=True)] = 1.0  # fmt: skip
    shadow: Annotated[float, _look(
        "Strength of self-shadowing; 0 for none.", lo=0.0, hi=10.0, soft=(0.0, 2.0), step=0.1, label="Self-shadow",
    )] = 1.0  # fmt: skip

    @property
    def substep_time(self) -> float:
        return STEP_TIME / self.substeps

    @property
    def segments(self) -> int:
        return self.knots - 1
