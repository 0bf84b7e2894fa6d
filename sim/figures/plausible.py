"""Whether a figure has a size that something that moves can have, and what it would be in other units."""

from sim.assets.model import CharacterModel
from sim.figures.settings import ModelSettings

LOWEST, HIGHEST = 0.2, 5.0
"""Sizes [m] within which a file is taken at its word: a head or a cat is larger than 0.2 m, a horse or a giraffe
smaller than 5 m, and a person drawn in centimetres or inches, 180 or 71 high, is far outside."""

CENTIMETRE, INCH, PERSON = 0.01, 0.0254, 1.8


def size_of(settings: ModelSettings, model: CharacterModel) -> float:
    """Largest edge of the box around a model in its bind pose [m], its node unscaled; it may lie or spread its arms."""
    return settings.unit_scale * float(model.mesh.bounds.size.max())


def is_plausible(settings: ModelSettings, model: CharacterModel) -> bool:
    """Whether a model has neither a skeleton nor key frames, or a size that may be meant."""
    size, targets = size_of(settings, model), model.mesh.targets
    moves = model.skeleton is not None or (targets is not None and targets.are_frames)
    return not moves or size <= 0.0 or LOWEST <= size <= HIGHEST
