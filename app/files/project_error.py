"""The error of project files."""

from pathlib import Path


class ProjectError(ValueError):
    """A project that cannot be read or written: one line naming file, JSON path and reason."""

    def __init__(self, path: Path | str, where: str, reason: str) -> None:
        super().__init__(f"{path}: {where}: {reason}" if where else f"{path}: {reason}")
        self.path = Path(path)
        self.where = where
        self.reason = reason
