"""A kernel that the user has declined reaches no job, no other engine and no compiler."""

import pytest

from sinew import shaders
from sinew.app.jobs.job import form_class, words_of
from sinew.app.jobs.render import RenderJob
from sinew.app.jobs.sweep import SweepJob
from sinew.app.project.project_file import cache_folder, save_project
from sinew.app.session.job_queue import JobQueue
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.kernel.kind import KernelSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
SHEET = Node(id="sheet", name="Sheet", settings=ClothSettings(columns=8, rows=8, substeps=64))
KERNEL = Node(id="k", name="Kernel", settings=KernelSettings(file=FILE, base=SHIPPED, text=SHIPPED + "\n// own\n"))


@pytest.mark.parametrize("answer", [False, slow(True)])
def test_every_job_carries_the_answer(editor, qtbot, tmp_path, monkeypatch, answer):
    asked, added = [], []
    monkeypatch.setattr(editor.dialogs, "use_kernels", lambda files: asked.append(files) or answer, raising=False)
    jobs = []

    def note(queue):
        added.append(words_of(queue.jobs[-1].command))
        jobs.append(queue.jobs[-1].folder)

    monkeypatch.setattr(JobQueue, "_start_next", note)
    path = tmp_path / "a.sinew"
    save_project(path, Scene(nodes=(SHEET, KERNEL)), ViewState())
    editor.files.open(path)
    qtbot.waitUntil(lambda: len(asked) == 1, timeout=240_000)
    folder, _ = editor.output.queue.snapshot()
    editor.output._queue(RenderJob(scene=path, output=tmp_path / "out.png"))
    cache_folder(path).mkdir()
    (cache_folder(path) / "index.json").write_text("{}")
    editor.features["simulation"].verifying.start()
    editor.features["simulation"].sweeping.start((), [], 10, form_class(SweepJob)())
    editor.features["simulation"].sweeping._folder.cleanup()
    for made in (folder, *jobs):
        made.cleanup()
    assert [words[0] for words in added] == ["render", "verify", "sweep"]
    for words in added:
        assert ("--no-kernels" in words) is not answer
