import enum
import functools
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
    """Display of two skinning methods: the chosen one, both side by side, or their distance."""

    OFF = "off"
    SPLIT = "split"
    DIFFERENCE = "difference"


class Look(enum.Enum):
    """Shading of surfaces and tone curve."""

    CLASSIC = "classic"
    STANDARD = "standard"


_shown = functools.partial(param, effect=Effect.VIEW, undone=False)
_surface = functools.partial(_shown, group="Surface")
_overlay = functools.partial(_shown, group="Overlays")
_onion = functools.partial(_shown, group="Onion skinning")
_light = functools.partial(param, group="Light", effect=Effect.VIEW)
_background = functools.partial(param, group="Background", role=Role.COLOUR, effect=Effect.VIEW)


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True):
    display: Annotated[DisplayMode, _surface("How surfaces are drawn.")] = DisplayMode.SHADED
    comparison: Annotated[SkinningComparison, _surface(
        "Linear blend next to dual quaternions, or their distance.", effect=Effect.POSE,
    )] = SkinningComparison.OFF  # fmt: skip
    divider: Annotated[float, _surface(
        "Position of the divider of the split view, from left to right.", lo=0.0, hi=1.0,
    )] = 0.5  # fmt: skip
    textures: Annotated[bool, _surface("Draw the textures of the materials.")] = True
    grid: Annotated[bool, _overlay("Draw the ground grid.")] = True
    axes: Annotated[bool, _overlay("Draw the world's axes.")] = True
    bones: Annotated[bool, _overlay("Draw the skeleton through the mesh.")] = False
    solids: Annotated[bool, _overlay("Draw colliders as translucent bodies.", label="Colliders")] = True
    fields: Annotated[bool, _overlay("Draw force fields as arrows.", label="Force Fields", sparse=True)] = True
    penetration: Annotated[bool, _overlay(
        "Colour cloth and hair by their depth in the skin of characters, in all cached frames.", sparse=True,
    )] = False  # fmt: skip
    contacts: Annotated[bool, _overlay("Highlight contacts of particles with colliders.")] = False
    statistics: Annotated[bool, _overlay("Show counts, frame and frame rate.")] = True
    ghosts: Annotated[bool, _onion(
        "Draw faint ghosts of moving objects some frames before and after, if these frames are cached.",
        label="Show Ghosts",
    )] = False  # fmt: skip
    ghosts_playing: Annotated[bool, _onion(
        "Draw ghosts during playback too, at every multiple of the frame step.", label="Ghosts While Playing",
    )] = False  # fmt: skip
    ghost_count: Annotated[int, _onion("Ghosts before the frame, and after it.", lo=1, hi=8, label="Count")] = 2
    ghost_spacing: Annotated[int, _onion(
        "Frames from one ghost to the next.", lo=1, hi=1000, soft=(1, 30), label="Frame step", unit="frames",
    )] = 3  # fmt: skip
    bake_ghost: Annotated[bool, _onion(
        "Colour simulated objects by their distance from the bake, which is drawn as an outline.",
        label="Compare to Bake",
    )] = False  # fmt: skip
    follow: Annotated[bool, _shown("Move the camera with the character of the timeline.", group="Camera")] = False
    samples: Annotated[int, _surface(
        "Samples per pixel that smooth edges; 0 for none.", lo=0, hi=16, label="Antialiasing",
    )] = 4  # fmt: skip
    look: Annotated[Look, _light(
        "How surfaces respond to light: standard conserves energy and shows reflections of an environment; classic is"
        " the look of older projects.", sparse=True,
    )] = Look.CLASSIC  # fmt: skip
    ambient: Annotated[float, _light(
        "Brightness of the sky and ground light, or of the studio in a scene without an environment.", lo=0.0, hi=4.0,
        soft=(0.0, 2.0), step=0.05,
    )] = 0.8  # fmt: skip
    exposure: Annotated[float, _light(
        "Exposure of the image; each step doubles all light.", unit="EV", lo=-16.0, hi=16.0, soft=(-4.0, 4.0), step=0.1,
        sparse=True,
    )] = 0.0  # fmt: skip
    occlusion: Annotated[bool, _light(
        "Darken creases, which less light from around reaches. Not in the classic look, in drafts, or while a software"
        " renderer draws the viewport.", label="Ambient Occlusion", sparse=True,
    )] = True  # fmt: skip
    occlusion_radius: Annotated[float, _light(
        "Distance from which surfaces darken each other, as part of the radius of all objects together.", lo=0.0,
        hi=1.0, soft=(0.0, 0.5), step=0.01, sparse=True,
    )] = 0.2  # fmt: skip
    occlusion_strength: Annotated[float, _light(
        "Strength of ambient occlusion: 1 is physical.", lo=0.0, hi=4.0, soft=(0.0, 2.0), step=0.05, sparse=True,
    )] = 1.0  # fmt: skip
    background_top: Annotated[Colour, _background("Upper colour of the background.")] = (0.24, 0.26, 0.29)
    background_bottom: Annotated[Colour, _background("Lower colour of the background.")] = (0.11, 0.12, 0.13)


LIGHT_INTENSITY = {Look.CLASSIC: 1.6, Look.STANDARD: 0.6}
"""Intensity of new lights; in the standard look an environment gives most of the light."""

NEW_VIEW = ViewSettings(look=Look.STANDARD)
"""Settings of new scenes; a setting that a project file lacks has its default instead."""
