import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from PySide6.QtGui import QGuiApplication, QImageWriter
from PySide6.QtWidgets import QApplication, QMenu

from sinew.app.document.history import UndoHistory
from sinew.app.document.python_text import python_text
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.editor.export import export_model
from sinew.app.editor.help_dialogs import search_commands, show_about, show_plugins, show_shortcuts
from sinew.app.editor.main_window import MainWindow
from sinew.app.editor.preferences import Preferences
from sinew.app.editor.simulation_work import SimulationWork
from sinew.app.files.project_files import ProjectFiles
from sinew.app.output.controller import Output
from sinew.app.project.node_text import FORMAT
from sinew.app.project.project_file import cache_folder
from sinew.app.project.project_json import ProjectError
from sinew.app.session.actions import SEPARATOR, Action, Menu, command_action
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.menus import ADD, HISTORY, RECENT, WINDOW
from sinew.app.timeline.binding import TimelineBinding
from sinew.app.timings.panel import TimingsPanel
from sinew.app.viewport.handle_tool import HandleTool
from sinew.app.viewport.tools import ViewportTools
from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.assets.raw import RawModel
from sinew.sim.cache.bake import is_bake
from sinew.sim.characters.settings import SkinningMethod, model_settings
from sinew.sim.export.formats import ANIMATION_FORMATS, MODEL_WRITERS, Writer
from sinew.sim.kinds import KINDS, add_entries
from sinew.sim.kinds.contract import Command, Panel, Submenu
from sinew.sim.printable import titled
from sinew.sim.scene.handles import HandleMode
from sinew.sim.scene.params import Param, params_of
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings
from sinew.widgets.code_editor import FindRow
from sinew.widgets.texts import file_filter, menu_text

Kinds = Mapping[str, Panel]


T = TypeVar("T")


def _export_id(name: str) -> str:
    return f"file.export.{name.lower().replace(' ', '-')}"


SCENE_EXPORTS = {_export_id(known.name): known for known in ANIMATION_FORMATS}  # by the id of the action


def file_menu(context: EditorContext, window: MainWindow, files: ProjectFiles, output: Output) -> Menu:
    dialogs = context.dialogs
    models = [
        Action(
            _export_id(writer.name),
            f"Model as &{titled(writer.name)}…",
            f"Write the selected model alone, with its skeleton and clips ({writer.suffixes[0]}).",
            lambda writer=writer: export_selected(context, writer),
            reason=lambda: _no_model(context),
        )
        for writer in MODEL_WRITERS
    ]
    scenes = [
        Action(
            action_id,
            f"Scene over Time as {titled(known.name.removesuffix(' scene'))}…",
            f"Write the animated and simulated scene, frame by frame ({' '.join(known.suffixes)}).",
            lambda known=known: output.open_export(known),
        )
        for action_id, known in SCENE_EXPORTS.items()
    ]

    def copy_image() -> None:
        QGuiApplication.clipboard().setPixmap(context.viewport.grab())

    return Menu("&File", [
        Action("file.new", "&New Project", "Start with an empty scene.", files.new, ("Ctrl+N",),
               "mdi6.file-outline"),
        Action("file.open", "&Open…", "Open a project or a model.", lambda: _with(dialogs.open_path(), files.open),
               ("Ctrl+O",), "open"),
        Menu(RECENT),
        SEPARATOR,
        Action("file.save", "&Save", "Save the project.", files.save, ("Ctrl+S",), "save"),
        Action("file.save_as", "Save &As…", "Save the project under another name.", files.save_as, ("Ctrl+Shift+S",)),
        SEPARATOR,
        Action("file.import", "&Import…", "Add a model or strands to the scene.",
               lambda: _with(dialogs.import_path(), files.import_model), ("Ctrl+I",), "mdi6.import"),
        Action("file.motion", "Add &Motion…", "Play the clips of another file on the selected character.",
               lambda: _with(dialogs.motion_path(), lambda path: _add_motion(context, path)), icon="clip",
               reason=lambda: _no_model(context)),
        Menu("&Export", [*models, SEPARATOR, *scenes]),
        SEPARATOR,
        Action("file.render", "Render Ani&mation…", "Render frames to images or a video.", output.open_render,
               ("Ctrl+F12",)),
        Action("file.screenshot", "Save S&creenshot…", "Save an image of the viewport.",
               lambda: save_screenshot(context), ("F12",), "screenshot"),
        Action("file.copy_picture", "Copy Ima&ge", "Copy an image of the viewport to the clipboard.", copy_image,
               ("Shift+F12",)),
        SEPARATOR,
        Action("file.quit", "&Quit", "Quit Sinew.", window.close, ("Ctrl+Q",)),
    ])  # fmt: skip


