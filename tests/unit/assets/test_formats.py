"""Registries of formats: what is asked of them, and what asking costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS, Format, Formats, model_format_name
from sinew.sim.assets.load import is_model
from sinew.sim.export.formats import ARRAY_WRITERS, IMAGE_WRITERS, MODEL_WRITERS, SURFACE_WRITERS

REGISTRIES = (MODEL_FORMATS, IMAGE_FORMATS, MODEL_WRITERS, SURFACE_WRITERS, ARRAY_WRITERS, IMAGE_WRITERS)


@pytest.mark.parametrize("formats", REGISTRIES)
def test_suffixes_are_lower_case_and_those_of_one_format(formats: Formats[Format]) -> None:
    suffixes = formats.suffixes()
    assert len(set(suffixes)) == len(suffixes) > 0
    for suffix in suffixes:
        assert suffix == suffix.lower()
        assert formats.of(Path("A" + suffix.upper())).has_suffix(Path("b" + suffix))


def test_a_suffix_that_names_no_format_is_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"^'a\.fbx' does not end in \.npz or \.obj or \.ply$"):
        SURFACE_WRITERS.of(Path("a.fbx"))


def test_two_formats_have_no_suffix_in_common() -> None:
    formats = Formats(Format(name="one", suffixes=(".a", ".b")))
    with pytest.raises(ValueError, match=r"\.b is taken already"):
        formats.register(Format(name="two", suffixes=(".b", ".c")))
    assert formats.suffixes() == (".a", ".b")


def test_a_format_has_a_name_for_people() -> None:
    assert model_format_name("ezb") == "binary EZMesh"
    assert model_format_name("own") == "own"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.EZM", b"", True),
        ("a.txt", b"\xef\xbb\xbf <Mesh/>", True),
        ("a", b"\0\0\0\x65\0\0\0\x06EZMESH", True),
        ("a.txt", b"# c\nv 1 2 3\n", True),
        ("a.txt", b"\xef\xbb\xbfv 1 2 3\n", True),
        ("a.txt", b"hello", False),
        ("a.png", b"\x89PNG\r\n\x1a\n", False),
        ("a.bin", b"", False),
    ],
)
def test_a_model_is_told_by_suffix_or_content(name: str, content: bytes, expected: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert is_model(tmp_path / name) is expected


def test_what_cannot_be_looked_into_is_no_model(tmp_path: Path) -> None:
    assert not is_model(tmp_path)
    assert not is_model(tmp_path / "missing.txt")


def test_asking_for_formats_loads_no_reader(repo_root: Path) -> None:
    code = (
        "import sys; from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS; "
        "from sinew.sim.export.formats import *; "
        "from sinew.app.cli.main import main; MODEL_FORMATS.suffixes(); main(['info', 'none.ezm']); "
        "print(sorted(name for name in sys.modules if name in ('lxml', 'PIL') or name.startswith('sinew.sim.assets.')"
        " and name.endswith('_reader')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repo_root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
