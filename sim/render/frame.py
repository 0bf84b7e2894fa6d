"""Values of a frame, packed for the uniform block `Frame` of shaders/viewport/frame.glsl."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.assets.environment import Panorama
from sinew.sim.assets.model import Bounds
from sinew.sim.maths.srgb import light_of
from sinew.sim.render.sample import LIGHT_RADIUS, ImageSample
from sinew.sim.render.shadow_projection import (
    NO_SHADOW,
    GroundRectangle,
    shadow_clip_from_world,
    shadow_rectangle,
    texture_from_world,
)
from sinew.sim.scene.camera import Camera, view_from_world
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view import DisplayMode, ViewSettings

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
    "environment": "vec4",
    "harmonics": ("vec4", 9),
}
SHADOW_SIZE = 1024
_SKY = (0.52, 0.58, 0.66)
_GROUND = (0.24, 0.22, 0.20)
_NO_HARMONICS = np.zeros((9, 4))


@dataclass(frozen=True, slots=True)
class PointLight:
    position: Vec3  # In the world [m]
    reach: float  # Distance of the nominal intensity [m]
    colour: Vec3 = (1.0, 0.96, 0.9)  # sRGB-encoded
    intensity: float = 1.6  # Irradiance on a surface that faces the light at distance `reach`
    shadow: bool = True  # Only the first light of a frame casts a shadow

    def at(self, sample: ImageSample, target: glm.dvec3) -> "PointLight":
        """Returns the point of a disc lamp, which faces a target [m], for a sample."""
        centre = glm.dvec3(*self.position)
        back = glm.normalize(centre - target) if glm.distance(centre, target) > 1e-6 else glm.dvec3(0.0, 1.0, 0.0)
        right = glm.normalize(glm.cross(glm.dvec3(0, 1, 0) if abs(back.y) < 0.95 else glm.dvec3(1, 0, 0), back))
        x, y = sample.light
        offset = (x * right + y * glm.cross(back, right)) * (LIGHT_RADIUS * self.reach)
        return replace(self, position=(centre + offset).to_tuple())


@dataclass(frozen=True, slots=True)
class Environment:
    panorama: Panorama
    strength: float  # Factor of its light
    turn: float = 0.0  # About y [rad]
    is_backdrop: bool = False  # Visible behind everything


STUDIO_STRENGTH = 0.4375
"""Strength of the studio of a scene without an environment at brightness 1 of `ViewSettings.ambient`."""


@dataclass(frozen=True, slots=True)
class BoundingSphere:
    """Sphere around the visible objects [m]; the shadow map, depth range and grid adapt to it.

    `box` holds them without the ground, `around` also holds particles; None if there are none.
    """

    centre: glm.dvec3
    radius: float
    box: Bounds | None = None
    around: Bounds | None = None


@dataclass(frozen=True)
class Frame:
    """A frame: everything that a pass needs, besides its own objects; derived values are computed once."""

    camera: Camera
    view: ViewSettings
    lights: tuple[PointLight, ...]  # Up to `LIGHT_LIMIT`; the first may cast the shadow
    subject: BoundingSphere
    width: int  # [px]
    height: int  # [px]
    environment: Environment | None = None  # None in the classic look
    is_linear: bool = False  # The image keeps linear light; not in the classic look
    sample: ImageSample | None = None

    @property
    def macros(self) -> tuple[str, ...]:
        """Macros of all shaders whose output depends on the look."""
        if self.environment is None:
            return ()
        return ("STANDARD", "LINEAR") if self.is_linear else ("STANDARD",)

    @property
    def image(self) -> object:
        """An identity that samples of one image share."""
        return self if self.sample is None else self.sample.image

    @property
    def exposure(self) -> float:
        """Factor of all light; lights are multiplied before shading, so that few shaders know of it."""
        return float(2.0**self.view.exposure)

    @property
    def aspect(self) -> float:
        return self.width / self.height

    @cached_property
    def eye(self) -> glm.dvec3:
        return self.camera.position()

    def distances(self, places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns distances of points (N, 3) from the camera [m], (N,); along the view direction if orthographic."""
        offsets = places - np.array(self.eye)
        distances: npt.NDArray[np.float64] = (
            offsets @ -np.array(self._rotation[2]) if self.camera.orthographic else np.linalg.norm(offsets, axis=1)
        )
        return distances

    @cached_property
    def _rotation(self) -> glm.dmat3:
        return self.camera.rotation()

    @cached_property
    def _depth(self) -> float:
        return float(glm.dot(self._rotation[2], self.eye - self.subject.centre))

    @cached_property
    def depth_range(self) -> tuple[float, float]:
        """Near and far distance [m] that include the subject and the ground around it."""
        radius = self.subject.radius
        outer_near, outer_far = self._depths_around()
        far = max((glm.distance(self.subject.centre, self.eye) + radius) * 4.0 + 10.0 * radius, outer_far)
        if self.camera.orthographic:
            return min(-far, outer_near), far
        nearest = min(self._depth - 1.2 * radius, 0.95 * self._nearest_ground(), outer_near)
        return max(nearest, min(self.camera.distance * 0.02, far * 1e-3), far * 1e-5), far

    def _depths_around(self) -> tuple[float, float]:
        """Returns depths [m] of the nearest and farthest corner of the box `around`; infinite bounds without one."""
        around = self.subject.around
        if around is None:
            return math.inf, -math.inf
        back = self._rotation[2]
        low, high = back * (self.eye - glm.dvec3(around.lo)), back * (self.eye - glm.dvec3(around.hi))
        return sum(glm.min(low, high)), sum(glm.max(low, high))

    def _nearest_ground(self) -> float:
        """Returns the depth [m] at which a perspective view first shows the plane y = 0, at its lower or upper edge."""
        height, (_, up, back) = self.eye.y, self._rotation
        approach = self.camera.tangent * abs(up.y) + math.copysign(back.y, back.y * height)
        return abs(height) / approach if approach > 0.0 else math.inf

    @cached_property
    def _clip_from_view(self) -> glm.dmat4:
        clip = self.camera.clip_from_view(self.aspect, *self.depth_range)
        return clip if self.sample is None else self.sample.projection(clip, (self.width, self.height))

    @cached_property
    def clip_from_world(self) -> glm.dmat4:
        return self._clip_from_view * view_from_world(self._rotation, self.eye)

    @cached_property
    def _world_from_clip(self) -> glm.dmat4:
        return glm.inverse(self.clip_from_world)

    @property
    def depth_terms(self) -> tuple[float, float]:
        """Third and fourth element of the third row of the projection; they convert window depth to depth [m]."""
        return self._clip_from_view[2].z, self._clip_from_view[3].z

    @property
    def half_extents(self) -> tuple[float, float]:
        """Half width and height of the image at distance 1 [m], or at every distance if the camera is orthographic."""
        return 1.0 / self._clip_from_view[0].x, 1.0 / self._clip_from_view[1].y

    @property
    def has_occlusion(self) -> bool:
        view = self.view
        is_lit = self.environment is not None and view.display in (DisplayMode.SHADED, DisplayMode.SHADED_WIRE)
        return is_lit and view.occlusion and view.occlusion_radius > 0.0 and view.occlusion_strength > 0.0

    @property
    def height_terms(self) -> tuple[float, float, float, float]:
        """Vector whose product with clip coordinates is the height [m]; zeros if no ground is drawn."""
        if not (self.view.grid or self.view.axes):
            return (0.0, 0.0, 0.0, 0.0)
        x, y, z, w = glm.row(self._world_from_clip, 1)
        return x, y, z, w

    @property
    def middle_depth(self) -> float:
        """Depth [m] of the centre of the subject, at least half its radius."""
        return max(self._depth, 0.5 * self.subject.radius)

    @cached_property
    def shadow_clip_from_world(self) -> glm.dmat4:
        """Projection of the shadow map; from straight above without a light."""
        centre, radius = self.subject.centre, self.subject.radius
        light = self.lights[0].position if self.lights else centre + glm.dvec3(0.0, 4.0 * radius, 0.0)
        return shadow_clip_from_world(light, centre, radius)

    def ground_shadow(self) -> GroundRectangle:
        """Returns the region of the ground that the shadow can reach, with a margin for its soft edge."""
        box = self.subject.box
        if box is None or not self.casts_shadow:
            return NO_SHADOW
        margin = 0.05 * self.subject.radius
        return shadow_rectangle(self.lights[0].position, (box.lo - margin).tolist(), (box.hi + margin).tolist())

    @property
    def casts_shadow(self) -> bool:
        return bool(self.lights) and self.lights[0].shadow

    def members(self) -> dict[str, npt.ArrayLike]:
        view, exposure = self.view, self.exposure
        positions, colours = _packed_lights(self.lights, exposure)
        sky, ground = _scaled(_SKY, exposure * view.ambient), _scaled(_GROUND, exposure * view.ambient)
        place, harmonics = (1.0, 0.0, 0.0, 0.0), _NO_HARMONICS
        if (around := self.environment) is not None:
            strength = exposure * around.strength
            place = (math.cos(around.turn), math.sin(around.turn), strength, 0.0)
            harmonics = np.pad(strength * around.panorama.harmonics, ((0, 0), (0, 1)))
            red, green, blue, _ = harmonics[0].tolist()
            sky = ground = (red, green, blue)
        return {
            "clip_from_world": self.clip_from_world,
            "world_from_clip": self._world_from_clip,
            "shadow_from_world": texture_from_world(self.shadow_clip_from_world),
            "eye": (*self.eye, 0.0 if self.camera.orthographic else 1.0),
            "view_direction": (*-self._rotation[2], self.depth_range[1]),
            "light_position": positions,
            "light_colour": colours,
            "sky": (*sky, 1.0 / SHADOW_SIZE),
            "ground": (*ground, 0.0),
            "background_top": (*light_of(view.background_top), 1.0),
            "background_bottom": (*light_of(view.background_bottom), 1.0),
            "viewport": (self.width, self.height, 1.0 / self.width, 1.0 / self.height),
            "subject": (*self.subject.centre, self.subject.radius),
            "environment": place,
            "harmonics": harmonics,
        }


