"""Settings of hair and fur: where strands grow, their groom, how they move and how they look.  Knows no OpenGL."""

import enum
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from sim.assets.formats import IMAGE_FORMATS, STRAND_FORMATS
from sim.characters.settings import UpAxis
from sim.kinds.air import Turbulence, TurbulenceScale, TurbulenceSeed, Wind
from sim.kinds.hair.groom_edits import GroomEdits
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect, Role, Scale, Settings, param
from sim.scene.vectors import MOST, Amounts, Colour

KNOTS_MIN, KNOTS_MAX = 3, 16
GUIDES_MAX, CHILDREN_MAX = 100_000, 1_000_000

Radius = Annotated[float, msgspec.Meta(ge=1e-4, le=1e3)]
Radii = tuple[Radius, Radius, Radius]


class HairSource(enum.Enum):
    """What strands grow on: faces or vertices of a model, the upper half of an ellipsoid; or they are read."""

    FACES = "faces"
    VERTICES = "vertices"
    ELLIPSOID = "ellipsoid"
    FILE = "file"


class Region(enum.Enum):
    """Part of a model that hair grows on: all of it, or where hair grows on a head."""

    EVERYWHERE = "everywhere"
    SCALP = "scalp"


ON_SKIN = (HairSource.FACES, HairSource.VERTICES)
"""Sources that are the skin of a model."""


class ImageChannel(enum.Enum):
    """Part of an image that is taken for a number."""

    BRIGHTNESS = "brightness"
    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    ALPHA = "alpha"


MAPPED = ("density", "length", "curl", "clump", "noise")
"""Quantities with a bone, an image and a channel of it."""