def _add_motion(context: EditorContext, path: Path) -> None:
    if context.active.node is not None:
        context.motions.add(context.active.node.id, path)


def find(context: EditorContext, window: MainWindow) -> None:
    """Opens the row that finds text in the focused panel, else the one of the inspector."""
    widget = QApplication.focusWidget()
    while widget is not None:
        rows = [child for child in widget.children() if isinstance(child, FindRow)]
        if rows:
            rows[0].open_row()
            return
        widget = widget.parentWidget()
    window.docks.reveal("inspector")
    context.panels.inspector.search.open_row()


HISTORY_MAX = 30
"""Entries of the menu History."""


def edit_menu(
    context: EditorContext, tools: ViewportTools, handles: HandleTool, window: MainWindow,
    show_preferences: Callable[[], object],
) -> Menu:  # fmt: skip
    document, edits, stack = context.document, context.edits, context.document.undo_stack

    def nothing_selected() -> str:
        return "" if document.selection.nodes else "Select an object first."

    def unlocked() -> Iterator[Node]:
        scene = document.scene
        return (scene.node(node_id) for node_id in document.selection.nodes if node_id in scene.unlocked)

    def nothing_unlocked() -> str:
        return nothing_selected() or ("" if any(True for _ in unlocked()) else "All selected objects are locked.")

    return Menu("&Edit", [
        Action("edit.undo", "&Undo", "Undo the last change.", stack.undo, ("Ctrl+Z",), "undo",
               lambda: "" if stack.can_undo else "There is nothing to undo."),
        Action("edit.redo", "&Redo", "Redo the last undone change.", stack.redo, ("Ctrl+Y", "Ctrl+Shift+Z"), "redo",
               lambda: "" if stack.can_redo else "There is nothing to redo."),
        Submenu(HISTORY, lambda menu: fill_history(menu, stack)),
        Action("edit.copy_python", "Copy Last Change as P&ython", "Copy the change that Undo takes back as Python.",
               lambda: _copy_python(context), reason=lambda: "" if stack.can_undo else "There is nothing to undo."),
        SEPARATOR,
        Action("edit.cut", "Cu&t", "Move the selected objects to the clipboard.", lambda: _cut(context), ("Ctrl+X",),
               reason=nothing_unlocked),
        Action("edit.copy", "&Copy", "Copy the selected objects to the clipboard.", lambda: copy_selected(context),
               ("Ctrl+C",), "copy", nothing_selected),
        Action("edit.paste", "&Paste", "Add the objects of the clipboard.", lambda: paste(context, window),
               ("Ctrl+V",)),
        SEPARATOR,
        Action("edit.rename", "Re&name", "Rename the selected object.", context.panels.outliner.rename_selected,
               ("F2",),
               reason=lambda: "" if len(document.selection.nodes) == 1 else "Select a single object first."),
        Action("edit.duplicate", "&Duplicate", "Add a copy of the selected objects.", edits.duplicate_selected,
               ("Ctrl+D",), reason=nothing_selected),
        Action("edit.delete", "&Delete", "Remove the selected objects.", edits.delete_selected, ("Del",),
               reason=nothing_unlocked),
        SEPARATOR,
        *_tree_actions(edits, nothing_selected, nothing_unlocked, unlocked),
        SEPARATOR,
        *_handle_actions(handles),
        Action("pose.reset", "Reset &Pose", "Reset the bone, or all bones of a model, to the pose of the clip.",
               edits.reset_pose, ("Ctrl+Alt+R",),
               reason=lambda: "" if edits.posed_bones else "No selected bone has a pose offset."),
        SEPARATOR,
        Action("edit.hide", "&Hide", "Hide selected objects.", edits.hide_selected, ("H",), reason=nothing_selected),
        Action("edit.show_all", "&Show All", "Show all hidden objects.", edits.show_all, ("Alt+H",),
               reason=lambda: "" if any(not n.visible for n in document.scene.nodes) else "Nothing is hidden."),
        Action("edit.select_all", "Select &All", "Select all objects.", edits.select_all, ("Ctrl+A",),
               reason=lambda: "" if document.scene.nodes else "The scene is empty."),
        Action("edit.deselect", "D&eselect", "Clear the selection.", lambda: _deselect(edits, tools),
               ("Ctrl+Shift+A",)),
        *_search_actions(context, window, show_preferences),
    ])  # fmt: skip


