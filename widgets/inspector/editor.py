"""What every editor of one value has in common, and its link to the scene.

An editor shows and edits; it knows neither scene nor history.  A `Binding` carries its edits to the
`EditTarget`, as one gesture from press to release.
"""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from sim.scene.params import ParamError
from sim.scene.scene import NodeId, ParamRef, value_at
from widgets.number_text import NumberTextError
from widgets.protocols import EditTarget


class ValueEditor(QWidget):
    """Base of all editors.

    `edited` carries a new value by the user.  Between `edit_started` and `edit_finished` or
    `edit_cancelled` all values belong to one gesture; a value outside stands alone.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    @property
    def change(self) -> Callable[[Any], Any] | None:
        """While `edited` is emitted: how the value of any node changes, where the user said that and no value."""
        return None

    def set_value(self, value: Any) -> None:
        """Shows a value; emits nothing."""
        raise NotImplementedError

    def show_mixed(self, values: Sequence[Any]) -> None:
        """Shows that several nodes have different values; emits nothing.

        Args:
            values: Those, first that of the node that was chosen last.
        """
        self.set_value(values[0])

    def fit(self, width: int) -> None:
        """Arranges its parts for a width [px] that it will have."""

    def release(self) -> None:
        """Ends what is open, such as a dialog; called before the editor goes away."""


class Binding(QObject):
    """Sends the edits of one editor to one value of the scene, and of the nodes that are edited along with its node.

    Args:
        target: Where edits go.
        ref: The value.
        editor: Its editor.
        peers: The other nodes, of the same kind.
        by_component: Whether an edit of one component of a vector leaves the other components of theirs alone.
    """

    refused = Signal(str)  # The scene refused a value; the text says why
    settled = Signal()  # A gesture or a single edit is over, so the editor may show the scene again

    def __init__(
        self,
        target: EditTarget,
        ref: ParamRef,
        editor: ValueEditor,
        peers: Sequence[NodeId] = (),
        *,
        by_component: bool = False,
    ) -> None:
        super().__init__(editor)
        self._target, self._editor = target, editor
        self._peers, self._by_component = [ParamRef(node_id, ref.part, ref.name) for node_id in peers], by_component
        self._ref = ref
        self._gesture: object | None = None
        editor.edit_started.connect(self._begin)
        editor.edited.connect(self.set_value)
        editor.edit_finished.connect(self.finish)
        editor.edit_cancelled.connect(self._cancel)

    @property
    def is_held(self) -> bool:
        return self._gesture is not None

    def set_value(self, value: Any) -> None:
        """Sends one value, as part of the gesture if there is one."""
        if self._is_gone():
            return
        try:
            if not self._peers:
                self._target.set_value(self._ref, value, self._gesture)
            elif value is not None and not (isinstance(value, tuple) and None in value):
                # A mixed number that is let go by Escape has no value of its own.
                self._target.set_values(self._values(value), self._gesture)
        except (ParamError, NumberTextError) as error:
            self.refused.emit(str(error))
        if not self.is_held:
            self.settled.emit()

    def _is_gone(self) -> bool:
        """Whether there is no such value any more: a row lives a turn of the event loop longer than its node."""
        try:
            value_at(self._target.scene, self._ref)
        except KeyError:
            return True
        return False

    def _values(self, value: Any) -> dict[ParamRef, Any]:
        scene, values = self._target.scene, {self._ref: value}
        before, change = value_at(scene, self._ref), self._editor.change
        for peer in self._peers:
            values[peer] = value
            if change is not None:
                values[peer] = change(value_at(scene, peer))
            elif self._by_component and value != before:
                cached = zip(value_at(scene, peer), before, value, strict=True)
                values[peer] = tuple(own if new == old else new for own, old, new in cached)
        return values

    def finish(self) -> None:
        """Ends the gesture, keeping its last value."""
        self._gesture = None
        self.settled.emit()

    def _begin(self) -> None:
        self._gesture = self._target.new_gesture()

    def _cancel(self) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            self._target.cancel_gesture(gesture)
        self.settled.emit()
