"""Files of strands: what they hold, what is wrong with them, and their strands in equal chords."""

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.strands import POINTS_MAX, load_strands, resampled
from tests.fuzz.mutate import delete_chunk, flip_bits, repeat_chunk, set_bytes, truncate
from tests.strand_samples import arcs, hair_bytes, tfx_bytes


def write(folder: Path, data: bytes, name: str = "a.hair") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_strands_of_different_numbers_of_points(tmp_path: Path) -> None:
    lines = [arcs(1, points)[0] for points in (9, 4, 2)]
    colours, thickness = np.linspace(0.0, 1.0, 45).reshape(15, 3), np.arange(15) / 10.0
    found = load_strands(write(tmp_path, hair_bytes(lines, thickness=thickness, colours=colours)))
    assert found.starts.tolist() == [0, 9, 13, 15]
    np.testing.assert_allclose(found.points, np.concatenate(lines), atol=1e-7)
    assert found.thickness is not None
    assert found.colours is not None
    np.testing.assert_allclose(found.thickness, thickness, atol=1e-7)
    np.testing.assert_allclose(found.colours, colours, atol=1e-7)
    padded = found.points_of(np.array([1, 2]))
    np.testing.assert_allclose(padded[1], np.concatenate([lines[2], lines[2][1:], lines[2][1:]]), atol=1e-7)


def test_strands_of_one_number_of_points(tmp_path: Path) -> None:
    lines = arcs()
    for name, data in (("a.hair", hair_bytes(list(lines), segments=8)), ("a.TFX", tfx_bytes(lines, thickness=[2] * 5))):
        found = load_strands(write(tmp_path, data, name))
        np.testing.assert_allclose(found.points.reshape(5, 9, 3), lines, atol=1e-7)
    assert found.thickness is not None
    assert found.thickness.tolist() == [2.0] * 5


def headed(data: bytes, **fields: int) -> bytes:
    """A HAIR file with other numbers in its header."""
    places = {"strands": 4, "points": 8, "flags": 12, "segments": 16}
    changed = bytearray(data)
    for name, value in fields.items():
        struct.pack_into("<I", changed, places[name], value)
    return bytes(changed)