def _tree_actions(
    edits: SceneEdits, nothing_selected: Callable[[], str], nothing_unlocked: Callable[[], str],
    unlocked: Callable[[], Iterator[Node]],
) -> list[Action]:  # fmt: skip
    return [
        Action("edit.group", "&Group", "Put the selected objects into a group.", edits.group_selected, ("Ctrl+G",),
               reason=nothing_unlocked),
        Action("edit.ungroup", "&Ungroup", "Dissolve the selected group.", edits.ungroup_selected, ("Ctrl+Shift+G",),
               reason=lambda: "" if any(n.settings.is_group for n in unlocked()) else "Select a group first."),
        Action("edit.attach", "Attach to Acti&ve", "Attach the other selected objects to the one selected last.",
               edits.attach_selected, ("Ctrl+P",), reason=lambda: edits.attach_fault),
        Action("edit.detach", "Detac&h", "Detach the selected objects from their parents.", edits.detach_selected,
               ("Alt+P",), reason=lambda: edits.detach_fault),
        Action("edit.lock", "&Lock / Unlock", "Protect the selected objects from changes, or unlock them.",
               edits.lock_selected, ("Shift+L",), reason=nothing_selected),
    ]  # fmt: skip


def _search_actions(
    context: EditorContext, window: MainWindow, show_preferences: Callable[[], object]
) -> list[Action | str]:
    return [
        SEPARATOR,
        Action("edit.find", "F&ind…", "Find a setting in the inspector, or text in the kernel.",
               lambda: find(context, window), ("Ctrl+F",)),
        Action("edit.preferences", "Pre&ferences…", "Theme, playback, back end, files and shortcuts.",
               show_preferences, ("Ctrl+,",)),
    ]  # fmt: skip


def fill_history(menu: QMenu, history: UndoHistory) -> None:
    """Fills a menu with the latest entries, the newest first; undone ones are dim."""
    texts = ["Opened", *history.texts]
    first = max(0, min(history.index, len(texts) - HISTORY_MAX))
    for index in reversed(range(first, min(first + HISTORY_MAX, len(texts)))):
        saved = " (saved)" if index == history.saved else ""
        action = menu.addAction(f"{menu_text(texts[index])}{saved}", functools.partial(history.go, index))
        action.setCheckable(True)
        action.setChecked(index == history.index)
        if index > history.index:
            font = action.font()
            font.setItalic(True)
            action.setFont(font)
            action.setToolTip("Undone")


def _choice(
    action_id: str, title: str, tip: str, choose: Callable[[T], object], chosen: Callable[[], T | None], value: T,
    *keys: str, icon: str = "",
) -> Action:  # fmt: skip
    return Action(action_id, title, tip, lambda _: choose(value), keys, icon, is_on=lambda: chosen() is value)


