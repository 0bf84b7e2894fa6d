from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sinew.sim.assets.images import ImageBudget, ImageError, MipImage, load_mip_image
from sinew.sim.assets.model import CharacterModel, ImageSource
from sinew.sim.characters.materials import REPORTED_MAX

if TYPE_CHECKING:
    from sinew.sim.characters.prepared import PreparedModel


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class LoadedModel:
    model: CharacterModel
    images: dict[ImageSource, MipImage]  # Every readable texture, with its mip levels
    prepared: "PreparedModel"  # Input of the upload
    warnings: tuple[str, ...]  # Also one for every texture that is unreadable or reduced
    digest: str = ""  # Of the model file; "" if not computed

    @property
    def other_files(self) -> tuple[Path, ...]:
        """Images and buffers of the model."""
        return (*(image for image in self.images if isinstance(image, Path)), *self.model.files)


def load_textures(
    model: CharacterModel,
    budget: ImageBudget,
    images: dict[ImageSource, MipImage],
    *,
    progress: Callable[[float], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
) -> list[str]:
    """Adds the textures of a model to `images`; returns a warning for each that is unreadable or reduced.

    Args:
        progress: Receives the finished fraction, 0 to 1.
        pause: Called often; may raise to cancel.
    """
    used = (image for material in model.materials for image in material.images)
    sources = tuple(dict.fromkeys(image for image in used if image is not None and image not in images))
    warnings: list[str] = []
    failed = 0
    for index, source in enumerate(sources):
        pause()
        progress(index / len(sources))
        try:
            images[source] = load_mip_image(source, budget, pause=pause)
        except ImageError as error:
            failed += 1
            if failed <= REPORTED_MAX:
                warnings.append(f"texture {error}")
    if failed > REPORTED_MAX:
        warnings.append(f"{failed - REPORTED_MAX:,} more textures cannot be read")
    return [*warnings, *budget.take_notes()]
