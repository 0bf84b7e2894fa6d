"""Rooms (folders of `app`, `widgets` and `sim`, and modules beside them) import each other in one direction only."""

import functools
from collections.abc import Iterable, Mapping

import pytest

from sinew.sim.kinds import KINDS
from tests.architecture.sources import Source, reached, sources

TOPS = ("app", "widgets", "sim")
KIND_ROOMS = tuple(f"{top}.kinds.{kind}" for top in TOPS for kind in KINDS)
"""The folder of each kind is a room within `kinds`, where the contract stands."""
LIST_OF_KINDS = "sim.kinds"
"""The module that lists the kinds knows them as little as their declarations know the parts that they name."""
CONTRACT = "sim.kinds.contract"
"""Views of kinds return types of `sim.render`, which calls them; at run time the contract imports none of it."""

Graph = Mapping[str, Mapping[str, set[str]]]


@functools.cache
def room_of(module: str) -> str | None:
    """The room that a module stands in, or that an imported name comes from."""
    kind = next((room for room in KIND_ROOMS if module == room or module.startswith(f"{room}.")), None)
    top, *rest = module.split(".")
    return kind or (".".join((top, *rest[:1])) if top in TOPS else None)


def imports_between_rooms(files: Iterable[Source]) -> dict[str, dict[str, set[str]]]:
    """For each room those that it imports, with "module imports name"."""
    graph: dict[str, dict[str, set[str]]] = {}
    for source in files:
        room = room_of(source.module)
        if room is None or source.module == LIST_OF_KINDS:
            continue
        is_contract = source.module.startswith(CONTRACT)
        for name in source.imports if is_contract else source.imports_of_types:
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


def test_rooms_import_each_other_in_no_circle() -> None:
    found = circles(imports_between_rooms(sources(*TOPS)))
    assert not found, "\n".join(found)


def test_rooms_are_found() -> None:
    found = imports_between_rooms(sources(*TOPS))
    assert {"app.editor", "app.jobs", "app.tasks", "app.kinds.cloth", "widgets.inspector", "sim.kinds.light"} <= {
        *found,
        *(other for others in found.values() for other in others),
    }


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        ({"sim/gl/a.py": "import sim.profile.b", "sim/profile/b.py": "from sim.gl.a import c"}, 2),
        ({"sim/gl/a.py": "import sim.maths.b", "sim/maths/b.py": "def f():\n    import sim.animation.c",
          "sim/animation/c.py": "from sim import gl", "sim/scene/d.py": "import sim.gl.a"}, 3),
        ({"sim/kinds/__init__.py": "import sim.kinds.light.kind",
          "sim/kinds/light/kind.py": "import sim.kinds.contract"}, 0),
        ({"sim/render/a.py": "import sim.kinds.light.view",
          "sim/kinds/light/kind.py": "LIGHT = Kind(view='sinew.sim.render.a:View')"}, 0),
        ({"sim/render/a.py": "import sim.kinds.light.view", "sim/kinds/light/view.py": "import sim.render.b"}, 2),
        ({"sim/gl/a.py": "import sim.gl.b", "sim/gl/b.py": "import sim.gl.a"}, 0),
        ({"app/jobs/a.py": "from sinew.app.farm.b import c", "app/farm/b.py": "PART = 'sinew.app.jobs.a:Part'"}, 2),
        ({"app/jobs/a.py": "from sinew.app.farm.b import c", "app/farm/b.py": "COMMAND = 'sinew.app.jobs.a'"}, 2),
        ({"app/jobs/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sinew.app.cli.b import c",
          "app/cli/b.py": "from sinew.app.jobs.a import d"}, 2),
        ({"app/kinds/cloth/panel.py": "import sinew.app.kinds.brush", "app/kinds/brush.py": "import sinew.app.tasks",
          "app/tasks.py": "import sinew.app.kinds.cloth.panel"}, 3),
        ({"app/kinds/cloth/panel.py": "import sinew.app.kinds.hair.panel", "widgets/a.py": "import sinew.app.b"}, 0),
    ],
)  # fmt: skip
def test_a_circle_is_found(texts: dict[str, str], lines: int) -> None:
    assert len(circles(imports_between_rooms(Source(name, text) for name, text in texts.items()))) == lines
