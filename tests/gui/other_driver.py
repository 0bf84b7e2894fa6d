"""A session on whatever driver the environment names: opens a baked project, shows, plays and verifies it.

Run as `python -m tests.gui.other_driver PROJECT NODE FOLDER`; writes one line of JSON, and pictures into the folder.
"""

import json
import os
import sys
import time
from pathlib import Path

from sinew.app import bootstrap

bootstrap.prepare()

from PySide6.QtWidgets import QApplication  # noqa: E402  (sharing contexts is settled before)

from sinew.app.editor.editor import Editor  # noqa: E402
from sinew.app.files.project_file import cache_folder  # noqa: E402
from sinew.sim.cache.bake import Bake  # noqa: E402
from sinew.sim.kinds.contract import System  # noqa: E402
from sinew.sim.scene.scene import VIEW, ParamRef  # noqa: E402

LONG = 600.0
THEMES = ("light", "dark")


class OtherDriver:
    """One window, and what is seen in it."""

    def __init__(self, application: QApplication) -> None:
        self.application, self.editor = application, Editor(new_window_layout=True)
        self.editor.window.resize(1280, 800)
        self.editor.window.show()
        self.wait(lambda: self.editor.client.engine is not None)

    def wait(self, condition) -> None:
        ends = time.monotonic() + LONG
        while not condition():
            self.application.processEvents()
            if time.monotonic() > ends:
                raise TimeoutError("the window did not get there")

    def settle(self) -> None:
        client = self.editor.client
        self.editor.viewport.repaint()
        self.wait(lambda: client.engine.pictures.delay is None and client._beside is None)
        self.application.processEvents()

    def open(self, project: Path) -> None:
        self.editor.files.open(project)
        self.wait(lambda: self.editor.document.path is not None)
        self.wait(lambda: not self.editor.store.loading and not self.editor.task_loop.uploading)
        self.settle()

    def state(self, node: str) -> bytes:
        with self.editor.viewport.gl_current():
            return self.editor.client.engine.simulation.systems[node].snapshot().packed()

    def reported(self, signal, begin) -> str:
        found: list[str] = []
        signal.connect(found.append)
        begin()
        self.wait(lambda: found)
        return found[0]


def seen(session: OtherDriver, project: Path, node: str, folder: Path) -> dict[str, object]:
    """Opens, scrubs, plays, shows ghosts, verifies."""
    editor, steps = session.editor, []
    session.open(project)
    bake, simulated = Bake(cache_folder(project)), []
    for cls in {type(system) for system in editor.client.engine.simulation.systems.values()}:
        assert issubclass(cls, System)
        cls.step = lambda self, _: simulated.append(self)
    playback, last = editor.playback, bake.steps(node)[-1]
    for step in (last, last // 2, 3, last - 1):
        playback.scrub(step / 60.0)
        session.settle()
        steps.append((step, session.state(node) == bake.state(node, step)))
    stale = playback._reported.stale
    playback.scrub(0.0)
    session.settle()
    editor.window.actions_table["play.toggle"].trigger()
    session.wait(lambda: playback.playhead.time > 0.5 * last / 60.0)
    playback.pause()
    session.settle()
    shown = editor.client.runner.shown
    played = shown, session.state(node) == bake.state(node, shown)
    editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), True)
    session.settle()
    ghosts = len(editor.client.ghosts._made)
    for theme in THEMES:
        editor.window.actions_table[f"theme.{theme}"].trigger()
        session.settle()
        editor.window.grab().save(str(folder / f"other-{theme}.png"))
    verified = session.reported(editor.verifying.ended, editor.window.actions_table["simulate.verify"].trigger)
    messages = [message.text for message in editor.panels.messages.messages]
    return {
        "renderer": editor.client.engine.context.capabilities.renderer, "scrubbed": steps, "stale": stale,
        "played": played, "simulated": len(simulated), "ghosts": ghosts, "verified": verified, "messages": messages,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(seen(OtherDriver(QApplication([])), Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))))
    sys.stdout.flush()
    os._exit(0)  # the window is not closed: nothing of it is asked for any more