Vec4 = tuple[float, float, float, float]


@functools.lru_cache(maxsize=16)
def _packed_lights(lights: tuple[PointLight, ...], exposure: float) -> tuple[tuple[Vec4, ...], tuple[Vec4, ...]]:
    dark: list[Vec4] = [(0.0, 0.0, 0.0, 0.0)] * (LIGHT_LIMIT - len(lights))
    positions = [(*light.position, light.reach) for light in lights]
    colours = [_scaled(light_of(light.colour), exposure * light.intensity) for light in lights]
    casts = [float(light.shadow and index == 0) for index, light in enumerate(lights)]
    lit = [(*colour, cast) for colour, cast in zip(colours, casts, strict=True)]
    return (*positions, *dark), (*lit, *dark)


def hemisphere(height: float) -> Vec3:
    """Returns the ambient light of the classic look at brightness 1 from a direction, by its y."""
    red, green, blue = (low + (high - low) * (0.5 * height + 0.5) for low, high in zip(_GROUND, _SKY, strict=True))
    return red, green, blue


def _scaled(colour: Vec3, factor: float) -> Vec3:
    red, green, blue = colour
    return red * factor, green * factor, blue * factor


def joined(boxes: Sequence[Bounds]) -> Bounds | None:
    if len(boxes) < 2:
        return boxes[0] if boxes else None
    lowest, highest = (box.lo for box in boxes), (box.hi for box in boxes)
    return Bounds(functools.reduce(np.minimum, lowest), functools.reduce(np.maximum, highest))


def subject_of(surfaces: Sequence[Bounds], particles: Sequence[Bounds], target: Vec3) -> BoundingSphere:
    """Returns the sphere around boxes; around the target [m] without any."""
    # Particles cast little shadow: they do not enlarge the sphere, so the shadow map stays sharp.
    box = joined(surfaces or particles)
    if box is None:
        return BoundingSphere(glm.dvec3(*target), 1.0)
    # The sphere extends to the ground, to include the shadow.
    (left, lowest, far), (right, top, near) = box.lo.tolist(), box.hi.tolist()
    bottom = min(lowest, max(0.0, lowest - max(right - left, top - lowest, near - far)))
    centre = glm.dvec3((left + right) / 2.0, (bottom + top) / 2.0, (far + near) / 2.0)
    radius = math.dist((left, bottom, far), (right, top, near)) / 2.0
    return BoundingSphere(centre, max(radius, 1e-4), box, joined([box, *particles]))
