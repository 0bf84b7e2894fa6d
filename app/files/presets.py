"""The user's own presets of fabrics and of particles: one small JSON file each, in the folder of the settings."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from sim.export.atomic_file import write_atomically
from sim.kinds.cloth.presets import FABRIC_FIELDS
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.emitter.presets import PRESET_FIELDS
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.params import ParamError, check

SUFFIX = ".json"
FILE_BYTES_MAX = 1 << 16
_NAME_MAX = 100


@dataclass(frozen=True, slots=True)
class PresetKind:
    """What presets are of.

    Attributes:
        format: Mark of their files.
        what: In words.
        settings: Declares the values.
        fields: Values that a preset may hold.
    """

    format: str
    what: str
    settings: type[msgspec.Struct]
    fields: tuple[str, ...]


FABRICS = PresetKind("sinew-fabric", "a fabric", ClothSettings, FABRIC_FIELDS)
PARTICLES = PresetKind("sinew-particles", "particles", EmitterSettings, PRESET_FIELDS)


class PresetError(ValueError):
    """A preset that cannot be read or written; one line naming file and reason."""


class _PresetFile(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    name: str
    values: dict[str, Any]


class PresetStore:
    """Presets in a folder, read anew whenever they are asked for.

    Args:
        folder: Where the files lie; made when the first preset is saved.
        kind: What they are of.
    """

    def __init__(self, folder: Path, kind: PresetKind = FABRICS) -> None:
        self._folder, self._kind = folder, kind

    def load(self) -> tuple[dict[str, dict[str, Any]], list[PresetError]]:
        """Values by name, in order of the names, and what could not be read; such files stay as they are."""
        found: dict[str, dict[str, Any]] = {}
        errors: list[PresetError] = []
        for path in self._files():
            try:
                preset = _read(path, self._kind)
            except PresetError as error:
                errors.append(error)
            else:
                found.setdefault(preset.name, preset.values)
        return dict(sorted(found.items(), key=lambda item: item[0].casefold())), errors

    def save(self, name: str, values: dict[str, Any]) -> None:
        """Keeps values under a name, replacing those that it had.

        Raises:
            PresetError: If the file cannot be written.
        """
        path = self._path(name)
        content = _PresetFile(format=self._kind.format, name=name, values=msgspec.to_builtins(values))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
        except OSError as error:
            raise PresetError(f"{path}: {_reason(error)}") from None

    def delete(self, name: str) -> None:
        """Removes a preset; nothing happens if it is not there.

        Raises:
            PresetError: If its file cannot be removed.
        """
        for path in self._files():
            try:
                if _read(path, self._kind).name == name:
                    path.unlink()
            except PresetError:
                continue  # a file that cannot be read is no preset of this name
            except OSError as error:
                raise PresetError(f"{path}: {_reason(error)}") from None

    def _path(self, name: str) -> Path:
        """A file name for every system; the digest tells apart what it cuts off, and "Silk" from "silk"."""
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        return self._folder / f"{quote(name, safe=' ')[:_NAME_MAX]} {digest}{SUFFIX}"

    def _files(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        return [self._folder / name for name in names if name.endswith(SUFFIX)]


def _read(path: Path, kind: PresetKind) -> _PresetFile:
    try:
        if path.stat().st_size > FILE_BYTES_MAX or not path.is_file():
            raise PresetError(f"{path}: this is no preset")
        preset = msgspec.json.decode(path.read_bytes(), type=_PresetFile)
    except OSError as error:
        raise PresetError(f"{path}: {_reason(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PresetError(f"{path}: {error}") from None
    if preset.format != kind.format or not preset.name.strip():
        raise PresetError(f"{path}: this is no preset of {kind.what}")
    return msgspec.structs.replace(preset, values=_checked(path, preset.values, kind))


def _checked(path: Path, values: dict[str, Any], kind: PresetKind) -> dict[str, Any]:
    """The values that are known, converted; others are of a later version and left out."""
    try:
        return {name: check(kind.settings, name, values[name]) for name in kind.fields if name in values}
    except ParamError as error:
        raise PresetError(f"{path}: {error}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