def _handle_actions(handles: HandleTool) -> list[Action]:
    return [
        _choice(f"handle.{mode.value}", title, f"Handles that {verb} the selected object.",
                handles.set_mode, lambda: handles.mode, mode, key, icon=icon)
        for mode, title, verb, key, icon in (
            (HandleMode.MOVE, "&Move", "move", "G", "mdi6.arrow-all"),
            (HandleMode.ROTATE, "&Rotate", "rotate", "R", "mdi6.rotate-3d-variant"),
            (HandleMode.SCALE, "&Scale", "scale", "E", "mdi6.arrow-expand"),
        )
    ]  # fmt: skip


_SWITCHES = {
    "bones": ("&Bones", ("Shift+B",), "bone"),
    "grid": ("&Grid", ("Shift+G",), "grid"),
    "contacts": ("C&ontacts", (), ""),
    "statistics": ("S&tatistics", ("Shift+T",), ""),
    "textures": ("Te&xtures", (), ""),
    "follow": ("Fo&llow Character", ("Shift+F",), ""),
    "ghosts_playing": ("&Ghosts While Playing", (), ""),
}  # fmt: skip
"""Title, keys and icon of switches whose label is not their title."""


def view_menu(
    context: EditorContext, window: MainWindow, frame_selection: Callable[[], None], frame_all: Callable[[], None]
) -> Menu:
    document, edits, docks = context.document, context.edits, window.docks

    def look(name: str, title: str, tip: str, key: str) -> Action:
        return Action(f"view.{name}", title, tip, lambda: edits.turn_camera(name), (key,))

    def display(mode: DisplayMode, title: str, tip: str, key: str, icon: str) -> Action:
        return Action(f"display.{mode.value}", title, tip, lambda _: edits.show(mode), (key,), icon,
                      is_on=lambda: document.scene.view.display is mode)  # fmt: skip

    def switch(record: Param) -> Action:
        title, keys, icon = _SWITCHES.get(record.name, (f"&{record.label}", (), ""))
        return Action(f"overlay.{record.name}", title, record.declared.doc, lambda on: edits.set_view(record.name, on),
                      keys, icon, is_on=lambda: getattr(document.scene.view, record.name))  # fmt: skip

    def match_exposure() -> None:
        engine = context.client.engine
        if engine is not None:
            edits.set_view("exposure", engine.render_view(document.view_state.camera).matched_exposure())

    return Menu("&View", [
        Action("view.frame", "&Frame Selection", "Fill the viewport with the selection.", frame_selection,
               ("F", "Num+.", "Num+,")),
        Action("view.home", "Frame &All", "Fill the viewport with the whole scene.", frame_all, ("Home",), "frame"),
        Action("view.maximise", "Maximise Vie&wport", "Maximise or restore the viewport.", docks.maximise,
               ("Ctrl+Space",), is_on=lambda: docks.is_maximised),
        SEPARATOR,
        look("front", "F&ront", "Look from the front.", "1"),
        look("right", "R&ight", "Look from the right.", "3"),
        look("top", "&Top", "Look from above.", "7"),
        look("back", "&Back", "Look from behind.", "Ctrl+1"),
        look("left", "&Left", "Look from the left.", "Ctrl+3"),
        look("bottom", "Botto&m", "Look from below.", "Ctrl+7"),
        Action("view.orthographic", "&Orthographic", "Switch to orthographic projection.", edits.set_orthographic,
               ("5",), is_on=lambda: document.view_state.camera.orthographic),
        SEPARATOR,
        display(DisplayMode.SHADED, "&Shaded", "Textured and lit.", "Alt+1", "mdi6.circle"),
        display(DisplayMode.SHADED_WIRE, "Shaded + &Wireframe", "Textured and lit, with edges.", "Alt+2", "mdi6.web"),
        display(DisplayMode.WIREFRAME, "W&ireframe", "Edges only.", "Alt+3", "mdi6.vector-polygon"),
        display(DisplayMode.NORMALS, "&Normals", "Surface normals as colours.", "Alt+4", "mdi6.axis-arrow"),
        display(DisplayMode.WEIGHTS, "Weight &Heat Map", "Weight of the selected bone.", "Alt+5", "mdi6.fire"),
        Action("display.toggle_wire", "Toggle Wire&frame", "Show edges over the shaded surface.",
               edits.toggle_wireframe, ("W",)),
        SEPARATOR,
        Action("view.match_exposure", "Match Expos&ure", "Set the exposure for a grey card at the objects.",
               match_exposure),
        SEPARATOR,
        *(switch(record) for record in params_of(ViewSettings) if record.type is bool),
    ])  # fmt: skip


