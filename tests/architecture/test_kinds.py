"""Kinds are known in their own folders alone: what is written for all of them names none."""

import ast
import functools
import re
from collections.abc import Iterator

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import CharacterSource, ColliderSource, ForceSource, Form, loaded
from tests.architecture.sources import Source, sources

NAMED = re.compile("cloth|emitter", re.IGNORECASE)  # words that mean a kind wherever they stand
PLAIN = ("model", "light", "collider")
"""Names of kinds that are plain words too; they mean one where they are compared, looked up or asked for."""
MAY_NAME = re.compile(rf"(?i:{NAMED.pattern})|\.kinds\b|['\"](?:{'|'.join(PLAIN)})['\"]")
"""Stands in every file that names a kind; the others are not parsed."""
ASKING = ("of_kind", "is_kind")
FOLDERS = re.compile(rf"(sim|app)\.kinds\.({'|'.join(KINDS)})(\.|$)")
TOKEN = re.compile(r"[a-z0-9_.:/-]+")  # texts that may stand for something; others are for people
OWN = (
    "sim/kinds/", "app/kinds/", "sim/bench/", "resources/samples/", "app/sample_projects.py",
    "app/project/migrations.py",
)  # fmt: skip
"""Where kinds may be named: at home, by what measures them, by the scenes that are shipped, and in files of before."""


def named_kinds(source: Source) -> list[str]:
    """Places where a file names a kind, as "file:line what"."""
    if not MAY_NAME.search(source.text):
        return []
    found = {
        (getattr(node, "lineno", 0), word)
        for node in source.nodes
        if not isinstance(node, ast.expr_context)
        for word in (*_words(node, source.documents), *_plain_words(node))
    }
    return [f"{source.name}:{line} {word}" for line, word in sorted(found)]


def _words(node: ast.AST, documents: set[int]) -> Iterator[str]:
    """Names, texts and imports of one node of the tree that mean a kind."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        yield from (name for alias in node.names if FOLDERS.match(name := base + alias.name))
    names = [getattr(node, field) for field in _name_fields(type(node))]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
    if is_text and TOKEN.fullmatch(node.value.strip()):
        names.append(node.value)
    yield from (name for name in names if isinstance(name, str) and NAMED.search(name))


@functools.cache
def _name_fields(node_type: type[ast.AST]) -> list[str]:
    return [field for field in ("id", "attr", "arg", "name", "asname") if field in node_type._fields]


def _plain_words(node: ast.AST) -> Iterator[str]:
    """The plain words, where they are used as kinds."""
    used: list[ast.AST] = []
    if isinstance(node, ast.Compare):
        used = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript):
        used = [node.slice]
    elif isinstance(node, ast.MatchValue):
        used = [node.value]
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ASKING:
        used = [*node.args]
    parts = [part for one in used for part in (one.elts if isinstance(one, ast.Tuple | ast.List | ast.Set) else [one])]
    yield from (repr(p.value) for p in parts if isinstance(p, ast.Constant) and p.value in PLAIN)


def test_no_kind_is_named() -> None:
    found = [text for source in sources() if not source.name.startswith(OWN) for text in named_kinds(source)]
    assert not found, "\n".join(found)


def test_a_named_kind_is_found() -> None:
    for text in (
        "from sim.kinds.light.settings import LightSettings", "import app.kinds.model.panel", "cloths = {}",
        "class EmitterView: ...", "def f(emitter): ...", "f(cloth=1)", "node.emitter", "x = 'add.cloth'",
        "f'{kind} cloth'", "import a as cloth", "node.kind == 'model'", "node.kind in ('model', 'other')",
        "KINDS['light']", "scene.of_kind('light')", "match kind:\n    case 'model': ...",
    ):  # fmt: skip
        assert len(named_kinds(Source("app/a.py", text))) == 1, text


def test_plain_words_and_the_contract_name_no_kind() -> None:
    """Documentation, words that are no kinds where they stand, and the contract."""
    text = '''"""Cloth and emitters."""
from sinew.sim.kinds.contract import Kind
size = 3
"""Of the collider."""
def f(model: Model, light=0):
    """A cloth."""
    return use(content="model", light=light), FileUse("path", model.path, "model"), closed(clothing=model)
'''
    assert named_kinds(Source("app/a.py", text.replace("clothing", "clad"))) == []


def test_the_parts_that_a_kind_names_exist() -> None:
    for kind in KINDS.values():
        named = [kind.system, kind.view, kind.part(Form).panel, kind.part(CharacterSource).view]
        sources = [kind.part(ColliderSource), kind.part(ForceSource)]
        named += [sources[0].of, sources[0].unfinished, sources[1].of]
        assert all(callable(loaded(name)) for name in named if name)
