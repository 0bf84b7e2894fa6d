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
    source: Path,
    target: Path,
    writer: Writer[RawModel],
    owner: QObject,
    *,
    done: Report,
    failed: Report,
    warned: Report,
) -> None:
    """Writes the content of a model file in another format; the target appears complete or not at all.

    Args:
        source: The file the model came from; it is read again, since the runtime model keeps less.
        target: File to write.
        writer: The format.
        owner: While it lives, `done` or `failed` is called.
        done: Told the target and a note when it is written.
        failed: Told the target and one line why it is not.
        warned: Told the target and one line for each thing that is left out.
    """

    def report(outcome: tuple[str, list[str]]) -> None:
        reason, lost = outcome
        for line in lost:
            warned(str(target), line)
        if reason:
            failed(str(target), reason)
        else:
            done(str(target), "exported")

    run_in_background(lambda: _written(source, target, writer), report, owner)


def _written(source: Path, target: Path, writer: Writer[RawModel]) -> tuple[str, list[str]]:
    """Runs on a worker: "" or one line why it failed, and what was left out."""
    try:
        raw = read_raw(source)
        known = len(raw.warnings)  # told when it was opened
        writer.save(raw, target)
    except ModelError as error:
        return str(error), []
    except OSError as error:
        return error.strerror or str(error), []
    return "", raw.warnings[known:]
