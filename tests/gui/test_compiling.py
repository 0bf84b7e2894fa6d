import threading

import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.project.settings_store import program_cache_folder
from sinew.app.session import precompiling
from sinew.sim.gl import program
from sinew.sim.run.precompiler import Precompiler
from tests.gui.editor_harness import Clock, settled

PATIENCE = 300_000  # longest wait [ms]: a busy machine takes its time to compile


@pytest.fixture
def built(monkeypatch):
    """Names of compiled programs: True for those of the GUI thread, False for those of other threads."""
    found = {True: [], False: []}
    build = program.build_program

    def noted(sources, **options):
        name = next(iter(sources.stages.values())).name
        found[threading.current_thread() is threading.main_thread()].append(name)
        return build(sources, **options)

    monkeypatch.setattr(program, "build_program", noted)
    return found


@pytest.fixture
def slow(monkeypatch):
    go, compile_it = threading.Event(), Precompiler._compile

    def wait(self, *arguments):
        assert go.wait(PATIENCE / 1000)
        return compile_it(self, *arguments)

    monkeypatch.setattr(Precompiler, "_compile", wait)
    yield go
    go.set()


def started(session):
    editor = session.start(drawn=True, clock=Clock(), programs=program_cache_folder())
    if editor.client.engine.context.binaries is None:
        pytest.skip("this driver gives no program binaries")
    return editor


def added(editor):
    editor.window.actions_table["add.cloth"].trigger()
    picture_once(editor)
    return editor.document.selected


def picture_once(editor):
    editor.viewport.repaint()
    QApplication.processEvents()


def test_a_new_cloth_starts_when_it_is_compiled(session, qtbot, monkeypatch, built, slow):
    monkeypatch.setattr("sinew.app.session.renderer._LONG", 0.0)
    create, threads = precompiling.QOpenGLContext, []
    monkeypatch.setattr(
        precompiling, "QOpenGLContext", lambda: (threads.append(threading.current_thread()), create())[1]
    )
    editor = started(session)
    reported = []
    editor.tasks.progressed.connect(lambda text, *_: reported.append(text))
    node = added(editor)
    assert editor.client.is_compiling
    assert editor.client.engine.simulation.systems.get(node.id) is None
    editor.playback.toggle()
    for _ in range(3):
        editor.playback.tick()
        picture_once(editor)
    assert editor.client.engine.simulation.systems.get(node.id) is None, "the window works without it"
    editor.playback.pause()
    qtbot.waitUntil(lambda: f"Compiling shaders for {node.name}" in reported, timeout=PATIENCE)
    slow.set()
    qtbot.waitUntil(lambda: not editor.client.is_compiling, timeout=PATIENCE)
    settled(editor)
    assert editor.client.engine.simulation.systems[node.id].cloth is not None
    editor.stepper.settle(0.0)
    assert threads == [threading.main_thread()], "a worker could wait for the GUI thread for ever"
    assert "cloth/line_finish.glsl" in built[False]
    assert [name for name in built[True] if name.startswith("cloth/")] == []
    qtbot.waitUntil(lambda: reported[-1] == "", timeout=PATIENCE)
    assert not editor.panels.messages.messages


@pytest.mark.slow
def test_the_second_start_compiles_nothing(session, qtbot, built):
    first = started(session)
    added(first)
    qtbot.waitUntil(lambda: not first.client.is_compiling, timeout=PATIENCE)
    settled(first)
    session.close(first)
    assert built[False]
    built[True].clear(), built[False].clear()
    second = started(session)
    qtbot.waitUntil(lambda: not second.client.is_compiling, timeout=PATIENCE)
    node = added(second)
    qtbot.waitUntil(lambda: not second.client.is_compiling, timeout=PATIENCE)  # the back ends are compared anew
    settled(second)
    assert second.client.engine.simulation.systems[node.id].cloth is not None
    assert [name for name in built[True] + built[False] if name.startswith(("cloth/", "viewport/"))] == []


@pytest.mark.slow
def test_a_seek_waits_for_compiling_and_cancel_and_close_end_it(session, qtbot, slow):
    editor = started(session)
    node = added(editor)
    editor.playback.scrub(0.1)
    editor.seek.start()
    QApplication.processEvents()
    assert editor.seek.busy
    slow.set()
    with qtbot.waitSignal(editor.seek.ended, timeout=PATIENCE) as ended:
        pass
    assert ended.args[0].startswith("Simulated 6 steps")
    assert editor.client.engine.simulation.systems[node.id].cloth.step_count == 6
    slow.clear()
    sparks = editor.edits.add("emitter")
    picture_once(editor)
    assert editor.client.engine.simulation.systems.get(sparks) is None
    editor.cancel()
    picture_once(editor)
    assert not editor.client.is_compiling
    assert editor.client.engine.simulation.systems.get(sparks) is not None, "it starts at once"
    editor.edits.add("hair")
    picture_once(editor)
    slow.set()
    session.close(editor)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("background")]
