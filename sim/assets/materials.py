import math
import os
import re
from pathlib import Path

from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.assets.model import Material, reflectance_of_phong
from sinew.sim.assets.raw import RawModel

_FOLDER = re.compile(r"[\\/]")
# One writer puts `%20` for a double quote; it is not a URL escape.
_LEADING = re.compile(r"(?:%20|[\s\"'])*+")
_TRAILING_REVERSED = re.compile(r"(?:02%|[\s\"'])*+")


class TextureFolder:
    """Images next to a model, found without regard to case and type; no link leads out of the folder.

    Args:
        below: Folder below `folder` that is searched.
    """

    def __init__(self, folder: Path, below: str = "") -> None:
        self._root, self._folder = folder, folder / below
        self._names: dict[str, str] | None = None

    def find(self, recorded: str) -> Path | None:
        """Returns the image with this name, else the same name with other image types."""
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
                root, real = os.path.realpath(self._root), os.path.realpath(self._folder)
                with os.scandir(real) as entries:
                    files = sorted(
                        entry.name
                        for entry in entries
                        if entry.is_file()
                        and Path(os.path.realpath(entry.path) if entry.is_symlink() else real).is_relative_to(root)
                    )
            except OSError:
                # A missing image never fails a load.
                files = []
            self._names = {name.casefold(): name for name in files}
        return self._names


def base_name(recorded: str) -> str:
    return _FOLDER.split(unwrapped(recorded))[-1]


def unwrapped(value: str) -> str:
    rest = _LEADING.sub("", value, count=1)
    # Matched from the end: searching for trailing blanks takes quadratic time.
    return _TRAILING_REVERSED.sub("", rest[::-1], count=1)[::-1]


def parse_meta_data(text: str) -> dict[str, str]:
    """Parses "key=value" texts; keys are in lower case, commas in parentheses do not split."""
    values: dict[str, str] = {}
    start = depth = 0
    for position, character in enumerate(text + ","):
        if character == "(":
            depth += 1
        elif character == ")":
            depth = max(0, depth - 1)
        elif character == "," and (depth == 0 or position == len(text)):
            key, equals, value = text[start:position].partition("=")
            if equals:
                values.setdefault(key.strip().lower(), unwrapped(value))
            start = position + 1
    return values


def build_materials(raw: RawModel) -> tuple[tuple[Material, ...], dict[tuple[str, str], int]]:
    """Builds declared materials, then one for each undeclared name in a section, which is a texture.

    Returns:
        The materials, and the index for each (material, info) pair of the sections that have a material name.
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
    specular = _colour(values.get("ks"), plain.specular)
    return Material(
        name=name,
        texture=texture,
        texture_path=path,
        lost=lost_colours(texture, path),
        diffuse=_colour(values.get("kd"), plain.diffuse),
        specular=specular,
        dielectric=plain.dielectric if specular is plain.specular else reflectance_of_phong(specular),
        shininess=_number(values.get("ns"), plain.shininess),
    )


def _undeclared(name: str, info: str, folder: TextureFolder) -> Material:
    """Makes a material of a bare texture name: of its first layer, else of the artist's original path."""
    layer = name.split("+")[0]
    path = folder.find(layer) or (folder.find(info) if info else None)
    texture = base_name(layer)
    is_image = path is not None or texture.casefold().endswith(IMAGE_FORMATS.suffixes())
    image_name = texture if is_image else None
    return Material(name=name, texture=image_name, texture_path=path, lost=lost_colours(image_name, path))


def lost_colours(texture: str | None, path: Path | None) -> tuple[tuple[str, str], ...]:
    """Returns the value of `Material.lost` for a named colour image that was not found."""
    return (("texture", texture),) if texture and path is None else ()


def _number(text: str | None, default: float) -> float:
    try:
        value = float(text or "")
    except ValueError:
        return default
    return min(max(value, 0.0), 1e4) if math.isfinite(value) else default


def _colour(text: str | None, default: tuple[float, float, float]) -> tuple[float, float, float]:
    """Parses three factors written `(r, g, b)`; returns the default if they are malformed."""
    parts = (text or "").strip().strip("()").replace(",", " ").split()
    try:
        red, green, blue = (float(part) for part in parts)
    except ValueError:
        return default
    if not all(math.isfinite(value) for value in (red, green, blue)):
        return default
    red, green, blue = (min(max(value, 0.0), 1.0) for value in (red, green, blue))
    return red, green, blue
