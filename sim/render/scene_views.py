"""The views of a scene: created, updated and removed as the scene changes."""

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sim.assets.model import Bounds
from sim.characters.character import Character
from sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.guard import Guard
from sim.kinds import KINDS
from sim.kinds.contract import NOTHING, CharacterView, Counts, Mark, System, View, World
from sim.render.bounding_sphere import joined, subject_of
from sim.render.frame import LIGHT_LIMIT, BoundingSphere, PointLight
from sim.render.render_view import Overlay, RenderView
from sim.scene.camera import Camera
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.world_transforms import WorldTransforms


class ViewEntry(View):
    """A node with its view; draws nothing while the node is left out after an error.

    Attributes:
        applied: What the view depends on, as applied last; empty after an error.
        subject: The system or character of the node.
        is_light: Whether it lights the scene.
        rank: Characters are drawn first, then kinds in their order.
    """

    def __init__(self, node: Node, view: View, guard: Guard) -> None:
        self.node, self.view, self._guard = node, view, guard
        self.applied: tuple[object, ...] = ()
        self.subject: Any = None
        self.is_helper = view.is_helper
        self.is_light = False
        name = node.settings.kind
        self.rank = not KINDS[name].character, list(KINDS).index(name)

    def apply(self, node: Node, subject: Any, world: World) -> None:
        self._guard.call(node, lambda: self.view.apply(node, subject, world), None)

    def update(self, node: Node, subject: Any, world: World) -> None:
        """Applies the node if anything changed that the view depends on."""
        inputs = (node, subject, node.id in world.scene.simulated, world.meshes, world.images, world.textures)
        if len(self.applied) == len(inputs) and all(map(operator.is_, self.applied, inputs)):
            return
        self.node, self.subject = node, subject
        self.apply(node, subject, world)
        self.is_light = self.light() is not None
        self.applied = () if self._guard.is_out(node.id) else inputs

    def parts(self, look: Any) -> Sequence[Any]:
        return self._guard.call(self.node, lambda: self.view.parts(look), ())

    def light(self) -> Any:
        return self._guard.call(self.node, self.view.light, None)

    def bounds(self) -> Bounds | None:
        return self._guard.call(self.node, self.view.bounds, None)

    def reach(self) -> Bounds | None:
        return self._guard.call(self.node, self.view.reach, None)

    def counts(self) -> Counts:
        return self._guard.call(self.node, self.view.counts, NOTHING)

    def marks(self) -> tuple[Mark, ...]:
        return self._guard.call(self.node, self.view.marks, ())

    def release(self) -> None:
        self.view.release()


