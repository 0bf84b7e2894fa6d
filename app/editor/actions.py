"""One table of everything a menu, a tool button or a key can do.

Menus, toolbar, shortcuts and the cheat sheet are made from this table alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from sim.cache.step_store import CacheBudget
from sim.export.formats import MODEL_WRITERS, SCENE_FORMATS
from sim.gl.back_end import TITLES, BackEndChoice
from sim.kinds import KINDS
from sim.kinds.contract import Command, Panel
from sim.printable import titled
from sim.scene.params import Param, params_of
from sim.scene.view import ViewSettings
from widgets.cheat_sheet import ShortcutEntry
from widgets.icons import icon


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One command of the program.

    Attributes:
        id: Name in code, "file.open".
        text: Menu text; an ampersand marks the access key.
        tip: What it does, for the status bar, tooltips and the cheat sheet.
        keys: Shortcuts in portable notation; the first one is shown.
        icon: Icon name, or "".
        checkable: Whether it is a switch.
        group: Name of an exclusive group of switches, or "".
        short: Text of the tool button where there is no icon.
    """

    id: str
    text: str
    tip: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    checkable: bool = False
    group: str = ""
    short: str = ""


def _spec(
    id: str, text: str, tip: str, *keys: str, icon: str = "", group: str = "", check: bool = False, short: str = ""
) -> ActionSpec:
    return ActionSpec(id, text, tip, keys, icon, check or bool(group), group, short)


SWITCHES = tuple(record for record in params_of(ViewSettings) if record.type is bool)
"""What the view shows or leaves out."""

_SWITCH_LOOKS = {
    "bones": ("&Bones", ("Shift+B",), "bone"),
    "grid": ("&Grid", ("Shift+G",), "grid"),
    "contacts": ("C&ontacts", (), ""),
    "statistics": ("S&tatistics", ("Shift+T",), ""),
    "textures": ("Te&xtures", (), ""),
    "follow": ("Fo&llow Figure", ("Shift+F",), ""),
}  # fmt: skip


def _switch_spec(record: Param) -> ActionSpec:
    text, keys, shown = _SWITCH_LOOKS.get(record.name, (f"&{record.label}", (), ""))
    return _spec(f"overlay.{record.name}", text, record.declared.doc, *keys, icon=shown, check=True)


EXPORTS = {f"file.export.{writer.name.lower().replace(' ', '-')}": writer for writer in MODEL_WRITERS}
"""Formats that models are exported in, by the id of the action."""

SCENE_EXPORTS = {f"file.export.{known.name.lower().replace(' ', '-')}": known for known in SCENE_FORMATS}
"""The same for what moves."""

