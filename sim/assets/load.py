"""Opens a model file: looks at its content, not its name, and hands it to the right reader."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sim.assets.build import build_model
from sim.assets.ezb_reader import EZB_MAGIC, read_ezb
from sim.assets.ezm_reader import read_ezm
from sim.assets.faults import MAX_FILE_BYTES, ElementFault
from sim.assets.load_watch import LoadWatch
from sim.assets.model import CharacterModel
from sim.assets.obj_reader import is_obj, read_obj
from sim.assets.raw import ModelError, RawModel

_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_FORMATS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"DDS ", "a DDS image"),
    (b"BM", "a BMP image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"Kaydara FBX", "an FBX scene"),
    (b"glTF", "a binary glTF scene"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)


def load_model(
    path: Path | str,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> CharacterModel:
    """The character in a file, ready to pose and draw.

    Args:
        path: An EZMesh file, text or binary, or an OBJ file.
        progress: Called with the finished fraction, 0 to 1, from the calling thread.
        cancelled: Asked between pieces of work.

    Raises:
        ModelError: If the file cannot be read or used; one line naming file, element and reason.
        LoadCancelled: If `cancelled` said so.
    """
    return build_model(read_raw(path, progress=progress, cancelled=cancelled))


def read_raw(
    path: Path | str,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> RawModel:
    """What a model file says, unchanged.  Arguments and errors are those of `load_model`."""
    path = Path(path)
    data = _read_bytes(path)
    watch = LoadWatch(progress, cancelled)
    watch.advance()
    try:
        # Values come from a file: what overflows is found by the checks of the result.
        with np.errstate(all="ignore"):
            raw = _read(data, path, watch)
    except ElementFault as fault:
        raise ModelError(path, fault.element, fault.reason) from None
    watch.finish()
    return raw


def _read(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    if data.startswith(EZB_MAGIC):
        return read_ezb(data, path, watch)
    start = data[:4096].removeprefix(_UTF8_MARK).lstrip()
    if start.startswith(b"<"):
        return read_ezm(data, path, watch)
    if not start.strip(b"\0"):
        raise ElementFault("", "the file is empty" if not data else "the file has no content")
    for magic, what in _OTHER_FORMATS:
        if start.startswith(magic):
            raise ElementFault("", f"this is {what}, not a model")
    if is_obj(start) or path.suffix.lower() == ".obj":
        return read_obj(data, path, watch)
    raise ElementFault("", "this is neither EZMesh text (which starts with '<') nor binary EZMesh nor OBJ")


def _read_bytes(path: Path) -> bytes:
    """The whole file.

    Raises:
        ModelError: If it is no regular file, too large or not readable.
    """
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
