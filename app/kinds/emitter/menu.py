"""The submenu of emitters: one entry a preset, and in its title where they would go."""

from PySide6.QtWidgets import QMenu, QWidget

from app.editor.actions import Actions, preset_action
from app.kinds.emitter.edits import EmitterPlace
from sim.kinds.emitter.presets import PRESETS


class EmitterMenu(QMenu):
    """Offers a plain emitter and the presets.

    Args:
        actions: Where the entries come from.
        parent: Parent widget.
    """

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__("&Emitter", parent)
        self.addAction(actions["add.emitter"])
        self.addSeparator()
        for name in PRESETS:
            self.addAction(actions[preset_action(name)])

    def show_place(self, place: EmitterPlace) -> None:
        """Says where an emitter would go."""
        self.setTitle(f"&Emitter {place.text.replace('&', '&&')}")
