"""Readable texts of closed sets of values."""

import enum

from sim.figures.settings import FlipV, Interpolation, SkinningMethod, UpAxis
from sim.kinds import KINDS
from sim.scene.playback import LoopMode
from sim.scene.view import Comparison, DisplayMode

_TEXTS: dict[enum.Enum, str] = {
    UpAxis.AUTO: "Automatic",
    UpAxis.Y: "Y",
    UpAxis.Z: "Z",
    FlipV.AUTO: "Automatic",
    FlipV.ON: "Flipped",
    FlipV.OFF: "As stored",
    SkinningMethod.LBS: "Linear blend",
    SkinningMethod.DQS: "Dual quaternion",
    SkinningMethod.DQS_SCALE: "Dual quaternion + scale",
    Interpolation.NEAREST: "Nearest key",
    Interpolation.LINEAR: "Linear",
    LoopMode.LOOP: "Loop",
    LoopMode.ONCE: "Once",
    LoopMode.PING_PONG: "Ping-pong",
    DisplayMode.SHADED: "Shaded",
    DisplayMode.SHADED_WIRE: "Shaded + wireframe",
    DisplayMode.WIREFRAME: "Wireframe",
    DisplayMode.NORMALS: "Normals",
    DisplayMode.WEIGHTS: "Weights",
    Comparison.OFF: "Off",
    Comparison.SPLIT: "Split view",
    Comparison.DIFFERENCE: "Difference",
}


def choice_text(member: enum.Enum) -> str:
    """Text of a member, as a combo box shows it."""
    known = next((kind.choices[member] for kind in KINDS.values() if member in kind.choices), _TEXTS.get(member))
    return known or str(member.value).replace("-", " ").replace("_", " ").capitalize()
