"""Modules do not import each other in circles; imports for type checkers alone do not count."""

import ast

from tests.architecture.sources import Source, reached, sources

KNOWN: frozenset[tuple[str, ...]] = frozenset()
"""Circles that are allowed, each with its reason in a comment; names of the modules, sorted."""


def run_time_imports(source: Source) -> set[str]:
    """Names that a module imports when it runs, also inside functions, but not under `if TYPE_CHECKING`."""
    names: set[str] = set()
    for node in source.running():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name.removeprefix("sinew.") for name in names}


def circles(files: list[Source]) -> set[tuple[str, ...]]:
    """Groups of modules that reach each other by imports."""
    modules = {source.module: source for source in files}
    imports = {name: run_time_imports(source) & modules.keys() - {name} for name, source in modules.items()}
    all_of = {name: reached(imports, name) for name in imports}
    groups = {tuple(sorted(other for other in all_of[name] if name in all_of[other])) for name in imports}
    return {group for group in groups if len(group) > 1}


def test_no_modules_import_each_other_in_circles() -> None:
    assert circles(sources("app", "widgets", "sim")) - KNOWN == set()


def test_a_circle_is_found() -> None:
    files = [
        Source("sim/a.py", "from sim import b"),
        Source("sim/b.py", "def f():\n    from sim.c import g"),
        Source("sim/c.py", "import sim.a"),
        Source("sim/d.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sim.e"),
        Source("sim/e.py", "import sim.d"),
    ]
    assert circles(files) == {("sim.a", "sim.b", "sim.c")}
