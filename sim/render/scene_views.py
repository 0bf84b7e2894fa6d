import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sinew.sim.assets.environment import studio
from sinew.sim.assets.model import Bounds
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.character import Character
from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.guard import Guard
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import NOTHING, CharacterSource, CharacterView, Counts, Mark, System, View, World, loaded
from sinew.sim.memo import same_objects
from sinew.sim.render.frame import (
    LIGHT_LIMIT,
    STUDIO_STRENGTH,
    BoundingSphere,
    Environment,
    PointLight,
    joined,
    subject_of,
)
from sinew.sim.render.render_view import Overlay, RenderView
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.view import LIGHT_INTENSITY, Look
from sinew.sim.scene.world_transforms import WorldTransforms

ViewInputs = tuple[Node, Any, bool, bool, SceneAssets]
"""Inputs of a view: node, its system or character, True if it is simulated, True if it holds nodes, and the files."""


class ViewEntry(View):
    """View of a node; draws nothing while the node is left out after an error."""

    def __init__(self, node: Node, view: View, guard: Guard) -> None:
        self.node, self.view, self._guard = node, view, guard
        self.applied: ViewInputs | None = None  # Applied last; None after an error
        self.subject: Any = None  # System or character
        self.is_helper, self._has_marks = view.is_helper, type(view).marks is not View.marks
        self.is_light = False
        name = node.settings.kind
        self.rank = CharacterSource not in KINDS[name].declared, list(KINDS).index(name)

    def apply(self, node: Node, subject: Any, world: World) -> None:
        if node.id not in self._guard.faulty:
            try:
                self.view.apply(node, subject, world)
            except Exception as error:
                self._guard.note(node.id, error)

    def update(self, inputs: ViewInputs, world: World) -> None:
        self.node, self.subject, *_ = inputs
        self.apply(self.node, self.subject, world)
        self.is_light = self.light() is not None
        self.applied = None if self.node.id in self._guard.faulty else inputs

    def parts(self, display: Any) -> Sequence[Any]:
        if self.node.id in self._guard.faulty:
            return ()
        try:
            return self.view.parts(display)
        except Exception as error:
            self._guard.note(self.node.id, error)
            return ()

    def light(self) -> Any:
        return self._guard.call(self.node, self.view.light, None)

    def environment(self) -> Any:
        return self._guard.call(self.node, self.view.environment, None)

    def bounds(self) -> Bounds | None:
        return self._guard.call(self.node, self.view.bounds, None)

    def reach(self) -> Bounds | None:
        return self._guard.call(self.node, self.view.reach, None)

    def counts(self) -> Counts:
        return self._guard.call(self.node, self.view.counts, NOTHING)

    def marks(self) -> tuple[Mark, ...]:
        return self._guard.call(self.node, self.view.marks, ()) if self._has_marks else ()

    def release(self) -> None:
        self.view.release()


