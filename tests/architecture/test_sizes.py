"""Files and functions stay small enough to read; `pytest -rP tests/architecture/test_sizes.py` lists the long ones."""

import ast

import pytest

from tests.architecture.sources import Source, sources

FILE_LINES, FILE_LINES_AIM = 600, 300
FUNCTION_LINES, FUNCTION_LINES_AIM = 60, 25


def function_sizes(source: Source) -> dict[str, int]:
    """Lines of every function of a file without its docstring, by "file:line name"."""
    sizes = {}
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node, clean=False)
            doc_lines = doc.count("\n") + 1 if doc else 0
            assert node.end_lineno is not None
            sizes[f"{source.name}:{node.lineno} {node.name}"] = node.end_lineno - node.lineno + 1 - doc_lines
    return sizes


def doc_lines(source: Source) -> int:
    """Lines of all docstrings of a file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documents = (ast.get_docstring(node, clean=False) for node in source.nodes if isinstance(node, kinds))
    return sum(text.count("\n") + 1 for text in documents if text)


def _above(sizes: dict[str, int], limit: int) -> dict[str, int]:
    return {name: size for name, size in sorted(sizes.items(), key=lambda item: -item[1]) if size > limit}


@pytest.fixture(scope="module")
def program() -> list[Source]:
    return sources()


def test_files_are_short(program: list[Source]) -> None:
    sizes = {source.name: source.text.count("\n") - doc_lines(source) for source in program}
    print(f"files above {FILE_LINES_AIM} lines:", _above(sizes, FILE_LINES_AIM))
    assert _above(sizes, FILE_LINES) == {}


def test_functions_are_short(program: list[Source]) -> None:
    sizes = {name: size for source in program for name, size in function_sizes(source).items()}
    print(f"functions above {FUNCTION_LINES_AIM} lines:", _above(sizes, FUNCTION_LINES_AIM))
    assert _above(sizes, FUNCTION_LINES) == {}


def test_docstrings_do_not_count() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n'
    assert function_sizes(Source("a.py", text)) == {"a.py:1 f": 2}
