"""What several commands do with a model: read it, choose a clip and a moment of it."""

from pathlib import Path

import msgspec
import numpy as np

from app.cli.failure import CommandError, print_warnings
from app.cli.progress import Progress
from sim.assets.load import load_model
from sim.assets.model import CharacterModel, Clip

TIME_TOLERANCE = 1e-6
"""How far beyond the end [s] a time may be and still mean the last key: files store lengths rounded (1.19999993 s)."""


def loaded(path: Path, options: msgspec.Struct | None = None) -> CharacterModel:
    """The model of a file, with progress on the terminal and its warnings on standard error.

    Raises:
        ModelError: If it cannot be used.
        CommandError: If the options are those of another format.
    """
    with Progress(f"reading {path.name}") as progress:
        try:
            model = load_model(path, options=options, progress=progress)
        except TypeError as error:
            if options is None:
                raise
            raise CommandError(path, "", str(error)) from error
    print_warnings(path, model.warnings)
    return model


def chosen_clip(model: CharacterModel, wanted: str | None) -> Clip | None:
    """The clip with this name, else with this number from 0; the first one by default, None where there is none.

    Raises:
        CommandError: If there is no such clip; the message lists those there are.
    """
    if wanted is None:
        return model.clips[0] if model.clips else None
    for clip in model.clips:
        if clip.name == wanted:
            return clip
    if wanted.isdecimal() and int(wanted) < len(model.clips):
        return model.clips[int(wanted)]
    known = ", ".join(f"{index} {clip.name!r}" for index, clip in enumerate(model.clips))
    raise CommandError(model.path, f"clip {wanted!r}", f"no such clip; there are: {known}" if known else "has no clips")


def chosen_time(model: CharacterModel, clip: Clip | None, time: float | None, frame: float | None) -> float | None:
    """Seconds from the start of the clip, or None for the bind pose.

    Args:
        model: The model, for messages.
        clip: The clip the moment lies in.
        time: Seconds, or None.
        frame: Number of a key, possibly fractional, or None.

    Raises:
        CommandError: If the moment lies outside the clip, or there is no clip.
    """
    if time is None and frame is None:
        return None
    option = "--time" if frame is None else "--frame"
    if clip is None:
        raise CommandError(model.path, option, "the model has no clips; leave it out for the bind pose")
    frames = clip.frame_times
    value, last = (time, clip.duration) if frame is None else (frame, float(len(frames) - 1))
    assert value is not None
    if not 0.0 <= value <= last + TIME_TOLERANCE:
        unit = " s" if frame is None else ""
        raise CommandError(model.path, f"{option} {value:g}", f"clip {clip.name!r} goes from 0 to {last:.6g}{unit}")
    if frame is not None:
        value = float(np.interp(frame, np.arange(len(frames)), frames))
    return min(value, clip.duration)