def add_menu(context: EditorContext, files: ProjectFiles, kinds: Kinds) -> Menu:
    """Returns the menu of all actions that add nodes; `AddMenu` arranges them."""
    adds = [
        Action(f"add.{e.id}", e.label, e.tip, lambda e=e: context.edits.add(e.id), icon=e.icon, reason=e.reason and
               functools.partial(context.edits.reason, e.reason))
        for e in add_entries().values()
    ]  # fmt: skip
    commands = [command_action(c) for panel in kinds.values() for c in panel.adds if isinstance(c, Command)]
    model = Action("add.model", "&Model…", "Add a model from a file.",
                   lambda: _with(context.dialogs.model_path(), files.import_model))  # fmt: skip
    return Menu(ADD, [model, *adds, *commands])


def skinning_menu(context: EditorContext) -> Menu:
    document, edits, active = context.document, context.edits, context.active

    def skin(method: SkinningMethod, title: str, tip: str, *keys: str, short: str = "") -> Action:
        def is_on() -> bool:
            node, comparison = active.node, document.scene.view.comparison
            return node is not None and comparison is SkinningComparison.OFF and model_settings(node).skinning is method

        return Action(f"skin.{method.value}", title, tip, lambda _: edits.skin_by(method), keys, short=short,
                      reason=lambda: _no_model(context), is_on=is_on)  # fmt: skip

    def compare(mode: SkinningComparison, title: str, tip: str, key: str, short: str = "") -> Action:
        return Action(f"compare.{mode.value}", title, tip, lambda _: edits.compare(mode), (key,), short=short,
                      is_on=lambda: document.scene.view.comparison is mode)  # fmt: skip

    return Menu("&Skinning", [
        skin(SkinningMethod.LBS, "&Linear Blend", "Skin by blended matrices.", "Ctrl+L", short="LBS"),
        skin(SkinningMethod.DQS, "&Dual Quaternion", "Skin by blended dual quaternions.", "Ctrl+K", short="DQS"),
        skin(SkinningMethod.DQS_SCALE, "Dual Quaternion with &Scale",
             "Scale blended linearly, then dual quaternions."),
        SEPARATOR,
        compare(SkinningComparison.OFF, "Si&ngle View", "Show the skinning method of each model.", "Ctrl+Alt+1"),
        compare(SkinningComparison.SPLIT, "LBS | DQS S&plit", "Linear blend left, dual quaternions right.",
                "Ctrl+Alt+2", "Split"),
        compare(SkinningComparison.DIFFERENCE, "LBS – DQS &Difference", "Distance between the two methods.",
                "Ctrl+Alt+3", "Difference"),
    ])  # fmt: skip