SPECS: tuple[ActionSpec, ...] = (
    _spec("file.new", "&New Project", "Start with an empty scene.", "Ctrl+N", icon="mdi6.file-outline"),
    _spec("file.open", "&Open…", "Open a project or a model.", "Ctrl+O", icon="open"),
    _spec("file.import", "&Import…", "Add a model or strands to the scene.", "Ctrl+I", icon="mdi6.import"),
    _spec("file.save", "&Save", "Save the project.", "Ctrl+S", icon="save"),
    _spec("file.save_as", "Save &As…", "Save the project under another name.", "Ctrl+Shift+S"),
    *(
        _spec(
            id,
            f"Model as &{titled(writer.name)}…",
            f"Write the selected model alone, with its skeleton and clips ({writer.suffixes[0]}).",
        )
        for id, writer in EXPORTS.items()
    ),
    *(
        _spec(
            id,
            f"Scene over Time as {titled(known.name.removesuffix(' scene'))}…",
            f"Write all that moves, frame by frame, as it is simulated ({' '.join(known.suffixes)}).",
        )
        for id, known in SCENE_EXPORTS.items()
    ),
    _spec("file.render", "Render Ani&mation…", "Draw frames into pictures or a film.", "Ctrl+F12"),
    _spec("file.screenshot", "Save S&creenshot…", "Save the picture of the viewport.", "F12", icon="screenshot"),
    _spec("file.copy_picture", "Copy &Picture", "Put the picture of the viewport on the clipboard.", "Shift+F12"),
    _spec("file.quit", "&Quit", "Leave Sinew.", "Ctrl+Q"),
    _spec("edit.undo", "&Undo", "Take back the last change.", "Ctrl+Z", icon="undo"),
    _spec("edit.redo", "&Redo", "Make the change again.", "Ctrl+Y", "Ctrl+Shift+Z", icon="redo"),
    _spec("edit.cut", "Cu&t", "Remove the selected objects and keep them on the clipboard.", "Ctrl+X"),
    _spec("edit.copy", "&Copy", "Keep the selected objects on the clipboard.", "Ctrl+C", icon="copy"),
    _spec("edit.paste", "&Paste", "Add the objects of the clipboard.", "Ctrl+V"),
    _spec("edit.rename", "Re&name", "Rename the selected object.", "F2"),
    _spec("edit.duplicate", "&Duplicate", "Add a copy of the selected objects.", "Ctrl+D"),
    _spec("edit.delete", "&Delete", "Remove the selected objects.", "Del"),
    _spec("edit.group", "&Group", "Put the selected objects into a group.", "Ctrl+G"),
    _spec("edit.ungroup", "&Ungroup", "Dissolve the selected group.", "Ctrl+Shift+G"),
    _spec("edit.lock", "&Lock / Unlock", "Keep the selected objects as they are, or let them change.", "Shift+L"),
    _spec("edit.hide", "&Hide", "Hide the selected objects.", "H"),
    _spec("edit.show_all", "&Show All", "Show all hidden objects.", "Alt+H"),
    _spec("edit.select_all", "Select &All", "Select all objects.", "Ctrl+A"),
    _spec("edit.deselect", "D&eselect", "Select nothing.", "Ctrl+Shift+A"),
    _spec("handle.move", "&Move", "Handles that move the selected object.", "G", icon="mdi6.arrow-all", group="handle"),
    _spec("handle.rotate", "&Rotate", "Handles that turn the selected object.", "R", icon="mdi6.rotate-3d-variant",
          group="handle"),
    _spec("handle.scale", "&Scale", "Handles that scale the selected object.", "E", icon="mdi6.arrow-expand",
          group="handle"),
    _spec("pose.reset", "Reset &Pose", "Take the bone as the clip has it; all bones of a model.", "Ctrl+Alt+R"),
    _spec("add.model", "&Model…", "Add a model from a file."),
    _spec("play.toggle", "&Play / Pause", "Run or hold the clock.", "Space", icon="play"),
    _spec("play.backwards", "Play &Backwards", "Run the clock backwards.", "Shift+Space"),
    _spec("play.next", "&Next Frame", "Step one frame on.", "."),
    _spec("play.previous", "&Previous Frame", "Step one frame back.", ","),
    _spec("play.next_key", "Next &Key", "Go to the next key.", "Shift+."),
    _spec("play.previous_key", "Previous Ke&y", "Go to the previous key.", "Shift+,"),
    _spec("play.first", "&First Frame", "Go to the start of the range.", "Ctrl+Home"),
    _spec("play.last", "&Last Frame", "Go to the end of the range.", "Ctrl+End"),
    _spec("play.in", "Set &In", "Start the range at the playhead.", "I"),
    _spec("play.out", "Set &Out", "End the range at the playhead.", "O"),
    _spec("play.clear_range", "&Clear In and Out", "Play the whole clip.", "Alt+I"),
    _spec("play.snap", "Scr&ub on Frames", "Scrub from frame to frame; Shift does the other.", check=True),
    _spec("play.bind_pose", "&Bind Pose", "Show the pose the skeleton was bound in.", "B", check=True),
    _spec("simulate.step", "Single &Step", "Pause and do one simulation step.", "Alt+."),
    _spec("simulate.seek", "Simulate to Play&head", "Simulate from the start to the playhead, as fast as it goes.",
          "Ctrl+Shift+R", icon="mdi6.fast-forward"),
    _spec("simulate.reset", "&Reset Simulation", "Bring what is simulated back to its start.", "Ctrl+R", icon="reset"),
    *(
        _spec(f"back_end.{choice.value}", f"&{TITLES[choice]}", tip, group="back_end")
        for choice, tip in {
            BackEndChoice.AUTO: "Simulate and skin with what is faster on this machine for the number of elements.",
            BackEndChoice.TF: "Simulate and skin by transform feedback, which every graphics card has.",
            BackEndChoice.COMPUTE: "Simulate and skin by compute shaders, where there is OpenGL 4.3.",
        }.items()
    ),
    *(
        _spec(f"step_room.{room.value}", room.value, "How much of the disk kept steps may take.", group="step_room")
        for room in CacheBudget
    ),
    _spec("simulate.bake", "&Bake", "Fix the steps of the selected node, or of all, beside the project.",
          icon="mdi6.stove"),
    _spec("simulate.verify", "&Verify Bake",
          "Simulate anew what is baked, beside your work, and tell whether every step is equal to the bit."),
    _spec("simulate.sweep", "S&weep…", "Try values of one or two settings of the selected node on a map."),
    _spec("simulate.free", "&Free Bake", "Simulate again what is baked."),
    _spec("node.mute", "&Mute / Unmute", "Silence what is selected, or let it run again.", "M"),
    _spec("node.solo", "S&olo", "Let only what is selected run of its kind, or all again.", "S"),
    _spec("timing.measure", "&Measure", "Measure what every picture costs, pass by pass.", "Ctrl+T", check=True),
    _spec("timing.pause", "&Pause Timings", "Hold the view of the timings; measuring goes on.", "Shift+P", check=True),
    _spec("timing.record", "&Record", "Begin or end a recording to compare with others.", "Ctrl+Shift+T", check=True),
    _spec("timing.compare_back_ends", "Compare Back &Ends",
          "Measure the same scene by transform feedback and by compute in turn, frame by frame."),
    _spec("timing.export_csv", "Export &CSV…", "Write the timings that are shown: a row for each frame and pass."),
    _spec("timing.export_trace", "Export Chrome &Trace…", "Write the timings that are shown for Perfetto."),
    _spec("timing.import", "&Import CSV…", "Read timings to compare with."),
    _spec("timing.clear", "C&lear", "Forget the timings of the last minute; recordings stay."),
    _spec("view.frame", "&Frame Selection", "Fill the viewport with the selection.", "F", "Num+.", "Num+,"),
    _spec("view.home", "Frame &All", "Fill the viewport with everything.", "Home", icon="frame"),
    _spec("view.maximise", "Maximise Vie&wport", "Give the viewport the place of all panels, or back.", "Ctrl+Space",
          check=True),
    _spec("view.front", "F&ront", "Look from the front.", "1"),
    _spec("view.right", "R&ight", "Look from the right.", "3"),
    _spec("view.top", "&Top", "Look from above.", "7"),
    _spec("view.back", "&Back", "Look from behind.", "Ctrl+1"),
    _spec("view.left", "&Left", "Look from the left.", "Ctrl+3"),
    _spec("view.bottom", "Botto&m", "Look from below.", "Ctrl+7"),
    _spec("view.orthographic", "&Orthographic", "Draw without perspective.", "5", check=True),
    _spec("display.shaded", "&Shaded", "Textured and lit.", "Alt+1", group="display", icon="mdi6.circle"),
    _spec("display.shaded-wireframe", "Shaded + &Wireframe", "Textured and lit, with edges.", "Alt+2",
          group="display", icon="mdi6.web"),
    _spec("display.wireframe", "W&ireframe", "Edges only.", "Alt+3", group="display", icon="mdi6.vector-polygon"),
    _spec("display.normals", "&Normals", "Normals of the surface as colours.", "Alt+4", group="display",
          icon="mdi6.axis-arrow"),
    _spec("display.weights", "Weight &Heat Map", "Weight of the selected bone.", "Alt+5", group="display",
          icon="mdi6.fire"),
    _spec("display.toggle_wire", "Toggle Wire&frame", "Edges over the shaded surface.", "W"),
    _spec("compare.off", "Si&ngle View", "Show the skinning method of each model.", "Ctrl+Alt+1", group="compare"),
    _spec("compare.split", "LBS | DQS S&plit", "Linear blend left, dual quaternions right.", "Ctrl+Alt+2",
          group="compare", short="Split"),
    _spec("compare.difference", "LBS – DQS &Difference", "Distance between the two methods.", "Ctrl+Alt+3",
          group="compare", short="Difference"),
    _spec("skin.lbs", "&Linear Blend", "Skin by blended matrices.", "Ctrl+L", group="skin", short="LBS"),
    _spec("skin.dqs", "&Dual Quaternion", "Skin by blended dual quaternions.", "Ctrl+K", group="skin", short="DQS"),
    _spec(
        "skin.dqs-scale", "Dual Quaternion with &Scale", "Scale blended linearly, then dual quaternions.", group="skin"
    ),
    *map(_switch_spec, SWITCHES),
    _spec("theme.auto", "Follow the &System", "Dark or light as the system is.", group="theme"),
    _spec("theme.dark", "&Dark", "Always dark.", group="theme"),
    _spec("theme.light", "&Light", "Always light.", group="theme"),
    _spec("window.reset_layout", "&Reset Layout", "Put every panel back in its place."),
    _spec("help.guide", "User &Guide", "Open the guide at the panel or row that has the focus.", "F1"),
    _spec("help.tour", "&Tour", "Be shown around in seven steps."),
    _spec("help.shortcuts", "&Keyboard Shortcuts", "Search what keys and mouse do.", "?", "Shift+F1"),
    _spec("help.about", "&About Sinew", "Version and graphics driver."),
)  # fmt: skip


