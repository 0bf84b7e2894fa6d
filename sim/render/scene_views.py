"""The views of a scene: one for each node that is drawn, made, told and removed as the scene has them."""

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
    """A node with its view, whose answers are nothing while it is left out, and what the view took last."""

    def __init__(self, node: Node, view: View, guard: Guard) -> None:
        self.node, self.view, self._guard = node, view, guard
        self.taken: tuple[object, ...] = ()
        self.is_helper = view.is_helper

    def apply(self, node: Node, subject: Any, world: World) -> None:
        self._guard.call(node, lambda: self.view.apply(node, subject, world), None)

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
        self._has_moved = False
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
            if not scene.has(node_id) or scene.node(node_id).kind != shown.node.kind:
                self.remove(node_id)
        self.settle()

    def follow(self, world: World, systems: Mapping[NodeId, System]) -> None:
        """Makes views that are missing, and tells each what changed; nothing is done for the world of the last call."""
        if not self.is_news(world):
            return
        self._world, self._has_moved = world, False
        for node in world.scene.nodes:
            kind = KINDS[node.kind]
            shown = self._shown.get(node.id)
            if shown is None and kind.view:
                view = kind.load("view")(self._context, self._library)
                shown = self._shown[node.id] = ViewEntry(node, view, self._guard)
            if shown is not None:
                self._report(shown, node, self.characters.get(node.id) or systems.get(node.id), world)
        self._arrange()

    def is_news(self, world: World) -> bool:
        """Whether anything but places differs from the world that was told last."""
        return self._world is None or not _same(world, self._world)

    def put_character(self, node: Node, view: CharacterView, world: World) -> None:
        """Owns the view of a figure, and that, from now on; those that the node had before are deleted.

        The scene need not have the node yet.
        """
        self.remove(node.id)
        self.characters = {**self.characters, node.id: view.character}
        self.settle()
        shown = self._shown[node.id] = ViewEntry(node, view, self._guard)
        self._report(shown, node, view.character, replace(world, characters=self.characters, places=self.places))
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

    def _report(self, shown: ViewEntry, node: Node, subject: object, world: World) -> None:
        taken = (node, subject, node.id in world.scene.simulated, world.meshes, world.images, world.textures)
        is_known = len(shown.taken) == len(taken) and all(
            one is other for one, other in zip(shown.taken, taken, strict=True)
        )
        if not is_known or node.attachment.node:
            shown.node, shown.taken = node, taken
            shown.apply(node, subject, world)

    def _catch_up(self) -> None:
        """Tells what rides on something where it is now."""
        if not self._has_moved or self._world is None:
            return
        self._has_moved = False
        self._world = replace(self._world, characters=self.characters, places=self.places)
        self.places.carriers([shown.node for shown in self._riding])
        for shown in self._riding:
            shown.apply(shown.node, shown.taken[1], self._world)

    def _arrange(self) -> None:
        """PosedCharacters come first, then kinds in their order, nodes of a kind in that of the scene."""
        self.version += 1
        ranks = {name: (not kind.character, rank) for rank, (name, kind) in enumerate(KINDS.items())}
        present = [self._shown[node.id] for node in self.scene.nodes if node.id in self._shown]
        present.sort(key=lambda shown: ranks[shown.node.kind])
        self._visible = [shown for shown in present if shown.node.id in self.scene.shown]
        self._riding = [shown for shown in present if shown.node.attachment.node]
        self._lit = [shown for shown in present if shown.light() is not None]

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


def _same(one: World, other: World) -> bool:
    """Whether two worlds hold the same scene, figures and files."""
    names = ("scene", "characters", "meshes", "images", "textures", "strands")
    return all(getattr(one, name) is getattr(other, name) for name in names)


def _all_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