def playback_menu(context: EditorContext, binding: TimelineBinding, preferences: Preferences) -> Menu:
    playback, active = context.playback, context.active
    return Menu("Pla&yback", [
        Action("play.toggle", "&Play / Pause", "Play or pause.", playback.toggle, ("Space",), "play"),
        Action("play.backwards", "Play &Backwards", "Play backwards or pause.", lambda: playback.toggle(-1),
               ("Shift+Space",)),
        SEPARATOR,
        Action("play.next", "&Next Frame", "Step forward one frame.", lambda: binding.step(1), (".",)),
        Action("play.previous", "&Previous Frame", "Step back one frame.", lambda: binding.step(-1), (",",)),
        Action("play.next_key", "Next &Key", "Go to the next key.", lambda: binding.step_key(1), ("Shift+.",)),
        Action("play.previous_key", "Previous Ke&y", "Go to the previous key.", lambda: binding.step_key(-1),
               ("Shift+,",)),
        Action("play.first", "&First Frame", "Go to the start of the range.", lambda: binding.jump("first"),
               ("Ctrl+Home",)),
        Action("play.last", "&Last Frame", "Go to the end of the range.", lambda: binding.jump("last"),
               ("Ctrl+End",)),
        SEPARATOR,
        Action("play.in", "Set &In", "Start the range at the playhead.", lambda: binding.set_point("in_point"),
               ("I",)),
        Action("play.out", "Set &Out", "End the range at the playhead.", lambda: binding.set_point("out_point"),
               ("O",)),
        Action("play.clear_range", "&Clear In and Out", "Play the whole clip.", binding.clear_range, ("Alt+I",)),
        SEPARATOR,
        Action("play.whole_frames", "&Whole Frames",
               "Scrubbing, pausing and keys stay on frames; Shift inverts this while scrubbing.",
               lambda on: preferences.change("playback", whole_frames=on),
               is_on=lambda: preferences["playback"].whole_frames),
        Action("play.bind_pose", "&Bind Pose", "Show the pose the skeleton was bound in.", binding.set_bind_pose,
               ("B",), reason=lambda: _no_model(context),
               is_on=lambda: bool(active.node and model_settings(active.node).bind_pose)),
    ])  # fmt: skip


def _bake_actions(
    context: EditorContext, work: SimulationWork, output: Output, nothing_simulated: Callable[[], str],
    range_end: Callable[[], str],
) -> list[Action]:  # fmt: skip
    document = context.document

    def no_bake_possible() -> str:
        unsaved = "" if document.path else "Save the project first: the bake is stored next to it."
        return nothing_simulated() or unsaved

    def nothing_baked() -> str:
        return "" if any(node.baked for node in document.scene.nodes) else "Nothing is baked."

    def no_bake_folder() -> str:
        path = document.path
        return "" if path is not None and is_bake(cache_folder(path)) else "The project has no bake."

    return [
        Action("simulate.bake", "&Bake", "Cache the simulation of the selected objects, or of all, on disk.",
               lambda: work.baking.start(), icon="mdi6.stove", reason=no_bake_possible,
               note=lambda: f"Bakes {range_end()}"),
        Action("simulate.free", "&Detach Bake", "Simulate baked objects again; the folder of the bake stays.",
               work.baking.free, reason=nothing_baked),
        Action("simulate.verify", "&Verify Bake",
               "Repeat the baked simulation in the background and report whether every step is bit-identical.",
               work.verifying.start, reason=no_bake_folder),
        Action("simulate.verify_projects", "Verify Ba&kes…",
               "Verify the bakes of saved projects here, on several processes or on a scheduler.", output.open_verify),
    ]  # fmt: skip


