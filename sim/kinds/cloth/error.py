"""What a cloth that cannot be made complains with."""


class ClothError(ValueError):
    """Settings or a mesh that no cloth can be made of; the text is one line that names what and why."""
