"""The engine: sole owner of every GL name; the same for the window, for files, for tests and benches.

`apply` takes the scene and the models, `advance` evaluates a moment, `draw` makes a picture of it.  Drawing
never advances time.  It knows no Qt; the caller makes the context current.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.mip_levels import mip_image
from sim.assets.model import Bounds, CharacterModel
from sim.camera import Camera
from sim.colliders.place import Placement, placements, world_from_parent
from sim.colliders.state import bounding_radius
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.jobs.pose import Pose
from sim.light_settings import LightSettings
from sim.particles.audible import audible
from sim.render.character_view import CharacterView
from sim.render.cloth_view import ClothView
from sim.render.collider_pass import ColliderBodies
from sim.render.emitter_mark import EmitterMark
from sim.render.emitter_view import EmitterView
from sim.render.emitter_views import EmitterViews
from sim.render.frame import LIGHT_LIMIT, Light, Subject
from sim.render.pending_picture import PendingPicture
from sim.render.pick_pass import Pick, PickPass, pickable_body, pickable_surface
from sim.render.picture import Picture
from sim.render.shot import Drawable, Overlay, Shot
from sim.render.surface import Images, Materials, MeshBuffers
from sim.render.texture_upload import MipImages, upload_images
from sim.scene import Node, NodeId, Scene
from sim.systems.character import Character
from sim.systems.comparison import ComparisonStatistics
from sim.systems.emitter_places import emitter_bounds, emitter_placement
from sim.systems.prepared_model import PreparedModel, prepare_model
from sim.systems.simulation import Grab, Meshes, Simulation
from sim.systems.skinning import upload_skinning
from sim.systems.steps import Steps, finish
from sim.view_settings import Comparison


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of what is shown; particles are those that lived at the last count."""

    vertices: int
    triangles: int
    bones: int
    particles: int = 0


