from pathlib import Path
from typing import Annotated

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.job import WORDS, Job, option
from sinew.sim.gl.back_end import BackEndChoice


class EditorJob(Job, frozen=True, kw_only=True):
    path: Annotated[Path | None, option("Model or project to open.", "PATH", WORDS, is_argument=True)] = None
    version: Annotated[bool, option("Print the version and exit.", at=WORDS)] = False
    new_window_layout: Annotated[bool, option("Reset the layout of the panels.", at=WORDS)] = False
    debug_gl: Annotated[bool, option("Check every OpenGL call and report its errors.", at=WORDS)] = False
    backend: Annotated[
        BackEndChoice | None, option("GPU back end, else that chosen in the editor before.", at=WORDS)
    ] = None
    exit_after_first_frame: Annotated[bool, option("End after the first frame, for measurements.", at=WORDS)] = False


JOB = EditorJob


def run(job: EditorJob) -> int:
    if job.version:
        import importlib.metadata

        print(f"sinew {importlib.metadata.version('sinew')}")
        return 0
    if job.path is not None and not job.path.exists():
        raise CommandError(job.path, "", "no such file, and no command of this name")
    from sinew.app.editor.run import run_editor

    return run_editor(
        job.path,
        new_window_layout=job.new_window_layout,
        debug_gl=job.debug_gl,
        back_end=job.backend,
        exit_after_first_frame=job.exit_after_first_frame,
    )
