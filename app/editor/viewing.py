"""What the viewport shows: the menus View and Skinning, overlays, framing, and uploads."""

from collections.abc import Callable

from sinew.app.editor.feature import LATER, Feature
from sinew.app.editor.session import Session
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.viewport.follow import Follow
from sinew.app.viewport.overlays import ViewportOverlays
from sinew.sim.characters.settings import SkinningMethod, model_settings
from sinew.sim.scene.change import Change
from sinew.sim.scene.params import Param, params_of
from sinew.sim.scene.scene import NodeId
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings


class Viewing(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        kinds = session.kind_panels.values()
        session.overlays = ViewportOverlays(
            session.viewport, session.document, session.playback, session.active, session.client, kinds
        )
        self.follow = Follow(session.document, session.playback, session.active, session.client)
        self._frame_next = False

    def menus(self) -> list[Menu]:
        return [view_menu(self.session, self.frame_selection, self.frame_all), skinning_menu(self.session)]

    def join(self) -> None:
        session = self.session
        viewport, client, panels = session.viewport, session.client, session.panels
        session.document.changed.connect(self._on_changed)
        session.document.view_state_changed.connect(lambda _: viewport.update())
        session.uploads.finished.connect(self._on_uploaded)
        session.uploads.failed.connect(panels.fail)
        session.files.leaving.connect(self._on_leaving)
        session.files.opened.connect(self._on_opened)
        client.gl_failed.connect(lambda text: panels.fail("", text), LATER)
        client.switched.connect(session.window.show_news, LATER)
        client.paint_requested.connect(viewport.show_pending)
        session.tools.hint.connect(session.window.show_hint)
        session.edits.report = session.window.show_news
        session.handles.mode_changed.connect(session.refresh_actions)
        session.preferences.changed.connect(lambda _: viewport.update())
        session.preferences.changed.connect(session.refresh_actions)
        session.overlays.gizmo.view_requested.connect(session.edits.turn_camera)
        session.overlays.gizmo.turned.connect(session.edits.orbit_camera)
        panels.frame_requested.connect(self.frame_selection)

    def frame_all(self) -> None:
        self._frame(None)

    def frame_selection(self) -> None:
        """Frames the selection, or the whole scene if nothing is selected."""
        self._frame(self.session.document.selection.node)

    def _frame(self, node_id: NodeId | None, *, is_new: bool = False) -> None:
        document, viewport = self.session.document, self.session.viewport
        with viewport.gl_current():
            box = self.session.client.bounds(node_id, document.selection.bone)
        if box is not None:
            camera = document.view_state.camera
            camera = camera.over(box.lo, box.hi) if is_new else camera
            document.set_camera(camera.framed(box.lo, box.hi, viewport.width() / viewport.height()))

    def _on_changed(self, change: Change) -> None:
        if change.ref is None or change.ref.name in ("clip", "path"):
            self.session.client.difference_scale = 0.0
        self.session.viewport.update()

    def _on_leaving(self) -> None:
        with self.session.viewport.gl_current():
            self.session.client.clear()

    def _on_opened(self, frame: bool) -> None:
        self.session.playback.restore(self.session.document.view_state.time)
        self._frame_next = frame
        self.session.uploads.follow()
        self.session.viewport.update()

    def _on_uploaded(self) -> None:
        if self._frame_next and not self.session.store.loading:
            self._frame_next = False
            self._frame(None, is_new=True)


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


def view_menu(session: Session, frame_selection: Callable[[], None], frame_all: Callable[[], None]) -> Menu:
    document, edits, client, docks = session.document, session.edits, session.client, session.window.docks

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
        engine = client.engine
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


def skinning_menu(session: Session) -> Menu:
    document, edits, active = session.document, session.edits, session.active

    def skin(method: SkinningMethod, title: str, tip: str, *keys: str, short: str = "") -> Action:
        def is_on() -> bool:
            node, comparison = active.node, document.scene.view.comparison
            return node is not None and comparison is SkinningComparison.OFF and model_settings(node).skinning is method

        return Action(f"skin.{method.value}", title, tip, lambda _: edits.skin_by(method), keys, short=short,
                      reason=session.context.no_model, is_on=is_on)  # fmt: skip

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
