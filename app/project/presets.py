"""The user's presets of settings: one small JSON file each, in a folder for each kind."""

import hashlib
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.kinds.contract import Kind, Presets
from sinew.sim.refusal import refusal
from sinew.sim.scene.params import ParamError, check

SUFFIX = ".json"
FILE_BYTES_MAX = 1 << 16
_NAME_MAX = 100


class PresetError(ValueError):
    """Error about a preset in one line that names file and reason."""


class _PresetFile(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    name: str
    values: dict[str, Any]


class PresetStore:
    """Presets of one kind in `folder`, which is read again for every query and made for the first preset."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        assert Presets in kind.declared
        self._presets = kind.part(Presets)
        self._folder, self._settings = folder / self._presets.folder, kind.settings

    def load(self) -> tuple[dict[str, dict[str, Any]], list[PresetError]]:
        """Returns values by name, sorted by name, and errors of files that cannot be read."""
        found: dict[str, dict[str, Any]] = {}
        errors: list[PresetError] = []
        for path in self._files():
            try:
                preset = self._read(path)
            except PresetError as error:
                errors.append(error)
            else:
                found.setdefault(preset.name, preset.values)
        return dict(sorted(found.items(), key=lambda item: item[0].casefold())), errors

    def save(self, name: str, values: dict[str, Any]) -> None:
        """Saves a preset and replaces an older one; raises PresetError if the file cannot be written."""
        path = self._path(name)
        content = _PresetFile(format=self._presets.format, name=name, values=msgspec.to_builtins(values))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
        except OSError as error:
            raise PresetError(f"{path}: {_reason(error)}") from None

    def delete(self, name: str) -> None:
        """Deletes a preset; raises PresetError if the file cannot be removed."""
        for path in self._files():
            try:
                if self._read(path).name == name:
                    path.unlink()
            except PresetError:
                continue  # an unreadable file is not this preset
            except OSError as error:
                raise PresetError(f"{path}: {_reason(error)}") from None

    def _path(self, name: str) -> Path:
        """Returns a file name for every system; a digest distinguishes cut names, and "Silk" from "silk"."""
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        return self._folder / f"{quote(name, safe=' ')[:_NAME_MAX]} {digest}{SUFFIX}"

    def _files(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        return [self._folder / name for name in names if name.endswith(SUFFIX)]

    def _read(self, path: Path) -> _PresetFile:
        try:
            if path.stat().st_size > FILE_BYTES_MAX or not path.is_file():
                raise PresetError(f"{path}: this is not a preset")
            preset = msgspec.json.decode(path.read_bytes(), type=_PresetFile)
        except OSError as error:
            raise PresetError(f"{path}: {_reason(error)}") from None
        except msgspec.ValidationError as error:
            raise PresetError(": ".join(filter(None, (str(path), *refusal(error))))) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise PresetError(f"{path}: {error}") from None
        if preset.format != self._presets.format or not preset.name.strip():
            raise PresetError(f"{path}: this is not a preset of {self._presets.what}")
        return msgspec.structs.replace(preset, values=self._checked(path, preset.values))

    def _checked(self, path: Path, values: dict[str, Any]) -> dict[str, Any]:
        """Returns the valid values of a preset without values of a later version."""
        try:
            return {name: check(self._settings, name, values[name]) for name in self._presets.fields if name in values}
        except ParamError as error:
            raise PresetError(f"{path}: {error}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
