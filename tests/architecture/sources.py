"""What the architecture tests read: the Python files of the program and the modules they import."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "widgets", "sim", "shaders", "resources")
LATE_NAME = re.compile(r"sinew\.((?:app|widgets|sim)(?:\.\w+)+)(?::(\w+))?")
"""A module, or something of it, that is imported when it is needed."""
DECLARATION = re.compile(r"sim/kinds/\w+/kind\.py")
"""Where a kind is declared: the parts that it names there are not its own imports, other modules load them."""
TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>(?i:[rbuf]{0,2})(?:
        \"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<name>[^\W\d]\w*)|\w+""",
    re.DOTALL | re.VERBOSE,
)
"""Comments, texts and names of a Python file; 20 times as fast as `tokenize`."""


@dataclass(frozen=True)
class Source:
    """A Python file of the program."""

    name: str  # path relative to the repository, with forward slashes
    text: str  # its content

    @property
    def module(self) -> str:
        """Dotted name; that of the package for `__init__.py`."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the parsed file, parents first."""
        return walk(ast.parse(self.text, self.name))

    @cached_property
    def documents(self) -> set[int]:
        """`id` of every node that is a statement of its own, as docstrings are."""
        return {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}

    def running(self) -> Iterator[ast.AST]:
        """The nodes that are not for type checkers alone."""
        for_checkers = {
            id(node)
            for test in self.nodes
            if isinstance(test, ast.If) and isinstance(test.test, ast.Name) and test.test.id == "TYPE_CHECKING"
            for statement in test.body
            for node in walk(statement)
        }
        return (node for node in self.nodes if id(node) not in for_checkers)

    @cached_property
    def imports(self) -> set[str]:
        """Dotted names, below `sinew`, of everything imported anywhere in the file, also inside functions and as text.

        The parts that a kind names in its declaration are not among them, nor imports under `TYPE_CHECKING`.
        `from a.b import c` counts as `a.b.c`, since `c` may be a module.
        """
        return self._imported(self.running())

    @cached_property
    def imports_of_types(self) -> set[str]:
        """`imports` with those under `TYPE_CHECKING`."""
        return self._imported(self.nodes)

    def _imported(self, nodes: Iterable[ast.AST]) -> set[str]:
        found: set[str] = set()
        has_late = not DECLARATION.fullmatch(self.name)
        for node in nodes:
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                found.update(f"{base}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Call):
                found.update(_imported_by_call(node))
            elif isinstance(node, ast.Constant) and (late := LATE_NAME.fullmatch(str(node.value))) and has_late:
                found.add(".".join(filter(None, late.groups())))
        return {name.removeprefix("sinew.") for name in found}

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.module if self.name.endswith("/__init__.py") else self.module.rpartition(".")[0]
        parts = package.split(".")
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, node.module] if node.module else base)


def walk(top: ast.AST) -> list[ast.AST]:
    """The nodes of `ast.walk` in its order, in half its time."""
    nodes = [top]
    for node in nodes:
        for value in node.__dict__.values():
            if type(value) is list:
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def _imported_by_call(node: ast.Call) -> set[str]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
        return {str(first.value)}
    return set()


def reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """What can be come to from one node of a graph."""
    found: set[str] = set()
    pending = [start]
    while pending:
        more = set(graph.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return found


def sources(*packages: str) -> list[Source]:
    """Every Python file of these packages (all of the program by default), sorted in each."""
    return [source for package in packages or PACKAGES for source in _of_package(package)]


@cache
def _of_package(package: str) -> list[Source]:
    """Its files, cached, so that each is read and parsed once; `conftest.py` gives the 200 MB back."""
    files = sorted((REPO_ROOT / package).rglob("*.py"))
    return [Source(path.relative_to(REPO_ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in files]
