"""Images that reach the GPU in steps of bounded size, with the smaller levels that were made beforehand."""

from collections.abc import Mapping

from sim.assets.mip_levels import MipImage
from sim.assets.model import ImageSource
from sim.gl.context import Context
from sim.gl.steps import Steps
from sim.gl.texture import Texture2D, Wrap

MipImages = Mapping[ImageSource, MipImage]

STEP_BYTES = 1 << 20
"""Bytes of one step; a software driver takes about a millisecond, as it stores texels in tiles."""


def upload_images(context: Context, images: MipImages) -> Steps[Mapping[ImageSource, Texture2D]]:
    """Textures of a model, by where their images are."""
    textures: dict[ImageSource, Texture2D] = {}
    for source, image in images.items():
        textures[source] = yield from upload_texture(context, source, image)
    return textures


def upload_texture(context: Context, source: ImageSource, image: MipImage) -> Steps[Texture2D]:
    """A texture of a surface."""
    # Software renderers pay for every anisotropic sample; on hardware they are nearly free.
    ratio = 1.0 if context.capabilities.is_software else 8.0
    return upload_image(context, image, anisotropy=ratio, label=source.name)


def upload_image(
    context: Context, image: MipImage, *, wrap: Wrap = "repeat", anisotropy: float = 1.0, label: str = ""
) -> Steps[Texture2D]:
    """A texture of an image; one that is larger than the driver takes begins with a smaller level.

    Args:
        context: Where it lives.
        image: Colours in sRGB, with all its levels.
        wrap, anisotropy, label: As of `Texture2D`.

    Raises:
        GLLimitError: From the first step, if the image has no texels.
    """
    levels = image.within(context.capabilities.max_texture_size).levels
    height, width = levels[0].shape[:2]
    texture = Texture2D(
        context, (width, height), "srgb8_alpha8", mipmaps=True, wrap=wrap, anisotropy=anisotropy, label=label
    )
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
