import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication, QMessageBox

from sinew.app.editor.saving import SCENE_EXPORTS
from sinew.app.jobs.export import ExportJob
from sinew.app.jobs.job import Job, form_class, job_of_form, options_of, words_of
from sinew.app.jobs.options import Span
from sinew.app.jobs.render import BurnIn, RenderJob, Viewpoint, refused
from sinew.app.jobs.sweep import SweepJob
from sinew.app.jobs.verify import VerifyJob
from sinew.app.output.pictures import picture_path, suggested_path
from sinew.app.output.window import EXPORT, RENDER
from sinew.app.session.dialogs import Dialogs, OverwriteChoice
from sinew.app.session.job_queue import CANCELLED, DONE, FAILED
from sinew.sim.export.formats import RENDER_FORMATS, SCENE_FORMATS
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.widgets.inspector.editors import NameEditor
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import Session, messages, settled


def waited(qtbot, editor):
    qtbot.waitUntil(lambda: not editor.output.queue.busy, timeout=240000)


def started(editor, action, path, **values):
    editor.window.actions_table[action].trigger()
    window = editor.output.window_of()
    assert window.isVisible()
    page, form, button = RENDER, window.render_form, window.render_button
    if action != "file.render":
        page, form, button = EXPORT, window.export_form, window.export_button
    form.show_values(**values)
    window.files[page].set_text(str(path))
    button.click()
    return next(reversed(editor.output.queue.jobs), None)


def test_forms_offer_the_frames_of_the_scene(editor):
    document, window = editor.document, editor.output.window
    form = window.render_form

    def offered(form):
        editor.window.actions_table["file.render"].trigger()
        return form.settings.first, form.settings.last, form.settings.rate

    assert offered(form) == (0, round(editor.active.duration * 30.0), 30.0)
    values = {"rate": 24.0, "start": 12, "end": 60}
    document.set_values({ParamRef(PLAYBACK, PLAYBACK, name): value for name, value in values.items()})
    assert offered(form) == (12, 60, 24.0)
    assert offered(window.export_form) == (30, 150, 60.0), "exports have every step"
    form.show_values(last=20)
    document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 90)
    assert offered(form) == (12, 20, 24.0), "the choice of the user stays"
    assert offered(window.export_form) == (30, 225, 60.0)
    window.close()


def test_images_and_scenes_are_written_one_after_the_other(qtbot, editor, tmp_path):
    settled(editor)
    editor.document.set_value(ParamRef("model-1", "node", "name"), "Limb")  # not saved anywhere
    values = {"first": 0, "last": 2}
    drawn = started(editor, "file.render", tmp_path / "arm.png", width=64, height=48, **values)
    cache = started(editor, "file.export.pc2-point-cache", tmp_path / "arm", **values)
    assert editor.output.queue.busy
    waited(qtbot, editor)
    assert [job.state for job in (drawn, cache)] == [DONE, DONE]
    names = {"arm_0000.png", "arm_0001.png", "arm_0002.png", "arm.pc2", "arm.obj"}
    assert names <= {path.name for path in tmp_path.iterdir()}
    with Image.open(tmp_path / "arm_0002.png") as last:
        assert last.size == (64, 48)
    data = (tmp_path / "arm.pc2").read_bytes()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    assert frames == 3
    assert np.isfinite(np.frombuffer(data, "<f4", offset=32)).sum() == frames * points * 3
    assert b"o Limb" in (tmp_path / "arm.obj").read_bytes(), "the current project, saved or not"
    assert drawn.text.startswith("3 images, 64 × 48, PNG, ")
    assert drawn.text.endswith("read back without error")
    assert {drawn.text, "PC2 point cache cannot store materials; skipped for Limb"} < set(messages(editor))


def test_existing_images_are_asked_about(editor, tmp_path, monkeypatch):
    jobs = []
    monkeypatch.setattr(editor.output.queue, "add", jobs.append)
    (tmp_path / "arm_0001.png").write_bytes(b"mine")
    for answer, resumed in (
        (OverwriteChoice.CANCEL, []), (OverwriteChoice.KEEP, [True]), (OverwriteChoice.REPLACE, [False])
    ):  # fmt: skip
        jobs.clear()
        editor.dialogs.existing = answer
        started(editor, "file.render", tmp_path / "arm.png", first=0, last=2)
        assert editor.dialogs.asked[-1] == "1 of arm_….png"
        assert [job.command.resume for job in jobs] == resumed
        for job in jobs:
            job.folder.cleanup()