def specs_of(rooms: Mapping[str, Panel]) -> tuple[ActionSpec, ...]:
    """All commands: those of the program, entries that add nodes, and those of rooms of kinds."""
    adds = (
        _spec(f"add.{entry.id}", entry.label, entry.tip, icon=entry.icon)
        for kind in KINDS.values()
        for entry in kind.adds
    )
    return (*SPECS, *adds, *(_spec(c.id, c.text, c.tip, *c.keys) for c in commands_of(rooms)))


def commands_of(rooms: Mapping[str, Panel]) -> list[Command]:
    return [c for room in rooms.values() for c in (*room.commands, *room.adds) if isinstance(c, Command)]


class Actions:
    """The `QAction` of every entry of the table, owned by one window.

    Args:
        window: Parent; its shortcuts work everywhere in the window.
        slots: What each action does, by id; a switch's slot receives its state.
        rooms: What kinds have beyond rows.

    Attributes:
        specs: The table.
        commands: Those of rooms.

    Raises:
        KeyError: If an entry has no slot or a slot no entry.
    """

    def __init__(self, window: QWidget, slots: dict[str, Callable[..., None]], rooms: Mapping[str, Panel]) -> None:
        self.specs = specs_of(rooms)
        self.commands = commands_of(rooms)
        slots = slots | {command.id: _plain(command.run) for command in self.commands}
        if unknown := set(slots) ^ {spec.id for spec in self.specs}:
            raise KeyError(f"actions and slots differ: {', '.join(sorted(unknown))}")
        self._actions = {spec.id: _made(window, spec, slots[spec.id]) for spec in self.specs}
        self._tips = {name: action.toolTip() for name, action in self._actions.items()}

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    def check(self, action_id: str, on: bool) -> None:
        """Shows the state of a switch without running it."""
        self._actions[action_id].setChecked(on)

    def offer(self, action_id: str, lack: str) -> None:
        """Enables an action, or tells why it does not apply."""
        action = self._actions[action_id]
        action.setEnabled(not lack)
        action.setToolTip(f"{self._tips[action_id]}\n{lack}" if lack else self._tips[action_id])
        action.setStatusTip(lack or self._tips[action_id].partition(" (")[0])

    def show_playing(self, playing: bool) -> None:
        self._actions["play.toggle"].setIcon(icon("pause" if playing else "play"))
        self._actions["play.toggle"].setIconText("Pause" if playing else "Play")

    def check_one(self, group: str, name: str) -> None:
        """Shows which switch of an exclusive group is on; none where `name` is none of them."""
        for spec in self.specs:
            if spec.group == group:
                self.check(spec.id, spec.id == f"{group}.{name}")


