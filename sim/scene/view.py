import enum
from typing import Annotated

import msgspec

from sinew.sim.scene.params import Effect, Role, param
from sinew.sim.scene.vectors import Colour


class DisplayMode(enum.Enum):
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
    display: Annotated[
        DisplayMode, param("How surfaces are drawn.", group="Surface", effect=Effect.VIEW, undone=False)
    ] = DisplayMode.SHADED
    comparison: Annotated[
        SkinningComparison,
        param(
            "Linear blend next to dual quaternions, or their distance.",
            group="Surface",
            effect=Effect.POSE,
            undone=False,
        ),
    ] = SkinningComparison.OFF
    divider: Annotated[
        float, param("Position of the divider of the split view, from left to right.", lo=0.0, hi=1.0, group="Surface",
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
            "Draw colliders as translucent bodies.",
            group="Overlays",
            label="Colliders",
            effect=Effect.VIEW,
            undone=False,
        ),
    ] = True
    contacts: Annotated[
        bool,
        param("Highlight contacts of particles with colliders.", group="Overlays", effect=Effect.VIEW, undone=False),
    ] = False
    statistics: Annotated[
        bool, param("Show counts, frame and frame rate.", group="Overlays", effect=Effect.VIEW, undone=False)
    ] = True
    ghosts: Annotated[
        bool,
        param(
            "Draw faint ghosts of moving objects some frames before and after, if these frames are cached.",
            group="Onion skinning", label="Show Ghosts", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    ghosts_playing: Annotated[
        bool,
        param(
            "Draw ghosts during playback too, at every multiple of the frame step.",
            group="Onion skinning", label="Ghosts While Playing", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    ghost_count: Annotated[
        int, param("Ghosts before the frame, and after it.", lo=1, hi=8, group="Onion skinning", label="Count",
                   effect=Effect.VIEW, undone=False)
    ] = 2  # fmt: skip
    ghost_spacing: Annotated[
        int, param("Frames from one ghost to the next.", lo=1, hi=1000, soft=(1, 30), group="Onion skinning",
                   label="Frame step", unit="frames", effect=Effect.VIEW, undone=False)
    ] = 3  # fmt: skip
    bake_ghost: Annotated[
        bool,
        param(
            "Colour simulated objects by their distance from the bake, which is drawn as an outline.",
            group="Onion skinning", label="Compare to Bake", effect=Effect.VIEW, undone=False,
        ),
    ] = False  # fmt: skip
    follow: Annotated[
        bool,
        param("Move the camera with the character of the timeline.", group="Camera", effect=Effect.VIEW,
              undone=False),
    ] = False  # fmt: skip
    samples: Annotated[
        int,
        param(
            "Samples per pixel that smooth edges; 0 for none.",
            lo=0, hi=16, group="Surface", label="Antialiasing", effect=Effect.VIEW, undone=False,
        ),
    ] = 4  # fmt: skip
    ambient: Annotated[
        float, param("Brightness of the sky and ground light.", lo=0.0, hi=4.0, soft=(0.0, 2.0), step=0.05,
                     group="Light", effect=Effect.VIEW)
    ] = 0.8  # fmt: skip
    background_top: Annotated[
        Colour, param("Upper colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW)
    ] = (0.24, 0.26, 0.29)
    background_bottom: Annotated[
        Colour, param("Lower colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW)
    ] = (0.11, 0.12, 0.13)
