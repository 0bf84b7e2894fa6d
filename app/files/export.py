"""Export of a model, off the GUI thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from app.background import run_in_background
from sim.assets.load import read_raw
from sim.assets.raw import ModelError, RawModel
from sim.export.formats import Writer

Report = Callable[[str, str], None]


def export_model(
    source: Path, target: Path, writer: Writer[RawModel], owner: QObject, *, done: Report, failed: Report
) -> None:
    """Writes the content of a model file in another format; the target appears complete or not at all.

    Args:
        source: The file the model came from; it is read again, since the runtime model keeps less.
        target: File to write.
        writer: The format.
        owner: While it lives, `done` or `failed` is called.
        done: Told the target and a note when it is written.
        failed: Told the target and one line why it is not.
    """

    def report(reason: str) -> None:
        if reason:
            failed(str(target), reason)
        else:
            done(str(target), "exported")

    run_in_background(lambda: _written(source, target, writer), report, owner)


def _written(source: Path, target: Path, writer: Writer[RawModel]) -> str:
    """Runs on a worker: "" or one line why it failed."""
    try:
        writer.save(read_raw(source), target)
    except ModelError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return ""
