"""Upload of images in steps of bounded size, with mipmaps made beforehand."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from sinew.sim.assets.images import MipImage
from sinew.sim.assets.model import IMAGES, TOON_IMAGES, ImageSource, Material, Sampled, Sampler
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.task import Task, finish
from sinew.sim.gl.texture import Texture2D
from sinew.sim.kinds.contract import Service

MipImages = Mapping[ImageSource, MipImage]

REPEATED = Sampler()
STEP_BYTES = 1 << 20
"""Size of one step [bytes]; a software driver takes about a millisecond."""


def upload_images(
    context: Context, images: MipImages, materials: Iterable[Material]
) -> Task[Mapping[Sampled, Texture2D]]:
    textures: dict[Sampled, Texture2D] = {}
    for used in (material.sampled(name) for material in materials for name in (*IMAGES, *TOON_IMAGES)):
        if used is not None and used[0] in images and used not in textures:
            source, sampler = used
            textures[used] = yield from upload_image(context, images[source], source.name, sampler)
    return textures


def upload_image(context: Context, image: MipImage, label: str = "", sampler: Sampler = REPEATED) -> Task[Texture2D]:
    """Uploads an sRGB image with all its levels; without the largest ones if it exceeds the limit of the driver."""
    # Software renderers pay for every anisotropic sample; on hardware they are nearly free.
    ratio = 1.0 if context.capabilities.is_software or sampler.min_filter != REPEATED.min_filter else 8.0
    levels = image.within(context.capabilities.max_texture_size).levels
    height, width = levels[0].shape[:2]
    texture = Texture2D(
        context, (width, height), "srgb8_alpha8", mipmaps=True, wrap="repeat", anisotropy=ratio, label=label
    )
    if sampler != REPEATED:
        texture.sample((sampler.wrap_s, sampler.wrap_t), sampler.mag_filter, sampler.min_filter)
    yield
    pending = 0
    for level, texels in enumerate(levels):
        rows = max(1, STEP_BYTES // texels[0].nbytes)
        for first in range(0, len(texels), rows):
            band = texels[first : first + rows]
            texture.write_rows(band, level=level, first=first)
            pending += band.nbytes
            if pending >= STEP_BYTES:
                pending = 0
                yield
    if pending:
        yield
    return texture


class SharedTextures(Service):
    """Textures by path: nodes that name the same image share one."""

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self._images: Mapping[Path, MipImage] | None = None
        self._textures: Mapping[Path, Texture2D] = {}
        self._known: dict[Path, tuple[MipImage, Texture2D]] = {}

    def has(self, path: Path, image: MipImage) -> bool:
        return path in self._known and self._known[path][0] is image

    def upload(self, path: Path, image: MipImage) -> Task[None]:
        """Uploads an image, which the next call of `of` must include; a step raises GLError if it is too large."""
        self._keep(path, image, (yield from upload_image(self._context, image, path.name)))

    def of(self, images: Mapping[Path, MipImage]) -> Mapping[Path, Texture2D]:
        """Returns textures of images; uploads missing ones at once and releases all others.

        Returns the same mapping for the same argument.  Raises GLError if the driver cannot hold them.
        """
        if images is not self._images:
            for path, image in images.items():
                if not self.has(path, image):
                    self._keep(path, image, finish(upload_image(self._context, image, path.name)))
            for path in self._known.keys() - images.keys():
                self._known.pop(path)[1].release()
            self._textures = {path: texture for path, (_, texture) in self._known.items()}
            self._images = images
        return self._textures

    def release(self) -> None:
        for _, texture in self._known.values():
            texture.release()
        self._known, self._textures, self._images = {}, {}, None

    def _keep(self, path: Path, image: MipImage, texture: Texture2D) -> None:
        if path in self._known:
            self._known[path][1].release()
        self._known[path] = image, texture
