"""Constants of one drawn frame, packed for the uniform block `Frame` of shaders/viewport/frame.glsl."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.camera import Camera
from sim.render.ground_shadow import NO_SHADOW, GroundRectangle, shadow_rectangle
from sim.render.light_frustum import shadow_clip_from_world, texture_from_world
from sim.scene import LightSettings, Vec3, ViewSettings

LIGHT_LIMIT = 4
FIELDS: dict[str, str | tuple[str, int]] = {
    "clip_from_world": "mat4",
    "world_from_clip": "mat4",
    "shadow_from_world": "mat4",
    "eye": "vec4",
    "view_direction": "vec4",
    "light_position": ("vec4", LIGHT_LIMIT),
    "light_colour": ("vec4", LIGHT_LIMIT),
    "sky": "vec4",
    "ground": "vec4",
    "background_top": "vec4",
    "background_bottom": "vec4",
    "viewport": "vec4",
    "subject": "vec4",
}
SHADOW_SIZE = 1024
_SKY = np.array([0.52, 0.58, 0.66])
_GROUND = np.array([0.24, 0.22, 0.20])


@dataclass(frozen=True, slots=True)
class Light:
    """A light that is drawn with: settings and position in the world [m]."""

    settings: LightSettings
    position: Vec3


@dataclass(frozen=True, slots=True)
class Subject:
    """Sphere around what is shown [m]; the shadow map, depth range and grid adapt to it.

    Attributes:
        centre: Shape (3,).
        radius: Positive.
        box: What is shown, without the ground below it; None for nothing.
    """

    centre: npt.NDArray[np.float64]
    radius: float
    box: Bounds | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """Everything a pass needs to know about the picture, besides its own objects.

    Attributes:
        camera: Where it is seen from.
        view: View settings of the scene.
        lights: Up to `LIGHT_LIMIT` lights; the first may cast the shadow.
        subject: Sphere around what is shown.
        width, height: Size of the picture [px].
    """

    camera: Camera
    view: ViewSettings
    lights: tuple[Light, ...]
    subject: Subject
    width: int
    height: int

    @property
    def aspect(self) -> float:
        """Width / height."""
        return self.width / self.height

    def depth_range(self) -> tuple[float, float]:
        """Near and far distance [m] that hold the subject and the ground around it."""
        towards = self.subject.centre - self.camera.position()
        offset = float(np.linalg.norm(towards))
        far = (offset + self.subject.radius) * 4.0 + 10.0 * self.subject.radius
        if self.camera.orthographic:
            return -far, far
        depth = -float(towards @ self.camera.rotation()[2])
        nearest = min(depth - 1.2 * self.subject.radius, 0.95 * self._nearest_ground())
        return max(nearest, min(self.camera.distance * 0.02, far * 1e-3), far * 1e-5), far

    def _nearest_ground(self) -> float:
        """Depth [m] at which a perspective picture first shows the plane y = 0: at its lower or upper edge."""
        height = float(self.camera.position()[1])
        _, up, back = self.camera.rotation()
        half = float(np.tan(np.radians(self.camera.field_of_view) / 2.0))
        approach = half * abs(float(up[1])) + float(np.copysign(back[1], back[1] * height))
        return abs(height) / approach if approach > 0.0 else np.inf

    def clip_from_world(self) -> npt.NDArray[np.float64]:
        """Projection of this picture."""
        return self.camera.clip_from_world(self.aspect, *self.depth_range())

    def shadow_clip_from_world(self) -> npt.NDArray[np.float64]:
        """Projection of the shadow map; from straight above where there is no light."""
        above = self.subject.centre + np.array([0.0, 4.0 * self.subject.radius, 0.0])
        eye = self.lights[0].position if self.lights else above
        return shadow_clip_from_world(eye, self.subject.centre, self.subject.radius)

    def ground_shadow(self) -> GroundRectangle:
        """Where on the ground the shadow can be, with a margin for its soft edge."""
        box = self.subject.box
        if box is None or not self.casts_shadow:
            return NO_SHADOW
        margin = 0.05 * self.subject.radius
        return shadow_rectangle(self.lights[0].position, box.lo - margin, box.hi + margin)

    @property
    def casts_shadow(self) -> bool:
        """Whether a shadow map is needed."""
        return bool(self.lights) and self.lights[0].settings.shadow

    def members(self) -> dict[str, npt.ArrayLike]:
        """Values of the uniform block, matrices row-major."""
        clip = self.clip_from_world()
        positions, colours = self._packed_lights()
        return {
            "clip_from_world": clip,
            "world_from_clip": np.linalg.inv(clip),
            "shadow_from_world": texture_from_world(self.shadow_clip_from_world()),
            "eye": (*self.camera.position(), 0.0 if self.camera.orthographic else 1.0),
            "view_direction": (*-self.camera.rotation()[2], self.depth_range()[1]),
            "light_position": positions,
            "light_colour": colours,
            "sky": (*(_SKY * self.view.ambient), 1.0 / SHADOW_SIZE),
            "ground": (*(_GROUND * self.view.ambient), 0.0),
            "background_top": (*_linear(self.view.background_top), 1.0),
            "background_bottom": (*_linear(self.view.background_bottom), 1.0),
            "viewport": (self.width, self.height, 1.0 / self.width, 1.0 / self.height),
            "subject": (*self.subject.centre, self.subject.radius),
        }

    def _packed_lights(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        positions, colours = np.zeros((LIGHT_LIMIT, 4)), np.zeros((LIGHT_LIMIT, 4))
        for index, light in enumerate(self.lights):
            positions[index] = (*light.position, light.settings.reach)
            colours[index, :3] = _linear(light.settings.colour) * light.settings.intensity
        colours[0, 3] = float(self.casts_shadow)
        return positions, colours


def _linear(colour: Vec3) -> npt.NDArray[np.float64]:
    """Linear light of an sRGB-encoded colour (IEC 61966-2-1)."""
    encoded = np.asarray(colour, dtype=np.float64)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
