"""Where the program keeps what is no project: window layout, recent files, preferences."""

from enum import Enum
from typing import TypeVar

from PySide6.QtCore import QSettings

from app.files.places import config_folder

Choice = TypeVar("Choice", bound=Enum)


def app_settings() -> QSettings:
    """The settings of this user, an INI file in the folder of `config_folder`."""
    return QSettings(str(config_folder() / "sinew.ini"), QSettings.Format.IniFormat)


def stored_choice(settings: QSettings, key: str, default: Choice) -> Choice:
    """What the user chose of an enumeration; the default where nothing sensible is stored."""
    value, kind = settings.value(key), type(default)
    return kind(value) if value in [choice.value for choice in kind] else default
