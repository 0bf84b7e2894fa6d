"""What every entry of the action table does in an editor."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QImageWriter
from PySide6.QtWidgets import QMessageBox

from app.editor.actions import EXPORTS, SCENE_EXPORTS, SWITCHES, shortcut_entries
from app.files.export import export_model
from app.files.node_text import FORMAT
from app.files.project_error import ProjectError
from sim.assets.formats import IMAGE_FORMATS
from sim.cache.step_store import CacheBudget
from sim.characters.settings import SkinningMethod
from sim.export.formats import MODEL_WRITERS
from sim.gl.back_end import BackEndChoice
from sim.kinds import KINDS
from sim.scene.handles import HandleMode
from sim.scene.view import DisplayMode, SkinningComparison
from widgets.cheat_sheet import CheatSheet
from widgets.texts import file_filter
from widgets.theme import ThemeMode

if TYPE_CHECKING:
    from app.editor.editor import Editor
    from sim.assets.raw import RawModel
    from sim.export.formats import Writer

Slots = dict[str, Callable[..., None]]


def action_slots(editor: Editor) -> Slots:
    """One callable per action id; switches get their state."""
    return {
        **_file_slots(editor),
        **_edit_slots(editor),
        **_playback_slots(editor),
        **_timing_slots(editor),
        **_view_slots(editor),
        **_help_slots(editor),
    }


def _file_slots(editor: Editor) -> Slots:
    files, dialogs = editor.files, editor.dialogs
    return {
        "file.new": files.new,
        "file.open": lambda: _with(dialogs.open_path(), files.open),
        "file.import": lambda: _with(dialogs.import_path(), files.import_model),
        "file.save": files.save,
        "file.save_as": files.save_as,
        **{action_id: _call(export_selected, editor, writer) for action_id, writer in EXPORTS.items()},
        **{action_id: _call(editor.output.open_export, known) for action_id, known in SCENE_EXPORTS.items()},
        "file.render": lambda: editor.output.open_render(),
        "file.screenshot": lambda: save_screenshot(editor),
        "file.copy_picture": lambda: QGuiApplication.clipboard().setPixmap(editor.viewport.grab()),
        "file.quit": lambda: editor.window.close(),
        "add.model": lambda: _with(dialogs.model_path(), files.import_model),
        **{f"add.{entry.id}": _call(editor.edits.add, entry.id) for kind in KINDS.values() for entry in kind.adds},
    }


def _edit_slots(editor: Editor) -> Slots:
    edits, stack = editor.edits, editor.document.undo_stack
    return {
        "edit.undo": stack.undo,
        "edit.redo": stack.redo,
        "edit.rename": lambda: editor.panels.rename_selected(),
        "edit.duplicate": edits.duplicate_selected,
        "edit.delete": edits.delete_selected,
        "edit.cut": lambda: copy_selected(editor) and edits.delete_selected(),
        "edit.copy": lambda: copy_selected(editor),
        "edit.paste": lambda: paste(editor),
        "edit.group": edits.group_selected,
        "edit.ungroup": edits.ungroup_selected,
        "edit.lock": edits.lock_selected,
        "edit.hide": edits.hide_selected,
        "edit.show_all": edits.show_all,
        "pose.reset": edits.reset_pose,
        "edit.select_all": edits.select_all,
        "edit.deselect": lambda: deselect(editor),
        **{f"handle.{mode.value}": _call(editor.handles.set_mode, mode) for mode in HandleMode},
    }


def _playback_slots(editor: Editor) -> Slots:
    playback = editor.playback
    return {
        "play.toggle": playback.toggle,
        "play.backwards": lambda: playback.toggle(-1),
        "play.next": lambda: editor.binding.step(1),
        "play.previous": lambda: editor.binding.step(-1),
        "play.next_key": lambda: editor.binding.step_key(1),
        "play.previous_key": lambda: editor.binding.step_key(-1),
        "play.first": lambda: editor.binding.jump("first"),
        "play.last": lambda: editor.binding.jump("last"),
        "play.in": lambda: editor.binding.set_point("in_point"),
        "play.out": lambda: editor.binding.set_point("out_point"),
        "play.clear_range": lambda: editor.binding.clear_range(),
        "simulate.step": playback.step_simulation,
        "simulate.seek": lambda: editor.seek.start(),
        "simulate.bake": lambda: editor.baking.start(),
        "simulate.free": lambda: editor.baking.free(),
        "simulate.sweep": lambda: editor.work.open_sweeps(),
        "simulate.verify": lambda: editor.verifying.start(),
        "simulate.reset": playback.reset_simulation,
        **{f"step_room.{room.value}": _call(editor.set_cache_budget, room) for room in CacheBudget},
        **{f"back_end.{choice.value}": _call(editor.set_back_end, choice) for choice in BackEndChoice},
        "node.mute": lambda: toggle(editor, "muted"),
        "node.solo": lambda: toggle(editor, "solo"),
        "play.snap": lambda on: editor.binding.set_snapping(on),
        "play.bind_pose": lambda on: editor.binding.set_bind_pose(on),
    }


def _timing_slots(editor: Editor) -> Slots:
    # The panel is made after the window, which has its view.
    return {
        "timing.measure": lambda on: editor.measure(on),
        "timing.pause": lambda on: editor.timings.pause(on),
        "timing.record": lambda _on: editor.timings.toggle_recording(),
        "timing.compare_back_ends": lambda: editor.compare_back_ends(),
        "timing.export_csv": lambda: editor.timings.export_csv(),
        "timing.export_trace": lambda: editor.timings.export_trace(),
        "timing.import": lambda: editor.timings.import_csv(),
        "timing.clear": lambda: editor.timings.clear(),
    }


def _view_slots(editor: Editor) -> Slots:
    edits = editor.edits
    slots: Slots = {
        "view.frame": editor.frame_selection,
        "view.home": editor.frame_all,
        "view.orthographic": edits.set_orthographic,
        "display.toggle_wire": edits.toggle_wireframe,
        "view.maximise": lambda on: editor.window.docks.maximise(on),
        "window.reset_layout": lambda: editor.window.docks.reset(),
    }
    slots |= {
        f"view.{name}": _call(edits.turn_camera, name) for name in ("front", "right", "top", "back", "left", "bottom")
    }
    slots |= {f"display.{mode.value}": _call(edits.show, mode) for mode in DisplayMode}
    slots |= {f"compare.{mode.value}": _call(edits.compare, mode) for mode in SkinningComparison}
    slots |= {f"skin.{method.value}": _call(edits.skin_by, method) for method in SkinningMethod}
    slots |= {f"theme.{mode.value}": _call(editor.set_theme, mode) for mode in ThemeMode}
    slots |= {f"overlay.{record.name}": _set_view(editor, record.name) for record in SWITCHES}
    return slots


def _help_slots(editor: Editor) -> Slots:
    return {
        "help.guide": editor.show_guide,
        "help.tour": lambda: editor.begin_tour(),
        "help.shortcuts": lambda: show_shortcuts(editor),
        "help.about": lambda: show_about(editor),
    }


def deselect(editor: Editor) -> None:
    """Selects nothing, of whatever tool."""
    editor.edits.select()
    editor.tools.deselect()


def toggle(editor: Editor, name: str) -> None:
    """Mutes the selected nodes or makes them solo, or ends that."""
    scene = editor.document.scene
    chosen = [scene.node(node_id) for node_id in scene.with_contents(editor.document.selection.nodes)]
    simulated = [node for node in chosen if KINDS[node.kind].can_be_muted]
    on = any(not getattr(node, name) for node in simulated)
    verbs = {"muted": ("Unmute", "Mute"), "solo": ("End solo of", "Solo")}
    editor.edits.set_of_nodes([node.id for node in simulated], name, on, verbs[name][on])


def copy_selected(editor: Editor) -> bool:
    """Puts the selected nodes on the clipboard; whether there were any."""
    text = editor.edits.copied_text()
    if text:
        QGuiApplication.clipboard().setText(text)
    return bool(text)


def paste(editor: Editor) -> None:
    """Adds the nodes of the clipboard; says so where it holds none."""
    text = QGuiApplication.clipboard().text()
    if FORMAT not in text:
        editor.window.show_news("The clipboard holds no objects of a scene")
        return
    try:
        editor.edits.paste(text)
    except ProjectError as error:
        editor.panels.warn("", str(error))


def show_shortcuts(editor: Editor) -> CheatSheet:
    """Opens the searchable list of keys; it may stay open beside the work."""
    mouse = [line for room in editor.rooms.values() for line in room.mouse]
    sheet = CheatSheet(shortcut_entries(editor.window.actions_table.specs, mouse), editor.window)
    sheet.finished.connect(sheet.deleteLater)
    sheet.show()
    return sheet


def show_about(editor: Editor) -> None:
    """Tells the version and the graphics driver."""
    engine = editor.client.engine
    lines = [f"Sinew {importlib.metadata.version('sinew')}", f"Python {platform.python_version()}"]
    if engine is not None:
        driver = engine.context.capabilities
        lines += [driver.renderer, f"OpenGL {driver.version}", f"Back end: {engine.context.back_ends.status}"]
    QMessageBox.about(editor.window, "About Sinew", "\n".join(lines))


def save_screenshot(editor: Editor) -> None:
    """Saves the picture of the viewport as the user sees it."""
    writable = {f".{name.data().decode()}" for name in QImageWriter.supportedImageFormats()}
    suffixes = [suffix for suffix in IMAGE_FORMATS.suffixes() if suffix in writable]
    suggestion = Path(f"{editor.document.title}{suffixes[0]}")
    path = editor.dialogs.save_path("Save screenshot", suggestion, file_filter("Images", suffixes))
    if path is None:
        return
    path = path if path.suffix else path.with_suffix(suffixes[0])
    saved = editor.viewport.grab().save(str(path))
    report = editor.panels.inform if saved else editor.panels.fail
    report(str(path), "screenshot saved" if saved else "cannot be written")


def export_selected(editor: Editor, writer: Writer[RawModel]) -> None:
    node = editor.active.node
    loaded = editor.store.loaded(node.id) if node else None
    if node is None or loaded is None:
        return
    suffix, kind = writer.suffixes[0], file_filter(writer.name, writer.suffixes)
    path = editor.dialogs.save_path(f"Export {writer.name}", Path(f"{node.name}{suffix}"), kind)
    if path is not None:
        target, writer = MODEL_WRITERS.typed(path, writer)
        panels = editor.panels
        reported = {"done": panels.inform, "failed": panels.fail, "warned": panels.warn}
        export_model(Path(loaded.model.path), target, writer, panels, **reported)


def _with(path: Path | None, use: Callable[[Path], object]) -> None:
    if path is not None:
        use(path)


def _call(function: Callable[..., object], *arguments: object) -> Callable[..., None]:
    return lambda _checked=False: function(*arguments) and None


def _set_view(editor: Editor, name: str) -> Callable[[bool], None]:
    return lambda on: editor.edits.set_view(name, on)
