from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quality:
    """What an image in the standard look contains, besides its settings."""

    shadow_taps: int = 2  # Edge of the square of shadow samples on surfaces
    has_occlusion: bool = False


DRAFT = Quality()
"""Also of complete images of a viewport that a software renderer draws."""

VIEWPORT = Quality(shadow_taps=4, has_occlusion=True)

FILE = Quality(has_occlusion=True)
"""Of images for files, which do not depend on the machine."""