class SceneViews:
    """Views of one scene; it owns them and the figures.

    Args:
        context: Where they live.
        library: Where programs come from.
        guard: What goes wrong with a node is its alone.

    Attributes:
        scene: As taken last.
        figures: What is posed, by node; only what is there.
        places: Where nodes stand now.
        version: Another number where anything but time and places changed.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self._context, self._library, self._guard = context, library, guard
        self.scene = Scene()
        self.characters: dict[NodeId, Character] = {}
        self.places = WorldTransforms(self.scene, self.characters)
        self.version = 0
        self._shown: dict[NodeId, ViewEntry] = {}
        self._visible: list[ViewEntry] = []
        self._riding: list[ViewEntry] = []
        self._lit: list[ViewEntry] = []
        self._posed: list[Node] = []
        self._world: World | None = None
        self._has_moved = self._must_retry = False
        self._subject: tuple[list[Bounds], list[Bounds], BoundingSphere] | None = None

    # --- what there is --------------------------------------------------------------------------------

    def take(self, scene: Scene) -> None:
        """Takes the scene as it is now; views and figures of nodes that are not in it are deleted."""
        if scene is self.scene:
            return
        self.scene = scene
        carrying = {node.attachment.node for node in scene.nodes}
        self._posed = [
            node
            for node in scene.carried_last
            if node.settings.is_character and (node.id in scene.shown or node.id in carrying)
        ]
        for node_id, shown in list(self._shown.items()):
            node = scene.by_id.get(node_id)
            if node is None or node.settings.kind != shown.node.settings.kind:
                self.remove(node_id)
        self.settle()

    def follow(self, world: World, systems: Mapping[NodeId, System]) -> None:
        """Creates missing views and updates those whose node, system or character changed.

        Attached nodes are updated before the next query, see `_catch_up`.
        """
        self._world, self._must_retry = world, False
        for node in world.scene.nodes:
            entry = self._shown.get(node.id)
            if entry is None and KINDS[node.settings.kind].view:
                entry = self._created(node)
            if entry is not None:
                entry.update(node, self.characters.get(node.id) or systems.get(node.id), world)
        self._arrange()

    def _created(self, node: Node) -> ViewEntry | None:
        """A new view; None if its constructor fails."""
        try:
            view = KINDS[node.settings.kind].load("view")(self._context, self._library)
            entry = self._shown[node.id] = ViewEntry(node, view, self._guard)
        except Exception as error:
            self._guard.note(node.id, error)
            return None
        return entry

    def is_news(self, world: World) -> bool:
        """Whether anything but the world transforms differs from the last call of `follow`."""
        known = self._world
        return (
            known is None
            or self._must_retry
            or not (
                world.scene is known.scene
                and world.characters is known.characters
                and world.meshes is known.meshes
                and world.images is known.images
                and world.textures is known.textures
                and world.strands is known.strands
            )
        )

    def retry(self) -> None:
        """Makes the next `follow` try failed views again, for instance after shaders were reloaded."""
        self._must_retry = True

    def put_character(self, node: Node, view: CharacterView, world: World) -> None:
        """Owns the view of a figure, and that, from now on; those that the node had before are deleted.

        The scene need not have the node yet.
        """
        self.remove(node.id)
        self.characters = {**self.characters, node.id: view.character}
        self.settle()
        entry = self._shown[node.id] = ViewEntry(node, view, self._guard)
        entry.update(node, view.character, replace(world, characters=self.characters, places=self.places))
        self._arrange()

    def remove(self, node_id: NodeId) -> None:
        shown = self._shown.pop(node_id, None)
        if shown is not None:
            shown.release()
            self._arrange()
        if node_id in self.characters:
            self.characters[node_id].release()
            self.characters = {other: character for other, character in self.characters.items() if other != node_id}
            self.settle()

    def settle(self) -> None:
        """Time or the scene is another: nodes are looked for anew, and what rides on something is told when asked."""
        self.places = WorldTransforms(self.scene, self.characters, self.places)
        self._has_moved = True

    def release(self) -> None:
        for node_id in [*self._shown, *self.characters]:
            self.remove(node_id)

    # --- questions ------------------------------------------------------------------------------------

    def posed(self) -> list[tuple[Node, Character]]:
        """The figures that are shown, and the hidden ones that carry something."""
        return [(node, self.characters[node.id]) for node in self._posed if node.id in self.characters]

    def view(self, node_id: NodeId) -> View | None:
        self._catch_up()
        shown = self._shown.get(node_id)
        return shown.view if shown is not None else None

    def bounds(self, node_id: NodeId | None = None) -> Bounds | None:
        """Box in the world [m] of one node, or of all that is visible; None when there is nothing.

        That of something whose parts fly off holds most of where they fly; where there are surfaces, all are these.
        """
        self._catch_up()
        if node_id is None:
            colliders, flights = self._boxes()
            return joined(colliders or flights)
        shown = self._shown.get(node_id)
        if shown is None:
            return None
        box = shown.bounds() if node_id in self.scene.shown or shown.is_helper else None
        return box or shown.reach()

    def counts(self) -> Counts:
        return sum((shown.counts() for shown in self._visible), NOTHING)

    def marks(self) -> list[Mark]:
        self._catch_up()
        return [mark for shown in self._visible for mark in shown.marks()]

    def render_view(
        self,
        camera: Camera,
        overlay: Overlay | None = None,
        colliders: Colliders = NO_COLLIDERS,
        nodes: Collection[NodeId] | None = None,
    ) -> RenderView:
        """Everything that the scene shows, as it stands now.

        Args:
            camera: Where it is seen from.
            overlay: What the editor marks; nothing for None.
            colliders: What there is to collide with.
            nodes: What is shown alone; everything for None.
        """
        self._catch_up()
        boxes = self._boxes()
        views = tuple(shown for shown in self._visible if nodes is None or shown.node.id in nodes)
        subject, overlay = self._subject_of(*boxes, camera), overlay or Overlay()
        outlined = joined([
            box for one in views if one.node.id in overlay.selected_nodes and (box := one.bounds()) is not None
        ])  # fmt: skip
        return RenderView(camera, self.scene.view, self._lights(camera), subject, views, overlay, colliders, outlined)

    def render_view_of(self, view: View) -> RenderView:
        """Something that is not in the scene yet, by itself, in its light."""
        camera, box = Camera(), view.bounds()
        subject = subject_of([box] if box is not None else [], [], camera.target)
        return RenderView(camera, self.scene.view, self._lights(camera), subject, (view,))

    # --- how that is known ----------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Tells what rides on something where it is now."""
        if not self._has_moved or self._world is None:
            return
        self._has_moved = False
        self._world = replace(self._world, characters=self.characters, places=self.places)
        self.places.carriers([shown.node for shown in self._riding])
        for shown in self._riding:
            shown.apply(shown.node, shown.subject, self._world)

    def _arrange(self) -> None:
        """Sorts the views: characters first, then kinds in their order, nodes of a kind in the order of the scene."""
        self.version += 1
        entries = self._shown
        present = [entries[node.id] for node in self.scene.nodes if node.id in entries]
        present.sort(key=operator.attrgetter("rank"))
        self._visible = [entry for entry in present if entry.node.id in self.scene.shown]
        self._riding = [entry for entry in present if entry.node.attachment.node]
        self._lit = [entry for entry in present if entry.is_light]

    def _boxes(self) -> tuple[list[Bounds], list[Bounds]]:
        """Boxes of what is visible: of what has a surface, and of what flies off."""
        views = [shown for shown in self._visible if not shown.is_helper]
        colliders = [box for view in views if (box := view.bounds()) is not None]
        return colliders, [box for view in views if (box := view.reach()) is not None]

    def _subject_of(self, colliders: list[Bounds], flights: list[Bounds], camera: Camera) -> BoundingSphere:
        known = self._subject
        if (
            known is None
            or not (_all_same(known[0], colliders) and _all_same(known[1], flights))
            or known[2].box is None
        ):
            known = self._subject = (colliders, flights, subject_of(colliders, flights, camera.target))
        return known[2]

    def _lights(self, camera: Camera) -> tuple[PointLight, ...]:
        """The visible lamps, those that cast shadows first: the first one owns the shadow map.

        Where nothing in the scene could give light, a lamp beside the camera.
        """
        if not self._lit:
            right, up, _ = camera.rotation()
            eye = camera.position() + (right + up) * camera.distance * 0.4
            return (PointLight(eye.to_tuple(), reach=camera.distance * 1.1, shadow=False),)
        shown_ids = self.scene.shown
        lit: list[PointLight] = [
            light for one in self._lit if one.node.id in shown_ids and (light := one.light()) is not None
        ]
        return tuple(sorted(lit[:LIGHT_LIMIT], key=lambda light: not light.shadow))


def _all_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
