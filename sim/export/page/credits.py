"""Credits of the models of a page: name, authors and licence as their files state them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import MAGIC
from sinew.sim.assets.gltf.file import split_file

LINE_MAX = 400

_OLD = {"title": "", "version": "version", "author": "by", "licenseName": "licence", "otherLicenseUrl": "licence",
        "allowedUserName": "use by", "violentUssageName": "violent use", "sexualUssageName": "sexual use",
        "commercialUssageName": "commercial use", "otherPermissionUrl": "permissions"}  # fmt: skip
_NEW = {"name": "", "version": "version", "authors": "by", "copyrightInformation": "copyright", "licenseUrl": "licence",
        "otherLicenseUrl": "licence", "avatarPermission": "use by", "commercialUsage": "commercial use",
        "creditNotation": "credit", "allowRedistribution": "redistribution", "modification": "modification",
        "thirdPartyLicenses": "third parties"}  # fmt: skip


def credits_of(paths: Iterable[Path]) -> list[str]:
    """Returns a line for each glTF or VRM file that states something."""
    return [line for path in dict.fromkeys(paths) if (line := _credit(path))]


def _credit(path: Path) -> str:
    with path.open("rb") as file:
        if not file.read(len(MAGIC)).lstrip().startswith((MAGIC, b"{")):
            return ""
    try:
        document = msgspec.json.decode(split_file(path.read_bytes())[0])
    except (ElementFault, msgspec.DecodeError):
        return ""  # read before, so it has changed since
    extensions = _part(document, "extensions")
    old, new = _part(_part(extensions, "VRM"), "meta"), _part(_part(extensions, "VRMC_vrm"), "meta")
    said = [_text(label, new.get(key)) for key, label in _NEW.items()] if new else []
    said = said or [_text(label, old.get(key)) for key, label in _OLD.items()]
    if not any(said):
        said = [_text("copyright", _part(document, "asset").get("copyright"))]
    return "; ".join(text for text in said if text)[:LINE_MAX]


def _part(holder: Any, name: str) -> Mapping[str, Any]:
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(label: str, value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(str(one) for one in value)
    if isinstance(value, bool):
        value = "allowed" if value else "not allowed"
    text = " ".join(str(value).split()) if value not in (None, "") else ""
    return f"{label} {text}".strip() if text else ""
