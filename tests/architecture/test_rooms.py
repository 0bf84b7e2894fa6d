"""Packages of `sim` import each other in one direction only."""

from collections.abc import Iterable, Mapping

import pytest

from sinew.sim.kinds import KINDS
from tests.architecture.sources import Source, reached, sources

ROOMS = (
    *(f"sim.kinds.{kind}" for kind in KINDS),
    *(
        "sim.scene",
        "sim.maths",
        "sim.assets",
        "sim.animation",
        "sim.gl",
        "sim.characters",
        "sim.colliders",
        "sim.fields",
    ),
    "sim.skin",
    *("sim.render", "sim.kinds", "sim.export", "sim.profile"),
)
"""Packages, those within another one first; `sim.kinds` is the contract."""
LIST_OF_KINDS = "sim.kinds"
"""The module that lists the kinds knows them as little as their declarations know the parts that they name."""

Graph = Mapping[str, Mapping[str, set[str]]]


def room_of(module: str) -> str | None:
    """The room that a module stands in, or that an imported name comes from."""
    return next((room for room in ROOMS if module == room or module.startswith(f"{room}.")), None)


def imports_between_rooms(files: Iterable[Source]) -> dict[str, dict[str, set[str]]]:
    """For each room those that it imports, with "module imports name"."""
    graph: dict[str, dict[str, set[str]]] = {}
    for source in files:
        room = room_of(source.module)
        if room is None or source.module == LIST_OF_KINDS:
            continue
        for name in source.imports:
            other = room_of(name)
            if other not in (None, room):
                graph.setdefault(room, {}).setdefault(other, set()).add(f"{source.module} imports {name}")
    return graph


def circles(graph: Graph) -> list[str]:
    """Imports from one room to another that leads back to it."""
    back = {room: reached(graph, room) for room in graph}
    return sorted(
        line
        for room, others in graph.items()
        for other, lines in others.items()
        if room in back.get(other, ())
        for line in lines
    )


def test_packages_import_each_other_in_no_circle() -> None:
    found = circles(imports_between_rooms(sources("sim")))
    assert not found, "\n".join(found)


def test_every_package_exists_and_is_used() -> None:
    found = imports_between_rooms(sources("sim"))
    assert {*found, *(other for others in found.values() for other in others)} == set(ROOMS)


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        ({"sim/gl/a.py": "import sim.profile.b", "sim/profile/b.py": "from sim.gl.a import c"}, 2),
        ({"sim/gl/a.py": "import sim.maths.b", "sim/maths/b.py": "def f():\n    import sim.animation.c",
          "sim/animation/c.py": "from sim import gl", "sim/scene/d.py": "import sim.gl.a"}, 3),
        ({"sim/kinds/__init__.py": "import sim.kinds.light.kind",
          "sim/kinds/light/kind.py": "import sim.kinds.contract"}, 0),
        ({"sim/render/a.py": "import sim.kinds.light.view",
          "sim/kinds/light/kind.py": "LIGHT = Kind(view='sim.render.a:View')"}, 0),
        ({"sim/render/a.py": "import sim.kinds.light.view", "sim/kinds/light/view.py": "import sim.render.b"}, 2),
        ({"sim/gl/a.py": "import sim.gl.b", "sim/gl/b.py": "import sim.gl.a"}, 0),
    ],
)  # fmt: skip
def test_a_circle_is_found(texts: dict[str, str], lines: int) -> None:
    assert len(circles(imports_between_rooms(Source(name, text) for name, text in texts.items()))) == lines