@pytest.mark.slow
def test_existing_images_are_replaced_or_left_as_the_user_answers(qtbot, editor, tmp_path):
    Image.new("RGB", (9, 9)).save(tmp_path / "arm_0001.png")
    mine = (tmp_path / "arm_0001.png").read_bytes()
    (tmp_path / "arm_0009.png").write_bytes(b"of another frame")
    (tmp_path / "arm_1.png").write_bytes(b"of another name")
    values = {"first": 0, "last": 2, "width": 32, "height": 32}
    editor.dialogs.existing = OverwriteChoice.CANCEL
    before = len(editor.output.queue.jobs)
    editor.window.actions_table["file.render"].trigger()
    editor.output.window_of().render_form.show_values(**values)
    editor.output.window_of().files[RENDER].set_text(str(tmp_path / "arm.png"))
    editor.output.window_of().render_button.click()
    assert editor.dialogs.asked[-1] == "1 of arm_….png"
    assert len(editor.output.queue.jobs) == before
    editor.dialogs.existing = OverwriteChoice.KEEP
    started(editor, "file.render", tmp_path / "arm.png", **values)
    waited(qtbot, editor)
    assert (tmp_path / "arm_0001.png").read_bytes() == mine
    assert (tmp_path / "arm_0002.png").read_bytes().startswith(b"\x89PNG")
    editor.dialogs.existing = OverwriteChoice.REPLACE
    started(editor, "file.render", tmp_path / "arm.png", **values)
    assert editor.dialogs.asked[-1] == "3 of arm_….png"
    waited(qtbot, editor)
    assert (tmp_path / "arm_0001.png").read_bytes() != mine
    assert (tmp_path / "arm_0009.png").read_bytes() == b"of another frame"


def test_formats_without_their_package_are_disabled_with_the_reason(editor, monkeypatch):
    for format in (*SCENE_FORMATS, *RENDER_FORMATS):
        if format.module:
            monkeypatch.setitem(sys.modules, format.module, None)
    for action, format in SCENE_EXPORTS.items():
        editor.window.actions_table[action].trigger()
        window = editor.output.window
        assert window.export_button.isEnabled() is not bool(format.module)
        assert window.missing.isVisible() is bool(format.module)
        if format.module:
            hint = f"{format.name} needs the package {format.package}: pip install sinew[{format.extra}]"
            assert window.missing.text() == hint


def test_a_project_keeps_what_was_chosen(editor, tmp_path, qtbot):
    """As a part of what is saved and not undone; files are proposed beside the project."""
    for page, action, name in ((RENDER, "file.render", "untitled"), (EXPORT, "file.export.gltf-scene", "untitled")):
        editor.window.actions_table[action].trigger()
        proposed = editor.output.window_of().files[page].text
        assert Path(proposed).parent == Path("render")
        assert Path(proposed).name.startswith(name)
    window = editor.output.window_of()
    window.render_form._set_value("width", 640)
    window.files[RENDER].set_text("shots/x.png")
    window.export_form._set_value("last", 7)
    window.files[EXPORT].set_text("x.usdc")
    window._options[window.format.name]._set_value("normals", False)
    assert not editor.document.modified
    kept = editor.document.view_state.output
    assert kept[RENDER] == {"path": "shots/x.png", "width": 640}
    assert kept[EXPORT]["path"] == "x.usdc"
    assert kept[EXPORT]["options"] == ("normals=false",)
    path = tmp_path / "kept.sinew"
    editor.files.save_to(path)
    stored = json.loads(path.read_text())["state"]["output"]
    assert stored[RENDER] == {"path": "shots/x.png", "width": 640}
    stored[RENDER] |= {"height": -5, "unknown": 3}
    content = json.loads(path.read_text())
    content["state"]["output"] = {**stored, "other": 5}
    path.write_text(json.dumps(content))
    window.close()
    Session(qtbot).load(editor, path)
    editor.window.actions_table["file.render"].trigger()
    window = editor.output.window_of()
    assert (window.files[RENDER].text, window.render_form.settings.width) == ("shots/x.png", 640)
    assert window.render_form.settings.height == 720
    assert window.export_form.settings.last == 7
    assert (window.format.name, window.options_of(window.format).normals) == (
        SCENE_FORMATS.of(Path("x.usdc")).name,
        False,
    )
    assert {text for text in messages(editor) if "state.output" in text} == {
        "$.state.output.render.height: -5 is not allowed; the default is used",
        "$.state.output.other: 5 is left out",
    }
    assert editor.document.view_state.output[RENDER]["unknown"] == 3
    window.close()


def test_a_typed_suffix_selects_the_format(editor, tmp_path, monkeypatch):
    jobs = []
    monkeypatch.setattr(editor.output.queue, "add", jobs.append)
    for typed, written in (
        ("d.abc", "d.abc"), ("d.USDC", "d.USDC"), ("d", "d.glb"), ("d.v2", "d.v2.glb"), ("d.glb", "d.glb"),
    ):  # fmt: skip
        editor.window.actions_table["file.export.gltf-scene"].trigger()
        window = editor.output.window_of()
        window.files[EXPORT].set_text(str(tmp_path / typed))
        window.export_button.click()
        jobs[-1].folder.cleanup()
        assert jobs[-1].path == jobs[-1].command.output == tmp_path / written


