"""Measures the processor time of a stroke that paints weights of the humanoid, with the largest brush.

Run it with `python -m tests.gui.stroke_times [DABS]`, with a display.  For three bones it prints medians, in ms: the
weights under the brush; the frame without its picture (the vertices of both skinning methods, the hair on them, the
measures, the texts of the window); their sum; the
picture by the driver, and the picture of a frame in which nothing was painted.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from sinew.app.editor.editor import Editor
from sinew.app.kinds.brush_widgets import RADIUS_MOST
from sinew.app.kinds.model.weight_tool import WeightPaint
from sinew.app.session import bootstrap
from sinew.resources import path as resource
from sinew.sim.scene.view import SkinningComparison
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Answers, Undrawn, picture, settled, trigger

BONES = ("spine_2", "head", "thigh_l")
PARTS = ("weights", "frame", "sum", "picture", "unpainted")


def wait(condition) -> None:
    while not condition():
        QApplication.processEvents()


def cost(work) -> float:
    begun = time.process_time()
    work()
    return 1e3 * (time.process_time() - begun)


def times(editor: Editor, dabs: int) -> np.ndarray:
    tool, size, rows = editor.kind_panels["model"].weights, editor.viewport.size(), []
    middle = QPointF(size.width() / 2.0, size.height() / 2.0)

    for dab in range(dabs):
        unpainted = cost(lambda: picture(editor))
        painted = [cost(lambda dab=dab: tool.drag(middle + QPointF(3.0 * dab, 0.0))), cost(QApplication.processEvents)]
        rows.append([*painted, sum(painted), cost(lambda: picture(editor)), unpainted])
    return np.median(rows, axis=0)


def main(dabs: int) -> None:
    bootstrap.prepare()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(dialogs=Answers(), programs=Path(folder))
        editor.frames = Undrawn(editor)
        editor.window.resize(1280, 800)
        editor.window.show()
        wait(lambda: editor.client.engine is not None)
        editor.files.open(resource("projects/humanoid.sinew"))
        wait(lambda: editor.client.engine.views.characters)
        wait(lambda: not (editor.store.loading or editor.uploads.uploading or editor.client.is_compiling))
        report(editor, dabs)
        editor.window.close()
    application.quit()


def report(editor: Editor, dabs: int) -> None:
    node, character = next(iter(editor.client.engine.views.characters.items()))
    tool = editor.kind_panels["model"].weights
    print(f"{character.model.mesh.vertex_count} vertices, radius {RADIUS_MOST:.0f} px, {editor.viewport.size()}")
    print("bone      " + "".join(f"{part:>11}" for part in PARTS))
    for bone in BONES:
        editor.document.select(Selection(node=node, bone=bone))
        settled(editor)
        if tool.brush is None:
            trigger(editor, "skin.paint")
            wait(lambda: tool.brush is WeightPaint.ADD)
        editor.edits.set_view("comparison", SkinningComparison.SPLIT)
        tool.set_radius(RADIUS_MOST)
        settled(editor)
        tool.begin(QPointF(editor.viewport.width() / 2.0, editor.viewport.height() / 2.0), False)
        print(f"{bone:10}" + "".join(f"{value:11.1f}" for value in times(editor, dabs)))
        tool.end(cancel=True)
        settled(editor)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
