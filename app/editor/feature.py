from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from sinew.app.editor.session import Session
from sinew.app.session.actions import Menu

LATER = Qt.ConnectionType.QueuedConnection
"""For signals of drawing: widgets that appear while the viewport paints may resize it."""


class Feature(QObject):
    """A part of the editor, made with the session before there is a window.

    A feature sets what others use as an attribute of the session.

    Attributes:
        docks: Contents of docks by id.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.docks: Mapping[str, QWidget] = {}

    def menus(self) -> Sequence[Menu]:
        """Returns menus of the menu bar; all features and the window exist, the actions do not."""
        return ()

    def join(self) -> None:
        """Connects the feature to the window and to its actions."""

    def cancel(self) -> bool:
        """Cancels the work that the user waits for; returns False if there is none."""
        return False

    def close(self) -> None:
        """Ends all work; OpenGL can still be used."""
