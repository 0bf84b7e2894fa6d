"""The Python panel."""

from sinew.app.editor.feature import Feature
from sinew.app.editor.python import PythonConsole
from sinew.app.editor.session import Session


class Scripting(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.python = PythonConsole(session.context, session.settings, lambda: session.files.busy)
        self.docks = {"python": session.python.view}

    def join(self) -> None:
        self.session.python.failed.connect(self.session.panels.fail)
        self.session.python.finished.connect(self.session.window.show_news)

    def close(self) -> None:
        self.session.python.close()
