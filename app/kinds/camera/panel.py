from PySide6.QtWidgets import QToolButton

from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.camera.kind import cameras_of_file, transform_of
from sinew.sim.kinds.camera.placed import placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import Command, Panel, System
from sinew.sim.printable import counted
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.sim.scene.transform import node_matrix
from sinew.sim.scene.world_transforms import relative_transform
from sinew.widgets.parts import tool_button

_CUT = ("camera", "cut")


class CameraPanel(Panel):
    """Looks through cameras, moves them to the view, and cuts between them."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._through: NodeId | None = None
        self._before: Camera | None = None
        self._set: Camera | None = None
        button = tool_button("mdi6.video-outline", "Look Through", "Look through this camera", checkable=True)
        button.clicked.connect(self.look_through)
        self._button: QToolButton = button
        self.buttons = (button,)
        self.commands = (
            Command("camera.look_through", "Look Through Camera", "Show what the selected camera shows.",
                    self.look_through, reason=self._reason),
            Command("camera.to_view", "Align Camera to View", "Move the selected camera to the present view.",
                    self.align_to_view, reason=self._reason),
            Command("camera.cut", "Cut to Camera", "Cuts show the selected camera from the playhead on.",
                    self.cut, reason=self._reason),
        )  # fmt: skip
        context.client.drawn.connect(self._update)

    def _reason(self) -> str:
        return self._context.reason("camera")

    def suggestion(self, node: Node) -> tuple[str, Command] | None:
        loaded = self._context.store.loaded(node.id) if node.settings.is_character else None
        cameras = cameras_of_file(loaded.model, node) if loaded is not None else ()
        if not cameras or any(one.attachment.node == node.id for one in self._context.document.scene.of_kind("camera")):
            return None
        text = f"{node.name}: the file has {counted(len(cameras), 'camera')}."
        return text, Command("", "Add Cameras", "Add the cameras of the file to the scene.", self.add)

    def add(self) -> None:
        """Adds the cameras of the file of the selected model."""
        node = self._context.document.selected
        loaded = self._context.store.loaded(node.id) if node is not None else None
        if node is not None and loaded is not None:
            cameras = cameras_of_file(loaded.model, node)
            self._context.document.add_nodes(cameras, f"Add cameras of {node.name}")

    def look_through(self) -> None:
        """Again, or orbiting, ends it."""
        node = self._context.selected("camera")
        if self._through is not None or node is None:
            self._leave(restores=True)
        else:
            self._through, self._before = node.id, self._context.document.view_state.camera
            self._update()
        self._button.setChecked(self._through is not None)

    def align_to_view(self) -> None:
        context, node = self._context, self._context.selected("camera")
        engine = context.client.engine
        if node is None or engine is None:
            return
        transform = transform_of(context.document.view_state.camera)
        if node.attachment.node:
            transform = relative_transform(node_matrix(transform), engine.views.places.carrier(node))
        values = {ParamRef(node.id, "transform", name): getattr(transform, name) for name in ("position", "rotation")}
        values[ParamRef(node.id, "camera", "tracks")] = False
        context.document.set_as_one(f"Align {node.name} to view", values)

    def cut(self) -> None:
        """Sets keys that switch this camera on and all others off."""
        document, chosen = self._context.document, self._context.selected("camera")
        if chosen is None:
            return
        refs = {node.id: ParamRef(node.id, *_CUT) for node in document.scene.of_kind("camera")}
        values = {ref: node_id == chosen.id for node_id, ref in refs.items()}
        document.set_keys(f"Cut to {chosen.name}", values)

    def follow(self, node: Node | None, system: System | None) -> None:  # noqa: ARG002
        self._button.setChecked(self._through is not None)

    def _update(self, *_: object) -> None:
        """Moves the view with the camera; ends when the user moved it, or the camera was removed."""
        document, engine = self._context.document, self._context.client.engine
        if self._through is None or engine is None:
            return
        node = engine.views.scene.by_id.get(self._through)
        present = document.view_state.camera
        is_moved = self._set is not None and present != self._set
        if is_moved or not document.scene.has(self._through):
            self._leave(restores=False)
            return
        if node is None:  # the next frame has it
            return
        assert isinstance(node.settings, CameraSettings)
        camera = placed_camera(node.settings, engine.views.places.world_from_node(node))
        if camera != present:
            document.set_camera(camera)
        self._set = document.view_state.camera

    def _leave(self, *, restores: bool) -> None:
        before, self._through, self._before, self._set = self._before, None, None, None
        if restores and before is not None:
            self._context.document.set_camera(before)
        self._button.setChecked(False)
