"""How an export fails."""


class ExportError(Exception):
    """What cannot be written: file, element and reason in one line."""