def simulation_menu(context: EditorContext, work: SimulationWork, output: Output, kinds: Kinds) -> Menu:
    document, playback = context.document, context.playback

    def nothing_simulated() -> str:
        simulated = any(KINDS[node.kind].system for node in document.scene.nodes)
        return "" if simulated else "Nothing in the scene is simulated."

    def range_end() -> str:
        name = "the end" if playback.settings.out_point is None else "Out"
        return f"to {name}, frame {playback.end * playback.settings.rate:.6g}."

    def nothing_muted() -> str:
        chosen = document.scene.with_contents(document.selection.nodes)
        simulated = any(KINDS[document.scene.node(node_id).kind].can_be_muted for node_id in chosen)
        return "" if simulated else "Select a simulated object or a collider first."

    return Menu("Si&mulation", [
        Action("simulate.step", "Single &Step", "Pause and do one step.", playback.step_simulation, ("Alt+.",),
               reason=nothing_simulated),
        Action("simulate.seek", "Simulate to Play&head",
               "Simulate from the start to the playhead, as fast as possible.", work.seek.start, ("Ctrl+Shift+R",),
               "mdi6.fast-forward", nothing_simulated),
        Action("simulate.range", "Simulate Ran&ge", "Simulate from the start to the end of the range.",
               lambda: work.seek.start(playback.end), reason=nothing_simulated,
               note=lambda: f"Simulates {range_end()}"),
        Action("simulate.reset", "&Reset Simulation", "Reset the simulation to the first frame.",
               playback.reset_simulation, ("Ctrl+R",), "reset", nothing_simulated),
        SEPARATOR,
        *_bake_actions(context, work, output, nothing_simulated, range_end),
        Action("simulate.sweep", "S&weep…", "Try values of one or two settings of the selected object on a map.",
               work.open_sweeps, reason=nothing_simulated),
        SEPARATOR,
        Action("node.mute", "&Mute / Unmute", "Disable or enable the simulation of the selection.",
               lambda: _toggle(context, "muted"), ("M",), reason=nothing_muted),
        Action("node.solo", "S&olo", "Simulate only the selection among objects of its type.",
               lambda: _toggle(context, "solo"), ("S",), reason=nothing_muted),
        SEPARATOR,
        *(command_action(command) for panel in kinds.values() for command in panel.commands),
    ])  # fmt: skip


def timing_menu(timings: TimingsPanel, measure: Callable[[bool], None], compare: Callable[[], None]) -> Menu:
    return Menu("&Timing", [
        Action("timing.measure", "&Measure", "Measure the frame time per pass.", measure, ("Ctrl+T",),
               is_on=lambda: timings.is_measuring),
        Action("timing.pause", "&Pause Timings", "Freeze the view of the timings; measuring continues.",
               timings.view.set_held, ("Shift+P",), is_on=lambda: timings.view.is_held),
        SEPARATOR,
        Action("timing.record", "&Record", "Start or stop a recording to compare with others.",
               lambda _: timings.view.toolbar.record_button.click(), ("Ctrl+Shift+T",),
               is_on=lambda: timings.recordings.running is not None),
        Action("timing.compare_back_ends", "Compare Back &Ends",
               "Measure the same scene by transform feedback and by compute in turn, frame by frame.", compare),
        SEPARATOR,
        Action("timing.export_csv", "Export &CSV…", "Write the displayed timings: a row for each frame and pass.",
               timings.export_csv),
        Action("timing.export_trace", "Export Chrome &Trace…", "Write the displayed timings for Perfetto.",
               timings.export_trace),
        Action("timing.import", "&Import CSV…", "Read timings to compare with.", timings.import_csv),
        SEPARATOR,
        Action("timing.clear", "C&lear", "Delete the timings of the last minute; recordings stay.", timings.clear),
    ])  # fmt: skip


def window_menu(window: MainWindow) -> Menu:
    reset = Action("window.reset_layout", "&Reset Layout", "Move every panel to its default place.", window.docks.reset)
    return Menu(WINDOW, [reset])


def help_menu(
    context: EditorContext, window: MainWindow, kinds: Kinds, show_guide: Callable[[], object],
    show_how: Callable[[], object], begin_tour: Callable[[], None],
) -> Menu:  # fmt: skip
    return Menu("He&lp", [
        Action("help.guide", "User &Guide", "Open the guide at the focused panel or row.", show_guide, ("F1",)),
        Action("help.how", "&How It Works", "Open formulas, sources, accuracy and limits in the guide.", show_how),
        Action("help.tour", "&Tour", "Take a tour in seven steps.", begin_tour),
        Action("help.commands", "&Search Commands", "Find a command by its name and run it.",
               lambda: search_commands(window), ("Ctrl+Shift+P",)),
        Action("help.shortcuts", "&Keyboard Shortcuts", "Search keys and mouse actions.",
               lambda: show_shortcuts(window, kinds), ("?", "Shift+F1")),
        Action("help.plugins", "&Plug-ins", "Types, formats and commands of other packages, and of your own files.",
               lambda: show_plugins(context, window)),
        SEPARATOR,
        Action("help.about", "&About Sinew", "Version and graphics driver.", lambda: show_about(context, window)),
    ])  # fmt: skip