def _plain(run: Callable[[], object]) -> Callable[..., None]:
    return lambda: run() and None


def _made(window: QWidget, spec: ActionSpec, slot: Callable[..., None]) -> QAction:
    action = QAction(spec.text, window)
    action.setObjectName(spec.id)
    action.setCheckable(spec.checkable)
    action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setStatusTip(spec.tip)
    if spec.short:
        action.setIconText(spec.short)
    shown = f" ({QKeySequence(spec.keys[0]).toString(QKeySequence.SequenceFormat.NativeText)})" if spec.keys else ""
    action.setToolTip(f"{spec.tip}{shown}")
    if spec.icon:
        action.setIcon(icon(spec.icon))
    # `triggered` is sent by the user only; setChecked from a refresh does not run the slot.
    action.triggered.connect(slot if spec.checkable else lambda _checked=False: slot())
    window.addAction(action)
    return action


MOUSE_ENTRIES: tuple[tuple[str, str], ...] = (
    ("Orbit", "Middle drag or Alt+Left drag or Left drag on the axes"),
    ("Pan", "Shift+Middle drag or Shift+Alt+Left drag"),
    ("Zoom to the cursor", "Wheel or Pinch or Ctrl+Middle drag"),
    ("Select an object or a bone", "Left click"),
    ("Commands for an object", "Right click"),
    ("Select several objects", "Ctrl+Left click or Shift+Left click"),
    ("… in the outliner", "Left drag beside the names"),
    ("Move objects onto others or bones", "Left drag in the outliner"),
    ("Scrub", "Left drag on the ruler"),
    ("Change a number", "Left drag on it"),
    ("… finer, coarser", "Shift+Left drag or Ctrl+Left drag"),
    ("Silence what is simulated", "Left click on its loudspeaker"),
    ("Add a stop to a gradient or a curve", "Double click in it or Insert"),
    ("… choose another", "Left click or Page Up or Page Down"),
    ("… move it", "Left drag or Arrows"),
    ("… remove it", "Delete or Right click"),
    ("Abandon a drag", "Escape"),
)


def shortcut_entries(specs: Iterable[ActionSpec], mouse: Iterable[tuple[str, str]]) -> list[ShortcutEntry]:
    """Rows of the cheat sheet: every action with a key, and what the mouse does, some of it in rooms of kinds."""
    titles = {
        "file": "File", "edit": "Edit", "handle": "Handles", "pose": "Posing", "add": "Add", "play": "Playback",
        "simulate": "Simulation", "timing": "Timing", "node": "Simulation", "back_end": "Simulation",
        "step_room": "Simulation",
        "view": "View", "display": "Display",
        "compare": "Compare", "skin": "Skinning",
        "overlay": "Overlays", "window": "Window", "theme": "Theme", "help": "Help",
    } | {kind.name: f"{kind.label}s" for kind in KINDS.values()}  # fmt: skip
    rows = [
        ShortcutEntry(titles[spec.id.split(".")[0]], spec.text.replace("&", ""), " or ".join(spec.keys), spec.tip)
        for spec in specs
        if spec.keys
    ]
    return rows + [ShortcutEntry("Mouse", text, how, "") for text, how in (*MOUSE_ENTRIES, *mouse)]
