"""Limits of the texts of kernels: bombs of a few lines are refused at their line, and shipped shaders are far below."""

import pytest

from sinew import shaders
from sinew.sim.gl import kernel_limits
from sinew.sim.gl.kernel_limits import ELEMENTS_MAX, TooLargeError, check_limits
from sinew.sim.gl.shader_source import reader, resolve

HEAD = "#version 330 core\n"


def chain(count: int, line: str) -> str:
    return "".join(f"{line.format(this=number, before=number - 1)}\n" for number in range(1, count))


OBJECTS = "#define A0 1.0\n" + chain(26, "#define A{this} A{before} + A{before}")
CALLS = "#define A0(x) x\n" + chain(26, "#define A{this}(x) A{before}(x) + A{before}(x)")
ARGUMENTS = "#define A(x) x x\nfloat y = " + "A(" * 30 + "1.0" + ")" * 30 + ";\n"
NOTHING = "#define A0\n" + chain(26, "#define A{this} A{before} A{before}")
FUNCTIONS = "float f0(float x) { return x; }\n" + chain(
    30, "float f{this}(float x) {{ return f{before}(x) + f{before}(x + 1.0); }}"
)
DEEP = "float f0(float x) { return x; }\n" + chain(200, "float f{this}(float x) {{ return f{before}(x); }}")


def upwards(functions: str) -> str:
    """Puts the functions that are called after their callers."""
    lines = functions.splitlines(keepends=True)
    return "".join(f"float f{number}(float x);\n" for number in range(len(lines))) + "".join(reversed(lines))


BOMBS = {
    "objects": (f"{OBJECTS}float x = A25;\n", "the macro A25 expands"),
    "calls": (f"{CALLS}float x = A25(1.0);\n", "the macro A25 expands"),
    "arguments": (ARGUMENTS, "the macro A "),
    "nothing": (f"{NOTHING}A25\n", "the macro A25 expands"),
    "a condition": (f"{OBJECTS}#if A25 > 1\n#endif\n", "the macro A25 expands"),
    "another line": (f"{CALLS}float x = A25\n(1.0);\n", "the macro A25 expands"),
    "a continued line": (
        OBJECTS.replace(" A24 + A24", " A24 \\\n + A24") + "float x = A25;\n",
        "the macro A25 expands",
    ),
    "a comment": (OBJECTS.replace("define A9", "define /* */ A9") + "float x = A25;\n", "the macro A25 expands"),
    "defined again": (f"{OBJECTS}float x = A25;\n#undef A3\n#define A3 1.0\n", "the macro A25 expands"),
    "deep macros": (
        "#define A0 1.0\n" + chain(200, "#define A{this} A{before}") + "float x = A199;\n",
        "is nested deeper",
    ),
    "functions": (FUNCTIONS, "words with the functions that it calls"),
    "prototypes": (upwards(FUNCTIONS), "words with the functions that it calls"),
    "deep functions": (upwards(DEEP), "calls others deeper than 64"),
    "an array": ("float x[2000000000];\n", "an array of 2,000,000,000 elements"),
    "hexadecimal": ("float x[0xFFFFFu];\n", "an array of 1,048,575 elements"),
    "of arrays": ("float x[300][300];\n", "an array of 90,000 elements"),
    "a product": ("float x[1000 * (900 + 100)];\n", "an array of 1,000,000 elements"),
    "a sum with suffixes": ("float x[20000u + 20000u];\n", "an array of 40,000 elements"),
    "a constant": ("const int N = 1 << 20;\nfloat x[N];\n", "an array of 1,048,576 elements"),
    "a macro": ("#define N 100000\nfloat x[N];\n", "an array of 100,000 elements"),
    "of a type": ("float[100000] x;\n", "an array of 100,000 elements"),
}


def check(text: str) -> None:
    check_limits(resolve("a.glsl", {"a.glsl": HEAD + text}.__getitem__))


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name: str) -> None:
    text, reason = BOMBS[name]
    with pytest.raises(TooLargeError) as refused:
        check(text)
    assert reason in str(refused.value)
    assert 1 < refused.value.line <= (HEAD + text).count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "float x[16384]; int i = x[3][4]; vec4 y = z[n * 2 + 1];\n",
        "#define F(a, b) (a * b)\nfloat x = F(F(1.0, 2.0), 3.0); float F;\n",
        "#define A A + B\n#define B A\nfloat x = A + B;\n",
        "float f(float x) { return f(x); }\nfloat g(float x);\nfloat g(float x) { return f(x); }\n",
        "struct S { float x[4]; };\nlayout(std140) uniform Block { vec4 a[16]; };\n",
        "#define OPEN (\nfloat x = (1.0;\n#define F(a\n{ [ (\n",
        '"\\ §$%&/ unknown text { \n#\n#define\n#if\n',
        "float x[1/0]; float y[a ** b]; float z[1 << 100000000]; float w[-5];\n".replace("1 << 100000000", "n << 1"),
    ],
)
def test_other_texts_are_left_to_the_compiler(text: str) -> None:
    check(text)


def test_the_limit_of_arrays_is_exact() -> None:
    check(f"float x[{ELEMENTS_MAX}];")
    with pytest.raises(TooLargeError):
        check(f"float x[{ELEMENTS_MAX + 1}];")


@pytest.mark.parametrize(
    "file", sorted(path.relative_to(shaders.ROOT).as_posix() for path in shaders.ROOT.rglob("*.glsl"))
)
def test_shipped_files_are_below_a_fifth_of_the_limits(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORDS_MAX", "WORK_MAX", "INLINED_MAX"):
        monkeypatch.setattr(kernel_limits, name, getattr(kernel_limits, name) // 5)
    check_limits(resolve(file, reader(shaders.ROOT)))
