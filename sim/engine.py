"""The engine: sole owner of every GL name; the same for the window, for files, for tests and benches.

`apply` takes the scene, `advance` evaluates a moment, `draw` makes a picture of it.  Drawing never advances time.
It knows no Qt; the caller makes the context current.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.mip_levels import mip_image
from sim.assets.model import Bounds, CharacterModel, Mesh
from sim.figures.comparison import ComparisonStatistics
from sim.figures.prepared import PreparedModel, prepare_model
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.steps import Steps, finish
from sim.jobs.pose import Pose
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.contract import Grab, World
from sim.kinds.emitter.mark import EmitterMark
from sim.kinds.emitter.whereabouts import emitter_placement
from sim.kinds.model.view import CharacterView
from sim.render.pending_picture import PendingPicture
from sim.render.pick_pass import Pick, PickPass
from sim.render.picture import Picture
from sim.render.scene_bounds import scene_bounds
from sim.render.scene_picking import pick_node, pick_particle
from sim.render.scene_shot import emitter_marks, light_position, model_shot, scene_lights, scene_shot
from sim.render.scene_statistics import Statistics, scene_statistics
from sim.render.scene_views import SceneViews
from sim.render.shot import Overlay
from sim.render.surface import Images
from sim.render.texture_upload import MipImages
from sim.scene.camera import Camera
from sim.scene.places import Places, vector
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.vectors import Vec3
from sim.scene.view import Comparison
from sim.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Mark:
    """A node that is marked and picked, and the place of its mark in the world [m]."""

    node_id: NodeId
    position: Vec3


class Engine:
    """Poses, skins and draws a scene.

    Args:
        context: The context everything lives in; it must be current in every call.
        library: Shader programs; made from the shipped shaders by default.
    """

    def __init__(self, context: Context, library: ShaderLibrary | None = None) -> None:
        self.context = context
        self.library = library or ShaderLibrary(context)
        self.simulation = Simulation(context, self.library)
        self._views = SceneViews(context)
        self._time = 0.0
        self._images: dict[Path, Any] = {}
        self._meshes: dict[str, Mesh] = {}
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
        view = yield from CharacterView.upload(self.context, self.library, node_id, prepared, images)
        scene = self._views.scene
        node = scene.node(node_id) if scene.has(node_id) else None
        if node is not None:
            view.settings = node.settings
            view.character.primary.prepare(node.settings.skinning)
            yield
            if rehearsed:
                view.character.update(node, self._time, scene.view.comparison, self._views.places)
                yield
                yield from self._picture.rehearse(model_shot(scene, self._views.places, view))
        self._views.put_model(view)

    def remove_model(self, node_id: NodeId) -> None:
        """Deletes the model of a node, if it has one."""
        self._views.remove_model(node_id)

    def set_files(self, meshes: Mapping[str, Mesh], images: Images) -> None:
        """Gives meshes that cloths are made of and images on them, by path; `apply` takes them."""
        if not _same_files(meshes, self._meshes):
            self._meshes = dict(meshes)
        if not _same_files(images, self._images):
            self._images = dict(images)

    def apply(self, scene: Scene) -> None:
        """Takes the scene as it is now; scenes are values, so telling what changed is a comparison."""
        with self.context.timers.scope("apply"):
            self._views.take(scene)
            self.simulation.apply(self._world())
            self._views.follow(self.simulation, self._images)

    # --- time -----------------------------------------------------------------------------------------

    def advance(self, time: float) -> None:
        """Evaluates poses at a moment of the scene clock [s] and skins, one pass for each visible model.

        What is simulated without a state shows that moment too, at the next `refresh`.
        """
        with self.context.timers.scope("draw"):
            self._advance(time)
            self.simulation.show(time)

    def step(self, time: float, grab: Grab | None = None) -> None:
        """Advances the simulation by one step, which ends at a moment of the scene clock [s]."""
        with self.context.timers.scope("simulate"):
            self._advance(time)
            self.simulation.step(self._world(), time, grab)

    def jump(self, time: float) -> None:
        """Goes to a moment of the scene clock [s] that does not follow the last one."""
        with self.context.timers.scope("simulate"):
            self._advance(time)
            self.simulation.jump(self._world(), time)

    def refresh(self, now: float) -> None:
        """Makes what is drawn of the simulation; once a frame, at monotonic time `now` [s]."""
        with self.context.timers.scope("draw"):
            self.simulation.refresh(self._world(), now)
        colliders = self.simulation.solids.now if self._views.scene.view.contacts else None
        for view in self._views.cloths.values():
            view.colliders = colliders

    def state(self) -> bytes:
        """Everything that the next step depends on, but the figures, a function of time; waits for the GPU."""
        return self.simulation.state()

    def restore(self, state: bytes, time: float) -> None:
        """Goes back to what `state` gave after the step that ended at `time` [s]; what follows has the same bits.

        Raises:
            SettingsError: If it is of another scene.
        """
        self._advance(time)
        self.simulation.restore(state, self._world(), time)

    def _advance(self, time: float) -> None:
        self._time = time
        self._views.settle()
        for node, character in self._views.posed():
            character.update(node, time, self._views.scene.view.comparison, self._views.places)

    def _world(self) -> World:
        views = self._views
        return World(views.scene, views.figures, views.places, self._meshes, self._images, self.simulation.services)

    # --- pictures -------------------------------------------------------------------------------------

    def draw(self, output: Framebuffer, camera: Camera, overlay: Overlay | None = None, *, draft: bool = False) -> None:
        """Draws the moment of the last `advance` into a framebuffer, overlays included.

        Args:
            output: Where the picture goes.
            camera: Where it is seen from.
            overlay: What the editor marks; nothing for None.
            draft: Leave out the antialiasing, and most of very many particles, for pictures that another one follows.
        """
        self.context.invalidate()
        overlay = overlay or Overlay()
        with self.context.timers.scope("draw"):
            self._picture.draw(output, scene_shot(self._views, camera, overlay.selected_node), overlay, draft)

    def begin(self, size: tuple[int, int], camera: Camera, overlay: Overlay | None = None) -> PendingPicture:
        """Has the same drawn as `draw` in this size [px] and does not wait for it; to be shown before the next picture.

        Very many particles a software renderer draws in turns, which the picture is asked for.
        """
        self.context.invalidate()
        overlay = overlay or Overlay()
        with self.context.timers.scope("draw"):
            return self._picture.begin(size, scene_shot(self._views, camera, overlay.selected_node), overlay)

    @property
    def takes_one_go(self) -> bool:
        """Whether a picture in full can be drawn without a break: a software renderer takes long for many particles."""
        return self._picture.takes_one_go(sum(view.system.slot_count for view in self._views.shown_emitters()))

    def needs_rehearsal(self, camera: Camera) -> bool:
        """Whether the next picture would wait until the driver has compiled how its particles are drawn."""
        emitters, scene = self._views.shown_emitters(), self._views.scene
        lights = scene_lights(scene, self._views.places, camera)
        return self._picture.needs_rehearsal(emitters, lights, scene.view.samples)

    def rehearse(self, camera: Camera) -> bool:
        """Has the driver compile a part of that; returns whether there was one."""
        return self._picture.rehearse_particles(scene_shot(self._views, camera))

    # --- the GPU --------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Deletes GL names whose owners are gone."""
        self.context.collect()

    def reload_shaders(self, names: list[str]) -> list[str]:
        """Rebuilds programs after shader files changed; returns one line per error, the old program keeps running."""
        messages = self.library.changed(names)
        self.context.timers.warm_up()
        for character in self._views.figures.values():
            character.invalidate()
        return [str(message) for message in messages]

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for owned in (self._views, self.simulation, self._picture, self._pick, self.library):
            owned.release()

    # --- questions ------------------------------------------------------------------------------------

    def view(self, node_id: NodeId) -> CharacterView | None:
        """What draws a model node; its `character` is the pose behind it."""
        return self._views.models.get(node_id)

    def model_of(self, node_id: NodeId) -> CharacterModel | None:
        """The model that was uploaded for a node."""
        character = self._views.figures.get(node_id)
        return character.model if character else None

    def pose(self, node_id: NodeId) -> Pose | None:
        """Pose of a model as it is shown; None where there is no skeleton."""
        character = self._views.figures.get(node_id)
        return character.pose if character else None

    def world_from_model(self, node_id: NodeId) -> npt.NDArray[np.float64] | None:
        """Placement of a model in the world as it is shown, shape (4, 4)."""
        character = self._views.figures.get(node_id)
        return character.world_from_model if character else None

    def world_from_parent(self, node: Node) -> npt.NDArray[np.float64]:
        """What the transform of a node is relative to, shape (4, 4): the bone it rides on, else the world."""
        return self._views.places.world_from_parent(node)

    def joint_positions(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Places of a model's joints in the world [m], shape (B, 3)."""
        character = self._views.figures.get(node_id)
        return character.joint_positions() if character else np.zeros((0, 3))

    def joint_bounds(self, node_id: NodeId, joint: int) -> Bounds | None:
        """Box in the world [m] of what a joint moves; of the joint's surroundings where it moves nothing."""
        character = self._views.figures.get(node_id)
        return character.joint_bounds(joint) if character else None

    def bounds(self, node_id: NodeId | None = None) -> Bounds | None:
        """Box in the world [m] of one node, or of all that is visible; None when there is nothing."""
        return scene_bounds(self._views, node_id)

    def statistics(self) -> Statistics:
        """Counts over all that is visible."""
        return scene_statistics(self._views)

    def emitter_placement(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Placement of an emitter in the world as the figures stand now, shape (4, 4); KeyError for another node.

        One that emits from a surface is in the middle of its model.
        """
        node = self._views.scene.node(node_id)
        return emitter_placement(self._views.places, self._views.figures, node)

    def emitter_marks(self) -> list[EmitterMark]:
        """The visible emitters, silent ones too, where they stand now; they are marked and picked."""
        return emitter_marks(self._views)

    def compare(self, node_id: NodeId, now: float) -> ComparisonStatistics | None:
        """Distance of the two skinning methods on a model, a frame or more old; None while nothing is compared.

        Args:
            node_id: The model.
            now: Monotonic time [s]; statistics arrive a few times a second.
        """
        character = self._views.figures.get(node_id)
        if character is None or self._views.scene.view.comparison is Comparison.OFF:
            return None
        with self.context.timers.scope("compare"):
            return character.compare(now)

    def cloth(self, node_id: NodeId) -> Cloth | None:
        """Cloth of a node."""
        return getattr(self.simulation.systems.get(node_id), "cloth", None)

    @property
    def places(self) -> Places:
        """Where nodes stand now."""
        return self._views.places

    def marks(self) -> list[Mark]:
        """Marks of the visible nodes, where they stand now; they are drawn over the scene, and clicked."""
        nodes = [node for node in self._views.scene.of_kind("light") if node.visible]
        discs = [Mark(node.id, light_position(node, self.places)) for node in nodes]
        return discs + [Mark(mark.node_id, vector(mark.world_from_source[:3, 3])) for mark in self.emitter_marks()]

    # --- what is under the mouse ----------------------------------------------------------------------

    def pick(self, camera: Camera, size: tuple[int, int], x: float, y: float) -> Pick | None:
        """What covers a place of the picture; waits for the GPU, so for clicks only.

        Args:
            camera: The camera of the picture.
            size: Width and height [px].
            x, y: Place from the top left [px].
        """
        self.context.invalidate()
        with self.context.timers.scope("pick"):
            return pick_node(self._pick, scene_shot(self._views, camera), size, x, y)

    def pick_particle(self, pick: Pick, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int | None:
        """Particle of a picked cloth that is nearest to the ray; None where no cloth was hit.  Waits for the GPU.

        Args:
            pick: What was hit.
            origin, direction: The ray in the world [m], shape (3,) each.
        """
        cloth = self.cloth(pick.node)
        return None if cloth is None else pick_particle(cloth, pick.triangle, origin, direction)

    def particle_positions(self, node_id: NodeId, particles: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Places of some particles of a cloth [m], shape (N, 3); waits for the GPU."""
        return self.cloth(node_id).positions_of(particles).astype(np.float64)


def _same_files(one: Mapping[Any, object], other: Mapping[Any, object]) -> bool:
    """Whether two mappings hold the very same contents."""
    return one.keys() == other.keys() and all(one[key] is other[key] for key in one)
