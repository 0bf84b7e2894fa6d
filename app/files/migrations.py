"""Steps from one version of the project file to the next.

A step takes the JSON object of version N and returns that of version N + 1; it is registered under N.  What
merely adds a key needs none: a missing key takes its default.
"""

from collections.abc import Callable, Mapping
from typing import Any

Migration = Callable[[dict[str, Any]], dict[str, Any]]

VERSION = 1
"""Version that this program writes."""

MIGRATIONS: Mapping[int, Migration] = {}
"""One step for every older version."""


class MigrationError(ValueError):
    """A project of an older version that could not be brought to the present one."""


def migrated(content: dict[str, Any], version: int, migrations: Mapping[int, Migration]) -> dict[str, Any]:
    """`content` of an older `version`, brought to `VERSION` step by step.

    Raises:
        MigrationError: If there is no step for a version, or a step does not fit the content.
    """
    for step in range(version, VERSION):
        if step not in migrations:
            raise MigrationError(f"version {step} is too old to be read")
        try:
            content = migrations[step](content)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise MigrationError(f"could not be converted from version {step} to {step + 1}: {error}") from error
    return content
