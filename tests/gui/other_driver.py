"""An editor on the driver that the environment names: opens a baked project, shows, plays and verifies it.

Run as `python -m tests.gui.other_driver PROJECT NODE`; writes one line of JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

from sinew.app.session import bootstrap

bootstrap.prepare()

from PySide6.QtWidgets import QApplication  # noqa: E402  (sharing contexts is settled before)

from sinew.app.editor.editor import Editor  # noqa: E402
from sinew.app.project.project_file import cache_folder  # noqa: E402
from sinew.sim.cache.bake import Bake  # noqa: E402

LONG = 600.0


class OtherDriver:
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
        self.wait(lambda: not client._drawing.busy and not client.ghosts.is_due)
        self.application.processEvents()

    def open(self, project: Path) -> None:
        self.editor.files.open(project)
        self.wait(lambda: self.editor.document.path is not None)
        self.wait(lambda: not self.editor.store.loading and not self.editor.uploads.uploading)
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


def observed(session: OtherDriver, project: Path, node: str) -> dict[str, object]:
    editor, steps = session.editor, []
    session.open(project, drawn=True)
    bake, simulated = Bake(cache_folder(project)), []
    for cls in {type(system) for system in editor.client.engine.simulation.systems.values()}:
        cls.step = lambda self, _: simulated.append(self)
    playback, last = editor.playback, bake.steps(node)[-1]
    for step in (last, last // 2, 3, last - 1):
        playback.scrub(step / 60.0)
        session.settle()
        steps.append(session.state(node) == bake.state(node, step))
    stale = playback._reported.stale
    playback.scrub(0.0)
    session.settle()
    editor.window.actions_table["play.toggle"].trigger()
    session.wait(lambda: playback.playhead.time > 0.5 * last / 60.0)
    playback.pause()
    session.settle()
    shown = editor.client.runner.shown
    steps.append(session.state(node) == bake.state(node, shown))
    verified = session.reported(
        editor.features["simulation"].verifying.ended, editor.window.actions_table["simulate.verify"].trigger
    )
    messages = [message.text for message in editor.panels.messages.messages]
    return {
        "renderer": editor.client.engine.context.capabilities.renderer, "identical": steps, "stale": stale,
        "played": shown, "simulated": len(simulated), "verified": verified, "messages": messages,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(observed(OtherDriver(QApplication([])), Path(sys.argv[1]), sys.argv[2])))
    sys.stdout.flush()
    os._exit(0)  # without closing the window
