"""Base of the editors, which do not know the scene: a `Binding` sends edits to the `EditTarget`, a gesture per drag."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import NodeId, ParamRef, Scene, value_at
from sinew.widgets.number_text import NumberTextError
from sinew.widgets.overlay import Divider
from sinew.widgets.protocols import EditTarget


class GestureSource(Protocol):
    edit_started: SignalInstance
    edit_finished: SignalInstance
    edit_cancelled: SignalInstance


class ValueEditor(QWidget):
    """Editor of one value. `edited` carries a value that the user entered. Values between `edit_started` and
    `edit_finished` or `edit_cancelled` belong to one gesture; any other value is an edit by itself.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def forward_gestures(self, source: GestureSource) -> None:
        source.edit_started.connect(self.edit_started)
        source.edit_finished.connect(self.edit_finished)
        source.edit_cancelled.connect(self.edit_cancelled)

    @property
    def change(self) -> Callable[[Any], Any] | None:
        """The relative change that `edited` is being emitted for, such as `*2`, to apply to other nodes; else None."""
        return None

    def set_value(self, value: Any) -> None:
        """Shows a value without emitting a signal."""
        raise NotImplementedError

    def show_mixed(self, values: Sequence[Any]) -> None:
        """Shows the different values of several nodes, the active node first, without emitting a signal."""
        self.set_value(values[0])

    def fit(self, width: int) -> None:
        """Arranges the widgets for a width [px]."""

    def release(self) -> None:
        """Closes dialogs; call this before the editor is deleted."""


class Binding(QObject):
    """Connection of an editor with a value of one node, and of the other nodes that are edited together with it.

    Args:
        peers: Other nodes, of the same type.
        by_component: An edit of one component of a vector keeps the other components of the peers.
        shown: Returns the scene with the shown values, by default the scene of the target.
        send: Sets the values instead of the target.
    """

    refused = Signal(str)  # The scene rejected a value; carries the reason
    settled = Signal()  # A gesture or edit ended: the editor can show the scene again

    def __init__(
        self,
        target: EditTarget,
        ref: ParamRef,
        editor: ValueEditor | Divider,
        peers: Sequence[NodeId] = (),
        *,
        by_component: bool = False,
        shown: Callable[[], Scene] | None = None,
        send: Callable[[Mapping[ParamRef, Any], object | None], None] | None = None,
    ) -> None:
        super().__init__(editor)
        self._target, self._editor = target, editor
        self._peers, self._by_component = [ParamRef(node_id, ref.part, ref.name) for node_id in peers], by_component
        self._ref = ref
        self._shown, self._send = shown or (lambda: target.scene), send or target.set_values
        self._gesture: object | None = None
        editor.edit_started.connect(self._begin)
        editor.edited.connect(self.set_value)
        editor.edit_finished.connect(self.finish)
        editor.edit_cancelled.connect(self._cancel)

    @property
    def is_held(self) -> bool:
        return self._gesture is not None

    def set_value(self, value: Any) -> None:
        """Sends a value, as part of the open gesture if there is one."""
        try:
            value_at(self._target.scene, self._ref)
        except KeyError:
            return  # The row exists for one event loop turn longer than its node.
        try:
            # A mixed number has no value after Escape.
            if not self._peers or (value is not None and not (isinstance(value, tuple) and None in value)):
                self._send(self._values(value), self._gesture)
        except (ParamError, NumberTextError) as error:
            self.refused.emit(str(error))
        if not self.is_held:
            self.settled.emit()

    def _values(self, value: Any) -> dict[ParamRef, Any]:
        scene, values = self._shown(), {self._ref: value}
        before, change = value_at(scene, self._ref), getattr(self._editor, "change", None)
        for peer in self._peers:
            values[peer] = value
            if change is not None:
                values[peer] = change(value_at(scene, peer))
            elif self._by_component and value != before:
                components = zip(value_at(scene, peer), before, value, strict=True)
                values[peer] = tuple(own if new == old else new for own, old, new in components)
        return values

    def finish(self) -> None:
        self._gesture = None
        self.settled.emit()

    def _begin(self) -> None:
        self._gesture = self._target.new_gesture()

    def _cancel(self) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            self._target.cancel_gesture(gesture)
        self.settled.emit()
