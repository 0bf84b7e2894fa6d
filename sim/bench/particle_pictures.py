"""Pictures of an emitter, in full and as the drafts that are drawn where pictures take long."""

import msgspec

from sim.engine import Engine
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sim.scene.camera import Camera
from sim.scene.scene import Node, Scene

PICTURE = (640, 400)
MOMENT = 2.0
"""Time [s] at which the picture is drawn; by then as many live as ever will."""

CAMERA = Camera(target=(0.0, 0.7, 0.0), distance=4.5)


class BenchPicture:
    """An engine that shows one emitter, all of whose particles live; only drawing is measured.

    Args:
        context: Where it lives.
        settings: Of the emitter; its places are those of a formula here, so that no steps are needed first.
        look: Form of the particles.
    """

    def __init__(self, context: Context, settings: EmitterSettings, look: ParticleLook) -> None:
        shown = msgspec.structs.replace(settings, stateless=True, look=look)
        self._engine = Engine(context)
        self._engine.apply(Scene(nodes=(Node(id="emitter", settings=shown),)))
        self._engine.advance(MOMENT)
        self._engine.refresh(0.0)
        self._output = Framebuffer(context, PICTURE, label="benchmark picture")

    def draw(self) -> None:
        """One picture."""
        self._engine.draw(self._output, CAMERA)

    def draw_draft(self) -> None:
        """One draft."""
        self._engine.draw(self._output, CAMERA, draft=True)

    @property
    def count(self) -> int:
        """Particles that live; waits for the GPU."""
        return self._engine.simulation.systems["emitter"].emitter.count()

    def release(self) -> None:
        """Delete everything."""
        self._engine.release()
        self._output.release()
