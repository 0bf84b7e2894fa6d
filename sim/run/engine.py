import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.images import mip_image
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.character import Character, Poses
from sinew.sim.characters.comparison import ComparisonStatistics
from sinew.sim.characters.foot_slide import FootSlide, posed_slides, sample_times, source_stands
from sinew.sim.characters.modifiers.feet import Collider
from sinew.sim.characters.playing import up_axis
from sinew.sim.characters.prepared import PreparedModel, prepare_model
from sinew.sim.characters.retarget import RetargetError, body_of
from sinew.sim.characters.settings import ModelSettings, model_settings
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.task import Task, finish
from sinew.sim.guard import Guard
from sinew.sim.kinds import KINDS, character_kind
from sinew.sim.kinds.background import Background, BackgroundJob, Pause
from sinew.sim.kinds.contract import (
    CharacterSource,
    CharacterView,
    ColliderSource,
    Grab,
    Kind,
    ShaderTexts,
    World,
    loaded,
)
from sinew.sim.memo import Memo, same_objects
from sinew.sim.render.frame_renderer import FrameRenderer
from sinew.sim.render.ghost_pass import DepthTerms
from sinew.sim.render.pick_pass import Pick, PickPass
from sinew.sim.render.progressive.scheduler import PendingImage, RenderScheduler
from sinew.sim.render.render_view import Overlay, RenderView
from sinew.sim.render.sample import ImageSample
from sinew.sim.render.scene_views import SceneViews
from sinew.sim.render.surface import Images
from sinew.sim.render.texture_upload import MipImages, SharedTextures
from sinew.sim.run.simulation import Simulation
from sinew.sim.run.stage import Stage
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.view import SkinningComparison
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.sim.skin.scalp import head_joint, scalp
from sinew.sim.skin.surface_table import skin_area

_PLACES = ("transform", "node")
"""Parts whose keys leave the pose as it is."""

AHEAD = 16
"""Number of steps whose poses are evaluated together."""


