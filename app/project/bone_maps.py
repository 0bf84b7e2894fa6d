"""Bones that the user has set, remembered by the names of the joints: the next file with the same joints gets them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.refusal import refusal

NAME = "bone_maps.json"
MAPS_MAX = 200
FILE_BYTES_MAX = 4 << 20

Edits = tuple[tuple[str, str], ...]


class BoneMapsError(ValueError):
    """Error about the remembered maps in one line that names the file."""


class _Maps(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    maps: dict[str, Edits] = {}  # By digest of the joints, the newest last


class BoneMaps:
    """The maps of a user, in a file of `folder` that is read again for every query; raises BoneMapsError."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def find(self, joints: Sequence[str]) -> Edits:
        """Returns the bones set by the user with the names of their joints; empty if none are remembered."""
        return self._read().get(_digest(joints), ())

    def store(self, joints: Sequence[str], edits: Edits) -> None:
        """Remembers a map; an empty one is forgotten."""
        try:
            maps = self._read()
        except BoneMapsError:
            maps = {}
        key = _digest(joints)
        if maps.pop(key, ()) == edits == ():
            return
        if edits:
            maps[key] = edits
        newest = dict(list(maps.items())[-MAPS_MAX:])
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, msgspec.json.format(msgspec.json.encode(_Maps(newest)), indent=2) + b"\n")
        except OSError as error:
            raise BoneMapsError(f"{self._path}: {error.strerror or error}: bones are not remembered") from None

    def _read(self) -> dict[str, Edits]:
        try:
            if self._path.stat().st_size > FILE_BYTES_MAX:
                raise BoneMapsError(f"{self._path}: has more than {FILE_BYTES_MAX >> 20} MiB: remembered bones ignored")
            return dict(msgspec.json.decode(self._path.read_bytes(), type=_Maps).maps)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise BoneMapsError(f"{self._path}: {error.strerror or error}: remembered bones ignored") from None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            reason = (
                ": ".join(filter(None, refusal(error))) if isinstance(error, msgspec.ValidationError) else "no JSON"
            )
            raise BoneMapsError(f"{self._path}: {reason}: remembered bones ignored") from None


def _digest(joints: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(joints).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
