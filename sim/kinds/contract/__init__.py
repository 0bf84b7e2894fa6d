# ruff: noqa: I001
"""The interface between kinds and the rest of the program; the guide explains it in "A kind in an hour"."""

from sinew.sim.kinds.contract.kind import API, ApiError, Kind, PluginInfo, loaded, require_api
from sinew.sim.kinds.contract.panel import ColourKey, Command, Dock, Panel, Submenu, Tool
from sinew.sim.kinds.contract.parts import (
    Added, AddEntry, AddPlace, Adds, CharacterSource, ColliderSource, Coupling, Edits, Files, FileUse, ForceSource,
    Form, Part, Presets, ShaderTexts,
)  # fmt: skip
from sinew.sim.kinds.contract.system import (
    Array, Draggable, Exports, Grab, LiveNode, Measures, Prepares, Service, Services, ShowsMoments, StepInputs,
    StepsTogether, Stoppable, System, World, has_state, stop_reason, warning_of,
)  # fmt: skip
from sinew.sim.kinds.contract.view import NOTHING, CharacterView, Counts, Mark, View

__all__ = [
    "API", "NOTHING", "AddEntry", "AddPlace", "Added", "Adds", "ApiError", "Array", "CharacterSource",
    "CharacterView", "ColliderSource", "ColourKey", "Command", "Counts", "Coupling", "Dock", "Draggable", "Edits",
    "Exports", "FileUse", "Files", "ForceSource", "Form", "Grab", "Kind", "LiveNode", "Mark", "Measures", "Panel",
    "Part", "PluginInfo", "Prepares", "Presets", "Service", "Services", "ShaderTexts", "ShowsMoments", "StepInputs",
    "StepsTogether", "Stoppable", "Submenu", "System", "Tool", "View", "World", "has_state", "loaded", "require_api",
    "stop_reason", "warning_of",
]  # fmt: skip
