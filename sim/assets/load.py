import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from sinew.sim.assets.build import build_model
from sinew.sim.assets.faults import MAX_FILE_BYTES, ElementFault
from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS, SNIFFED, UTF8_MARK, ModelFormat
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import LoadWatch, ModelError, RawModel, reading

_OTHER_FORMATS = (
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)


def load_model(
    path: Path | str,
    *,
    options: msgspec.Struct | None = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> CharacterModel:
    """Returns the character in a file, ready to pose and draw.

    Args:
        options: Options of its format; the defaults for None.
        progress: Called with the finished fraction, 0 to 1, from the calling thread.
        cancelled: Called between pieces of work; returns True to cancel.

    Raises:
        ModelError: If the file cannot be read or used; one line with file, element and reason.
        LoadCancelled: If `cancelled` returned True.
    """
    return build_model(read_raw(path, options=options, progress=progress, cancelled=cancelled))


def is_model(path: Path) -> bool:
    """Returns True for a known suffix, else by the first bytes; False if the file cannot be read."""
    if any(known.has_suffix(path) for known in MODEL_FORMATS):
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return _sniffed(file.read(SNIFFED)) is not None
    except OSError:
        return False


def read_raw(
    path: Path | str,
    *,
    options: msgspec.Struct | None = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> RawModel:
    """Reads the content as stored; arguments and errors as in `load_model`."""
    path = Path(path)
    data = read_bytes(path)
    watch = LoadWatch(progress, cancelled)
    watch.advance()
    refused = partial(ModelError, path)
    with reading(refused):
        known = _format_of(data, path)
    known.chosen(options)  # options of another format are an error of the caller, not of the file
    with reading(refused):
        raw = known.read(data, path, watch, options)
    watch.finish()
    return raw


def _sniffed(start: bytes) -> ModelFormat | None:
    return next((known for known in MODEL_FORMATS if known.begins(start)), None)


def _format_of(data: bytes, path: Path) -> ModelFormat:
    """Returns the format by the content; the suffix decides for formats without magic bytes."""
    if (known_format := _sniffed(data[:SNIFFED])) is not None:
        return known_format
    start = data[:SNIFFED].removeprefix(UTF8_MARK).lstrip()
    if not start.strip(b"\0"):
        raise ElementFault("", "the file is empty" if not data else "the file has no content")
    images = ((image.magic, f"a {image.name} image") for image in IMAGE_FORMATS if image.magic)
    for magic, what in (*images, *_OTHER_FORMATS):
        if start.startswith(magic):
            raise ElementFault("", f"this is {what}, not a model")
    for known in MODEL_FORMATS:
        if known.by_suffix and known.has_suffix(path):
            return known
    names = (f"{known.name} ({known.mark})" if known.mark else known.name for known in MODEL_FORMATS)
    raise ElementFault("", f"this is neither {' nor '.join(names)}")


def read_bytes(path: Path) -> bytes:
    """Reads a file; raises ModelError if it is not regular, too large or not readable."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise ModelError(path, "", "this is a folder")
        # Pipes and devices could keep the reader waiting, or never end.
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(path, "", "this is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            limit = f"{MAX_FILE_BYTES >> 20} MiB"
            raise ModelError(path, "", f"the file has {status.st_size >> 20} MiB, more than {limit}")
        return path.read_bytes()
    except OSError as error:
        raise ModelError(path, "", (error.strerror or str(error)).lower()) from None
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        # The system refuses names with a null character.
        raise ModelError(path, "", str(error)) from None
