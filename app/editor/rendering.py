"""The window of renderings, exports and verifications, and its queue."""

from sinew.app.editor.feature import Feature
from sinew.app.editor.session import Session
from sinew.app.output.controller import Output


class Rendering(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.output = Output(
            session.document, session.access, session.active, session.dialogs, session.panels, session.playback,
            session.baking, lambda: session.preferences["files"].output_folder,
            lambda: {} if session.client.engine is None else session.client.engine.views.counts_by_node(),
        )  # fmt: skip
        self.queue = session.output.queue

    def close(self) -> None:
        self.queue.cancel_all()
