"""The list of recent files."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from sinew.app.files.recent_files import COUNT_MAX, RecentFiles
from sinew.app.files.settings_store import app_settings


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "a.ini"), QSettings.Format.IniFormat)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_the_list_survives_a_restart(settings, tmp_path, count):
    recent = RecentFiles(settings)
    files = [tmp_path / f"a, b {n} ä.sinew" for n in range(count)]
    for file in files:
        recent.add(file)
    again = RecentFiles(QSettings(settings.fileName(), QSettings.Format.IniFormat))
    assert again.paths() == tuple(reversed(files))


def test_a_file_stands_once_and_in_front(settings, tmp_path):
    recent = RecentFiles(settings)
    for name in ("a", "b", "c", "./b"):
        recent.add(tmp_path / name)
    assert [path.name for path in recent.paths()] == ["b", "c", "a"]


def test_the_list_is_short(settings, tmp_path):
    recent = RecentFiles(settings)
    for number in range(COUNT_MAX + 5):
        recent.add(tmp_path / str(number))
    assert [path.name for path in recent.paths()] == [str(n) for n in range(COUNT_MAX + 4, 4, -1)]


def test_a_damaged_entry_is_no_list(settings):
    settings.setValue("recent_files", {"a": 1})
    assert RecentFiles(settings).paths() == ()


def test_settings_live_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("SINEW_CONFIG_DIR", str(tmp_path / "config"))
    settings = app_settings()
    settings.setValue("key", 3)
    settings.sync()
    assert Path(settings.fileName()) == tmp_path / "config" / "sinew.ini"
    assert (tmp_path / "config" / "sinew.ini").is_file()
