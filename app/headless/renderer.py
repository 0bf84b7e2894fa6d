from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

import msgspec
import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.app.failure.errors import CommandError, print_warnings
from sinew.app.headless.run import Baker, SceneRun
from sinew.app.headless.scene import OpenedScene
from sinew.sim.cache.bake import Bake
from sinew.sim.export.image import Layers
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.camera.placed import camera_in_cuts, placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.maths.arrays import Float32
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.render.sample import ImageSample, Lens
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import DIRECTIONS, Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.keyed import curves_of
from sinew.sim.scene.params import validated
from sinew.sim.scene.scene import NodeId, Scene
from sinew.sim.scene.vectors import Colour
from sinew.sim.scene.view import DisplayMode, Look, SkinningComparison, ViewSettings

VIEWS = {**DIRECTIONS, "side": DIRECTIONS["right"]}  # yaw and pitch [°]

CUTS = "cuts"

MANY_SAMPLES = 16
"""Number of samples by default of images in the standard look that show hair or fur, or through a lens."""

FRAMING_SAMPLES = 9  # times whose bounds are framed, so that a character that travels stays in the image

UInt8 = npt.NDArray[np.uint8]

_LIGHT = linear_from_srgb(np.arange(256) / 255.0)


class Renderer:
    """Renderer of a scene into memory.

    Args:
        context: A current context.
        size: Width and height [px].
        alpha: Transparent background.
        bake: Steps that are shown without simulating, see `known_bake`.
        every_node: Use the bake of every node with the same settings, not only of nodes that show their bake.
        bakes: Bake the simulated steps when `finish` is called.
        through: Name of a camera of the scene, or "cuts"; replaces other cameras.
        keeps_light: Draw linear light too, which `layers` then has; not in the classic look.
        samples: Number of samples of an image; None for `default_samples`.
        run: Engine of the same scene that is drawn as it is, and not released; by default the renderer has its own.
    """

    def __init__(
        self,
        context: Context,
        scene: OpenedScene,
        size: tuple[int, int],
        *,
        alpha: bool = False,
        bake: Bake | None = None,
        every_node: bool = False,
        bakes: bool = False,
        through: str = "",
        keeps_light: bool = False,
        samples: int | None = 1,
        run: SceneRun | None = None,
    ) -> None:
        if samples is None:
            samples = default_samples(scene.scene, through)
        self._scene, self.samples = scene, samples
        self._through = through
        if through not in ("", CUTS) and scene.named(through).kind != CameraSettings.kind:
            raise CommandError(scene.path, f"--camera {through}", "is not a camera")
        self._owns_run = run is None
        self._run = run or SceneRun(context, scene, bake, every_node=every_node)
        self.notes = self._run.notes
        self.engine = self._run.engine
        self.engine.views.has_backdrop = not alpha
        self._warn(self._run.problems())
        cameras = [node.settings for node in scene.scene.of_kind(CameraSettings.kind)]
        if through and samples == 1 and any(isinstance(one, CameraSettings) and one.aperture for one in cameras):
            self._warn(["depth of field needs --samples of 2 or more"])
        renderer = context.capabilities.renderer
        self._baker = Baker(self._run, scene.path, renderer) if bakes and self._run.is_active else None
        self._output = Framebuffer(context, size, label="rendered image")
        self._time = 0.0
        self._linear: Framebuffer | None = None
        if keeps_light and scene.scene.view.look is Look.STANDARD:
            self._linear = Framebuffer(context, size, ("rgba16f",), label="linear image")
        self._light: Float32 | None = None  # Of the last image
        self._backgrounds = self._empty_pictures(context) if alpha else ()

    @property
    def size(self) -> tuple[int, int]:
        return self._output.size

    def picture(self, times: Sequence[float], camera: Camera) -> UInt8:
        """Renders an image at scene times [s]: RGB or RGBA, shape (height, width, 3 or 4), row 0 at the top.

        The light of several times and samples is averaged. A simulation shows its nearest step.
        """
        count, image = max(len(times), self.samples), object()
        light: npt.NDArray[np.float64] | float = 0.0
        self._light = None
        for number in range(count):
            sample = ImageSample(number, count, image) if self.samples > 1 else None
            pixels, linear = self._picture(times[number * len(times) // count], camera, sample)
            if linear is not None:
                linear /= count
                self._light = linear if self._light is None else self._light + linear
            if count == 1:
                return pixels
            taken = _LIGHT[pixels[..., :3]]
            if pixels.shape[2] == 4:
                opacity = pixels[..., 3:] / 255.0
                taken = np.concatenate([taken * opacity, opacity], axis=2)
            light = light + taken / count
        assert isinstance(light, np.ndarray)
        if light.shape[2] == 4:
            shown = light[..., 3:] > 0.0
            light[..., :3] = np.divide(light[..., :3], light[..., 3:], out=np.zeros_like(light[..., :3]), where=shown)
        light[..., :3] = srgb_from_linear(np.clip(light[..., :3], 0.0, 1.0))
        return np.rint(255.0 * light).astype(np.uint8)

    def layers(self, colour: UInt8, camera: Camera) -> Layers:
        """Returns the image with the depth, normal and object layers of the time that was drawn last."""
        camera = self._placed()[0] if self._through else self._followed(camera)
        numbers, depth, nodes = self.engine.layers(camera, self.size)
        scene = self._scene.scene
        view = validated(scene.view, display=DisplayMode.NORMALS, comparison=SkinningComparison.OFF, samples=1)
        self.engine.apply(msgspec.structs.replace(scene, view=view))
        normals = self._drawn(self.engine, camera).astype(np.float32) / 127.5 - 1.0
        self.engine.apply(scene)
        lengths = np.linalg.norm(normals, axis=2, keepdims=True)
        normals = np.where((numbers > 0)[..., None], normals / np.maximum(lengths, 1e-6), 0.0).astype(np.float32)
        names = tuple(scene.node(node).name or node for node in nodes)
        return Layers(colour, depth, normals, numbers, names, self._light)

    def _picture(self, time: float, camera: Camera, sample: ImageSample | None) -> tuple[UInt8, Float32 | None]:
        """Returns RGB or RGBA as `picture` does, and premultiplied linear light if that is kept."""
        self._time = time
        camera = self._followed(camera)
        if self._run.is_active:
            step = max(round((time - self._run.runner.start_time) / STEP_TIME), 0)
            while (problems := self._run.advance_to(step, self._baker)) or self._run.step_count < step:
                self._warn(problems)
            self.engine.refresh(monotonic())
        else:
            self.engine.advance(time)
        if self._through:
            camera, lens = self._placed()
            sample = sample and replace(sample, lens=lens)
        if not self._backgrounds:
            light = None
            if self._linear is not None:
                light = self._drawn_light(self._linear, camera, sample)
                light = np.concatenate([light, np.ones_like(light[..., :1])], axis=2)
            return self._drawn(self.engine, camera, sample), light
        images, lights = [], []
        for colour in (BLACK, WHITE):
            self.engine.apply(msgspec.structs.replace(self._scene.scene, view=self._view_over(colour)))
            if self._linear is not None:
                lights.append(self._drawn_light(self._linear, camera, sample))
            images.append(self._drawn(self.engine, camera, sample))
        light = None
        if lights:
            dark, bright = lights
            opacity = 1.0 - np.clip((bright - dark).mean(axis=2, keepdims=True), 0.0, 1.0)
            light = np.concatenate([dark, opacity], axis=2)
        return straight_rgba(images[0], images[1], *self._backgrounds), light

    def _placed(self) -> tuple[Camera, Lens]:
        """Returns the chosen camera of the scene at the present moment."""
        views, source = self.engine.views, self._scene.scene
        chosen = self._scene.named(self._through).id if self._through != CUTS else None
        chosen = chosen or camera_in_cuts(source, views.scene, self._time)
        if chosen is None:
            raise CommandError(self._scene.path, "--camera cuts", f"no camera is active at {self._time:.3f} s")
        node = views.scene.node(chosen)
        assert isinstance(node.settings, CameraSettings)
        camera = placed_camera(node.settings, views.places.world_from_node(node))
        return camera, Lens.of(camera.tangent, node.settings.aperture, node.settings.focus_distance)

    def _followed(self, camera: Camera) -> Camera:
        """Returns the camera; the saved one moves with the character since the saved time."""
        state, node = self._scene.view_state, self._scene.leading()
        if node is None or state is None or camera is not state.camera or not self._scene.scene.view.follow:
            return camera
        character = self.engine.views.characters.get(node.id)
        if character is None:
            return camera
        return camera.moved(glm.dvec3(*character.travel(node, state.time, self._time)))

    def framed(self, camera: Camera, name: str, times: Sequence[float]) -> Camera:
        """Returns the camera moved to frame a node at these times [s]; raises CommandError if it does not exist, or
        shows nothing.
        """
        found = self._scene.named(name).id
        boxes = [box for time in _spread(times) if (box := self._bounds(time, found))]
        if not boxes:
            raise CommandError(self._scene.path, f"node {name!r}", "has nothing to show")
        lo, hi = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
        return camera.framed(lo, hi, self.size[0] / self.size[1])

    def camera(self, view: str | None, times: Sequence[float]) -> Camera:
        """Returns the saved camera of the project, or one that frames the scene at these times [s]; raises CommandError
        if the saved camera of a model is requested.
        """
        state = self._scene.view_state
        if view == "saved" and state is None:
            raise CommandError(self._scene.path, "--view saved", "only projects have a saved camera")
        if state is not None and view in (None, "saved"):
            return state.camera
        yaw, pitch = VIEWS[view or "front"]
        camera = msgspec.structs.replace(Camera(), yaw=yaw + self._facing(times[0]), pitch=pitch)
        boxes = [box for time in _spread(times) if (box := self._bounds(time))]
        if not boxes:
            return camera
        lo, hi = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
        camera = camera if view is not None else camera.over(lo, hi)
        return camera.framed(lo, hi, self._output.size[0] / self._output.size[1])

    def finish(self) -> None:
        if self._baker is not None:
            self._baker.finish()
            self._baker = None

    def release(self) -> None:
        if self._baker is not None:
            self._baker.cancel()
        self._output.release()
        if self._linear is not None:
            self._linear.release()
        if self._owns_run:
            self._run.release()

    def _drawn(self, engine: Engine, camera: Camera, sample: ImageSample | None = None) -> UInt8:
        engine.draw(self._output, camera, sample=sample)
        pixels: UInt8 = self._output.read_pixels(flip=True)
        return pixels[..., :3]

    def _drawn_light(self, linear: Framebuffer, camera: Camera, sample: ImageSample | None) -> Float32:
        self.engine.draw_linear(linear, camera, sample)
        pixels: Float32 = linear.read_pixels(flip=True)
        return pixels[..., :3]

    def _view_over(self, colour: Colour) -> ViewSettings:
        return validated(self._scene.scene.view, background_top=colour, background_bottom=colour)

    def _empty_pictures(self, context: Context) -> tuple[UInt8, UInt8]:
        engine = Engine(context)
        images = []
        for colour in (BLACK, WHITE):
            engine.apply(Scene(view=self._view_over(colour)))
            images.append(self._drawn(engine, Camera()))
        engine.release()
        return images[0], images[1]

    def _facing(self, time: float) -> float:
        """Returns the yaw that a single character faces [°]; 0 for several, or if unknown."""
        characters = self._scene.scene.characters
        character = self.engine.views.characters.get(characters[0].id) if len(characters) == 1 else None
        if character is None:
            return 0.0
        self.engine.advance(time)
        return character.facing()

    def _warn(self, problems: list[str]) -> None:
        print_warnings(self._scene.path, problems)

    def _bounds(
        self, time: float, node: NodeId | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        self.engine.advance(time)
        box = self.engine.views.bounds(node)
        return (box.lo, box.hi) if box else None


def default_samples(scene: Scene, through: str = "") -> int:
    """Returns the number of samples of an image without --samples; `through` is as for `Renderer`."""
    if scene.view.look is Look.CLASSIC:
        return 1
    for node in scene.nodes:
        settings = node.settings
        if isinstance(settings, HairSettings):
            needs_many = node.id in scene.shown or bool(curves_of(node, "node", "visible"))
        elif isinstance(settings, CameraSettings) and through.casefold() in (CUTS, node.name.casefold(), node.id):
            needs_many = settings.aperture > 0.0 or bool(curves_of(node, node.kind, "aperture"))
        else:
            needs_many = False
        if needs_many:
            return MANY_SAMPLES
    return 1


def _spread(times: Sequence[float]) -> list[float]:
    picked = np.unique(np.linspace(0, len(times) - 1, min(len(times), FRAMING_SAMPLES)).round().astype(int))
    return [times[index] for index in picked]


BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def straight_rgba(over_black: UInt8, over_white: UInt8, black: UInt8, white: UInt8) -> UInt8:
    """Computes an image without its background; exact up to the rounding of 8 bits if it is blended in 8 bits.

    Args:
        over_black: The image over a dark background, shape (H, W, 3).
        over_white: The same over a bright one.
        black: The dark background alone.
        white: The bright one alone; brighter than the dark one everywhere.

    Returns:
        Straight colour and alpha, shape (H, W, 4); transparent pixels are black.
    """
    dark, bright, no, full = (image.astype(np.float64) for image in (over_black, over_white, black, white))
    shown = np.clip((bright - dark).sum(axis=2) / (full - no).sum(axis=2), 0.0, 1.0)[..., None]
    opacity = np.rint(255.0 * (1.0 - shown))
    colour = np.divide(255.0 * (dark - shown * no), opacity, out=np.zeros_like(dark), where=opacity > 0.0)
    return np.concatenate([np.rint(np.clip(colour, 0.0, 255.0)), opacity], axis=2).astype(np.uint8)