def test_the_size_of_a_web_page_is_estimated(editor, tmp_path):
    settled(editor)
    editor.window.actions_table["file.export.pc2-point-cache"].trigger()
    window = editor.output.window_of()
    assert not window.estimate.isVisible()
    window.files[EXPORT].set_text(str(tmp_path / "arm.html"))
    assert window.estimate.isVisible()
    first = window.estimate.text()
    assert first.startswith("The page takes about ")
    window.export_form.show_values(last=window.export_form.settings.last + 6000)
    window.edited.emit(EXPORT)
    assert window.estimate.text() != first
    window.close()


def test_a_video_that_cannot_be_written_is_refused(editor, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    editor.output._window = None
    window = editor.output.window
    assert ".mp4 .webm .mkv .mov: needs the package av: pip install sinew[video]" in window.missing_codecs.text()
    for name, alpha, reason in (
        ("a.mp4", False, "MP4 needs the package av: pip install sinew[video]"), ("a.webp", False, ""),
        ("a.mp4", True, "MP4 needs the package av: pip install sinew[video]"),
    ):  # fmt: skip
        window.render_form.show_values(last=1, alpha=alpha)
        window.files[RENDER].set_text(str(tmp_path / name))
        before = len(editor.output.queue.jobs)
        window.render_button.click()
        assert window.files[RENDER].fault.text() == reason, "at once"
        assert window.render_button.isEnabled() is not bool(reason)
        assert len(editor.output.queue.jobs) == before + (not reason)
    editor.output.queue.cancel_all()
    assert messages(editor, Severity.ERROR) == []
    window.close()


def test_a_camera_of_the_scene_can_be_chosen(editor):
    window = editor.output.window
    window.show_page(0)
    combo = window.render_form.findChild(NameEditor).combo
    assert not combo.isEnabled()
    editor.edits.add("camera")
    window.show_page(0)
    assert [combo.itemText(index) for index in range(combo.count())] == ["As chosen below", "Cuts", "Camera"]
    combo.activated.emit(2)
    assert window.render_form.settings.camera == editor.document.scene.of_kind("camera")[0].id
    window.close()


@pytest.mark.slow
def test_a_rendering_is_divided_as_chosen(qtbot, editor, tmp_path):
    job = started(
        editor, "file.render", tmp_path / "arm.png", width=64, height=48, first=0, last=2, workers=2, camera=""
    )
    waited(qtbot, editor)
    assert job.state == DONE, job.text
    assert job.text == "3 images on this machine"
    assert {f"arm_000{number}.png" for number in range(3)} == {path.name for path in tmp_path.glob("arm*.p*")}
    started(editor, "file.render", tmp_path / "arm.png", workers=1, scheduler="farm:8786", first=0, last=0)
    assert "save it first in a folder that the workers share" in messages(editor)[-1]
    editor.output.window.render_form.show_values(scheduler="")


def of_form(cls, **values):
    return job_of_form(cls, form_class(cls)(**values), scene=Path("a.sinew"), output=Path("a.png"))


def test_forms_become_jobs():
    job = of_form(RenderJob)
    assert job == RenderJob(
        scene=Path("a.sinew"), output=Path("a.png"), frames=Span(0, 0), rate=60.0, view=Viewpoint.SAVED
    ), "what is off in the form is off in the job"
    assert of_form(RenderJob, workers=3).workers == 3
    assert of_form(RenderJob, workers=1).workers is None
    where = of_form(RenderJob, workers=3, scheduler=" tls://farm:1 ")
    assert (where.workers, where.scheduler) == (None, "tls://farm:1")
    assert of_form(RenderJob, samples=0, turntable=0.0) == job
    assert of_form(RenderJob, first=5, last=2).frames == Span(5, 5)
    words = words_of(of_form(RenderJob, burn_in=True, burnt="Cape.wind, Skin glow.rate"))
    place = words.index("--burn-in")
    assert words[place : place + 3] == ["--burn-in", "Cape.wind", "Skin glow.rate"]
    assert of_form(RenderJob, burnt="Cape.wind").burn_in == BurnIn()
    assert of_form(RenderJob, camera="cuts", view=Viewpoint.TOP).view is None


def test_forms_have_a_row_for_every_option_of_the_window():
    for cls, names in (
        (RenderJob, "first last rate width height camera view alpha overlays samples blur turntable burn_in burnt"
                    " simulate codec resume workers scheduler"),
        (ExportJob, "first last rate selected children simulate"),
        (SweepJob, "workers scheduler"),
        (VerifyJob, "allow_outside no_kernels workers scheduler"),
    ):  # fmt: skip
        assert " ".join(form_class(cls).__struct_fields__) == names
        assert issubclass(cls, Job)
        assert all(one.declared.doc.endswith(".") for one in options_of(cls))


def test_names_of_images_are_numbered():
    for name, expected in (
        ("a.png", "a_%04d.png"), ("a_0003.png", "a_%04d.png"), ("a_003.exr", "a_%03d.exr"), ("a12.png", "a12_%04d.png"),
        ("a_%03d.png", "a_%03d.png"), ("a_0003.mp4", "a_0003.mp4"),
    ):  # fmt: skip
        assert picture_path(Path(name), Span(0, 9)) == Path(expected)
        assert picture_path(Path(name), Span(4, 4)) == Path(name)
    assert suggested_path("cape", Span(4, 4), alpha=False) == Path("cape.png")
    animation = suggested_path("cape", Span(0, 9), alpha=False)
    assert animation in (Path("cape.mp4"), Path("cape.webp")), "a video, of the first format that can be written"
    assert picture_path(animation, Span(0, 9)) == animation
    assert reason(animation) == ""
    assert suggested_path("cape", Span(0, 9), alpha=True) == Path("cape.webp")


def reason(name, **values):
    return refused(RenderJob(scene=Path("a.sinew"), output=Path(name), **values))


def test_what_does_not_go_together_is_refused():
    assert "turntable" in reason("a.png", camera="c", turntable=1.0)
    assert reason("a.gif", alpha=True) == ""
    assert "stores no opacity; images, animated WebP and GIF do" in reason("a.mov", alpha=True)


@pytest.mark.slow
def test_jobs_are_cancelled_and_failures_are_one_line(qtbot, editor, tmp_path):
    settled(editor)
    running = started(editor, "file.render", tmp_path / "a.gif", last=3000, width=64, height=48)
    waiting = started(editor, "file.export.mdd-point-cache", tmp_path / "b.mdd", last=2)
    qtbot.waitUntil(lambda: running.share > 0.0, timeout=240000)
    editor.output.queue.cancel(waiting)
    editor.output.queue.cancel(running)
    waited(qtbot, editor)
    assert [running.state, waiting.state] == [CANCELLED, CANCELLED]
    (tmp_path / "file").write_text("")
    before = len(editor.output.queue.jobs)
    started(editor, "file.render", tmp_path / "file" / "a.png", last=1)
    fault = editor.output.window_of().files[RENDER].fault.text()
    assert fault == f"The folder {tmp_path / 'file'} does not exist and cannot be made."
    assert len(editor.output.queue.jobs) == before
    failing = started(editor, "file.render", tmp_path / "deep" / "a.png", last=1, width=64, height=48)
    assert (tmp_path / "deep").is_dir(), "it is made"
    (tmp_path / "deep").rmdir()
    waited(qtbot, editor)
    QApplication.processEvents()
    assert failing.state == FAILED
    assert messages(editor, Severity.ERROR) == [f"the folder {tmp_path / 'deep'} does not exist"]
    window = editor.output.window_of()
    count = len(window._rows)
    window._rows[failing].again.click()
    editor.output.queue.cancel_all()
    assert len(window._rows) == count + 1
    window.clear_button.click()
    assert editor.output.queue.jobs == []
    assert not window._rows
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".gif", ".mdd", ".tmp")]


def test_closing_warns_of_unfinished_jobs(qtbot, editor, tmp_path, monkeypatch):
    settled(editor)
    shown = []

    def execute(box):
        shown.append((box.text(), box.informativeText(), len(box.buttons())))
        return QMessageBox.StandardButton.Cancel

    monkeypatch.setattr(QMessageBox, "exec", execute)
    monkeypatch.setattr(editor.files, "_ask_unsaved", lambda *words: Dialogs.unsaved(editor.dialogs, *words))
    for name in ("first.png", "second.png"):
        started(editor, "file.render", tmp_path / name, last=40, width=64, height=48)
    for edited in (False, True):
        if edited:
            editor.document.rename("model-1", "Limb")
        editor.window.close()
        assert editor.window.isVisible()
        text, more, buttons = shown.pop()
        assert "first_….png, second_….png are not finished yet and will be cancelled." in more
        assert ("Save the changes" in text) is ("Unsaved changes are lost otherwise." in more) is edited
        assert buttons == (3 if edited else 2)
    assert editor.output.queue.busy, "the jobs continue"
    editor.output.queue.cancel_all()
    waited(qtbot, editor)
    assert editor.output.queue.unfinished == ""
