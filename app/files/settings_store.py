"""Where the program keeps what is no project: window layout, recent files, preferences."""

from PySide6.QtCore import QSettings

from app.files.places import config_folder


def app_settings() -> QSettings:
    """The settings of this user, an INI file in the folder of `config_folder`."""
    return QSettings(str(config_folder() / "sinew.ini"), QSettings.Format.IniFormat)
