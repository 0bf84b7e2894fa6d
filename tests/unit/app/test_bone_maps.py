from pathlib import Path

import pytest

from sinew.app.project.bone_maps import MAPS_MAX, NAME, BoneMaps, BoneMapsError

EDITS = (("hips", "q0"), ("head", "頭"))


def test_maps_are_known_by_the_names_of_all_joints(tmp_path: Path) -> None:
    maps = BoneMaps(tmp_path / "deep")
    assert maps.find(["q0", "頭"]) == ()
    maps.store(["q0", "頭"], EDITS)
    assert BoneMaps(tmp_path / "deep").find(["q0", "頭"]) == EDITS
    assert maps.find(["頭", "q0"]) == maps.find(["q0"]) == ()
    maps.store(["q0", "頭"], ())
    assert maps.find(["q0", "頭"]) == ()


def test_the_newest_maps_are_kept(tmp_path: Path) -> None:
    maps = BoneMaps(tmp_path)
    for number in range(MAPS_MAX + 2):
        maps.store([str(number)], EDITS)
    maps.store(["2"], (("jaw", "2"),))
    assert [maps.find([str(number)]) for number in (0, 1, 2, 3)] == [(), (), (("jaw", "2"),), EDITS]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"maps": {"a": [["hips"]]}}', '{"maps": {"a": 5}}', "\udc80"])
def test_a_file_that_cannot_be_read_is_named_and_replaced(tmp_path: Path, text: str) -> None:
    maps = BoneMaps(tmp_path)
    (tmp_path / NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BoneMapsError, match=f"{NAME}: .*: remembered bones ignored") as refused:
        maps.find(["a"])
    assert "\n" not in str(refused.value)
    maps.store(["a"], EDITS)
    assert maps.find(["a"]) == EDITS


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BoneMapsError, match=r"bones are not remembered|remembered bones ignored"):
        BoneMaps(tmp_path / "file").store(["a"], EDITS)
