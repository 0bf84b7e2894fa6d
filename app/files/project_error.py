"""The error of project files."""

from pathlib import Path

from sim.printable import printable

_WHERE_MAX = 200


class ProjectError(ValueError):
    """A project that cannot be read or written: one line naming file, JSON path and reason."""

    def __init__(self, path: Path | str, where: str, reason: str) -> None:
        place = f"{printable(where, _WHERE_MAX)}: " if where else ""
        super().__init__(printable(f"{path}: {place}{reason}"))
        self.path = Path(path)
        self.where = where
        self.reason = reason
