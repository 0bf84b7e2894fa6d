"""Settings of what the viewport shows."""

import enum
from typing import Annotated

import msgspec

from sim.scene.params import Effect, Role, param
from sim.scene.vectors import Colour


class DisplayMode(enum.Enum):
    """How surfaces are drawn."""

    SHADED = "shaded"
    SHADED_WIRE = "shaded-wireframe"
    WIREFRAME = "wireframe"
    NORMALS = "normals"
    WEIGHTS = "weights"


class SkinningComparison(enum.Enum):
    """Whether the viewport shows the chosen method, both side by side, or their distance."""

    OFF = "off"
    SPLIT = "split"
    DIFFERENCE = "difference"


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the viewport shows."""

    display: Annotated[
        DisplayMode, param("How surfaces are drawn.", group="Surface", effect=Effect.VIEW, undone=False)
    ] = DisplayMode.SHADED
    comparison: Annotated[
        SkinningComparison,
        param(
            "Linear blend beside dual quaternions, or their distance.",
            group="Surface",
            effect=Effect.POSE,
            undone=False,
        ),
    ] = SkinningComparison.OFF
    divider: Annotated[
        float, param("Place of the divider of the split view, from left to right.", lo=0.0, hi=1.0, group="Surface",
                     effect=Effect.VIEW, undone=False)
    ] = 0.5  # fmt: skip
    textures: Annotated[
        bool, param("Draw the textures of the materials.", group="Surface", effect=Effect.VIEW, undone=False)
    ] = True
    grid: Annotated[bool, param("Draw the ground grid.", group="Overlays", effect=Effect.VIEW, undone=False)] = True
    axes: Annotated[bool, param("Draw the world's axes.", group="Overlays", effect=Effect.VIEW, undone=False)] = True
    bones: Annotated[
        bool, param("Draw the skeleton through the mesh.", group="Overlays", effect=Effect.VIEW, undone=False)
    ] = False
    solids: Annotated[
        bool,
        param(
            "Draw what particles collide with as translucent bodies.",
            group="Overlays",
            label="Colliders",
            effect=Effect.VIEW,
            undone=False,
        ),
    ] = True
    contacts: Annotated[
        bool,
        param("Mark where particles touch what they collide with.", group="Overlays", effect=Effect.VIEW, undone=False),
    ] = False
    statistics: Annotated[
        bool, param("Show counts, frame and frame rate.", group="Overlays", effect=Effect.VIEW, undone=False)
    ] = True
    ghosts: Annotated[
        bool,
        param(
            "Draw what moves faintly as it is some frames before and after, where that is kept.",
            group="Ghosts", label="Show Ghosts", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    ghosts_playing: Annotated[
        bool,
        param(
            "Draw them while it plays too, at every moment that is a multiple of their spacing.",
            group="Ghosts", label="While Playing", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    ghost_count: Annotated[
        int, param("Ghosts before the frame, and after it.", lo=1, hi=8, group="Ghosts", label="Number",
                   effect=Effect.VIEW, undone=False)
    ] = 2  # fmt: skip
    ghost_spacing: Annotated[
        int, param("Frames from one ghost to the next.", lo=1, hi=1000, soft=(1, 30), group="Ghosts", label="Spacing",
                   unit="frames", effect=Effect.VIEW, undone=False)
    ] = 3  # fmt: skip
    bake_ghost: Annotated[
        bool,
        param(
            "Colour what is simulated by how far it is from what is baked, with that as a line around it.",
            group="Ghosts", label="Compare to Bake", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    follow: Annotated[
        bool,
        param("Let the camera go along with the figure that the timeline runs.", group="Camera", effect=Effect.VIEW,
              undone=False),
    ] = False  # fmt: skip
    samples: Annotated[
        int,
        param(
            "Samples per pixel that smooth edges; 0 draws without.",
            lo=0, hi=16, group="Surface", label="Antialiasing", effect=Effect.VIEW, undone=False,
        ),
    ] = 4  # fmt: skip
    ambient: Annotated[
        float, param("Brightness of the sky and ground light.", lo=0.0, hi=4.0, soft=(0.0, 2.0), step=0.05,
                     group="Light", effect=Effect.VIEW)
    ] = 0.8  # fmt: skip
    background_top: Annotated[
        Colour,
        param("Upper colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW),
    ] = (0.24, 0.26, 0.29)
    background_bottom: Annotated[
        Colour,
        param("Lower colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW),
    ] = (0.11, 0.12, 0.13)