def _bone(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", role=Role.BONE, effect=Effect.REBUILD)


def _image(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", role=Role.PATH, suffixes=IMAGE_FORMATS.suffixes, effect=Effect.REBUILD)


def _channel(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", effect=Effect.REBUILD)


class RootSettings(Settings, frozen=True, kw_only=True):
    """Where strands grow."""

    source: Annotated[
        HairSource,
        param("What strands grow on: faces or vertices of the model that they ride on, an ellipsoid; or a file.",
              group="Roots", label="Grows on", effect=Effect.REBUILD),
    ] = HairSource.FACES  # fmt: skip
    radii: Annotated[
        Radii,
        param("Half axes of the ellipsoid, whose upper half is grown on.", unit="m", lo=1e-4, hi=1e3, step=0.01,
              group="Roots", effect=Effect.REBUILD, bounded=False),
    ] = (0.5, 0.5, 0.5)  # fmt: skip
    file: Annotated[
        str,
        param("File of strands; stored relative to the project.", group="Roots", role=Role.PATH,
              suffixes=STRAND_FORMATS.suffixes, effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    file_scale: Annotated[
        float,
        param("Size of the strands; 1 is the usual unit of their format: 0.1 inch, or for TressFX a centimetre.",
              lo=1e-6, hi=1e6, soft=(0.01, 100.0), scale=Scale.LOG, group="Roots", label="Scale",
              effect=Effect.REBUILD),
    ] = 1.0  # fmt: skip
    file_up: Annotated[
        UpAxis,
        param("Axis of the file that points up; auto is what its format usually has.", group="Roots", label="Up axis",
              effect=Effect.REBUILD),
    ] = UpAxis.AUTO  # fmt: skip
    file_every: Annotated[
        int,
        param("Every so manieth strand is simulated, the others are drawn between them.", lo=1, hi=1_000_000,
              soft=(1, 100), scale=Scale.LOG, group="Roots", label="Every n-th strand", effect=Effect.REBUILD),
    ] = 1  # fmt: skip
    file_look: Annotated[
        bool,
        param("Whether strands have the colours and the thickness that the file has.", group="Roots",
              label="Look of the file", effect=Effect.REBUILD),
    ] = True  # fmt: skip
    density_section: Annotated[
        str,
        param("Section of the model that hair grows on; empty for all.", group="Roots", effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    region: Annotated[
        Region,
        param("Part of the model that hair grows on: all, or the scalp; all where no bone is named as the head.",
              group="Roots", effect=Effect.REBUILD),
    ] = Region.EVERYWHERE  # fmt: skip
    guides: Annotated[
        int,
        param("Strands that are simulated.", lo=1, hi=GUIDES_MAX, soft=(100, 5_000), scale=Scale.LOG, group="Roots",
              effect=Effect.REBUILD),
    ] = 600  # fmt: skip
    children: Annotated[
        int,
        param("Strands that are drawn between the guides; 0 draws the guides themselves.", lo=0, hi=CHILDREN_MAX,
              soft=(0, 100_000), group="Roots", effect=Effect.REBUILD),
    ] = 20_000  # fmt: skip
    knots: Annotated[
        int,
        param("Knots of every strand, that of the root included.", lo=KNOTS_MIN, hi=KNOTS_MAX, soft=(6, 16),
              group="Roots", effect=Effect.REBUILD),
    ] = 12  # fmt: skip
    seed: Annotated[
        int,
        param("Which of the random numbers are used; the same number gives the same hair.", lo=0, hi=2**31 - 1,
              soft=(0, 100), group="Roots", effect=Effect.REBUILD),
    ] = 1  # fmt: skip

    density_bone: Annotated[str, _bone("Bone whose weights say where hair grows; empty for everywhere.")] = ""
    density_texture: Annotated[str, _image("Image that says where hair grows; stored relative to the project.")] = ""
    density_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    length_bone: Annotated[str, _bone("Bone whose weights are factors of the length; empty for none.")] = ""
    length_texture: Annotated[str, _image("Image of factors of the length; stored relative to the project.")] = ""
    length_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    curl_bone: Annotated[str, _bone("Bone whose weights are factors of the curls; empty for none.")] = ""
    curl_texture: Annotated[str, _image("Image of factors of the curls; stored relative to the project.")] = ""
    curl_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    clump_bone: Annotated[str, _bone("Bone whose weights are factors of the clumps; empty for none.")] = ""
    clump_texture: Annotated[str, _image("Image of factors of the clumps; stored relative to the project.")] = ""
    clump_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    noise_bone: Annotated[str, _bone("Bone whose weights are factors of the noise; empty for none.")] = ""
    noise_texture: Annotated[str, _image("Image of factors of the noise; stored relative to the project.")] = ""
    noise_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    colour_bone: Annotated[str, _bone("Bone whose weights dye the strands; empty for none.")] = ""
    colour_texture: Annotated[
        str, _image("Image whose colours are factors of those of the strands; stored relative to the project.")
    ] = ""


def images_of(settings: RootSettings) -> dict[str, Path]:
    if settings.source not in ON_SKIN:
        return {}
    named = {what: getattr(settings, f"{what}_texture") for what in (*MAPPED, "colour")}
    return {what: Path(path) for what, path in named.items() if path}


SUBSTEPS_MAX = 64
SHELLS_MIN = 4


class HairSolver(enum.Enum):
    """How strands move: rods that keep their lengths, masses on springs, or layers of fur."""

    ROD = "rod"
    SPRINGS = "springs"
    LAYERS = "layers"


class ComparisonSolverChoice(enum.Enum):
    """What the solver is compared with: nothing, or another one that moves the same groom beside it."""

    NONE = "none"
    ROD = "rod"
    SPRINGS = "springs"
    LAYERS = "layers"


class HairLook(enum.Enum):
    """How strands are lit: with the highlights of hair, or by the classic formula."""

    HAIR = "hair"
    KAJIYA = "kajiya-kay"


class HairDisplay(enum.Enum):
    """What is drawn: the hair, or of the guides their curves, masses and springs, or how they bend, stretch or differ
    from those of the other solver."""

    HAIR = "hair"
    GUIDES = "guides"
    MASSES = "masses"
    SPRINGS = "springs"
    BEND = "bend"
    STRETCH = "stretch"
    DISTANCE = "distance"


class HairForm(enum.Enum):
    """As what hair is drawn: ribbons as wide as strands, lines, copies of the skin, or what suits distance."""

    RIBBONS = "ribbons"
    LINES = "lines"
    SHELLS = "shells"
    AUTOMATIC = "automatic"


class HairSettings(RootSettings, frozen=True, kw_only=True):
    """Strands that grow on a model, on an ellipsoid, or as a file has them."""

    kind: ClassVar[str] = "hair"

    length: Annotated[
        float,
        param("Length of the longest strands.", unit="m", lo=1e-4, hi=10.0, soft=(0.005, 1.0), scale=Scale.LOG,
              group="Groom", effect=Effect.REBUILD),
    ] = 0.25  # fmt: skip
    length_spread: Annotated[
        float,
        param("Spread of the length; at 0.2 strands have 80 to 100 % of it.", lo=0.0, hi=1.0, step=0.05,
              group="Groom", effect=Effect.REBUILD),
    ] = 0.2  # fmt: skip
    comb: Annotated[
        Amounts,
        param("Direction that strands are combed in, in the frame of the model.", lo=-MOST, hi=MOST, step=0.1,
              group="Groom", effect=Effect.REBUILD, bounded=False),
    ] = (0.0, -1.0, -0.4)  # fmt: skip
    lean: Annotated[
        float,
        param("How far strands lean over from the normal of the skin at their roots; 1 lies flat.", lo=0.0, hi=1.0,
              step=0.05, group="Groom", effect=Effect.REBUILD),
    ] = 0.3  # fmt: skip
    bow: Annotated[
        float,
        param("How far strands turn into the combed direction towards their tips.", lo=0.0, hi=1.0, step=0.05,
              group="Groom", effect=Effect.REBUILD),
    ] = 0.0  # fmt: skip
    part_strength: Annotated[
        float,
        param("How far strands on top fall to either side of a part line; 0 for none.", lo=0.0, hi=1.0, step=0.05,
              group="Groom", label="Part line", effect=Effect.REBUILD),
    ] = 0.0  # fmt: skip
    part_across: Annotated[
        Amounts,
        param("Direction across the part line, to one of its sides, in the frame of the model.", lo=-MOST, hi=MOST,
              step=0.1, group="Groom", effect=Effect.REBUILD, bounded=False),
    ] = (1.0, 0.0, 0.0)  # fmt: skip
    part_place: Annotated[
        float,
        param("Where the part line lies in that direction, from the middle of the model.", unit="m", lo=-1e3, hi=1e3,
              soft=(-0.1, 0.1), step=0.005, group="Groom", effect=Effect.REBUILD),
    ] = 0.0  # fmt: skip
    part_width: Annotated[
        float,
        param("Distance from the part line at which strands fall as if there was none.", unit="m", lo=1e-4, hi=1e3,
              soft=(0.01, 0.3), scale=Scale.LOG, group="Groom", effect=Effect.REBUILD),
    ] = 0.08  # fmt: skip
    disorder: Annotated[
        float,
        param("Random part of the directions that strands grow in.", lo=0.0, hi=1.0, step=0.05, group="Groom",
              effect=Effect.REBUILD),
    ] = 0.1  # fmt: skip

    groom: Annotated[
        tuple[GroomEdits, ...],
        param("What was combed and cut by hand.", group="Groom", role=Role.HIDDEN, bounded=False),
        msgspec.Meta(max_length=1),
    ] = ()  # fmt: skip

    solver: Annotated[
        HairSolver,
        param("Rods keep their lengths and their shape, springs stretch, layers are for short fur.", group="Motion"),
    ] = HairSolver.ROD  # fmt: skip
    rival: Annotated[
        ComparisonSolverChoice,
        param("Another solver that moves the same strands beside this one: the inspector tells the distance and both"
              " costs, the split view draws it on the right.", group="Motion", label="Compared with"),
    ] = ComparisonSolverChoice.NONE  # fmt: skip
    bending_length: Annotated[
        float,
        param("Length at which a strand droops visibly under its own weight; a hair of 80 µm has 5 cm.", unit="m",
              lo=0.0, hi=100.0, soft=(0.002, 1.0), scale=Scale.LOG, group="Motion"),
    ] = 0.05  # fmt: skip
    carried: Annotated[
        float,
        param("Part of the weight that the groom carries, so that what is combed does not sag.", lo=0.0, hi=1.0,
              step=0.05, group="Motion", label="Carried weight"),
    ] = 0.8  # fmt: skip
    hold: Annotated[
        float,
        param("Pull back into the groom near the roots.", unit="1/s²", lo=0.0, hi=1e6, soft=(0.0, 1000.0),
              group="Motion"),
    ] = 0.0  # fmt: skip
    hold_fade: Annotated[
        float,
        param("Part of the length at which that pull has faded.", lo=0.0, hi=1.0, step=0.05, group="Motion"),
    ] = 0.3  # fmt: skip
    damping: Annotated[
        float,
        param("Damping of the bending, as a time.", unit="s", lo=0.0, hi=1.0, soft=(0.0, 0.05), step=0.001,
              group="Motion"),
    ] = 0.01  # fmt: skip
    spring_stiffness: Annotated[
        float,
        param("Stiffness of the springs between knots.", unit="N/m", lo=0.0, hi=1e8, soft=(1.0, 1e4),
              scale=Scale.LOG, group="Motion"),
    ] = 100.0  # fmt: skip
    knot_mass: Annotated[
        float,
        param("Mass of every knot.", unit="kg", lo=1e-9, hi=1e6, soft=(1e-4, 1.0), scale=Scale.LOG, group="Motion"),
    ] = 0.05  # fmt: skip
    knot_drag: Annotated[
        float,
        param("Drag of every knot in the air.", unit="N·s/m", lo=0.0, hi=1e6, soft=(1e-3, 10.0), scale=Scale.LOG,
              group="Motion"),
    ] = 1.0  # fmt: skip
    head_stiffness: Annotated[
        float,
        param("Push of the ellipsoid that hair grows on, by the square of the depth.", unit="N/m²", lo=0.0, hi=1e9,
              soft=(0.0, 1e5), group="Motion"),
    ] = 1e4  # fmt: skip
    fur_stiffness: Annotated[
        float,
        param("Pull of the layers towards straight on.", unit="m/s²", lo=0.0, hi=1e3, soft=(0.0, 5.0), step=0.1,
              group="Motion"),
    ] = 1.0  # fmt: skip
    fur_damping: Annotated[
        float,
        param("Damping of the layers.", unit="1/s", lo=0.0, hi=100.0, soft=(0.0, 2.0), step=0.05, group="Motion"),
    ] = 0.5  # fmt: skip
    felt: Annotated[
        float,
        param("Part of the motion of the roots that strands feel; less keeps fast figures calm.", lo=0.0, hi=1.0,
              step=0.05, group="Motion", label="Felt motion"),
    ] = 1.0  # fmt: skip
    gravity: Annotated[
        Amounts, param("Acceleration of everything.", unit="m/s²", lo=-MOST, hi=MOST, step=0.1, group="Motion",
                       bounded=False)
    ] = (0.0, -9.81, 0.0)  # fmt: skip
    substeps: Annotated[
        int,
        param("Parts that each step is solved in.", lo=1, hi=SUBSTEPS_MAX, soft=(1, 8), group="Motion"),
    ] = 4  # fmt: skip

    drag: Annotated[
        float,
        param("Part of its velocity that a strand loses to the air each second.", unit="1/s", lo=0.0, hi=1e3,
              soft=(0.0, 10.0), step=0.1, group="Air"),
    ] = 1.5  # fmt: skip
    wind: Wind = (0.0, 0.0, 0.0)
    turbulence: Turbulence = 0.0
    turbulence_scale: TurbulenceScale = 1.0
    turbulence_seed: TurbulenceSeed = 1

    collide: Annotated[bool, param("Whether strands collide with the colliders of the scene.", group="Collision")] = (
        True
    )
    clearance: Annotated[
        float,
        param("Distance that is kept from colliders; near a root within one, less.", unit="m", lo=0.0, hi=0.1,
              soft=(0.0, 0.01), step=0.0005, group="Collision"),
    ] = 0.001  # fmt: skip
    friction: Annotated[
        float,
        param("Coefficient of friction of the strands on colliders.", lo=0.0, hi=10.0, soft=(0.0, 1.0), step=0.05,
              group="Collision"),
    ] = 0.3  # fmt: skip

    clump: Annotated[
        float,
        param("How far strands come together with the nearest guide towards their tips.", lo=0.0, hi=1.0, step=0.05,
              group="Strands", effect=Effect.VIEW),
    ] = 0.4  # fmt: skip
    curl_radius: Annotated[
        float,
        param("Radius of the curls.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 0.02), step=0.001, group="Strands",
              effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    curl_turns: Annotated[
        float,
        param("Turns of a curl for each metre of length.", unit="1/m", lo=0.0, hi=1e4, soft=(0.0, 100.0), step=1.0,
              group="Strands", effect=Effect.VIEW),
    ] = 20.0  # fmt: skip
    noise: Annotated[
        float,
        param("Random waves of single strands.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 0.02), step=0.001,
              group="Strands", effect=Effect.VIEW),
    ] = 0.002  # fmt: skip

    show: Annotated[
        HairDisplay,
        param("What is drawn: the hair, or of the guides their curves, masses and springs, their bending or stretch.",
              group="Look", effect=Effect.VIEW),
    ] = HairDisplay.HAIR  # fmt: skip
    form: Annotated[
        HairForm,
        param("Ribbons as wide as strands, lines of a pixel, or copies of the skin, which are quick and suit short fur "
              "far away; automatic takes these from afar, where they are quicker.",
              group="Look", label="Drawn as", effect=Effect.VIEW),
    ] = HairForm.RIBBONS  # fmt: skip
    shells: Annotated[
        int,
        param("Copies of the skin.", lo=SHELLS_MIN, hi=64, soft=(8, 32), group="Look", effect=Effect.VIEW),
    ] = 16  # fmt: skip
    soft_tips: Annotated[
        float,
        param("Part of the strands, from their tips, that is blended as far as it covers pixels; for sparse tips.",
              lo=0.0, hi=1.0, step=0.05, group="Look", effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    undercoat: Annotated[
        float,
        param("How far the skin has the colour of the roots where hair grows, so that it does not shine through.",
              lo=0.0, hi=1.0, step=0.05, group="Look", effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    look: Annotated[
        HairLook,
        param("Highlights of real hair, or the classic formula of Kajiya and Kay.", group="Look", label="Lighting",
              effect=Effect.VIEW),
    ] = HairLook.HAIR  # fmt: skip
    root_radius: Annotated[
        float,
        param("Radius of a strand at its root.", unit="m", lo=0.0, hi=1.0, soft=(1e-5, 5e-4), scale=Scale.LOG,
              group="Look", effect=Effect.VIEW),
    ] = 6e-5  # fmt: skip
    tip_radius: Annotated[
        float,
        param("Radius of a strand at its tip.", unit="m", lo=0.0, hi=1.0, soft=(0.0, 5e-4), group="Look",
              effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    root_colour: Annotated[
        Colour, param("Colour at the roots.", group="Look", role=Role.COLOUR, effect=Effect.VIEW)
    ] = (0.28, 0.18, 0.11)  # fmt: skip
    tip_colour: Annotated[
        Colour, param("Colour at the tips.", group="Look", role=Role.COLOUR, effect=Effect.VIEW)
    ] = (0.42, 0.28, 0.16)  # fmt: skip
    dye_colour: Annotated[
        Colour,
        param("Colour of strands where the bone that dyes them has its weight.", group="Look", role=Role.COLOUR,
              effect=Effect.VIEW),
    ] = (0.6, 0.12, 0.2)  # fmt: skip
    colour_spread: Annotated[
        float,
        param("Spread of the brightness from strand to strand.", lo=0.0, hi=1.0, step=0.05, group="Look",
              effect=Effect.VIEW),
    ] = 0.25  # fmt: skip
    roughness: Annotated[
        float,
        param("Width of the highlights.", lo=0.05, hi=1.0, soft=(0.1, 0.6), step=0.05, group="Look",
              effect=Effect.VIEW),
    ] = 0.3  # fmt: skip
    tilt: Annotated[
        float,
        param("How far the scales of the hair shift the highlights.", unit="rad", lo=-0.5, hi=0.5, soft=(0.0, 0.1),
              step=0.005, group="Look", effect=Effect.VIEW),
    ] = 0.035  # fmt: skip
    shadow: Annotated[
        float,
        param("How much strands darken one another; 0 for not at all.", lo=0.0, hi=10.0, soft=(0.0, 2.0), step=0.1,
              group="Look", label="Self-shadow", effect=Effect.VIEW),
    ] = 1.0  # fmt: skip

    @property
    def substep_time(self) -> float:
        """Duration of a substep [s]."""
        return STEP_TIME / self.substeps

    @property
    def segments(self) -> int:
        return self.knots - 1
