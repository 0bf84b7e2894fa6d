import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from sinew import resources
from sinew.app.output.window import EXPORT, RENDER
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.job_queue import DONE
from sinew.sim.export.formats import SCENE_FORMATS
from sinew.widgets.messages import Severity
from sinew.widgets.number_field import NumberField

FRAMES = 3
SIZE = 128, 72
PATIENCE = 60_000  # [ms]
LOOK = 400  # time before the user types into a dialog [ms]: until it has read its folder, Return changes the folder


@pytest.fixture
def user(qtbot, fresh, session, monkeypatch):
    real = Dialogs(fresh.window)
    monkeypatch.setattr(fresh.dialogs, "save_path", real.save_path)
    fresh.window.activateWindow()
    yield User(qtbot, fresh, session)
    fresh.output.queue.cancel_all()


class User:
    """Clicks and types; notes dialogs that stayed open and were closed by force."""

    def __init__(self, qtbot, editor, session):
        self._qtbot, self.editor, self._session, self.stuck = qtbot, editor, session, []

    def opens(self, project):
        self._session.load(self.editor, resources.path("projects") / f"{project}.sinew")

    def chooses(self, *texts):
        """Clicks through menus until the action is triggered: a window that is activated late closes them."""
        triggered = []

        def is_done():
            bar = self.editor.window.menuBar()
            for text in texts:
                action = next(one for one in bar.actions() if one.text().replace("&", "").startswith(text))
                if not bar.isVisible():
                    return False
                if action.menu() is None:
                    action.triggered.connect(lambda *_: triggered.append(True))
                QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.actionGeometry(action).center())
                bar = action.menu() or bar
                QTest.qWait(150)  # until it has opened
            return bool(triggered)

        self._qtbot.waitUntil(is_done, timeout=PATIENCE)
        return self.editor.output.window

    def types(self, form, **values):
        for name, value in values.items():
            field = form._editors[name].findChild(NumberField)
            QTest.mouseDClick(field, Qt.MouseButton.LeftButton, pos=field.rect().center())
            field.selectAll()
            QTest.keyClicks(field, str(value))
            QTest.keyClick(field, Qt.Key.Key_Return)
            assert getattr(form.settings, name) == value

    def answers(self, field, button, path):
        """Chooses the file in the dialog of the button beside its path, and starts the job."""
        limit, look = QTimer(singleShot=True, interval=PATIENCE), QTimer(singleShot=True, interval=LOOK)
        limit.timeout.connect(self._close)
        look.timeout.connect(lambda: self._type(path))
        limit.start()
        look.start()
        QTest.mouseClick(field.button, Qt.MouseButton.LeftButton)
        limit.stop()
        assert not self.stuck
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        return self.editor.output.queue.jobs[-1]

    def _type(self, path):
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        line = dialog.findChild(QLineEdit, "fileNameEdit")
        line.selectAll()
        QTest.keyClicks(line, str(path))
        QTest.keyClick(line, Qt.Key.Key_Return)

    def _close(self):
        while (dialog := QApplication.activeModalWidget()) is not None:
            self.stuck.append(f"{type(dialog).__name__} {dialog.windowTitle()}")
            dialog.reject()

    def waits(self):
        self._qtbot.waitUntil(lambda: not self.editor.output.queue.busy, timeout=120_000)


@pytest.mark.slow
def test_videos_images_and_scenes_are_written_by_the_menus(user, tmp_path):
    project = "sparks"
    for module in ("av", "pxr"):
        pytest.importorskip(module)
    user.opens(project)
    jobs = []
    for suffix in (".mp4", ".png"):
        window = user.chooses("File", "Render Animation")
        user.types(window.render_form, last=FRAMES - 1, rate=30.0, width=SIZE[0], height=SIZE[1])
        jobs.append(user.answers(window.files[RENDER], window.render_button, tmp_path / f"{project}{suffix}"))
    name = SCENE_FORMATS.of(tmp_path / "a.usdc").name
    window = user.chooses("File", "Export", f"Scene over Time as {name.removesuffix(' scene')}")
    assert window.format.name == name
    user.types(window.export_form, last=FRAMES - 1, rate=30.0)
    jobs.append(user.answers(window.files[EXPORT], window.export_button, tmp_path / project))
    user.waits()
    assert [job.state for job in jobs] == [DONE] * 3
    assert jobs[2].text.startswith(f"{FRAMES} frames, ")
    assert jobs[0].text.startswith(f"{FRAMES} frames, 128 × 72, 0.10 s, H.264, ")
    assert jobs[1].text.startswith(f"{FRAMES} images, 128 × 72, PNG, ")
    assert all("read back" in job.text or "read-back" in job.text for job in jobs)
    messages = user.editor.panels.messages.messages
    assert not [message for message in messages if message.severity is Severity.ERROR]
    assert all("sinew-output" not in message.text for message in messages)
    assert (tmp_path / f"{project}.usdc").stat().st_size > 1000
    assert drawn(tmp_path, project).std(axis=(1, 2)).min() > 2.0


def drawn(folder, project):
    import av

    pictures = []
    for frame in range(FRAMES):
        with Image.open(folder / f"{project}_{frame:04d}.png") as picture:
            pictures.append(np.asarray(picture.convert("RGB")).astype(float))
    with av.open(str(folder / f"{project}.mp4")) as cache:
        assert float(cache.streams.video[0].average_rate) == 30.0
        found = [frame.to_ndarray(format="rgb24", src_colorspace="ITU709") for frame in cache.decode(video=0)]
    assert np.abs(np.stack(found) - pictures).mean() < 3.0
    return np.stack(pictures)
