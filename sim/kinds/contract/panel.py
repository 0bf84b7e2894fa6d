"""The editor of a kind.

`Any` is a type of Qt here, which sim does not import: menus, widgets, and positions in the viewport (QPointF, [px]).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sinew.sim.kinds.contract.system import System
from sinew.sim.maths.ramps import Ramp
from sinew.sim.scene.scene import Node


@dataclass(frozen=True, slots=True)
class Command:
    id: str  # Such as "simulate.pin"
    text: str  # An ampersand marks the access key
    tip: str  # A sentence
    run: Callable[[], object]
    keys: tuple[str, ...] = ()  # Shortcuts in portable notation; menus show the first one
    reason: Callable[[], str] = lambda: ""  # A sentence if the command does not apply now, or ""


@dataclass(frozen=True, slots=True)
class Submenu:
    """A menu that `fill` fills each time it opens."""

    title: str
    fill: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Dock:
    """A panel of the window.  Kinds with the same `id`, which saved layouts contain, share the panel."""

    id: str
    title: str
    widget: Any


@dataclass(frozen=True, slots=True)
class ColourKey:
    ramp: Ramp
    title: str
    lo: float
    hi: float
    unit: str = ""


class Tool:
    """A tool for the left mouse button in the viewport; the first that returns True from `press` or `begin` wins.

    Attributes:
        is_over: Precedes marks and bones, for handles that are drawn on top of everything.
        cursor: While the mouse is over something of this tool.
    """

    is_over = False
    cursor: Any = None

    def hover(self, place: Any | None) -> str:  # noqa: ARG002
        """Handles a move of the mouse, None if it left; returns a hint for the status bar, or ""."""
        return ""

    def press(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Handles a press; returns True if something of this tool is there."""
        return False

    def begin(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Begins a drag with the pressed button; returns True if this tool handles it."""
        return False

    def drag(self, place: Any) -> None:
        """Handles a move of the mouse during a drag of this tool."""

    def end(self, *, cancel: bool = False) -> None:
        """Ends the press or drag; `cancel` undoes it."""

    def click(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Handles a press without a drag; returns True to keep the viewport from selecting."""
        return False

    def deselect(self) -> None:
        """Reacts to a cleared selection."""


class Panel:
    """Editor widgets of a kind besides its rows of settings; one per window.

    `cls(context)` creates it with the `sinew.app.session.editor_context.EditorContext` of the window.

    Attributes:
        head: Widget at the top of the inspector while a node of the kind is selected.
        buttons: Widgets next to the mute button.
        overlay: Widget in the lower right corner of the viewport; it shows and hides itself, and emits `resized`.
        mouse: Rows for the list of keys: mouse button, and its effect.
        commands: Entries of the Simulation menu.
        adds: Entries of the Add menu below the entries of the kind; None is a separator.
        rows: Create the widgets below rows of settings, by name of the setting.
    """

    head: Any = None
    buttons: Sequence[Any] = ()
    overlay: Any = None
    docks: Sequence[Dock] = ()
    tools: Sequence[Tool] = ()
    mouse: Sequence[tuple[str, str]] = ()
    commands: Sequence[Command] = ()
    adds: Sequence[Command | Submenu | None] = ()
    rows: Mapping[str, Callable[[], Any]] = {}

    def follow(self, node: Node | None, system: System | None) -> None:
        """Follows the selected node, after every change and frame; `node` is None if it is of another kind."""

    def note(self, node: Node, system: System | None) -> str:  # noqa: ARG002
        """Returns a sentence about missing inputs of the node, for the top of the inspector; or ""."""
        return ""

    def remedy(self, node: Node, system: System | None) -> Command | None:  # noqa: ARG002
        """Returns a command that fixes `System.warning`."""
        return None

    def suggestion(self, node: Node) -> tuple[str, Command] | None:  # noqa: ARG002
        """Returns a sentence and a command to offer for a selected node of any kind."""
        return None

    def facts(self, node: Node) -> Sequence[Any]:  # noqa: ARG002
        """Returns sections of the inspector below the settings."""
        return ()

    def bone_facts(self, node: Node, bone: str) -> Sequence[Any]:  # noqa: ARG002
        """Returns sections of the page of a bone below its pose offset."""
        return ()

    def add_entry(self, node: Node, cls: type[Any]) -> bool:  # noqa: ARG002
        """Adds an entry that suits the node to a list of settings; False leaves it to the caller."""
        return False

    def forget(self) -> None:
        """Drops the widgets of `rows` and `facts`, which the inspector has deleted."""

    def fill_menu(self, menu: Any, node: Node, place: Any) -> None:
        """Adds entries to the context menu of a node that was clicked in the viewport."""

    def fill_section_menu(self, menu: Any, section: str) -> None:
        """Adds entries to the menu of a section of the active model."""

    def sides(self) -> tuple[str, str] | None:
        """Returns titles of the halves of a split view; None if nodes of the kind look the same in both."""
        return None

    def legend(self) -> ColourKey | None:
        """Returns the key of the colours of visible nodes."""
        return None
