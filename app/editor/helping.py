"""The guide, the tour, and the menus Window and Help."""

import functools

from sinew.app.editor.feature import Feature
from sinew.app.editor.help_dialogs import search_commands, show_about, show_plugins, show_shortcuts
from sinew.app.help.guide import TOUR_SAMPLE, guide_pages, guide_texts, place_of
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.session.menus import WINDOW
from sinew.widgets.guide import Guide
from sinew.widgets.start_page import TourStep


class Helping(Feature):
    def menus(self) -> list[Menu]:
        docks = self.session.window.docks
        reset = Action("window.reset_layout", "&Reset Layout", "Move every panel to its default place.", docks.reset)
        return [Menu(WINDOW, [reset]), help_menu(self)]

    def join(self) -> None:
        self.session.output.help = self.show_guide
        self.session.overlays.empty.tour_button.clicked.connect(self.begin_tour)
        self.session.overlays.tour.shown.connect(self._on_tour)

    def begin_tour(self) -> None:
        if not self.session.document.scene.nodes:
            self.session.files.open(TOUR_SAMPLE)
        self.session.overlays.begin_tour()

    def show_guide(self) -> Guide:
        """Opens the guide at the focused panel or row; it may stay open."""
        session, selected = self.session, self.session.document.selected
        docks = {name: session.window.docks[name] for name in session.window.docks.ids}
        here = place_of(docks, session.panels.inspector, selected.kind if selected is not None else "")
        self.guide.open(*(("output",) if session.output.has_focus else here))
        return self.guide

    def show_how(self) -> None:
        """Opens the pages of the guide about formulas."""
        self.guide.open("how/index")

    @functools.cached_property
    def guide(self) -> Guide:
        return Guide(guide_pages(), guide_texts(), self.session.window)

    def _on_tour(self, step: TourStep) -> None:
        if step.panel:
            self.session.window.docks.reveal(step.panel)
        self.session.overlays.place()


def help_menu(help: Helping) -> Menu:
    session, kinds = help.session, help.session.kind_panels
    context, window = session.context, session.window
    return Menu("He&lp", [
        Action("help.guide", "User &Guide", "Open the guide at the focused panel or row.", help.show_guide, ("F1",)),
        Action("help.how", "&How It Works", "Open formulas, sources, accuracy and limits in the guide.", help.show_how),
        Action("help.tour", "&Tour", "Take a tour in seven steps.", help.begin_tour),
        Action("help.commands", "&Search Commands", "Find a command by its name and run it.",
               lambda: search_commands(window), ("Ctrl+Shift+P",)),
        Action("help.shortcuts", "&Keyboard Shortcuts", "Search keys and mouse actions.",
               lambda: show_shortcuts(window, kinds), ("?", "Shift+F1")),
        Action("help.plugins", "&Plug-ins", "Types, formats and commands of other packages, and of your own files.",
               lambda: show_plugins(context, window)),
        SEPARATOR,
        Action("help.about", "&About Sinew", "Version and graphics driver.", lambda: show_about(context, window)),
    ])  # fmt: skip
