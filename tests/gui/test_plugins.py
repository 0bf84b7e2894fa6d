"""Plug-ins in the editor; the command line is in `tests/gl/test_plugins.py`."""

from pathlib import Path

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QFileDialog

from sinew import shaders
from sinew.app.jobs.render import RenderJob
from sinew.app.plugins import plugins
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.job_queue import FAILED, OutputJob
from sinew.widgets.plugin_list import PluginList
from tests.gui.editor_harness import Clock, Mouse, messages, play, positions, settled
from tests.plugins.packages import install

BAD_PANEL = """
import dataclasses
from acme_rope.kind import ROPE
from sinew.sim.kinds.contract import Adds, Command, Form, Panel, Tool

class BadTool(Tool):
    def hover(self, place):
        raise ValueError("hover")

class BadPanel(Panel):
    def __init__(self, context):
        self.tools = (BadTool(),)
        self.commands = (Command("bad", "Bad", "Bad.", self.run, reason=self.reason),)
    def run(self):
        raise ValueError("run")
    def reason(self):
        raise ValueError("reason")
    def follow(self, node, system):
        if node is not None:
            raise ValueError("follow")

class Settings(ROPE.settings, frozen=True):
    kind = "acme.bad"

KIND = dataclasses.replace(
    ROPE, name="acme.bad", settings=Settings, icon="no such icon",
).with_parts(Adds((dataclasses.replace(ROPE.part(Adds).entries[0], id="bad"),)), Form(panel="acme_bad:BadPanel"))
"""


def added(editor, action):
    editor.window.actions_table[action].trigger()
    QApplication.processEvents()
    return editor.document.selected


def test_a_panel_that_raises_disables_only_itself(session, loaded, site, tmp_path):
    install(tmp_path / "bad", "bad", {"kinds:bad": "acme_bad:KIND"}, {"acme_bad.py": BAD_PANEL})
    loaded(site, tmp_path / "bad")
    editor = session.start(clock=Clock())
    assert "Plug-in bad of bad 0.1: there is no icon no such icon" in messages(editor)[0]
    bad = added(editor, "add.bad")
    rope = added(editor, "add.rope")
    Mouse(editor.viewport).hover(QPointF(10.0, 10.0))
    editor.window.actions_table["simulate.acme.bad.bad"].trigger()
    settled(editor)
    before = positions(editor, rope.id)
    play(editor, 3)
    assert positions(editor, rope.id).shape == before.shape == positions(editor, bad.id).shape
    reported = [text for text in messages(editor) if "Plug-in bad" in text]
    assert [text for text in reported if "ValueError: reason" in text or "ValueError: follow" in text]
    assert len(reported) <= 4
    assert not [text for text in messages(editor) if "acme-rope" in text]
    editor.document.undo_stack.undo()
    editor.document.undo_stack.undo()
    assert not editor.document.scene.nodes


def test_filters_guide_and_list_know_plugins(session, loaded, site, monkeypatch, tmp_path):
    install(tmp_path / "broken", "broken", {"kinds:leaves": "broken_leaves:KIND"}, {"broken_leaves.py": "exit(3)"})
    folder = tmp_path / "config" / "plugins"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text("raise OSError")
    loaded(site, tmp_path / "broken")
    editor = session.start()
    asked = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: asked.append(words[3]) or ("", ""))
    Dialogs().open_path()
    assert "*.soup" in asked[0]
    added(editor, "add.rope")
    editor.panels.inspector.setFocus()
    guide = editor.features["helping"].show_guide()
    guide.open("acme.rope")
    assert guide.current == "acme.rope"
    assert "A rope hangs from its node" in guide.page.toPlainText()
    assert "Number of knots." in guide.page.toPlainText()
    guide.close()
    editor.window.actions_table["help.plugins"].trigger()
    dialog = editor.window.findChild(PluginList)
    tree = dialog.tree
    rows = [[tree.topLevelItem(row).text(column) for column in range(1, 5)] for row in range(tree.topLevelItemCount())]
    assert rows == [
        ["rope", "type", "acme-rope 1.0", "on"],
        ["soup", "format", "acme-rope 1.0", "on"],
        ["rope-length", "command", "acme-rope 1.0", "on"],
        ["leaves", "type", "broken 0.1", "failed: SystemExit: 3"],
        ["mine.py", "file", "mine", "off"],
    ]
    (box,) = dialog.boxes.values()
    box.click()
    assert plugins.ticked() == {"mine.py"}
    box.click()
    assert plugins.ticked() == frozenset()
    dialog.close()


def test_a_job_whose_process_lacks_the_plugin_fails_in_one_line(session, loaded, site, tmp_path, qtbot):
    loaded(site)
    editor = session.start()
    added(editor, "add.rope")
    queue = editor.output.queue
    folder, project = queue.snapshot()
    job = OutputJob(tmp_path / "a.png", RenderJob(scene=project, output=tmp_path / "a.png"), folder)
    queue.add(job)
    qtbot.waitUntil(lambda: job.state == FAILED, timeout=120000)
    assert job.text == "plug-in acme-rope 1.0: is not loaded"


def test_a_saved_shader_of_a_plugin_is_used_and_its_errors_name_file_and_line(session, loaded, site, qtbot, tmp_path):
    loaded(site)
    editor = session.start(clock=Clock())
    rope = added(editor, "add.rope")
    settled(editor)
    file = Path(shaders.path_of("acme.rope/link.glsl"))
    assert file.is_relative_to(site)
    text, watch = file.read_text(), editor.features["saving"].disk_changes.watch
    try:
        qtbot.waitUntil(lambda: file in watch._reported, timeout=120000)
        file.write_text(text.replace("return above", "return abov"))
        qtbot.waitUntil(lambda: any("acme.rope/link.glsl:4" in text for text in messages(editor)), timeout=120000)
        file.write_text(text.replace("* (size", "+ vec3(0.001, 0.0, 0.0) + link * (size"))
        qtbot.waitUntil(lambda: not editor.client.engine.library.messages, timeout=120000)
        play(editor, 5)
        assert positions(editor, rope.id)[:, 0].max() > 0.001
    finally:
        file.write_text(text)