class Engine(Owner):
    """Engine that poses, skins, simulates and draws a scene.

    `apply` takes the scene, `advance` and `step` set the time, `draw` renders and never advances time.  The context
    must be current in every call; what runs kernels binds the default framebuffer first.

    Args:
        library: Shader programs shared with another engine; by default the engine has its own.
        background: Whether long preparations run on a worker thread; otherwise `apply` waits for them.

    Attributes:
        applied: What is simulated and shown.
    """

    def __init__(self, context: Context, library: ShaderLibrary | None = None, *, background: bool = False) -> None:
        self.context = context
        self.library = library or self.owns(ShaderLibrary(context))
        self._guard = Guard((SettingsError, GLError))
        self._renderer = self.owns(FrameRenderer(context, self.library, self._guard))
        self.simulation = self.owns(Simulation(context, self.library, self._guard, self))
        self._background = background
        self.simulation.services.get(Background).is_on = background
        self.textures = self.simulation.services.get(SharedTextures)
        self.views = self.owns(SceneViews(context, self.library, self._guard))
        self.pictures = RenderScheduler(self._renderer)
        self.stage = Stage(self._with_usable_kernels)
        self.applied = self.stage.at()
        self._content: tuple[object, ...] = ()
        self._prefetched: frozenset[float] = frozenset()
        self._colliders: Memo[tuple[Collider, ...]] = Memo()
        self._kernels: tuple[Node, ...] = ()
        self._world = World(
            self.applied, self.applied.shown, self.views.characters, self.views.places, self.simulation.services
        )
        self._usable: Memo[Scene] = Memo()
        self._owns_library = library is None
        self._trials = self.owns(Background())
        self._trials.is_on = background
        self._trial: tuple[Mapping[str, str], BackgroundJob[None]] | None = None
        self.awaits_kernels = False

    # --- the scene ------------------------------------------------------------------------------------

    def set_model(self, node_id: NodeId, model: CharacterModel, images: Images) -> None:
        mips = {path: mip_image(image) for path, image in images.items()}
        finish(self.model_upload(node_id, prepare_model(model), mips))

    def model_upload(
        self, node_id: NodeId, prepared: PreparedModel, images: MipImages, *, warmed_up: bool = False
    ) -> Task[None]:
        """Uploads a model in small steps; the last step replaces the previous model.

        If the task is dropped or fails, nothing changes, and `Context.collect` deletes the uploaded objects.

        Args:
            warmed_up: Whether to compile all shaders first, so that the first frame is not delayed.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        self.context.bind_default_framebuffer()
        node = self._character_node(node_id)
        view: CharacterView = loaded(KINDS[node.kind].part(CharacterSource).view)(self.context, self.library)
        yield from view.upload(prepared, images, self.views.view_of(node_id))
        if self.views.scene.has(node_id):
            node = self._character_node(node_id)
            view.apply(node, view.character, self.world)
            assert isinstance(node.settings, ModelSettings)
            view.character.primary.prepare(node.settings.skinning)
            yield
            if warmed_up:
                playback = self.views.scene.playback
                preroll = playback.start_time, playback.run_up
                view.character.update(node, self.applied.time, self.views.places, {}, preroll)
                view.character.skin(self.views.scene.view.comparison)
                yield
                yield from self.pictures.shader_warmup.play_all(self.views.render_view_of(view))
        self.views.put_character(node, view, self.world)

    def _character_node(self, node_id: NodeId) -> Node:
        return self.views.scene.by_id.get(node_id) or character_kind().new_node(node_id)

    def remove_model(self, node_id: NodeId) -> None:
        if node_id in self.views.characters:
            self.views.remove(node_id)

    def model_of(self, node_id: NodeId) -> CharacterModel | None:
        character = self.views.characters.get(node_id)
        return character.model if character else None

    def set_assets(self, assets: SceneAssets) -> None:
        """Sets the assets for the next `apply`; with `background`, textures wait until `textures` has uploaded them."""
        if self._background:
            uploaded = {path: image for path, image in assets.textures.items() if self.textures.has(path, image)}
            assets = replace(assets, textures=uploaded)
        if not assets.is_same(self.stage.assets):
            self.stage.assets = assets

    def apply(self, scene: Scene) -> None:
        """Applies a scene; finds changes by comparing it with the previous one."""
        with self.context.timers.scope("apply"):
            self.stage.take(scene)
            former, applied = self.applied, self.stage.at()
            allowed, assets, self.applied = applied.allowed, applied.assets, applied
            if allowed is not former.allowed:
                self._use_kernels(allowed)
            self.views.take(applied.shown)
            world = self.world
            is_news, is_due = self.views.is_news(world), self.simulation.is_due
            content, known = (allowed, world.characters, assets), self._content
            self._content = content
            is_animated = allowed.is_keyed and same_objects(content, known)
            if is_news or is_due:
                self.context.bind_default_framebuffer()
            if is_news and not is_animated:
                self._guard.renew(allowed.by_id)
                for node_id, character in self.views.characters.items():
                    if node_id in assets.animated or character.animated is not character.model:
                        character.animate(assets.animated_model(node_id, character.model))
            stepped = applied.stepped
            self.simulation.apply(world if stepped is world.scene else replace(world, scene=stepped), is_due=is_due)
            if is_due:
                self.views.version += 1
                world = self.world  # prepared systems use other settings now
            if is_news:
                self.views.follow(world, self.simulation.systems, is_animated=is_animated)

    def _with_usable_kernels(self, scene: Scene) -> Scene:
        if not self.library.takes_texts:
            return self._with_kernels(scene, ())
        return self._with_tried_kernels(scene) if self._background else scene

    def _with_kernels(self, scene: Scene, kernels: tuple[Node, ...]) -> Scene:
        """Returns the scene with these kernels alone: others have no part in the keys of cached steps."""
        if not kernels and not any(ShaderTexts in KINDS[node.kind].declared for node in scene.nodes):
            return scene
        return self._usable.get((scene, kernels), lambda: msgspec.structs.replace(
            scene, nodes=(*(node for node in scene.nodes if ShaderTexts not in KINDS[node.kind].declared), *kernels)
        ))  # fmt: skip

    def _with_tried_kernels(self, scene: Scene) -> Scene:
        """Returns the scene with its kernels, or with the former ones while a worker thread tries their programs.

        An engine with the library of another waits until that one uses them.
        """
        nodes = self._used_kernels(scene)
        texts = self._texts_of(nodes)[0] if nodes != self._kernels else self.library.texts
        self.awaits_kernels = texts != self.library.texts
        if self.awaits_kernels and self._owns_library:
            if self._trial is None or self._trial[0] != texts:
                trials = self.library.untried(texts)
                self._trial = trial = texts, self._trials.start(functools.partial(_run_all, trials))
            else:
                trial = self._trial
            self.awaits_kernels = not trial[1].is_done
        return self._with_kernels(scene, self._kernels) if self.awaits_kernels else scene

    @property
    def has_tried_kernels(self) -> bool:
        """True if the next `apply` uses kernels that it has waited for."""
        return self.awaits_kernels and self._trial is not None and self._trial[1].is_done

    def _used_kernels(self, scene: Scene) -> tuple[Node, ...]:
        nodes: tuple[Node, ...] = ()
        for kind in KINDS.values():
            if ShaderTexts in kind.declared and scene.of_kind(kind.name):
                nodes += scene.simulated_of_kind(kind.name)
        return nodes

    def _texts_of(
        self, nodes: tuple[Node, ...]
    ) -> tuple[dict[str, str], dict[str, NodeId], tuple[tuple[NodeId, SettingsError], ...]]:
        """Returns the texts of kernels by file, the ids of their nodes, and those that change another file."""
        texts: dict[str, str] = {}
        owners: dict[str, NodeId] = {}
        faults: list[tuple[NodeId, SettingsError]] = []
        for node in nodes:
            file, base, text = KINDS[node.kind].part(ShaderTexts).of(node.settings)
            if self._shipped(file) == base:
                texts[file], owners[file] = text, node.id
            else:
                faults.append((node.id, SettingsError(f"{file or 'its file'} is another one now; it is not used")))
        return texts, owners, tuple(faults)

    def _use_kernels(self, scene: Scene) -> None:
        """Replaces shader files by texts of the scene; a node whose text does not compile is reported."""
        nodes = self._used_kernels(scene)
        if nodes == self._kernels:
            return
        self._kernels = nodes
        texts, owners, found = self._texts_of(nodes)
        faults = list(found)
        self.reload_shaders(sorted(self.library.replace(texts)))
        self._guard.renew(scene.by_id)
        for message in self.library.messages:
            if message.file in owners:  # the first one counts: others often follow from it
                faults.append((owners.pop(message.file), SettingsError(str(message))))
        for node_id, error in faults:
            self._guard.note(node_id, error)

    def _shipped(self, file: str) -> str | None:
        place = PurePosixPath(file)
        try:
            return None if place.is_absolute() or ".." in place.parts else self.library.shipped(file)
        except (OSError, UnicodeDecodeError, ValueError):
            return None

    @property
    def world(self) -> World:
        """The shown scene with its characters in their present poses."""
        applied, views, known, active = self.applied, self.views, self._world, self.simulation.active_settings
        if known.applied is not applied or known.places is not views.places or active or known.active_settings:
            self._world = World(applied, applied.shown, views.characters, views.places, known.services, active)
        return self._world

    # --- time -----------------------------------------------------------------------------------------

    def advance(self, time: float) -> None:
        """Poses and skins the characters for scene time `time` [s]; systems without a state follow at `refresh`."""
        with self.context.timers.scope("draw"):
            self._pose(time)
            self.skin(self.world)
            if self.applied.allowed.is_keyed and self.views.is_news(world := self.world):
                self.views.follow(world, self.simulation.systems, is_animated=True)
            self.simulation.show(self.world, time)

    def step(self, time: float, grab: Grab | None = None) -> None:
        """Advances the simulation by one step, which ends at scene time `time` [s]."""
        with self.context.timers.scope("simulate"):
            self._go_to(time)
            self.simulation.step(self.world, time, grab)

    def prefetch_poses(self, number: int, time_of: Callable[[int], float]) -> None:
        """Evaluates the poses of several steps from `number` on; `time_of` returns the end of a step [s]."""
        if time_of(number) in self._prefetched:
            return
        times = [time_of(number + index) for index in range(AHEAD)]
        self._prefetched = frozenset(times)
        playback = self.views.scene.playback
        for node, character in self.views.posed():
            if node.id not in self._guard.faulty and not any(curve.part not in _PLACES for curve in node.curves):
                with self._guard.of(node):
                    character.prefetch_poses(node, times, (playback.start_time, playback.run_up))

    def teleport(self, time: float) -> None:
        """Jumps to a scene time [s] that does not follow the previous one."""
        with self.context.timers.scope("simulate"):
            self._go_to(time)
            self.simulation.teleport(self.world, time)

    def restart(self, time: float) -> None:
        """Resets the simulation to its first frame, which is at scene time `time` [s]."""
        if self.applied.allowed.is_keyed:
            self._go_to(time)
        self.simulation.reset()
        self.teleport(time)

    def refresh(self, now: float) -> None:
        """Updates the drawn data of the simulation; call this once per frame with the monotonic time [s]."""
        self.context.bind_default_framebuffer()
        with self.context.timers.scope("draw"):
            self.simulation.refresh(self.world, now)

    def restore(self, state: bytes, time: float) -> frozenset[NodeId]:
        """Restores a state; `time` is the end of its step [s], see `Simulation.restore`."""
        self._go_to(time)
        return self.simulation.restore(state, self.world, time)

    def show_interpolated(
        self, states: tuple[bytes | None, bytes | None], step: int, share: float, time: float
    ) -> None:
        self._pose(time)
        self.simulation.show_interpolated(states, step, share, self.world, time)

    def show_baked(self, step: int, time: float) -> bool:
        """Shows the baked states of a step that ended at `time` [s]; returns False if there are none."""
        if not self.simulation.is_baked(step):
            return False
        self._go_to(time)
        self.simulation.show_baked(step, self.world)
        return True

    def _go_to(self, time: float) -> None:
        """Poses the characters, and gives systems the values of keys, at the end of a step."""
        self._pose(time, is_step=True)
        if self.applied.allowed.is_keyed:
            self.simulation.apply(self.world, is_due=self.simulation.is_due)

    def _pose(self, time: float, *, is_step: bool = False) -> None:
        """Poses the characters; skinning follows when their joints are turned."""
        self.context.bind_default_framebuffer()
        self.applied = self.stage.at(time, is_step=is_step)
        if self.applied.shown is self.views.scene:
            self.views.settle()
        else:
            self.views.take(self.applied.shown)
        self._pose_characters(self.views.posed(), time)

    def place(self, _: World) -> World:
        self.views.settle()
        attached = [one for one in self.views.posed() if one[0].attachment.node]
        self._pose_characters(attached, self.applied.time)
        return self.world

    def _pose_characters(self, characters: Iterable[tuple[Node, Character]], time: float) -> None:
        poses: Poses = {}
        playback = self.views.scene.playback
        run_up = playback.start_time, playback.run_up
        for node, character in characters:
            if node.id not in self._guard.faulty:
                try:
                    character.update(node, time, self.views.places, poses, run_up, self._ground)
                except Exception as error:
                    self._guard.note(node.id, error)

    def skin(self, world: World) -> World:
        comparison = world.scene.view.comparison
        for node, character in self.views.posed():
            if node.id not in self._guard.faulty:
                try:
                    character.skin(comparison)
                except Exception as error:
                    self._guard.note(node.id, error)
        return world

    def skin_again(self) -> None:
        """Makes the next pose skin all characters, also those whose pose it does not change."""
        for character in self.views.characters.values():
            for skinned in (character.primary, character.secondary):
                if skinned is not None:
                    skinned.invalidate()

    def _ground(self) -> tuple[Collider, ...]:
        """Returns the simulated colliders that no character carries."""
        scene, places = self.views.scene, self.views.places
        nothing: dict[NodeId, Any] = {}
        return self._colliders.get((scene, self.views.characters), lambda: tuple(
            (one.shape, tuple(one.size.tolist()), tuple(one.world_from_collider.ravel().tolist()))
            for kind in KINDS.values() if ColliderSource in kind.declared
            for node in scene.simulated_of_kind(kind.name)
            if not any(above.settings.is_character for above in scene.carriers(node.id))
            for one in self._guard.call(node, functools.partial(_colliders, kind, node, places), nothing).values()
        ))  # fmt: skip

    # --- rendering ------------------------------------------------------------------------------------

    def draw(
        self, output: Framebuffer, camera: Camera, overlay: Overlay | None = None, *, draft: bool = False,
        sample: ImageSample | None = None,
    ) -> None:  # fmt: skip
        """Draws a frame; `draft` renders roughly and quickly, because another frame follows."""
        self.pictures.draw(output, replace(self.render_view(camera, overlay), sample=sample), draft=draft)

    def draw_linear(self, output: Framebuffer, camera: Camera, sample: ImageSample | None = None) -> None:
        """Draws linear light, without a tone curve, into half floats; not in the classic look."""
        self.pictures.draw(output, replace(self.render_view(camera), is_linear=True, sample=sample))

    def begin(self, size: tuple[int, int], camera: Camera, overlay: Overlay | None = None) -> PendingImage:
        """Begins an image of a size [px] without waiting; it must be shown before the next frame."""
        return self.pictures.begin(size, self.render_view(camera, overlay))

    def render_view(self, camera: Camera, overlay: Overlay | None = None) -> RenderView:
        return self.views.render_view(camera, overlay, self.simulation.colliders.now)

    def begin_silhouette(self, size: tuple[int, int], camera: Camera, nodes: Collection[NodeId]) -> PendingImage:
        """Starts an image of only `nodes`, `size` in pixels; the time must not change until it is done."""
        self.context.invalidate()
        render_view = self.views.render_view(camera, None, self.simulation.colliders.now, nodes)
        return self.pictures.begin(size, render_view, alone=True)

    def silhouette(self, output: Framebuffer, camera: Camera, nodes: Collection[NodeId]) -> DepthTerms:
        """Draws the coverage of `nodes` as alpha; returns terms that convert the depth of `output` to distances [m]."""
        self.begin_silhouette(output.size, camera, nodes).show(output)
        return self.copy_depth(output)

    def copy_depth(self, output: Framebuffer) -> DepthTerms:
        """Copies the depth to `output`, which must be single-sampled and have the size of the last frame."""
        self._renderer.target.current.copy_depth_to(output)
        return self._renderer.depth_terms

    def pick(self, camera: Camera, size: tuple[int, int], x: float, y: float) -> Pick | None:
        """Returns the surface at `x` and `y` [px from the top left] of an image of `size` [px]; waits for the GPU."""
        self.context.invalidate()
        with self.context.timers.scope("pick"):
            passes = self._renderer.passes
            return passes.get(PickPass).pick(passes, self.render_view(camera), size, x, y)

    def layers(
        self, camera: Camera, size: tuple[int, int], nodes: Collection[NodeId] | None = None
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32], tuple[NodeId, ...]]:
        """Returns node numbers and depths [m] by pixel, and the nodes; waits for the GPU. See `PickPass.whole`."""
        self.context.invalidate()
        passes = self._renderer.passes
        render_view = self.views.render_view(camera, None, self.simulation.colliders.now, nodes)
        return passes.get(PickPass).whole(passes, render_view, size)

    def reload_shaders(self, names: list[str]) -> list[str]:
        """Reloads shaders and retries failed nodes; returns one line per error. Faulty programs do not change."""
        messages = self.library.changed(names)
        self.context.timers.warm_up()
        for character in self.views.characters.values():
            character.invalidate()
        self._guard.retry()
        self.simulation.retry()
        self.views.retry()
        return [str(message) for message in messages]

    # --- measurements ---------------------------------------------------------------------------------

    def skin_area(self, node_id: NodeId, *, bone: str = "", section: str = "") -> float | None:
        """Returns the skin area of a character, a bone or a section [m²]; None without a model."""
        character = self.views.characters.get(node_id)
        return skin_area(character.model, character.world_from_model, bone=bone, section=section) if character else None

    def scalp_area(self, node_id: NodeId, bone: str = "") -> float | None:
        """Returns the scalp area of a character [m²]; None if it has no scalp, or `bone` is not its head."""
        character = self.views.characters.get(node_id)
        skeleton = character.model.skeleton if character else None
        if character is None or skeleton is None or (joint := head_joint(skeleton.names, skeleton.parents)) is None:
            return None
        settings = self.views.scene.node(node_id).settings
        assert isinstance(settings, ModelSettings)
        faces = scalp(character.model, up_axis(settings, character.model))
        if faces is None or bone not in ("", skeleton.names[joint]):
            return None
        return skin_area(character.model, character.world_from_model, within=faces)

    def foot_slides(self, node_id: NodeId, first: float, last: float) -> tuple[FootSlide, ...]:
        """Returns the slides [m] of both feet of a human character between two scene times [s]; nothing of others."""
        character = self.views.characters.get(node_id)
        if character is None:
            return ()
        settings = model_settings(self.views.scene.node(node_id))
        try:
            body = body_of(character.model, settings.humanoid, up_axis(settings, character.model))
        except RetargetError:
            return ()
        times = sample_times(first, last)
        stands = source_stands(character.animated, settings, body, times)
        return posed_slides(character.pose_at, body, character.world_from_model, times, stands)

    def compare(self, node_id: NodeId, now: float) -> ComparisonStatistics | None:
        """Returns statistics of the last comparison, at least one frame old, or None; `now` is monotonic time [s]."""
        character = self.views.characters.get(node_id)
        if character is None or self.views.scene.view.comparison is SkinningComparison.OFF:
            return None
        with self.context.timers.scope("compare"):
            return character.compare(now)


def _colliders(kind: Kind, node: Node, places: WorldTransforms) -> dict[NodeId, Any]:
    found: dict[NodeId, Any] = loaded(kind.part(ColliderSource).of)((node,), places)
    return found


def _run_all(works: Iterable[Callable[[], None]], pause: Pause) -> None:
    for work in works:
        pause(0.0)
        work()
