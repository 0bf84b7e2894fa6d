from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.editor.main_window import MainWindow
from sinew.app.project.access import FileAccess
from sinew.app.session.panels import Panels
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import TaskQueue
from sinew.app.timeline.bake_task import BakeTask, VerifyTask
from sinew.app.timeline.seek import SimulationSeek
from sinew.app.timeline.sweep_window import SweepTask, SweepWindow
from sinew.sim.kinds import KINDS


class SimulationWork(QObject):
    """Long simulation tasks of one window: seek, bake, verify, sweep."""

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        access: FileAccess,
        playback: Playback,
        stepper: SimulationStepper,
        client: ViewportRenderer,
    ) -> None:
        super().__init__()
        self._document = document
        self.seek = SimulationSeek(tasks, document, playback, stepper)
        self.baking = BakeTask(tasks, document, playback, stepper, self.seek, client)
        self.verifying, self.sweeping = VerifyTask(document, access, client), SweepTask(document, access, client)
        self._window: MainWindow | None = None
        self._sweeps: SweepWindow | None = None
        for part in (self.seek, self.baking, self.verifying, self.sweeping):
            part.setParent(self)

    def connect_to(self, window: MainWindow, panels: Panels) -> None:
        self._window = window
        for work in (self.seek, self.baking, self.verifying):
            work.ended.connect(window.show_news)
        self.verifying.progressed.connect(window.show_seek)
        self.baking.warned.connect(lambda text: panels.warn("", text))
        self.baking.failed.connect(lambda text: panels.fail("", text))
        self.verifying.reported.connect(panels.inform)
        self.verifying.reported.connect(lambda *_: window.docks.reveal("messages"))
        self.verifying.warned.connect(panels.warn)
        self.verifying.failed.connect(panels.fail)

    @property
    def sweeps(self) -> SweepWindow:
        if self._sweeps is None:
            self._sweeps = SweepWindow(self._document, self.sweeping, self._window)
        return self._sweeps

    def open_sweeps(self) -> None:
        """Opens the window for the selected node, else for the first simulated one."""
        chosen, nodes = self._document.selected, self._document.scene.nodes
        simulated = [node for node in (chosen, *nodes) if node is not None and KINDS[node.kind].system]
        self.sweeps.open_for(next(iter(simulated), None))

    def cancel(self) -> bool:
        """Cancels a seek, a bake or a verification; returns False if none was running."""
        if self.seek.busy or self.baking.busy:
            self.baking.cancel()
            self.seek.cancel()
        elif self.verifying.busy:
            self.verifying.cancel()
        else:
            return False
        return True

    def close(self) -> None:
        self.verifying.cancel()
        self.sweeping.cancel()
