import pytest

from sinew.sim.gl.shader_lines import compiled_lines
from sinew.sim.gl.shader_source import resolve

TEXT = """\
#ifdef A
float a;
#else
float b;
#endif
#if defined(B) && !(COUNT > 3) || MODE == 2
float c;
#elif COUNT > 4
float d;
#if 1
float e;
#endif
#elif 1
float f;
#endif
#define LATER COUNT
#if LATER >= 5
float g;
#undef A
#endif
#ifndef A
float h;
#endif
#if mystery(3)
float i;
#endif
"""


@pytest.mark.parametrize(
    ("defines", "letters"),
    [
        ({}, "bfhi"), ({"A": True}, "afi"), ({"B": True, "COUNT": 3}, "bchi"), ({"A": True, "COUNT": 5}, "adeghi"),
        ({"MODE": 2, "COUNT": 4}, "bchi"), ({"A": False, "B": True, "COUNT": "5 // five"}, "bdeghi"),
    ],
)  # fmt: skip
def test_the_lines_that_conditions_leave(defines: dict[str, object], letters: str) -> None:
    source = resolve("a.glsl", lambda _: TEXT, defines)
    lines = TEXT.splitlines()
    found = [lines[line - 1] for file, line in sorted(compiled_lines(source)) if file == "a.glsl"]
    assert "".join(line[6] for line in found if line.startswith("float")) == letters


def test_texts_that_are_being_typed_are_no_error() -> None:
    for text in ("#endif\nfloat a;", "#if (\nfloat a;", "#if\n#else\nfloat a;", "#ifdef\n#elif !\n", "#if 9 ** 9 ** 9"):
        source = resolve("a.glsl", lambda _, text=text: text)
        assert compiled_lines(source)
