"""Data of pages: arrays in one text, and the file around them."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.export.formats import ExportError
from sinew.sim.export.page.pack import ORDERS, TYPES, Pack, Unpacked
from sinew.sim.run import page_file as page

RANDOM = np.random.default_rng(5)


def table(kind: str) -> np.ndarray:
    """Values of the whole range of a type, with its ends."""
    if kind == "f4":
        values = RANDOM.integers(0, 2**32, (9, 5), np.uint32, endpoint=False).view(np.float32)
        values[0] = np.nan, np.inf, -np.inf, -0.0, 1e-45
        return values
    info = np.iinfo(kind)
    values = RANDOM.integers(info.min, info.max, (9, 5), kind, endpoint=True)
    values[0, :2] = info.min, info.max
    return values


@pytest.mark.parametrize("coding", ["", *ORDERS])
@pytest.mark.parametrize("kind", sorted(TYPES))
def test_arrays_come_back_to_the_bit(kind: str, coding: str) -> None:
    pack, arrays = Pack(), [table(kind), table(kind)[:1], table(kind)[:0], table(kind)[:, :1]]
    references = [pack.add(array, coding) for array in arrays]
    unpacked = Unpacked(pack.html({"of": references}))
    for reference, array in zip(unpacked.scene["of"], arrays, strict=True):
        assert reference["at"] % 4 == 0
        assert unpacked.array(reference).dtype == array.dtype
        assert unpacked.array(reference).tobytes() == array.tobytes()


def test_equal_arrays_are_stored_once_and_others_are_not() -> None:
    pack, values = Pack(), np.arange(12, dtype=np.uint32)
    first = pack.once(values)
    assert pack.once(values.copy()) == first
    assert pack.once(values, "rows") != first
    assert pack.once(values.view(np.float32)) != first
    assert pack.once(values.reshape(3, 4)) != first


@pytest.mark.parametrize("kind", ["f8", "i8", "?"])
def test_other_types_are_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="holds no arrays of"):
        Pack().add(np.zeros(3, kind))


def test_numbers_that_are_not_finite_are_no_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Pack().html({"a": float("nan")})


def test_slow_changes_are_smaller_with_a_coding() -> None:
    slow = np.cumsum(RANDOM.integers(-3, 4, (200, 50)), axis=0).astype(np.int16)
    plain, coded = Pack(), Pack()
    plain.add(slow)
    coded.add(slow, "zigzag")
    assert coded.compressed_size() < 0.6 * plain.compressed_size()


def test_a_page_is_one_file_in_which_texts_stay_texts(tmp_path: Path) -> None:
    pack = Pack()
    reference = pack.add(np.arange(3, dtype=np.float32))
    title = "</title><script>alert(1)</script>{{data}}\u202e"
    text = page.page_html(title, b"picture", pack.html({"title": title, "a": reference}))
    path = tmp_path / "scene.html"
    path.write_bytes(text)
    found = page.read_page(path)
    assert found.scene["title"] == title
    assert found.array(found.scene["a"]).tolist() == [0.0, 1.0, 2.0]
    assert b"alert(1)</script>" not in text
    assert b"{{" not in text.replace(b"{{data}}\xe2\x80\xae", b"")  # what the title names stays
    assert b"http://" not in text.replace(b"http://www.w3.org", b"")
    assert b"https://" not in text


def test_scripts_have_no_lines_of_comments() -> None:
    text = page.page_html("a", b"", b"").decode()
    script = text[text.rindex("<script>") :]
    assert "class Runner" in script
    assert not [line for line in script.splitlines() if line.lstrip().startswith("//")]


def test_a_file_that_is_no_page_and_a_page_that_is_too_large_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.html"
    path.write_text("<html></html>")
    with pytest.raises(ValueError, match="is no page of a scene"):
        page.read_page(path)
    page.require_size(path, page.LARGEST)
    with pytest.raises(ExportError, match=r"other\.html: .* more than 25\.0 MiB; fewer frames"):
        page.require_size(path, page.LARGEST + 1)