class Engine:
    """Poses, skins and draws a scene.

    Args:
        context: The context everything lives in; it must be current in every call.
        library: Shader programs; made from the shipped shaders by default.
    """

    def __init__(self, context: Context, library: ShaderLibrary | None = None) -> None:
        self.context = context
        self.library = library or ShaderLibrary(context)
        self._scene = Scene()
        self._time = 0.0
        self._characters: dict[NodeId, Character] = {}
        self._views: dict[NodeId, CharacterView] = {}
        self._cloth_views: dict[NodeId, ClothView] = {}
        self._emitter_views = EmitterViews(context)
        self._images: Images = {}
        self._meshes: Meshes = {}
        self.simulation = Simulation(context, self.library)
        self._bodies = ColliderBodies(context)
        self._picture = Picture(context, self.library)
        self._pick = PickPass(context, self.library)

    # --- what there is --------------------------------------------------------------------------------

    def set_model(self, node_id: NodeId, model: CharacterModel, images: Images) -> None:
        """Uploads the model of a node at once, replacing the one before."""
        mips = {path: mip_image(image) for path, image in images.items()}
        finish(self.model_upload(node_id, prepare_model(model), mips))

    def model_upload(
        self, node_id: NodeId, prepared: PreparedModel, images: MipImages, *, rehearsed: bool = False
    ) -> Steps[None]:
        """Uploads the model of a node in small steps, replacing the one before with the last of them.

        Given up or failed, it changes nothing; what it made is deleted by `collect`.

        Args:
            node_id: The node.
            prepared: Its model.
            images: The textures of the model.
            rehearsed: Whether it is drawn in secret, so that the first picture does not wait for compilations.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        context, model = self.context, prepared.model
        buffers = yield from upload_skinning(context, prepared.records)
        static = yield from MeshBuffers.upload(context, model.mesh)
        materials = Materials(context, model, (yield from upload_images(context, images)))
        character = Character(context, self.library, prepared, buffers)
        node = self._scene.node(node_id) if self._scene.has(node_id) else None
        view = CharacterView(node_id, character, prepared.segments, static, materials)
        if node is not None and node.model is not None:
            view.settings = node.model
            character.primary.prepare(node.model.skinning)
            yield
            if rehearsed:
                character.update(node, self._time, self._scene.view.comparison)
                yield
                yield from self._picture.rehearse(self._shot_of(view))
        self.remove_model(node_id)
        self._views[node_id], self._characters[node_id] = view, character

    def remove_model(self, node_id: NodeId) -> None:
        """Deletes the model of a node, if it has one."""
        if node_id in self._characters:
            self._views.pop(node_id).release()
            self._characters.pop(node_id).release()

    def model_of(self, node_id: NodeId) -> CharacterModel | None:
        """The model that was uploaded for a node."""
        character = self._characters.get(node_id)
        return character.model if character else None

    def apply(self, scene: Scene) -> None:
        """Takes the scene as it is now; scenes are values, so telling what changed is a comparison."""
        with self.context.timers.scope("apply"):
            self._apply(scene)

    def _apply(self, scene: Scene) -> None:
        self._scene = scene
        for node_id in [node_id for node_id in self._characters if not scene.has(node_id)]:
            self.remove_model(node_id)
        for node in scene.of_kind("model"):
            if node.model is not None and node.id in self._views:
                self._views[node.id].settings = node.model
        self.simulation.apply(scene, self._characters, self._meshes, self._images)
        self._follow_cloths(scene)
        self._emitter_views.follow(self.simulation.emitters, self._images)

    def _follow_cloths(self, scene: Scene) -> None:
        """One view for each cloth that exists."""
        cloths = self.simulation.cloths
        for node_id, view in list(self._cloth_views.items()):
            if cloths.get(node_id) is not view.cloth:
                self._cloth_views.pop(node_id).release()
        for node_id, cloth in cloths.items():
            view = self._cloth_views.get(node_id)
            if view is None:
                view = self._cloth_views[node_id] = ClothView(self.context, node_id, cloth)
            settings = scene.node(node_id).cloth
            assert settings is not None
            view.settings = settings
            view.set_images(self._images)

    def advance(self, time: float) -> None:
        """Evaluates poses at a moment of the scene clock [s] and skins, one pass for each visible model.

        What is simulated without a state shows that moment too, at the next `refresh`.
        """
        with self.context.timers.scope("draw"):
            self._advance(time)
            self.simulation.show(time)

    def _advance(self, time: float) -> None:
        self._time = time
        for node, character in self._posed():
            character.update(node, time, self._scene.view.comparison)

    def set_files(self, meshes: Meshes, images: Images) -> None:
        """Gives meshes that cloths are made of and images on them, by path; `apply` takes them."""
        self._meshes, self._images = meshes, images

    def step(self, time: float, grab: Grab | None = None) -> None:
        """Advances the simulation by one step, which ends at a moment of the scene clock [s]."""
        with self.context.timers.scope("simulate"):
            self._advance(time)
            self.simulation.step(self._scene, self._characters, time, grab)

    def jump(self, time: float) -> None:
        """Goes to a moment of the scene clock [s] that does not follow the last one."""
        with self.context.timers.scope("simulate"):
            self._advance(time)
            self.simulation.jump(self._characters, time)

    def refresh(self, now: float) -> None:
        """Makes what is drawn of the simulation; once a frame, at monotonic time `now` [s]."""
        with self.context.timers.scope("draw"):
            self.simulation.refresh(self._characters, now)
        colliders = self.simulation.colliders if self._scene.view.contacts else None
        for view in self._cloth_views.values():
            view.colliders = colliders

    def collect(self) -> None:
        """Deletes GL names whose owners are gone."""
        self.context.collect()

    def reload_shaders(self, names: list[str]) -> list[str]:
        """Rebuilds programs after shader files changed; returns one line per error, the old program keeps running."""
        messages = self.library.changed(names)
        self.context.timers.warm_up()
        for character in self._characters.values():
            character.invalidate()
        return [str(message) for message in messages]

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for node_id in list(self._characters):
            self.remove_model(node_id)
        for view in self._cloth_views.values():
            view.release()
        self._cloth_views.clear()
        self._emitter_views.release()
        self.simulation.release()
        self._bodies.release()
        self._picture.release()
        self._pick.release()
        self.library.release()

    # --- questions ------------------------------------------------------------------------------------

    def pose(self, node_id: NodeId) -> Pose | None:
        """Pose of a model as it is shown; None where there is no skeleton."""
        character = self._characters.get(node_id)
        return character.pose if character else None

    def view(self, node_id: NodeId) -> CharacterView | None:
        """What draws a model node; its `character` is the pose behind it."""
        return self._views.get(node_id)

    def world_from_model(self, node_id: NodeId) -> npt.NDArray[np.float64] | None:
        """Placement of a model in the world as it is shown, shape (4, 4)."""
        character = self._characters.get(node_id)
        return character.world_from_model if character else None

    def world_from_parent(self, node: Node) -> npt.NDArray[np.float64]:
        """What the transform of a node is relative to, shape (4, 4): the bone it rides on, else the world."""
        return world_from_parent(self._scene, self._characters, node)

    def statistics(self) -> Statistics:
        """Counts over the visible models."""
        models = [character.model for _, character in self._shown()]
        cloths = [view.cloth.model.surface for view in self._shown_cloths()]
        return Statistics(
            sum(model.mesh.vertex_count for model in models) + sum(len(cloth.positions) for cloth in cloths),
            sum(model.mesh.triangle_count for model in models) + sum(len(cloth.triangles) for cloth in cloths),
            sum(model.skeleton.joint_count for model in models if model.skeleton),
            sum(view.system.alive for view in self._shown_emitters()),
        )

    def bounds(self, node_id: NodeId | None = None) -> Bounds | None:
        """Box in the world [m] of one node, or of all that is visible; None when there is nothing.

        That of an emitter holds its source and most of what comes out of it.
        """
        if node_id is None:
            return _joined([*self._solid_boxes(), *self._emitter_boxes()])
        boxes = self._solid_boxes(node_id) or self._emitter_boxes(node_id)
        if not boxes:
            placed, _ = placements(self._scene, self._characters)
            boxes = [_around(placed[node_id])] if node_id in placed else []
        return _joined(boxes)

    def emitter_placement(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Placement of an emitter in the world as the figures stand now, shape (4, 4); KeyError for another node.

        One that emits from a surface is in the middle of its model.
        """
        node = self._scene.node(node_id)
        if node.emitter is None:
            raise KeyError(node_id)
        return emitter_placement(self._scene, self._characters, node)

    def emitter_marks(self) -> list[EmitterMark]:
        """The visible emitters, silent ones too, where they stand now; they are marked and picked."""
        return [
            EmitterMark(node.id, node.emitter, emitter_placement(self._scene, self._characters, node))
            for node in self._scene.of_kind("emitter")
            if node.visible and node.emitter is not None
        ]

    def joint_bounds(self, node_id: NodeId, joint: int) -> Bounds | None:
        """Box in the world [m] of what a joint moves; of the joint's surroundings where it moves nothing."""
        character = self._characters.get(node_id)
        return character.joint_bounds(joint) if character else None

    def joint_positions(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Places of a model's joints in the world [m], shape (B, 3)."""
        character = self._characters.get(node_id)
        return character.joint_positions() if character else np.zeros((0, 3))

    def compare(self, node_id: NodeId, now: float) -> ComparisonStatistics | None:
        """Distance of the two skinning methods on a model, a frame or more old; None while nothing is compared.

        Args:
            node_id: The model.
            now: Monotonic time [s]; statistics arrive a few times a second.
        """
        character = self._characters.get(node_id)
        if character is None or self._scene.view.comparison is Comparison.OFF:
            return None
        with self.context.timers.scope("compare"):
            return character.compare(now)

    def pick(self, camera: Camera, size: tuple[int, int], x: float, y: float) -> Pick | None:
        """What covers a place of the picture; waits for the GPU, so for clicks only.

        Args:
            camera: The camera of the picture.
            size: Width and height [px].
            x, y: Place from the top left [px].
        """
        shot = self._shot(camera)
        look = shot.look_at(size[0], x, Overlay())
        shown = [(d.node_id, d.sheet() if isinstance(d, ClothView) else d.surface(look)) for d in shot.drawables]
        targets = [(node_id, pickable_surface(surface)) for node_id, surface in shown if surface is not None]
        targets += [(body.node_id, pickable_body(body)) for body in shot.bodies]
        with self.context.timers.scope("pick"):
            hit = self._pick.pick(shot.frame(*size), [target for _, target in targets], x, y)
        return None if hit is None else Pick(targets[hit[0]][0], hit[1])

    def pick_particle(self, pick: Pick, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int | None:
        """Particle of a picked cloth that is nearest to the ray; None where no cloth was hit.  Waits for the GPU.

        Args:
            pick: What was hit.
            origin, direction: The ray in the world [m], shape (3,) each.
        """
        cloth = self.simulation.cloths.get(pick.node)
        if cloth is None:
            return None
        corners = cloth.model.surface.triangles[pick.triangle].astype(np.intp)
        particles = cloth.model.particle_of_vertex[corners]
        places = self.particle_positions(pick.node, particles)
        along = np.asarray(direction) / np.linalg.norm(direction)
        offsets = places - np.asarray(origin)
        distances = np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)
        return int(particles[np.argmin(distances)])

    def particle_positions(self, node_id: NodeId, particles: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Places of some particles of a cloth [m], shape (N, 3); waits for the GPU."""
        return self.simulation.cloths[node_id].positions_of(particles).astype(np.float64)

    # --- pictures -------------------------------------------------------------------------------------

    def draw(self, output: Framebuffer, camera: Camera, overlay: Overlay | None = None, *, draft: bool = False) -> None:
        """Draws the moment of the last `advance` into a framebuffer, overlays included.

        Args:
            output: Where the picture goes.
            camera: Where it is seen from.
            overlay: What the editor marks; nothing for None.
            draft: Leave out the antialiasing, for pictures that another one follows at once.
        """
        self.context.invalidate()
        overlay = overlay or Overlay()
        with self.context.timers.scope("draw"):
            self._picture.draw(output, self._shot(camera, overlay.selected_node), overlay, draft)

    def begin(self, size: tuple[int, int], camera: Camera, overlay: Overlay | None = None) -> PendingPicture:
        """Has the same drawn as `draw` and does not wait for it; to be shown once it is done, before the next picture.

        Args:
            size: Width and height of the picture [px].
            camera: Where it is seen from.
            overlay: What the editor marks; nothing for None.
        """
        self.context.invalidate()
        overlay = overlay or Overlay()
        with self.context.timers.scope("draw"):
            return self._picture.begin(size, self._shot(camera, overlay.selected_node), overlay)

    def _shot(self, camera: Camera, selected: NodeId | None = None) -> Shot:
        return Shot(
            camera=camera,
            view=self._scene.view,
            lights=self._lights(camera),
            subject=self._subject(camera),
            drawables=self._drawables(),
            bodies=tuple(self._bodies.bodies(self._placed(), selected)),
            emitters=tuple(self._shown_emitters()),
            marks=tuple(self.emitter_marks()),
            names={node.id: node.name for node in self._scene.nodes if node.name},
        )

    def _shot_of(self, view: CharacterView) -> Shot:
        """One model by itself, in the light of the scene."""
        box, camera = view.character.bounds(), Camera()
        subject = Subject((box.lo + box.hi) / 2.0, max(box.extent, 1e-4), box)
        return Shot(camera, self._scene.view, self._lights(camera), subject, (view,))

    def _shown(self) -> list[tuple[Node, Character]]:
        nodes = (node for node in self._scene.of_kind("model") if node.visible)
        return [(node, self._characters[node.id]) for node in nodes if node.id in self._characters]

    def _posed(self) -> list[tuple[Node, Character]]:
        """The models that are shown, and the hidden ones that emit particles."""
        emitting = {node.emitter.model_node for node in self._scene.of_kind("emitter") if node.emitter}
        nodes = (node for node in self._scene.of_kind("model") if node.visible or node.id in emitting)
        return [(node, self._characters[node.id]) for node in nodes if node.id in self._characters]

    def _placed(self) -> dict[NodeId, Placement]:
        """The colliders that are drawn, where they are now."""
        if not self._scene.view.colliders or not self._scene.of_kind("collider"):
            return {}
        placed, _ = placements(self._scene, self._characters)
        return {node_id: place for node_id, place in placed.items() if self._scene.node(node_id).visible}

    def _shown_cloths(self) -> list[ClothView]:
        nodes = (node for node in self._scene.of_kind("cloth") if node.visible)
        return [self._cloth_views[node.id] for node in nodes if node.id in self._cloth_views]

    def _shown_emitters(self) -> list[EmitterView]:
        """The emitters whose particles are drawn, each with the room that they take now."""
        heard = audible(self._scene)
        nodes = [node for node in self._scene.of_kind("emitter") if node.visible and node.id in heard]
        shown = []
        for node in nodes:
            view = self._emitter_views.get(node.id)
            if view is not None:
                view.name = node.name or node.id
                view.bounds = emitter_bounds(self._scene, self._characters, node)
                shown.append(view)
        return shown

    def _drawables(self) -> tuple[Drawable, ...]:
        return (*(self._views[node.id] for node, _ in self._shown()), *self._shown_cloths())

    def _solid_boxes(self, node_id: NodeId | None = None) -> list[Bounds]:
        """Boxes of what is visible and has a surface, of all nodes or of one."""
        boxes = [c.bounds() for node, c in self._shown() if node_id in (None, node.id) and c.model.mesh.vertex_count]
        return boxes + [view.bounds() for view in self._shown_cloths() if node_id in (None, view.node_id)]

    def _emitter_boxes(self, node_id: NodeId | None = None) -> list[Bounds]:
        """Boxes of the visible emitters, of all or of one, which need not be visible."""
        nodes = [
            node for node in self._scene.of_kind("emitter") if node.id == node_id or (node_id is None and node.visible)
        ]
        return [emitter_bounds(self._scene, self._characters, node) for node in nodes]

    def _lights(self, camera: Camera) -> tuple[Light, ...]:
        """The visible lights, those that cast shadows first: the first light owns the shadow map.

        Where the scene has no light node at all, a lamp beside the camera.
        """
        nodes = self._scene.of_kind("light")
        if not nodes:
            return (_camera_lamp(camera),)
        lit = [Light(node.light, node.transform.position) for node in nodes if node.visible and node.light]
        return tuple(sorted(lit[:LIGHT_LIMIT], key=lambda light: not light.settings.shadow))

    def _subject(self, camera: Camera) -> Subject:
        # What flies casts little shadow; the sphere of the shadow map is not to be wasted on it.
        box = _joined(self._solid_boxes() or self._emitter_boxes())
        if box is None:
            return Subject(np.asarray(camera.target), 1.0)
        # The sphere reaches the ground, where the shadow falls.
        (left, lowest, far), (right, top, near) = box.lo.tolist(), box.hi.tolist()
        bottom = min(lowest, max(0.0, lowest - max(right - left, top - lowest, near - far)))
        centre = np.array([(left + right) / 2.0, (bottom + top) / 2.0, (far + near) / 2.0])
        radius = math.dist((left, bottom, far), (right, top, near)) / 2.0
        return Subject(centre, max(radius, 1e-4), box, _joined([box, *self._emitter_boxes()]))


def _camera_lamp(camera: Camera) -> Light:
    right, up, _ = camera.rotation()
    eye = camera.position() + (right + up) * camera.distance * 0.4
    settings = LightSettings(reach=camera.distance * 1.1, shadow=False)
    return Light(settings, (float(eye[0]), float(eye[1]), float(eye[2])))


def _joined(boxes: list[Bounds]) -> Bounds | None:
    """Smallest box that holds all; None for none."""
    if len(boxes) < 2:
        return boxes[0] if boxes else None
    return Bounds(np.min([box.lo for box in boxes], axis=0), np.max([box.hi for box in boxes], axis=0))


def _around(place: Placement) -> Bounds:
    """Box around a collider [m]; a metre around the origin of a plane, which has no end."""
    reach = bounding_radius(place.shape, place.size)
    reach = reach if np.isfinite(reach) else 1.0
    centre = place.world_from_collider[:3, 3]
    return Bounds(centre - reach, centre + reach)
