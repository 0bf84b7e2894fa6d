from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from sinew.app.tasks import run_in_background
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.model import Clip
from sinew.sim.assets.raw import ModelError, RawModel
from sinew.sim.characters.motions import add_clips
from sinew.sim.characters.weights import SkinWeights, reweigh
from sinew.sim.export.formats import Writer

Report = Callable[[str, str], None]


def export_model(
    source: Path,
    target: Path,
    writer: Writer[RawModel],
    owner: QObject,
    *,
    clips: Sequence[Clip] = (),
    weights: Sequence[SkinWeights] = (),
    done: Report,
    failed: Report,
    warned: Report,
) -> None:
    """Exports a model off the GUI thread; the target appears complete or not at all.

    Args:
        source: Read again, because the runtime model does not keep everything.
        owner: Callbacks are called only while it lives.
        clips: Clips of its motions, which are written after its own.
        weights: Changed weights, or none.
        done: Called with target and a note.
        failed: Called with target and one line why it was not written.
        warned: Called with target and one line for each thing that the format cannot store.
    """

    def report(outcome: tuple[str, list[str]]) -> None:
        reason, lost = outcome
        for line in lost:
            warned(str(target), line)
        if reason:
            failed(str(target), reason)
        else:
            done(str(target), "exported")

    run_in_background(lambda: _written(source, target, writer, clips, weights), report, owner)


def _written(
    source: Path, target: Path, writer: Writer[RawModel], clips: Sequence[Clip], weights: Sequence[SkinWeights]
) -> tuple[str, list[str]]:
    """Writes a model on a worker thread; returns why it failed, or "", and warnings."""
    try:
        raw = read_raw(source)
        known = len(raw.warnings)  # reported when it was opened
        add_clips(raw, clips)
        for stored in weights:
            reweigh(raw, stored)
        writer.save(raw, target)
    except ModelError as error:
        return str(error), []
    except OSError as error:
        return error.strerror or str(error), []
    return "", raw.warnings[known:]
