"""Folders of the user that the program writes to, and its settings: window layout, recent files, preferences."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import platformdirs

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

APPLICATION = "sinew"
CONFIG_VARIABLE = "SINEW_CONFIG_DIR"
DATA_VARIABLE = "SINEW_DATA_DIR"


def config_folder() -> Path:
    """Returns the folder of the settings; the environment variable SINEW_CONFIG_DIR overrides it."""
    return _place(CONFIG_VARIABLE, platformdirs.user_config_path(APPLICATION, appauthor=False))


def data_folder() -> Path:
    """Returns the folder of recovery files.

    The environment variable SINEW_DATA_DIR overrides it; if only SINEW_CONFIG_DIR is set, it is inside that folder, so
    that one variable moves everything out of the user's folders.
    """
    if os.environ.get(CONFIG_VARIABLE) and not os.environ.get(DATA_VARIABLE):
        return config_folder() / "data"
    return _place(DATA_VARIABLE, platformdirs.user_data_path(APPLICATION, appauthor=False))


def program_cache_folder() -> Path:
    """Returns the folder of compiled shaders; next to recovery files if a variable moves these."""
    moved = os.environ.get(CONFIG_VARIABLE) or os.environ.get(DATA_VARIABLE)
    found = data_folder() / "cache" if moved else platformdirs.user_cache_path(APPLICATION, appauthor=False)
    return found / "programs"


def _place(variable: str, default: Path) -> Path:
    chosen = os.environ.get(variable)
    return Path(chosen).absolute() if chosen else default


Choice = TypeVar("Choice", bound=Enum)


def app_settings() -> QSettings:
    from PySide6.QtCore import QSettings  # commands look for plug-ins in the folder, and load no Qt

    return QSettings(str(config_folder() / "sinew.ini"), QSettings.Format.IniFormat)


def stored_choice(settings: QSettings, key: str, default: Choice) -> Choice:
    """Returns a stored choice; the default if the stored value is invalid."""
    value, kind = settings.value(key), type(default)
    return kind(value) if value in [choice.value for choice in kind] else default
