"""Materials of EZMesh: the free-form description, and the image it means on this disk."""

import math
import os
import re
from pathlib import Path

from sim.assets.formats import IMAGE_FORMATS
from sim.assets.model import Material
from sim.assets.raw import RawModel

_FOLDER = re.compile(r"[\\/]")
# `%20` is what one writer puts where it means a double quote; it is not a URL escape.
_LEADING = re.compile(r"(?:%20|[\s\"'])*+")
_TRAILING_REVERSED = re.compile(r"(?:02%|[\s\"'])*+")


class TextureFolder:
    """The images beside a model, found by name whatever the case or type."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] | None = None

    def find(self, recorded: str) -> Path | None:
        """The file that the recorded path means, or None: its last part, then with other image types."""
        suffixes = IMAGE_FORMATS.suffixes()
        for name in dict.fromkeys((base_name(recorded), base_name(recorded).replace("%20", " "))):
            stem = name.rpartition(".")[0] or name
            for candidate in (name, *(stem + suffix for suffix in suffixes)):
                actual = self._listing().get(candidate.casefold())
                if actual is not None and candidate.casefold().endswith(suffixes):
                    return self._folder / actual
        return None

    def _listing(self) -> dict[str, str]:
        if self._names is None:
            try:
                with os.scandir(self._folder) as entries:
                    files = sorted(entry.name for entry in entries if entry.is_file())
            except OSError:
                # A folder that cannot be listed has no images to offer; a missing image never fails a load.
                files = []
            self._names = {name.casefold(): name for name in files}
        return self._names


def base_name(recorded: str) -> str:
    """Last part of a path written on any system."""
    return _FOLDER.split(unwrapped(recorded))[-1]


def unwrapped(value: str) -> str:
    """`value` without blanks, quotes and `%20` at its ends."""
    rest = _LEADING.sub("", value, count=1)
    # Matched from the end: a search for the end of a long row of blanks takes quadratic time.
    return _TRAILING_REVERSED.sub("", rest[::-1], count=1)[::-1]


def parse_meta_data(text: str) -> dict[str, str]:
    """Keys in lower case and values of `key=value, key=(a, b, c)`; commas in parentheses do not split."""
    found: dict[str, str] = {}
    start = depth = 0
    for position, character in enumerate(text + ","):
        if character == "(":
            depth += 1
        elif character == ")":
            depth = max(0, depth - 1)
        elif character == "," and (depth == 0 or position == len(text)):
            key, equals, value = text[start:position].partition("=")
            if equals:
                found.setdefault(key.strip().lower(), unwrapped(value))
            start = position + 1
    return found


def build_materials(raw: RawModel) -> tuple[tuple[Material, ...], dict[tuple[str, str], int]]:
    """Declared materials, then one for each undeclared name that sections use, which is a texture.

    Returns:
        The materials, and the index for each (material, info) pair that a section has; a section without
        a material name has none.
    """
    folder = TextureFolder(raw.path.parent)
    materials = [material.look or _declared(material.name, material.meta_data, folder) for material in raw.materials]
    declared: dict[str, int] = {}
    for index, material in enumerate(materials):
        declared.setdefault(material.name, index)
    of_section: dict[tuple[str, str], int] = {}
    for section in (section for mesh in raw.meshes for section in mesh.sections):
        key = (section.material, section.info)
        if key in of_section or not section.material:
            continue
        if section.material not in declared:
            declared[section.material] = len(materials)
            materials.append(_undeclared(section.material, section.info, folder))
        of_section[key] = declared[section.material]
    return tuple(materials), of_section


def _declared(name: str, meta_data: str, folder: TextureFolder) -> Material:
    values = parse_meta_data(meta_data)
    recorded = values.get("diffuse", "")
    plain = Material(name, None, None)
    texture, path = base_name(recorded) or None, folder.find(recorded) if recorded else None
    return Material(
        name=name,
        texture=texture,
        texture_path=path,
        lost=lost_colours(texture, path),
        diffuse=_colour(values.get("kd"), plain.diffuse),
        specular=_colour(values.get("ks"), plain.specular),
        shininess=_number(values.get("ns"), plain.shininess),
    )


def _undeclared(name: str, info: str, folder: TextureFolder) -> Material:
    """The material that a bare texture name means: the first layer, else the artist's original path."""
    layer = name.split("+")[0]
    path = folder.find(layer) or (folder.find(info) if info else None)
    texture = base_name(layer)
    is_image = path is not None or texture.casefold().endswith(IMAGE_FORMATS.suffixes())
    shown = texture if is_image else None
    return Material(name=name, texture=shown, texture_path=path, lost=lost_colours(shown, path))


def lost_colours(texture: str | None, path: Path | None) -> tuple[tuple[str, str], ...]:
    """What `Material.lost` says where the image of the colour has a name and was not found."""
    return (("texture", texture),) if texture and path is None else ()


def _number(text: str | None, default: float) -> float:
    try:
        value = float(text or "")
    except ValueError:
        return default
    return min(max(value, 0.0), 1e4) if math.isfinite(value) else default


def _colour(text: str | None, default: tuple[float, float, float]) -> tuple[float, float, float]:
    """Three factors written `(r, g, b)`, or the default where they are not."""
    parts = (text or "").strip().strip("()").replace(",", " ").split()
    try:
        red, green, blue = (float(part) for part in parts)
    except ValueError:
        return default
    if not all(math.isfinite(value) for value in (red, green, blue)):
        return default
    red, green, blue = (min(max(value, 0.0), 1.0) for value in (red, green, blue))
    return red, green, blue