def _no_model(context: EditorContext) -> str:
    return "" if context.active.node is not None else "Open a model first."


def _with(path: Path | None, use: Callable[[Path], object]) -> None:
    if path is not None:
        use(path)


def _toggle(context: EditorContext, name: str) -> None:
    """Sets "muted" or "solo" of the selected nodes; clears it if all of them have it."""
    scene = context.document.scene
    chosen = [scene.node(node_id) for node_id in scene.with_contents(context.document.selection.nodes)]
    simulated = [node for node in chosen if KINDS[node.kind].can_be_muted]
    on = any(not getattr(node, name) for node in simulated)
    verbs = {"muted": ("Unmute", "Mute"), "solo": ("End solo of", "Solo")}
    context.edits.set_of_nodes([node.id for node in simulated], name, on, verbs[name][on])


def copy_selected(context: EditorContext) -> bool:
    """Copies the selected nodes to the clipboard; returns False if nothing is selected."""
    text = context.edits.copied_text()
    if text:
        QGuiApplication.clipboard().setText(text)
    return bool(text)


def _copy_python(context: EditorContext) -> None:
    if (latest := context.document.undo_stack.latest) is not None:
        QGuiApplication.clipboard().setText(python_text(latest))


def _cut(context: EditorContext) -> None:
    if copy_selected(context):
        context.edits.delete_selected()


def _deselect(edits: SceneEdits, tools: ViewportTools) -> None:
    edits.select()
    tools.deselect()


def paste(context: EditorContext, window: MainWindow) -> None:
    """Adds the nodes on the clipboard; reports in the status bar if there are none."""
    text = QGuiApplication.clipboard().text()
    if FORMAT not in text:
        window.show_news("The clipboard holds no objects of a scene")
        return
    try:
        context.edits.paste(text)
    except ProjectError as error:
        context.panels.warn("", str(error))


def save_screenshot(context: EditorContext) -> None:
    writable = {f".{bytes(name.data()).decode()}" for name in QImageWriter.supportedImageFormats()}
    suffixes = [suffix for suffix in IMAGE_FORMATS.suffixes() if suffix in writable]
    suggestion = Path(f"{context.document.title}{suffixes[0]}")
    path = context.dialogs.save_path("Save screenshot", suggestion, file_filter("Images", suffixes))
    if path is None:
        return
    path = path if path.suffix else path.with_suffix(suffixes[0])
    if context.viewport.grab().save(str(path)):
        context.panels.inform(str(path), "screenshot saved")
    else:
        context.panels.fail(str(path), "cannot be written")


def export_selected(context: EditorContext, writer: Writer[RawModel]) -> None:
    node = context.active.node
    loaded = context.store.loaded(node.id) if node else None
    if node is None or loaded is None:
        return
    suffix, kind = writer.suffixes[0], file_filter(writer.name, writer.suffixes)
    path = context.dialogs.save_path(f"Export {writer.name}", Path(f"{node.name}{suffix}"), kind)
    if path is not None:
        target, writer = MODEL_WRITERS.typed(path, writer)
        panels = context.panels
        reported = {"done": panels.inform, "failed": panels.fail, "warned": panels.warn}
        animated = context.files.assets.animated_model(node.id, loaded.model)
        clips = animated.clips[len(loaded.model.clips) :]
        weights = () if context.store.weight_fault(node.id) else model_settings(node).weights
        export_model(Path(loaded.model.path), target, writer, panels, clips=clips, weights=weights, **reported)
