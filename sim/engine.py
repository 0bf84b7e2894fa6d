"""The engine: sole owner of every GL name; the same for the window, for files, for tests and benches.

`apply` takes the scene, `advance` evaluates a moment, `draw` makes a picture of it.  Drawing never advances time.
It knows no Qt; the caller makes the context current.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Pose
from sim.assets.images import MipImage, mip_image
from sim.assets.model import Bounds, CharacterModel, Mesh
from sim.assets.strands import StrandSet
from sim.characters.character import Character, Poses
from sim.characters.comparison import ComparisonStatistics
from sim.characters.placement import up_axis
from sim.characters.prepared import PreparedModel, prepare_model
from sim.characters.settings import ModelSettings
from sim.gl.context import Context
from sim.gl.errors import GLError
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.task import Task, finish
from sim.guard import Guard
from sim.kinds import KINDS, character_kind
from sim.kinds.background import Background
from sim.kinds.contract import CharacterView, Counts, Grab, Mark, System, View, World
from sim.render.frame_renderer import FrameRenderer
from sim.render.ghost_pass import DepthTerms
from sim.render.pick_pass import Pick, PickPass
from sim.render.progressive.scheduler import PendingImage, RenderScheduler
from sim.render.render_view import Overlay, RenderView
from sim.render.scene_views import SceneViews
from sim.render.surface import Images
from sim.render.texture_upload import SharedTextures
from sim.scene.camera import Camera
from sim.scene.params import SettingsError
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.view import SkinningComparison
from sim.scene.world_transforms import WorldTransforms
from sim.simulation import Simulation, StateCapture
from sim.skin.scalp import head_joint, scalp
from sim.skin.surface_density import skin_area

AHEAD = 16
"""Steps whose poses are found together."""


class Engine:
    """Poses, skins and draws a scene.

    Args:
        context: The context everything lives in; it must be current in every call.
        library: Shader programs, of whoever gives them; made from the shipped shaders by default.
        background: Whether what takes long is prepared on a thread beside; else `apply` waits for it.

    Attributes:
        simulation: What is simulated.
        pictures: Decides how pictures are drawn, and when.
    """

    def __init__(self, context: Context, library: ShaderLibrary | None = None, *, background: bool = False) -> None:
        self.context = context
        self.library = library or ShaderLibrary(context)
        self._own = (self.library,) if library is None else ()
        self._guard = Guard((SettingsError, GLError))
        self.simulation = Simulation(context, self.library, self._guard)
        self.simulation.services.get(Background).is_on = background
        self._views = SceneViews(context, self.library, self._guard)
        self._time = 0.0
        self._ahead: frozenset[float] = frozenset()
        self._images: dict[Path, Any] = {}
        self._meshes: dict[str, Mesh] = {}
        self._textures: dict[Path, MipImage] = {}
        self._strands: dict[Path, StrandSet] = {}
        self._picture = FrameRenderer(context, self.library, self._guard)
        self.pictures = RenderScheduler(self._picture)

    # --- what there is --------------------------------------------------------------------------------

    def set_model(self, node_id: NodeId, model: CharacterModel, images: Images) -> None:
        """Uploads the model of a figure at once, replacing the one before."""
        mips = {path: mip_image(image) for path, image in images.items()}
        finish(self.model_upload(node_id, prepare_model(model), mips))

    def model_upload(
        self, node_id: NodeId, prepared: PreparedModel, images: Mapping[Path, MipImage], *, warmed_up: bool = False
    ) -> Task[None]:
        """Uploads the model of a figure in small steps, replacing the one before with the last of them.

        Given up or failed, it changes nothing; what it made is deleted by `collect`.

        Args:
            node_id: The node.
            prepared: Its model.
            images: The textures of the model.
            warmed_up: Whether it is drawn in secret, so that the first picture does not wait for compilations.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        node = self._character_node(node_id)
        view: CharacterView = KINDS[node.kind].load("character")(self.context, self.library)
        yield from view.upload(prepared, images)
        if self._views.scene.has(node_id):
            node = self._character_node(node_id)
            view.apply(node, view.character, self.world)
            view.character.primary.prepare(node.settings.skinning)
            yield
            if warmed_up:
                view.character.update(
                    node, self._time, self._views.scene.view.comparison, self._views.places, {}, self._run_up
                )
                yield
                yield from self.pictures.warm_up_all(self._views.render_view_of(view))
        self._views.put_character(node, view, self.world)

    def remove_model(self, node_id: NodeId) -> None:
        if node_id in self._views.characters:
            self._views.remove(node_id)

    def set_files(
        self,
        meshes: Mapping[str, Mesh],
        images: Images,
        textures: Mapping[Path, MipImage] | None = None,
        strands: Mapping[Path, StrandSet] | None = None,
    ) -> None:
        """Gives the meshes, images, textures and strands that settings name, by path; `apply` takes them."""
        if not _same_files(meshes, self._meshes):
            self._meshes = dict(meshes)
        if not _same_files(images, self._images):
            self._images = dict(images)
        if not _same_files(textures or {}, self._textures):
            self._textures = dict(textures or {})
        if not _same_files(strands or {}, self._strands):
            self._strands = dict(strands or {})

    def has_texture(self, path: Path, image: MipImage) -> bool:
        return self.simulation.services.get(SharedTextures).has(path, image)

    def texture_upload(self, path: Path, image: MipImage) -> Task[None]:
        """Brings a texture that settings name to the GPU in small steps; `set_files` gives it to who names it.

        Raises:
            GLError: From a step, if the driver cannot hold it.
        """
        return self.simulation.services.get(SharedTextures).upload(path, image)

    def apply(self, scene: Scene) -> None:
        """Takes the scene as it is now; scenes are values, so telling what changed is a comparison."""
        with self.context.timers.scope("apply"):
            self._views.take(scene)
            if self._views.is_news(self.world):
                self._guard.renew(scene.by_id)
            is_due = self.simulation.is_due
            self.simulation.apply(self.world)
            self._views.follow(self.world, self.simulation.systems)
            self._views.version += is_due

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
            self.simulation.step(self.world, time, grab)

    def prefetch_poses(self, number: int, time_of: Callable[[int], float]) -> None:
        """The next calls are for the steps from this number on, one after the other: their poses are found together.

        Args:
            number: The next step.
            time_of: When a step ends [s].
        """
        if time_of(number) in self._ahead:
            return
        times = [time_of(number + index) for index in range(AHEAD)]
        self._ahead = frozenset(times)
        for node, character in self._views.posed():
            if not self._guard.is_out(node.id):
                with self._guard.of(node):
                    character.prefetch_poses(node, times, self._run_up)

    def teleport(self, time: float) -> None:
        """Goes to a moment of the scene clock [s] that does not follow the last one."""
        with self.context.timers.scope("simulate"):
            self._advance(time)
            self.simulation.teleport(self.world, time)

    def restart(self, time: float) -> None:
        """Brings what is simulated back to its start, which is at a moment of the scene clock [s]."""
        self.simulation.reset()
        self.teleport(time)

    def stand(self, time: float) -> None:
        """The next step follows one that ended at this moment [s], whatever was shown meanwhile."""
        self.simulation.show(time)

    def refresh(self, now: float) -> None:
        """Makes what is drawn of the simulation; once a frame, at monotonic time `now` [s]."""
        with self.context.timers.scope("draw"):
            self.simulation.refresh(self.world, now)

    def state(self) -> bytes:
        """Everything that the next step depends on, but the figures, a function of time; waits for the GPU."""
        return self.simulation.state()

    def capture(self) -> StateCapture:
        """The same as it stands now, to be read some pictures later; waits for nothing."""
        return self.simulation.capture()

    def restore(self, state: bytes, time: float) -> None:
        """Goes back to what `state` gave after the step that ended at `time` [s]; what follows has the same bits.

        Raises:
            SettingsError: If it is of another scene.
        """
        self._advance(time)
        self.simulation.restore(state, self.world, time)

    def reconsider(self) -> None:
        """What the restored state has halted may go on, the settings being others since it was kept."""
        self.simulation.reconsider()

    def look_between(self, states: tuple[bytes | None, bytes | None], step: int, share: float, time: float) -> None:
        """Shows what is between two steps at a moment of the scene clock [s]; see `Simulation.look_between`."""
        self._advance(time)
        self.simulation.look_between(states, step, share, self.world, time)

    @property
    def given_steps(self) -> range:
        """The steps of which nothing needs to be simulated; those of the simulation."""
        return self.simulation.given_steps

    def show_baked(self, step: int, time: float) -> bool:
        """Shows what is given as it is after a step, which ended at `time` [s]; returns whether anything is."""
        if not self.simulation.is_given(step):
            return False
        self._advance(time)
        self.simulation.show_baked(step, self.world)
        return True

    def _advance(self, time: float) -> None:
        self._time = time
        self._views.settle()
        poses: Poses = {}
        for node, character in self._views.posed():
            if not self._guard.is_out(node.id):
                with self._guard.of(node):
                    character.update(
                        node, time, self._views.scene.view.comparison, self._views.places, poses, self._run_up
                    )

    @property
    def _run_up(self) -> tuple[float, float]:
        playback = self._views.scene.playback
        return playback.start_time, playback.run_up

    def _character_node(self, node_id: NodeId) -> Node:
        """The node of a figure; one that the scene does not have yet is as such nodes are at first."""
        known = self._views.scene.by_id.get(node_id)
        return known if known is not None else Node(id=node_id, settings=character_kind().settings())

    @property
    def world(self) -> World:
        """What simulated nodes see of the scene, as it stands now."""
        views = self._views
        return World(
            views.scene, views.characters, views.places, self._meshes, self._images, self.simulation.services,
            textures=self._textures, strands=self._strands, in_force=self.simulation.in_force,
            start_time=self.simulation.start_time,
        )  # fmt: skip

    # --- pictures -------------------------------------------------------------------------------------

    def draw(self, output: Framebuffer, camera: Camera, overlay: Overlay | None = None, *, draft: bool = False) -> None:
        """Draws the moment of the last `advance` into a framebuffer, overlays included.

        Args:
            output: Where the picture goes.
            camera: Where it is seen from.
            overlay: What the editor marks; nothing for None.
            draft: Draw it roughly and quickly; another one follows.
        """
        self.pictures.draw(output, self.render_view(camera, overlay), draft=draft)

    def begin(self, size: tuple[int, int], camera: Camera, overlay: Overlay | None = None) -> PendingImage:
        """Has the same drawn as `draw` in this size [px] and does not wait for it; to be shown before the next picture.

        It may be drawn in turns, which the picture is asked for.
        """
        return self.pictures.begin(size, self.render_view(camera, overlay))

    def render_view(self, camera: Camera, overlay: Overlay | None = None) -> RenderView:
        return self._views.render_view(camera, overlay, self.simulation.colliders.now)

    def begin_silhouette(self, size: tuple[int, int], camera: Camera, nodes: Collection[NodeId]) -> PendingImage:
        """Has nodes drawn by themselves over nothing, as everything stands now, as `begin` does with the scene.

        Nothing may be brought to another moment until it is done.

        Args:
            size: Width and height [px].
            camera: Where they are seen from.
            nodes: Which.
        """
        self.context.invalidate()
        render_view = self._views.render_view(camera, None, self.simulation.colliders.now, nodes)
        return self.pictures.begin(size, render_view, alone=True)

    def silhouette(self, output: Framebuffer, camera: Camera, nodes: Collection[NodeId]) -> DepthTerms:
        """Draws the same: colour, and as alpha how much is covered.

        Args:
            output: Where they go, and how far away they are; of the formats of pictures.
            camera: Where they are seen from.
            nodes: Which.

        Returns:
            What tells how far away they are [m].
        """
        self.begin_silhouette(output.size, camera, nodes).show(output)
        return self.copy_depth(output)

    def copy_depth(self, output: Framebuffer) -> DepthTerms:
        """Copies the depth of the picture drawn last to a single-sampled framebuffer of its size; tells its terms."""
        self._picture.target.current.copy_depth_to(output)
        return self._picture.depth_terms

    # --- the GPU --------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Deletes GL names whose owners are gone."""
        self.context.collect()

    def reload_shaders(self, names: list[str]) -> list[str]:
        """Rebuilds programs after shader files changed; returns one line per error, the old program keeps running."""
        messages = self.library.changed(names)
        self.context.timers.warm_up()
        for character in self._views.characters.values():
            character.invalidate()
        return [str(message) for message in messages]

    def release(self) -> None:
        for owned in (self._views, self.simulation, self._picture, *self._own):
            owned.release()

    # --- questions ------------------------------------------------------------------------------------

    @property
    def has_state(self) -> bool:
        """Whether anything that is simulated depends on the steps before."""
        return self.simulation.has_state

    @property
    def stopped(self) -> dict[NodeId, str]:
        """Why simulated nodes stand still, those that do."""
        systems = self.simulation.systems.items()
        return {node_id: one.stopped for node_id, one in systems if one.is_ready and one.stopped}

    @property
    def version(self) -> int:
        """Another number where anything but time and the camera changed of what pictures show."""
        return self._views.version

    @property
    def places(self) -> WorldTransforms:
        return self._views.places

    def view(self, node_id: NodeId) -> View | None:
        return self._views.view(node_id)

    def system(self, node_id: NodeId) -> System | None:
        return self.simulation.systems.get(node_id)

    def character(self, node_id: NodeId) -> Character | None:
        """A figure as it is posed, with its skinned vertices; None until its model is there."""
        return self._views.characters.get(node_id)

    def model_of(self, node_id: NodeId) -> CharacterModel | None:
        character = self._views.characters.get(node_id)
        return character.model if character else None

    def pose(self, node_id: NodeId) -> Pose | None:
        """Pose of a model as it is shown; None where there is no skeleton."""
        character = self._views.characters.get(node_id)
        return character.pose if character else None

    def world_from_model(self, node_id: NodeId) -> npt.NDArray[np.float64] | None:
        """Placement of a model in the world as it is shown, shape (4, 4)."""
        character = self._views.characters.get(node_id)
        return character.world_from_model if character else None

    def world_from_parent(self, node: Node) -> npt.NDArray[np.float64]:
        """What the transform of a node is relative to, shape (4, 4): the bone it rides on, else the world."""
        return self._views.places.world_from_parent(node)

    def joint_positions(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Places of a model's joints in the world [m], shape (B, 3)."""
        character = self._views.characters.get(node_id)
        return character.joint_positions() if character else np.zeros((0, 3))

    def skin_area(self, node_id: NodeId, *, bone: str = "", section: str = "") -> float | None:
        """Area of the skin of a figure, or of a part of it, see `sim.skin.surface_density`; None until it is there."""
        character = self._views.characters.get(node_id)
        return skin_area(character.model, character.world_from_model, bone=bone, section=section) if character else None

    def scalp_area(self, node_id: NodeId, bone: str = "") -> float | None:
        """Area of the scalp of a figure [m²]; None where it has none, or a bone is given that is not its head."""
        character = self._views.characters.get(node_id)
        skeleton = character.model.skeleton if character else None
        if character is None or skeleton is None or (joint := head_joint(skeleton.names, skeleton.parents)) is None:
            return None
        settings = self.world.scene.node(node_id).settings
        assert isinstance(settings, ModelSettings)
        found = scalp(character.model, up_axis(settings, character.model))
        if found is None or bone not in ("", skeleton.names[joint]):
            return None
        return skin_area(character.model, character.world_from_model, within=found)

    def joint_bounds(self, node_id: NodeId, joint: int) -> Bounds | None:
        """Box in the world [m] of what a joint moves; of the joint's surroundings where it moves nothing."""
        character = self._views.characters.get(node_id)
        return character.joint_bounds(joint) if character else None

    def bounds(self, node_id: NodeId | None = None) -> Bounds | None:
        """Box in the world [m] of one node, or of all that is visible; None when there is nothing.

        That of something whose parts fly off holds most of where they fly.
        """
        return self._views.bounds(node_id)

    def statistics(self) -> Counts:
        return self._views.counts()

    def marks(self) -> list[Mark]:
        """Marks of the visible nodes, where they stand now; they are drawn over the scene, and clicked."""
        return self._views.marks()

    def compare(self, node_id: NodeId, now: float) -> ComparisonStatistics | None:
        """Distance of the two skinning methods on a model, a frame or more old; None while nothing is compared.

        Args:
            node_id: The model.
            now: Monotonic time [s]; statistics arrive a few times a second.
        """
        character = self._views.characters.get(node_id)
        if character is None or self._views.scene.view.comparison is SkinningComparison.OFF:
            return None
        with self.context.timers.scope("compare"):
            return character.compare(now)

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
            passes = self._picture.passes
            return passes.get(PickPass).pick(passes, self.render_view(camera), size, x, y)

    def layers(
        self, camera: Camera, size: tuple[int, int], nodes: Collection[NodeId] | None = None
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32], tuple[NodeId, ...]]:
        """What covers every pixel of a picture: numbers of nodes, depths [m], nodes; waits for the GPU.

        Only these nodes are looked at, all for None.  See `sim.render.pick_pass.PickPass.whole`.
        """
        self.context.invalidate()
        passes = self._picture.passes
        render_view = self._views.render_view(camera, None, self.simulation.colliders.now, nodes)
        return passes.get(PickPass).whole(passes, render_view, size)


def _same_files(one: Mapping[Any, object], other: Mapping[Any, object]) -> bool:
    """Whether two mappings hold the very same contents."""
    return one.keys() == other.keys() and all(one[key] is other[key] for key in one)
