"""VRM files: the spring bones of a scene in the file of its character, or a VRM 1.0 from any humanoid."""

import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PIL import Image

from sinew.app.failure.errors import CommandError
from sinew.app.project.digest import digest_of
from sinew.sim.assets.build import build_model
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import MAGIC
from sinew.sim.assets.gltf.vrm import NEW, OLD
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import read_bytes, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError, reading
from sinew.sim.characters.avatar import humanoid_vrm, read_back
from sinew.sim.characters.retarget import Body
from sinew.sim.characters.settings import ModelSettings, UpAxis, model_settings
from sinew.sim.characters.weights import reweigh
from sinew.sim.export.vrm.file import GlbFile
from sinew.sim.export.vrm.springs import write_springs
from sinew.sim.kinds.springs.vrm import spring_plan
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.scene import NodeId, Scene

PICTURE = 512
"""Edge of a thumbnail [px]."""


@dataclass(frozen=True, slots=True)
class AvatarSource:
    """A character of a scene, and the file that it was read from.

    Attributes:
        digest: Of the file when it was read, "" for an unknown one.
        time: Scene time of values with keys [s].
        thumbnail: A square PNG, or nothing.
    """

    scene: Scene
    node: NodeId
    model: CharacterModel
    time: float
    digest: str = ""
    thumbnail: bytes = b""

    @property
    def settings(self) -> ModelSettings:
        return model_settings(self.scene.node(self.node))

    @property
    def path(self) -> Path:
        return Path(self.settings.path)

    @property
    def is_vrm(self) -> bool:
        """Whether the file is a VRM, which gets springs and stays otherwise."""
        return is_vrm(self.path)

    @property
    def body(self) -> Body:
        assert self.model.skeleton is not None
        axis = self.settings.up_axis
        up = self.model.default_up_axis.lower() if axis is UpAxis.AUTO else axis.value
        return Body(self.model.skeleton, bones_of(self.model, self.settings.humanoid), "xyz".index(up))


def is_vrm(path: Path) -> bool:
    """Raises ModelError if the file cannot be read."""
    return _is_vrm(path, read_bytes(path))


def _is_vrm(path: Path, data: bytes) -> bool:
    if not data.startswith(MAGIC):
        return False
    with reading(partial(ModelError, path)):
        return bool({OLD, NEW} & GlbFile(data).document.extensions.keys())


def avatar_file(source: AvatarSource, meta: AvatarMeta) -> tuple[bytes, list[str]]:
    """Returns the bytes of a VRM file, and a line for each thing that it does not hold.

    Raises:
        ModelError: If the source has changed on disk, or cannot become an avatar.
    """
    path, settings, lost = source.path, source.settings, list[str]()
    data = read_bytes(path)
    if source.digest and digest_of(data) != source.digest:
        raise ModelError(path, "", "has changed on disk; reload it first")
    with reading(partial(ModelError, path)):
        if source.model.skeleton is None:
            raise ElementFault("", "the model has no bones")
        if _is_vrm(path, data):
            file, model, unit = GlbFile(data), read_back(data, path), settings.unit_scale
            if settings.weights:
                lost.append("Changed weights of the bones.")
            if settings.unit_scale != 1.0:
                lost.append(f"The unit of {settings.unit_scale:g} m; viewers show the size of the file.")
        else:
            (file, model, lost), unit = _humanoid(source, meta), 1.0
        if settings.materials or settings.hidden_sections:
            lost.append("Overrides of materials and hidden sections.")
        if model.skeleton is None or len(file.member("nodes")) != model.skeleton.joint_count:
            raise ElementFault("nodes", "are not all joints")
        plan = spring_plan(source.scene, source.node, model, source.time, unit)
        lost += [*plan.lost, *write_springs(file, model.skeleton, plan)]
        return file.written(), lost


def require_other_file(output: Path, source: Path) -> None:
    """Raises CommandError if a VRM would replace the file that its scene reads."""
    if output.absolute() == source.absolute() or (output.exists() and source.exists() and output.samefile(source)):
        raise CommandError(output, "", "is the file that the scene reads; choose another name")


def png_of(picture: Image.Image) -> bytes:
    """Returns the middle square of an image as PNG."""
    side = min(picture.size)
    left, top = ((size - side) // 2 for size in picture.size)
    square = picture.convert("RGB").crop((left, top, left + side, top + side)).resize((PICTURE, PICTURE))
    buffer = io.BytesIO()
    square.save(buffer, "PNG")
    return buffer.getvalue()


def _humanoid(source: AvatarSource, meta: AvatarMeta) -> tuple[GlbFile, CharacterModel, list[str]]:
    raw = read_raw(source.path)
    for stored in source.settings.weights:
        reweigh(raw, stored)
    body = source.body
    made = humanoid_vrm(raw, build_model(raw), body, meta, unit_scale=source.settings.unit_scale,
                        thumbnail=source.thumbnail if meta.thumbnail else b"")  # fmt: skip
    return made.file, made.model, list(made.lost)
