"""What every editor of one value has in common, and its link to the scene.

An editor shows and edits; it knows neither scene nor history.  A `Binding` carries its edits to the
`EditTarget`, as one gesture from press to release.
"""

from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from sim.scene.params import ParamError
from sim.scene.scene import ParamRef
from widgets.protocols import EditTarget


class Editor(QWidget):
    """Base of all editors.

    `edited` carries a new value by the user.  Between `edit_started` and `edit_finished` or
    `edit_cancelled` all values belong to one gesture; a value outside stands alone.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def set_value(self, value: Any) -> None:
        """Shows a value; emits nothing."""
        raise NotImplementedError

    def release(self) -> None:
        """Ends what is open, such as a dialog; called before the editor goes away."""


class Binding(QObject):
    """Sends the edits of one editor to one value of the scene."""

    refused = Signal(str)  # The scene refused a value; the text says why
    settled = Signal()  # A gesture or a single edit is over, so the editor may show the scene again

    def __init__(self, target: EditTarget, ref: ParamRef, editor: Editor) -> None:
        super().__init__(editor)
        self._target = target
        self._ref = ref
        self._gesture: object | None = None
        editor.edit_started.connect(self._begin)
        editor.edited.connect(self.set_value)
        editor.edit_finished.connect(self.finish)
        editor.edit_cancelled.connect(self._cancel)

    @property
    def is_held(self) -> bool:
        """Whether the user is in the middle of a gesture."""
        return self._gesture is not None

    def set_value(self, value: Any) -> None:
        """Sends one value, as part of the gesture if there is one."""
        try:
            self._target.set_value(self._ref, value, self._gesture)
        except ParamError as error:
            self.refused.emit(str(error))
        if not self.is_held:
            self.settled.emit()

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
