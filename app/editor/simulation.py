"""Simulations: seek, bake, verify, sweep, comparisons, and the menu Simulation."""

from collections.abc import Callable

from PySide6.QtCore import QTimer

from sinew.app.editor.feature import Feature
from sinew.app.editor.session import Session
from sinew.app.project.project_file import cache_folder
from sinew.app.session.actions import SEPARATOR, Action, Menu, command_action
from sinew.app.session.bake_comparison import BakeComparison
from sinew.app.session.bone_preview import BonePreview
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.ghosts import Ghosts
from sinew.app.session.penetration_comparison import PenetrationComparison
from sinew.app.session.second_engine import SecondEngine
from sinew.app.timeline.bake_task import BakeTask, VerifyTask
from sinew.app.timeline.seek import SimulationSeek
from sinew.app.timeline.sweep_window import SweepTask, SweepWindow
from sinew.sim.cache.bake import is_bake
from sinew.sim.kinds import KINDS


class SimulationWork(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        tasks, document, client = session.tasks, session.document, session.client
        playback, stepper = session.playback, session.stepper
        seek = session.seek = SimulationSeek(tasks, document, playback, stepper)
        baking = session.baking = BakeTask(tasks, document, playback, stepper, seek, client)
        self.verifying = VerifyTask(document, session.access, client)
        self.sweeping = SweepTask(document, session.access, client)
        self._sweeps: SweepWindow | None = None
        second, another, third, fourth = (
            SecondEngine(tasks, document, session.scene_files, playback, session.store.loaded) for _ in range(4)
        )
        redraw = session.viewport.show_pending
        client.ghosts = Ghosts(document, second, playback, baking.state, redraw)
        client.compared = BakeComparison(document, another, baking.state, baking.steps, self._report_distance, redraw)
        client.penetration = PenetrationComparison(document, third, self._report_distance, redraw)
        self.bones = client.bones = BonePreview(
            tasks, document, fourth, lambda: session.output.bones(), self._report_distance, self._on_bones
        )

    def menus(self) -> list[Menu]:
        return [simulation_menu(self)]

    def join(self) -> None:
        session, window, panels = self.session, self.session.window, self.session.panels
        session.tasks.progressed.connect(window.show_task)
        session.tasks.failed.connect(lambda text: panels.fail("", text))
        for work in (session.seek, session.baking, self.verifying):
            work.ended.connect(window.show_news)
        session.baking.warned.connect(lambda text: panels.warn("", text))
        session.baking.failed.connect(lambda text: panels.fail("", text))
        self.verifying.progressed.connect(window.show_seek)
        self.verifying.reported.connect(panels.inform)
        self.verifying.reported.connect(lambda *_: window.docks.reveal("messages"))
        self.verifying.warned.connect(panels.warn)
        self.verifying.failed.connect(panels.fail)

    @property
    def sweeps(self) -> SweepWindow:
        if self._sweeps is None:
            self._sweeps = SweepWindow(self.session.document, self.sweeping, self.session.window)
        return self._sweeps

    def open_sweeps(self) -> None:
        """Opens the window for the selected node, else for the first simulated one."""
        chosen, nodes = self.session.document.selected, self.session.document.scene.nodes
        simulated = [node for node in (chosen, *nodes) if node is not None and KINDS[node.kind].system]
        self.sweeps.open_for(next(iter(simulated), None))

    def cancel(self) -> bool:
        """Cancels a seek, a bake or a verification, else a preview of bones."""
        seek, baking = self.session.seek, self.session.baking
        if seek.busy or baking.busy:
            baking.cancel()
            seek.cancel()
        elif self.verifying.busy:
            self.verifying.cancel()
        else:
            return self.bones.cancel()
        return True

    def close(self) -> None:
        self.verifying.cancel()
        self.sweeping.cancel()

    def _report_distance(self, text: str) -> None:
        """Shows a result in the status bar after the frame is painted."""
        QTimer.singleShot(0, self, lambda: self.session.window.show_news(text))

    def _on_bones(self) -> None:
        """Shows the begin or end of a preview after the frame is painted."""
        QTimer.singleShot(0, self, self.session.viewport.show_pending)
        QTimer.singleShot(0, self, lambda: self.session.window.actions_table.refresh("simulate.bones"))


def _bake_actions(
    work: SimulationWork, nothing_simulated: Callable[[], str], range_end: Callable[[], str]
) -> list[Action]:
    document, baking, output = work.session.document, work.session.baking, work.session.output

    def no_bake_possible() -> str:
        unsaved = "" if document.path else "Save the project first: the bake is stored next to it."
        return nothing_simulated() or unsaved

    def nothing_baked() -> str:
        return "" if any(node.baked for node in document.scene.nodes) else "Nothing is baked."

    def no_bake_folder() -> str:
        path = document.path
        return "" if path is not None and is_bake(cache_folder(path)) else "The project has no bake."

    return [
        Action("simulate.bake", "&Bake", "Cache the simulation of the selected objects, or of all, on disk.",
               lambda: baking.start(), icon="mdi6.stove", reason=no_bake_possible,
               note=lambda: f"Bakes {range_end()}"),
        Action("simulate.free", "&Detach Bake", "Simulate baked objects again; the folder of the bake stays.",
               baking.free, reason=nothing_baked),
        Action("simulate.verify", "&Verify Bake",
               "Repeat the baked simulation in the background and report whether every step is bit-identical.",
               work.verifying.start, reason=no_bake_folder),
        Action("simulate.verify_projects", "Verify Ba&kes…",
               "Verify the bakes of saved projects here, on several processes or on a scheduler.", output.open_verify),
    ]  # fmt: skip


def simulation_menu(work: SimulationWork) -> Menu:
    session = work.session
    document, playback, seek = session.document, session.playback, session.seek

    def nothing_simulated() -> str:
        simulated = any(KINDS[node.kind].system for node in document.scene.nodes)
        return "" if simulated else "Nothing in the scene is simulated."

    def range_end() -> str:
        name = "the end" if playback.settings.out_point is None else "Out"
        return f"to {name}, frame {playback.end * playback.settings.rate:.6g}."

    def nothing_muted() -> str:
        chosen = document.scene.with_contents(document.selection.nodes)
        simulated = any(KINDS[document.scene.node(node_id).kind].can_be_muted for node_id in chosen)
        return "" if simulated else "Select a simulated object or a collider first."

    return Menu("Si&mulation", [
        Action("simulate.step", "Single &Step", "Pause and do one step.", playback.step_simulation, ("Alt+.",),
               reason=nothing_simulated),
        Action("simulate.seek", "Simulate to Play&head",
               "Simulate from the start to the playhead, as fast as possible.", seek.start, ("Ctrl+Shift+R",),
               "mdi6.fast-forward", nothing_simulated),
        Action("simulate.range", "Simulate Ran&ge", "Simulate from the start to the end of the range.",
               lambda: seek.start(playback.end), reason=nothing_simulated,
               note=lambda: f"Simulates {range_end()}"),
        Action("simulate.reset", "&Reset Simulation", "Reset the simulation to the first frame.",
               playback.reset_simulation, ("Ctrl+R",), "reset", nothing_simulated),
        SEPARATOR,
        *_bake_actions(work, nothing_simulated, range_end),
        Action("simulate.sweep", "S&weep…", "Try values of one or two settings of the selected object on a map.",
               work.open_sweeps, reason=nothing_simulated),
        Action("simulate.bones", "Preview B&ones", "Fit bones as the export options say, and show their error.",
               work.bones.toggle, is_on=lambda: work.bones.is_on,
               reason=lambda: nothing_simulated() or work.bones.reason()),
        SEPARATOR,
        Action("node.mute", "&Mute / Unmute", "Disable or enable the simulation of the selection.",
               lambda: _toggle(session.context, "muted"), ("M",), reason=nothing_muted),
        Action("node.solo", "S&olo", "Simulate only the selection among objects of its type.",
               lambda: _toggle(session.context, "solo"), ("S",), reason=nothing_muted),
        SEPARATOR,
        *(command_action(command) for panel in session.kind_panels.values() for command in panel.commands),
    ])  # fmt: skip


def _toggle(context: EditorContext, name: str) -> None:
    """Sets "muted" or "solo" of the selected nodes; clears it if all of them have it."""
    scene = context.document.scene
    chosen = [scene.node(node_id) for node_id in scene.with_contents(context.document.selection.nodes)]
    simulated = [node for node in chosen if KINDS[node.kind].can_be_muted]
    on = any(not getattr(node, name) for node in simulated)
    verbs = {"muted": ("Unmute", "Mute"), "solo": ("End solo of", "Solo")}
    context.edits.set_of_nodes([node.id for node in simulated], name, on, verbs[name][on])
