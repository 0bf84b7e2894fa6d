"""Paths of models are portable: relative with forward slashes where that is possible."""

import ntpath
import os
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.app.files.project_paths import portable_path, resolved_path, stored_path


@pytest.mark.parametrize(
    ("path", "stored"),
    [
        ("/p/models/a.ezm", "models/a.ezm"),
        ("/p/a.ezm", "a.ezm"),
        ("/other/a.ezm", "../other/a.ezm"),
        ("/p/x\\y.ezm", "x\\y.ezm"),
        ("", ""),
        ("loose/a.ezm", "loose/a.ezm"),
    ],
)
def test_posix_paths(path, stored):
    assert stored_path(path, "/p", flavour=posixpath) == stored
    if posixpath.isabs(path):
        assert resolved_path(stored, "/p", flavour=posixpath) == path


@pytest.mark.parametrize(
    ("path", "stored"),
    [
        ("C:\\p\\models\\a.ezm", "models/a.ezm"),
        ("c:\\P\\a.ezm", "a.ezm"),
        ("C:\\other\\a.ezm", "../other/a.ezm"),
        ("D:\\other\\a.ezm", "D:/other/a.ezm"),
        ("\\\\server\\share\\a.ezm", "//server/share/a.ezm"),
        ("", ""),
    ],
)
def test_windows_paths(path, stored):
    assert stored_path(path, "C:\\p", flavour=ntpath) == stored
    if path:
        assert ntpath.normcase(resolved_path(stored, "C:\\p", flavour=ntpath)) == ntpath.normcase(path)


parts = st.lists(st.sampled_from(["a", "b", "..c", "d e"]), min_size=1, max_size=5)


@given(parts, parts)
def test_what_is_stored_resolves_to_the_same_file(path_parts, folder_parts):
    path, folder = "/" + "/".join(path_parts), "/" + "/".join(folder_parts)
    assert resolved_path(stored_path(path, folder, flavour=posixpath), folder, flavour=posixpath) == path


def test_a_link_to_the_project_folder_does_not_lead_outside(tmp_path):
    real = tmp_path.resolve() / "real"
    real.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(real)
    assert portable_path(str(link / "a.ezm"), str(real)) == "a.ezm"
    assert portable_path(str(tmp_path.resolve() / "a.ezm"), str(real)) == "../a.ezm"
    outside = os.path.join(os.sep, "elsewhere", "a.ezm")
    assert portable_path(outside, str(real)) == stored_path(outside, str(real))


def test_paths_on_another_machine_keep_both_slashes():
    path = "//host/share/x.ezm"
    assert stored_path(path, "/p", flavour=posixpath) == path
    assert resolved_path(path, "/p", flavour=posixpath) == path
    beside = stored_path(path, "//host/share/p", flavour=posixpath)
    assert resolved_path(beside, "//host/share/p", flavour=posixpath) == path
