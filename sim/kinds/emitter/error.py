"""What an emitter that cannot be made complains with."""


class EmitterError(ValueError):
    """Settings or a surface that no emitter can be made of; the text is one line that names what and why."""
