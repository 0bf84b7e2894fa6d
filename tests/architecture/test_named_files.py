"""Files and names that comments and docstrings mention exist."""

import re

import pytest

from sinew.shaders import ROOT
from tests.architecture.sources import REPO_ROOT, TOKEN, sources
from tests.architecture.test_shader_headers import FILES

PATH = re.compile(r"(?<![\w./<*>}])((?:\w+/)*\w+\.(?:py|glsl|vert|frag|geom))\b")
QUOTED = re.compile(r"`([^`\n]+)`")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FOREIGN = {
    "leftArm", "LeftArm", "ArmRight", "Bip01", "L_Hand", "TressFXFileFormat", "decimal",  # of files that are read
    "a_field", "i_field", "o_field", "u_x", "Doc", "f9e0652",  # of examples
    "posixpath", "ntpath",  # of Python
}  # fmt: skip
"""Names in backquotes that are not the program's."""
Entries = list[tuple[str, str, str]]


def prose_of(text: str) -> tuple[str, str]:
    """Comments and docstrings of a Python file, and the rest of it."""
    prose, code = [], []
    for token in TOKEN.finditer(text):
        is_document = token.lastgroup == "text" and token[0].lstrip("rR").startswith('"""')
        (prose if token.lastgroup == "comment" or is_document else code).append(token[0])
    return "\n".join(prose), " ".join(code)


@pytest.fixture(scope="module")
def files() -> Entries:
    """Name, prose and code of every Python file and shader of the program."""
    found = [(source.name, *prose_of(source.text)) for source in sources()]
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        found.append((path.relative_to(REPO_ROOT).as_posix(), "\n".join(COMMENT.findall(text)), COMMENT.sub("", text)))
    return found


def missing_files(prose: str) -> list[str]:
    """Files that are named and neither in the repository nor below a folder of it; a part in capitals is any name."""
    return [
        name
        for name in PATH.findall(prose)
        if not any(part.isupper() for part in name.split("/"))
        and not (REPO_ROOT / name).is_file()
        and not (ROOT / name).is_file()
        and not any(existing.endswith(f"/{name}") for existing in EXISTING)
    ]


EXISTING = [
    path.relative_to(REPO_ROOT).as_posix()
    for folder in ("app", "widgets", "sim", "shaders", "resources", "tests")
    for path in (REPO_ROOT / folder).rglob("*.*")
]


def unknown_names(prose: str, known: set[str]) -> list[str]:
    """Words in backquotes that are no word of any code."""
    words = (word for quoted in QUOTED.findall(prose) for word in re.findall(r"[A-Za-z_]\w+", quoted))
    return [word for word in words if word not in known]


def test_files_in_comments_and_docstrings_exist(files: Entries) -> None:
    found = {name: missing_files(prose) for name, prose, _ in files}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_names_in_comments_and_docstrings_exist(files: Entries) -> None:
    known = {word for _, _, code in files for word in re.findall(r"\w+", code)} | FOREIGN
    known |= {part for name in EXISTING for part in re.findall(r"\w+", name)}
    found = {name: unknown_names(prose, known) for name, prose, _ in files}
    assert {name: unknown for name, unknown in found.items() if unknown} == {}


def test_a_missing_file_or_name_is_found() -> None:
    prose, code = prose_of(
        '# as in sim/none.py and cloth/none.glsl\nx = "sim/other.py"  # KIND/file.glsl, cloth/step.glsl\n'
    )
    assert missing_files(prose) == ["sim/none.py", "cloth/none.glsl"]
    assert "other" in code
    assert unknown_names("// `life_table` and `born(x)`", {"life_table", "x"}) == ["born"]
