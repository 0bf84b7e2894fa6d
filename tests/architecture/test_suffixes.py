"""Suffixes of files stand in the registries of formats and nowhere else."""

import ast
import re

from sinew.app.project.project_file import PROJECT_SUFFIX
from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS, STRAND_FORMATS
from sinew.sim.export.formats import (
    ARRAY_WRITERS,
    MODEL_WRITERS,
    PAGE_FORMATS,
    RENDER_FORMATS,
    SCENE_FORMATS,
    SURFACE_WRITERS,
)
from tests.architecture.sources import Source, sources

WRITERS = (MODEL_WRITERS, SURFACE_WRITERS, ARRAY_WRITERS, RENDER_FORMATS, SCENE_FORMATS, PAGE_FORMATS)
REGISTRIES = (MODEL_FORMATS, IMAGE_FORMATS, STRAND_FORMATS, *WRITERS)
HOMES = ("sim/assets/formats.py", "sim/export/formats.py", "app/project/project_file.py")
MEASURED = ("sim/bench/", "app/cli/bench")  # benchmarks name the files that they make or start with
KNOWN = {PROJECT_SUFFIX, *(suffix for formats in REGISTRIES for suffix in formats.suffixes())}
SUFFIX = re.compile(rf"(?:{'|'.join(re.escape(suffix) for suffix in sorted(KNOWN))})(?![\w-]|\.\w)", re.IGNORECASE)


def named_suffixes(source: Source) -> list[str]:
    """Texts of a file, other than those that document, in which a known suffix stands."""
    texts = [node for node in source.nodes if isinstance(node, ast.Constant) and id(node) not in source.documents]
    return [text.value for text in texts if isinstance(text.value, str) and SUFFIX.search(text.value)]


def test_no_suffix_is_named_outside_the_registries() -> None:
    program = [source for source in sources("app", "widgets", "sim") if not source.name.startswith((*HOMES, *MEASURED))]
    found = {source.name: named_suffixes(source) for source in program}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_the_registries_name_them() -> None:
    found = {text for source in sources("app", "sim") if source.name in HOMES for text in named_suffixes(source)}
    assert found >= KNOWN


def test_named_suffixes_are_found_and_other_texts_are_not() -> None:
    for code in ("'.ezm'", "f'{name}.png'", "'Images (*.PNG *.jpg)'", "(1, '.sinew')"):
        assert len(named_suffixes(Source("a.py", f"x = {code}"))) == 1
    for code in ("'.pngs'", "'.txt'", "f'.sinew-{x}-'", "'png'"):
        assert named_suffixes(Source("a.py", f'"""Writes .ezm."""\nx = {code}\n"""Not .obj."""')) == []