class SceneViews:
    """Views of all nodes; `version` changes whenever anything but time and transforms changes."""

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self._context, self._library, self._guard = context, library, guard
        self.scene = Scene()
        self.characters: dict[NodeId, Character] = {}
        self.places = WorldTransforms(self.scene, self.characters)
        self.version = 0
        self.has_backdrop = True  # False to leave out visible environments, for images without background
        self._entries: dict[NodeId, ViewEntry] = {}
        self._visible: list[ViewEntry] = []
        self._attached: list[ViewEntry] = []
        self._counted: list[ViewEntry] = []
        self._lit: list[ViewEntry] = []
        self._posed: list[Node] = []
        self._world: World | None = None
        self._content: tuple[object, ...] = ()
        self._has_moved = self._must_retry = False
        # Of the last update of attached views: poses and places of characters, and nodes that changed since
        self._poses: list[object] = []
        self._changed: set[NodeId] = set()
        self._subject: tuple[list[Bounds], list[Bounds], BoundingSphere] | None = None

    def take(self, scene: Scene) -> None:
        if scene is self.scene:
            return
        before, self.scene = self.scene, scene
        self._changed |= {node_id for node_id, node in scene.by_id.items() if before.by_id.get(node_id) is not node}
        self._changed |= before.by_id.keys() - scene.by_id.keys()
        carrying = {node.attachment.node for node in scene.nodes}
        self._posed = [node for node in scene.characters_in_order if node.id in scene.shown or node.id in carrying]
        for node_id, entry in list(self._entries.items()):
            node = scene.by_id.get(node_id)
            if node is None or node.settings.kind != entry.node.settings.kind:
                self.remove(node_id)
        self.settle()

    def follow(self, world: World, systems: Mapping[NodeId, System], *, is_animated: bool = False) -> None:
        """Updates views whose node, system or character changed; the next query updates attached nodes.

        With `is_animated` only keys changed values, and the version stays.
        """
        self._world, self._content, self._must_retry = world, _content(world), False
        simulated, holders, assets = world.scene.simulated, world.scene.holders, world.applied.assets
        for node in world.scene.nodes:
            entry = self._entries.get(node.id)
            if entry is None and KINDS[node.settings.kind].view:
                entry = self._created(node)
            if entry is not None:
                subject = self.characters.get(node.id) or systems.get(node.id)
                inputs = node, subject, node.id in simulated, node.id in holders, assets
                if entry.applied is None or not all(map(operator.is_, entry.applied, inputs)):
                    entry.update(inputs, world)
        self._arrange()
        self.version += not is_animated

    def _created(self, node: Node) -> ViewEntry | None:
        """Creates the view of a node; returns None if its constructor fails."""
        try:
            view = loaded(KINDS[node.settings.kind].view)(self._context, self._library)
            entry = self._entries[node.id] = ViewEntry(node, view, self._guard)
        except Exception as error:
            self._guard.note(node.id, error)
            return None
        return entry

    def is_news(self, world: World) -> bool:
        """Returns True if anything but the world transforms differs from the last call of `follow`."""
        return self._must_retry or not same_objects(_content(world), self._content)

    def retry(self) -> None:
        """Makes the next `follow` try failed views again, for instance after shaders were reloaded."""
        self._must_retry = True

    def put_character(self, node: Node, view: CharacterView, world: World) -> None:
        """Takes ownership of a character and its view; the scene need not contain the node yet."""
        view.take_over()
        self.remove(node.id)
        self.characters = {**self.characters, node.id: view.character}
        self.settle()
        entry = self._entries[node.id] = ViewEntry(node, view, self._guard)
        world = replace(world, characters=self.characters, places=self.places)
        scene = world.scene
        entry.update((node, view.character, node.id in scene.simulated, node.id in scene.holders, world.assets), world)
        self._arrange()
        self.version += 1

    def view_of(self, node_id: NodeId) -> View | None:
        entry = self._entries.get(node_id)
        return entry.view if entry is not None else None

    def remove(self, node_id: NodeId) -> None:
        entry = self._entries.pop(node_id, None)
        if entry is not None:
            entry.release()
            self._arrange()
            self.version += 1
        if node_id in self.characters:
            self.characters[node_id].release()
            self.characters = {other: character for other, character in self.characters.items() if other != node_id}
            self.settle()

    def settle(self) -> None:
        """Updates world transforms after time or scene changed; attached views are updated at the next query."""
        self.places = WorldTransforms(self.scene, self.characters, self.places)
        self._has_moved = True

    def release(self) -> None:
        for node_id in [*self._entries, *self.characters]:
            self.remove(node_id)

    def posed(self) -> list[tuple[Node, Character]]:
        """Returns the visible characters, and hidden ones with attached nodes."""
        return [(node, self.characters[node.id]) for node in self._posed if node.id in self.characters]

    def view(self, node_id: NodeId) -> View | None:
        self._catch_up()
        entry = self._entries.get(node_id)
        return entry.view if entry is not None else None

    def bounds(self, node_id: NodeId | None = None) -> Bounds | None:
        """Returns a world box [m] or None; the box of all nodes excludes particles if there are surfaces."""
        self._catch_up()
        if node_id is None:
            surfaces, particles = self._boxes()
            return joined(surfaces or particles)
        entry = self._entries.get(node_id)
        if entry is None:
            return None
        box = entry.bounds() if node_id in self.scene.shown or entry.is_helper else None
        return box or entry.reach()

    def counts(self) -> Counts:
        return sum([entry.counts() for entry in self._counted], NOTHING)

    def counts_by_node(self) -> dict[NodeId, Counts]:
        """Returns the counts of all visible nodes that have some."""
        return {entry.node.id: entry.counts() for entry in self._counted}

    def marks(self) -> list[Mark]:
        self._catch_up()
        return [mark for entry in self._visible for mark in entry.marks()]

    def render_view(
        self,
        camera: Camera,
        overlay: Overlay | None = None,
        colliders: Colliders = NO_COLLIDERS,
        nodes: Collection[NodeId] | None = None,
    ) -> RenderView:
        self._catch_up()
        boxes = self._boxes()
        views = tuple(entry for entry in self._visible if nodes is None or entry.node.id in nodes)
        subject, overlay = self._subject_of(*boxes, camera), overlay or Overlay()
        selected = [view for view in views if view.node.id in overlay.selected_nodes]
        outlined = joined([box for view in selected if (box := view.bounds()) is not None])
        return RenderView(
            camera, self.scene.view, self._lights(camera), subject, views, overlay, colliders, outlined,
            self._environment(),
        )  # fmt: skip

    def render_view_of(self, view: View) -> RenderView:
        """Returns a view of an object that is not in the scene yet, in the light of the scene."""
        camera, box = Camera(), view.bounds()
        subject = subject_of([box] if box is not None else [], [], camera.target)
        return RenderView(
            camera, self.scene.view, self._lights(camera), subject, (view,), environment=self._environment()
        )

    def _catch_up(self) -> None:
        """Applies attached views again: of changed nodes and what is attached to them, or all if a character moved."""
        if not self._has_moved or self._world is None:
            return
        self._has_moved = False
        self._world = replace(self._world, characters=self.characters, places=self.places)
        poses: list[object] = []
        for one in self.characters.values():
            poses += one, one.animated_pose, object() if one.has_turns else one.world_from_model
        entries, changed = self._attached, self._changed
        if len(poses) == len(self._poses) and all(map(operator.is_, poses, self._poses)):
            for node in self.scene.carried_last if changed else ():
                if node.attachment.node in changed:
                    changed.add(node.id)
            entries = [entry for entry in entries if entry.node.id in changed]
        self._poses, self._changed = poses, set()
        self.places.carriers([entry.node for entry in entries])
        for entry in entries:
            entry.apply(entry.node, entry.subject, self._world)

    def _arrange(self) -> None:
        """Sorts characters first, then kinds in their order, nodes of a kind in the order of the scene."""
        entries = self._entries
        present = [entries[node.id] for node in self.scene.nodes if node.id in entries]
        present.sort(key=operator.attrgetter("rank"))
        self._visible = [entry for entry in present if entry.node.id in self.scene.shown]
        self._counted = [entry for entry in self._visible if type(entry.view).counts is not View.counts]
        self._attached = [entry for entry in present if entry.node.attachment.node]
        self._lit = [entry for entry in present if entry.is_light]

    def _boxes(self) -> tuple[list[Bounds], list[Bounds]]:
        views = [entry for entry in self._visible if not entry.is_helper]
        surfaces = [box for view in views if (box := view.bounds()) is not None]
        return surfaces, [box for view in views if (box := view.reach()) is not None]

    def _subject_of(self, surfaces: list[Bounds], particles: list[Bounds], camera: Camera) -> BoundingSphere:
        if self._subject is not None:
            old_surfaces, old_particles, sphere = self._subject
            is_same = same_objects(old_surfaces, surfaces) and same_objects(old_particles, particles)
            if is_same and sphere.box is not None:
                return sphere
        sphere = subject_of(surfaces, particles, camera.target)
        self._subject = surfaces, particles, sphere
        return sphere

    def _environment(self) -> Environment | None:
        """Returns the light from around: the first visible environment, else the studio; None in the classic look."""
        if self.scene.view.look is Look.CLASSIC:
            return None
        placed = self._placed_environment()
        if placed is None:
            return Environment(studio(), STUDIO_STRENGTH * self.scene.view.ambient)
        return placed if self.has_backdrop else replace(placed, is_backdrop=False)

    def _placed_environment(self) -> Environment | None:
        found = (entry.environment() for entry in self._visible)
        return next((one for one in found if one is not None), None)

    @property
    def has_headlight(self) -> bool:
        """Whether the only light is near the camera."""
        has_environment = self.scene.view.look is Look.STANDARD and self._placed_environment() is not None
        return not (self._lit or has_environment)

    def _lights(self, camera: Camera) -> tuple[PointLight, ...]:
        """Returns the lights, those with a shadow first; a scene without lights has one near the camera.

        In the standard look an environment is a light.
        """
        if not self._lit:
            if not self.has_headlight:
                return ()
            right, up, _ = camera.rotation()
            eye = camera.position() + (right + up) * camera.distance * 0.4
            intensity = LIGHT_INTENSITY[self.scene.view.look]
            return (PointLight(eye.to_tuple(), reach=camera.distance * 1.1, intensity=intensity, shadow=False),)
        shown_ids = self.scene.shown
        lit: list[PointLight] = [
            light for entry in self._lit if entry.node.id in shown_ids and (light := entry.light()) is not None
        ]
        return tuple(sorted(lit[:LIGHT_LIMIT], key=lambda light: not light.shadow))


def _content(world: World) -> tuple[object, ...]:
    return world.scene, world.characters, world.applied.assets
