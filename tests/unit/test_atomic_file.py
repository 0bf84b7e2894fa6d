"""Files appear complete or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from sinew.sim.export.atomic_file import atomic_file, atomic_path


def test_the_content_arrives(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "a.bin") as file:
        file.write(b"new")
        assert not (tmp_path / "a.bin").exists()
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_what_was_there(tmp_path: Path, interruption: type[BaseException]) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")

    def write() -> None:
        with atomic_file(tmp_path / "a.bin") as file:
            file.write(b"half")
            raise interruption

    with pytest.raises(interruption):
        write()
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o640)
    (tmp_path / "link.bin").symlink_to("a.bin")
    with atomic_file(tmp_path / "link.bin") as file:
        file.write(b"new")
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    wanted = tmp_path / "none" / "a.bin"
    with pytest.raises(FileNotFoundError) as caught, atomic_file(wanted):
        pass
    assert caught.value.filename == str(wanted)


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.bin").mkdir()
    with pytest.raises(OSError, match=r"a\.bin"), atomic_file(tmp_path / "a.bin") as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("writer", [atomic_file, atomic_path])
def test_a_folder_that_takes_no_files_is_told_with_the_name_of_the_target(tmp_path: Path, writer: Any) -> None:
    target = Path("/sys/a.bin") if os.path.isdir("/sys") else tmp_path / "none" / "a.bin"
    with pytest.raises(OSError, match="a") as caught, writer(target):
        raise AssertionError("the work has begun")
    assert caught.value.filename == str(target)
