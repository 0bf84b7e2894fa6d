import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from sinew.app.failure.errors import CommandError
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import is_project
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.refusal import refusal
from sinew.sim.scene.params import ParamError, Role, param_of, params_of, validated, value_text, weights_from
from sinew.sim.scene.scene import Node, ParamRef, with_value
from sinew.sim.scene.view import SkinningComparison

UInt8 = npt.NDArray[np.uint8]

LINE = (255, 190, 60)  # between two parts of an image


def skinned_by(scene: OpenedScene, method: SkinningMethod) -> OpenedScene:

    def changed(node: Node) -> Node:
        if not node.settings.is_character:
            return node
        return msgspec.structs.replace(node, settings=validated(node.settings, skinning=method))

    view = validated(scene.scene.view, comparison=SkinningComparison.OFF)
    nodes = tuple(map(changed, scene.scene.nodes))
    return replace(scene, scene=msgspec.structs.replace(scene.scene, nodes=nodes, view=view))


def varied(scene: OpenedScene, text: str, permitted: Permitted) -> OpenedScene:
    """Returns the scene with one change, "method=dqs" or "Cape.substeps=32", or another project that `text` names;
    raises CommandError if node or setting do not exist, or the value is not allowed.
    """
    name, _, value = text.partition("=")
    if not value and is_project(Path(text)):
        return opened(Path(text), permitted)
    if name == "method":
        try:
            return skinned_by(scene, SkinningMethod(value))
        except ValueError:
            known = ", ".join(method.value for method in SkinningMethod)
            raise CommandError(scene.path, text, f"no such method; there are: {known}") from None
    node, ref = setting_named(scene, name)
    try:
        made = _converted(type(node.settings), ref.name, value)
        changed = with_value(scene.scene, ref, getattr(made, ref.name))
    except (ParamError, msgspec.ValidationError) as error:
        reason = refusal(error)[1] if isinstance(error, msgspec.ValidationError) else str(error)
        raise CommandError(scene.path, text, reason) from error
    return replace(scene, scene=changed)


def _converted(settings: type[msgspec.Struct], name: str, text: str) -> msgspec.Struct:
    """Converts a word, a number, several with blanks or commas, or weights; else raises msgspec.ValidationError."""
    made: msgspec.Struct
    try:
        made = msgspec.convert({name: text}, settings, strict=False)
    except msgspec.ValidationError as error:
        if "`array`" not in str(error):
            raise
        is_weights = param_of(settings, name).declared.role is Role.WEIGHTS
        listed = weights_from(text) if is_weights else text.replace(",", " ").split()
        made = msgspec.convert({name: listed}, settings, strict=False)
    return made


def setting_named(scene: OpenedScene, name: str) -> tuple[Node, ParamRef]:
    """Returns the node and setting of a name "NODE.PARAM"; raises CommandError if there is none."""
    owner, _, field = name.rpartition(".")
    node = scene.named(owner)
    names = [record.name for record in params_of(type(node.settings))]
    if field not in names:
        raise CommandError(scene.path, name, f"{node.kind} has no such setting; there are: {', '.join(names)}")
    return node, ParamRef(node.id, node.kind, field)


def setting_text(scene: OpenedScene, name: str) -> str:
    node, ref = setting_named(scene, name)
    return f"{node.name or node.id} {ref.name.replace('_', ' ')} {value_text(getattr(node.settings, ref.name))}"


def joined(images: Sequence[UInt8], labels: Sequence[list[str]], *, split: bool) -> UInt8:
    """Joins labelled images of one size: next to each other, or each as a part of one view if `split`."""
    if len(images) == 1:
        return images[0]
    labelled = [annotated(image, lines) for image, lines in zip(images, labels, strict=True)]
    if not split:
        return np.concatenate(labelled, axis=1)
    edges = np.linspace(0, images[0].shape[1], len(images) + 1).round().astype(int)
    out = np.empty_like(images[0])
    for index, (image, lines) in enumerate(zip(images, labels, strict=True)):
        first, last = edges[index : index + 2]
        out[:, first:last] = annotated(image[:, first:last], lines)
        if index:
            out[:, max(first - 1, 0) : first + 1, :3] = LINE
            out[:, max(first - 1, 0) : first + 1, 3:] = 255
    return out


LINE_SHARE = 1.0 / 30.0  # height of a line of text as a fraction of the image

SMALLEST = 11.0  # [px], height of text

INK, BACKGROUND = (255, 255, 255, 255), (16, 18, 22, 170)


def annotated(pixels: UInt8, lines: list[str], *, bottom: bool = False) -> UInt8:
    """Writes lines into the upper or lower left corner of an image, (H, W, 3 or 4)."""
    if not lines:
        return pixels
    height, width, channels = pixels.shape
    font = _font(max(height * LINE_SHARE, SMALLEST))
    image = Image.fromarray(np.ascontiguousarray(pixels)).convert("RGBA")
    layer = Image.new("RGBA", image.size)
    draw = ImageDraw.Draw(layer)
    text, pad = "\n".join(lines), font.size * 0.5
    left, top, right, low = draw.multiline_textbbox((0, 0), text, font=font, spacing=pad)
    x, y = pad, height - pad - (low - top) - 2.0 * pad if bottom else pad
    box = (x, y, min(x + right - left + 2.0 * pad, width - 1.0), y + low - top + 2.0 * pad)
    draw.rounded_rectangle(box, radius=pad / 2.0, fill=BACKGROUND)
    draw.multiline_text((x + pad - left, y + pad - top), text, font=font, fill=INK, spacing=pad)
    return np.asarray(Image.alpha_composite(image, layer))[..., :channels].copy()


@functools.cache
def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
