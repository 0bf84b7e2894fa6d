import math
from pathlib import Path

from sinew.sim.assets.environment import studio
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import View, World
from sinew.sim.kinds.environment.settings import EnvironmentSettings, EnvironmentSource
from sinew.sim.render.frame import Environment
from sinew.sim.scene.scene import Node


class EnvironmentView(View):
    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._environment: Environment | None = None

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        settings = node.settings
        assert isinstance(settings, EnvironmentSettings)
        found = None
        if settings.source is EnvironmentSource.FILE:
            found = world.assets.panoramas.get(Path(settings.path))
        self._environment = Environment(
            found or studio(), settings.strength, math.radians(settings.rotation), settings.background
        )

    def environment(self) -> Environment | None:
        return self._environment