WHOLE = hair_bytes(list(arcs()))
HOLED = arcs()
HOLED[3, 2, 1] = np.nan


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.hair", b"", "the file is empty"),
        ("a.hair", b"<Mesh>", "this is neither HAIR strands nor TressFX strands"),
        ("a.hair", WHOLE[:100], "header: has 100 bytes, 128 are needed"),
        ("a.hair", WHOLE[:-1], "points: 5 strands of 45 points need 678 bytes, there are 677"),
        ("a.hair", headed(WHOLE, strands=0), "header: has 0 strands"),
        ("a.hair", headed(WHOLE, flags=1), "header: says that there are no points"),
        (
            "a.hair",
            headed(WHOLE, strands=2**32 - 1, points=2**32 - 1),
            "segments: 4294967295 strands of 4294967295 points need 8589934718 bytes, there are 678",
        ),
        ("a.hair", headed(WHOLE, flags=2, segments=2**32 - 1), "strands of 4294967295 segments do not have 45 points"),
        ("a.hair", headed(WHOLE, strands=4), "segments: have 36 points, there are 45"),
        ("a.hair", hair_bytes([[[0.0] * 3]]), "no strand has a segment"),
        ("a.hair", hair_bytes(list(HOLED)), "strand 3: its point 2 is not finite"),
        ("a.hair", hair_bytes([[[0.0] * 3, [1e20, 0.0, 0.0]]]), "strands: point 1 has the unusable value 1.0000"),
        ("a.tfx", tfx_bytes(arcs())[:20], "header: has 20 bytes, 32 are needed"),
        ("a.tfx", tfx_bytes(arcs())[:-4], "points: are at bytes 160 to 880, the file has 876"),
        ("a.tfx", tfx_bytes(arcs(points=3)), "header: has 3 points a strand, 4 to 64 are read"),
        ("a.tfx", struct.pack("<f7I", 4.0, 0, 8, 160, 0, 0, 0, 0), "header: has 0 strands"),
        ("a.tfx", struct.pack("<f7I", np.nan, 1, 8, 160, 0, 0, 0, 0), "header: has the version nan"),
        ("a.tfx", struct.pack("<f7I", 4.0, 2**32 - 1, 64, 0, 0, 0, 0, 0), "points: are at bytes 0 to"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, name: str, data: bytes, line: str) -> None:
    path = write(tmp_path, data, name)
    with pytest.raises(ModelError) as caught:
        load_strands(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert line in text
    assert len(text.splitlines()) == 1


def test_files_that_are_not_there_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load_strands(tmp_path / "gone.hair")
    with pytest.raises(ModelError, match="this is a folder"):
        load_strands(tmp_path)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever is done to a file, it gives finite strands or one line."""
    files = [hair_bytes(list(arcs()), thickness=np.ones(45), colours=np.ones((45, 3))), tfx_bytes(arcs())]
    refused = 0
    for seed in range(300):
        source = random.Random(seed)
        data = files[seed % 2]
        for _ in range(source.choice((1, 1, 2, 4))):
            damage = source.choice((flip_bits, set_bytes, truncate, delete_chunk, repeat_chunk))
            data = damage(data, source, files)
        path = write(tmp_path, data, "a.hair" if seed % 2 == 0 else "a.tfx")
        try:
            found = load_strands(path)
        except ModelError as error:
            refused += len(str(error).splitlines())
            continue
        knots, chords = resampled(found.points_of(np.arange(found.count)), 5)
        assert np.isfinite(knots).all()
        assert np.isfinite(chords).all()
    assert 100 < refused < 290


def test_chords_are_equal_and_lie_on_the_strand() -> None:
    lines = arcs(20, 33)
    knots, chords = resampled(lines, 11)
    found = np.linalg.norm(np.diff(knots, axis=1), axis=2)
    np.testing.assert_allclose(found, np.repeat(chords[:, None], 11, axis=1), rtol=1e-7)
    np.testing.assert_array_equal(knots[:, 0], lines[:, 0])
    np.testing.assert_array_equal(knots[:, -1], lines[:, -1])
    # Knots lie on the segments of the lines.
    begin, along = lines[:, None, :-1], np.diff(lines, axis=1)[:, None]
    away = knots[:, :, None] - begin
    share = np.clip((away * along).sum(axis=3) / (along**2).sum(axis=3), 0.0, 1.0)
    assert np.linalg.norm(away - share[..., None] * along, axis=3).min(axis=2).max() < 1e-9


def test_straight_folded_and_pointlike_strands_are_resampled() -> None:
    straight = np.linspace([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], 5)
    folded = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.0]])
    knots, chords = resampled(np.stack([straight, folded, np.zeros((5, 3))]), 4)
    np.testing.assert_allclose(knots[0, :, 1], [0.0, 0.25, 0.5, 0.75, 1.0], atol=1e-9)
    assert np.isfinite(knots).all()
    np.testing.assert_array_equal(knots[1, -1], folded[-1])
    assert chords[2] == 0.0


def test_long_strands_are_thinned(tmp_path: Path) -> None:
    turn = np.linspace(0.0, 30.0, 60_000)
    line = np.stack([np.cos(turn), 0.1 * turn, np.sin(turn)], axis=1)
    found = load_strands(write(tmp_path, hair_bytes([line, line[:3]])))
    shown = found.points_of(np.arange(2))
    assert shown.shape == (2, POINTS_MAX, 3)
    np.testing.assert_allclose(shown[0, [0, -1]], line[[0, -1]], atol=1e-6)
    np.testing.assert_allclose(shown[1, 2:], np.repeat(line[2:3], POINTS_MAX - 2, axis=0), atol=1e-6)
