"""The views of a scene: what draws each of its nodes, made and removed as the scene has them."""

from sim.figures.character import Character
from sim.gl.context import Context
from sim.kinds import KINDS
from sim.kinds.cloth.system import ClothSystem
from sim.kinds.cloth.view import ClothView
from sim.kinds.collider.place import placements
from sim.kinds.collider.view import Body, ColliderBodies
from sim.kinds.emitter.system import EmitterSystem
from sim.kinds.emitter.view import EmitterView
from sim.kinds.emitter.views import EmitterViews
from sim.kinds.model.view import CharacterView
from sim.render.shot import Drawable
from sim.render.surface import Images
from sim.scene.places import Places
from sim.scene.scene import Node, NodeId, Scene
from sim.simulation import Simulation


class SceneViews:
    """Views of one scene.

    Models are put in when they are there; cloths and emitters are followed, which belong to the simulation.

    Args:
        context: Where the views live.

    Attributes:
        scene: As taken last.
        figures: Models as they are posed, by node; only those that are there.
        models: Their views, by node.
        cloths: Views of the cloths that exist, by node.
        emitters: Views of the emitters that exist.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.scene = Scene()
        self.figures: dict[NodeId, Character] = {}
        self.places = Places(self.scene, self.figures)
        self.models: dict[NodeId, CharacterView] = {}
        self.cloths: dict[NodeId, ClothView] = {}
        self.emitters = EmitterViews(context)
        self._bodies = ColliderBodies(context)
        self._heard: frozenset[NodeId] = frozenset()
        self._visible: dict[str, list[Node]] = {}
        self._posed: list[Node] = []

    # --- what there is --------------------------------------------------------------------------------

    def take(self, scene: Scene) -> None:
        """Takes the scene as it is now; models that are not in it are deleted."""
        if scene is self.scene:
            return
        self.scene, self._heard = scene, scene.heard
        self._visible = {kind: [node for node in scene.of_kind(kind) if node.visible] for kind in KINDS}
        carrying = {node.attachment.node for node in scene.nodes}
        self._posed = [
            node for node in scene.carried_last if node.settings.is_figure and (node.visible or node.id in carrying)
        ]
        for node_id in [node_id for node_id in self.models if not scene.has(node_id)]:
            self.remove_model(node_id)
        self.settle()
        for node in scene.of_kind("model"):
            if node.id in self.models:
                self.models[node.id].settings = node.settings

    def follow(self, simulation: Simulation, images: Images) -> None:
        """One view for each cloth and each emitter that exists, with its picture; images are by path."""
        self._follow_cloths(simulation, images)
        systems = simulation.systems.items()
        self.emitters.follow({n: s.emitter for n, s in systems if isinstance(s, EmitterSystem) and s.emitter}, images)
        for node in self.scene.of_kind("emitter"):
            view = self.emitters.get(node.id)
            if view is not None:
                view.name = node.name or node.id

    def settle(self) -> None:
        """Time or the scene is another: nodes are looked for anew."""
        self.places = Places(self.scene, self.figures)

    def put_model(self, view: CharacterView) -> None:
        """Owns the view of a model and its character from now on; those that the node had before are deleted."""
        node_id = view.node_id
        self.remove_model(node_id)
        self.models[node_id] = view
        self.figures = {**self.figures, node_id: view.character}
        if self.scene.has(node_id):
            view.settings = self.scene.node(node_id).settings
        self.settle()

    def remove_model(self, node_id: NodeId) -> None:
        """Deletes the model of a node, if it has one."""
        if node_id in self.models:
            view = self.models.pop(node_id)
            view.release()
            view.character.release()
            self.figures = {other: figure for other, figure in self.figures.items() if other != node_id}
            self.settle()

    def release(self) -> None:
        """Deletes all views and models; may be called twice."""
        for node_id in list(self.models):
            self.remove_model(node_id)
        for view in self.cloths.values():
            view.release()
        self.cloths.clear()
        self.emitters.release()
        self._bodies.release()

    # --- what is shown --------------------------------------------------------------------------------

    def posed(self) -> list[tuple[Node, Character]]:
        """The models that are shown, and the hidden ones that emit particles."""
        return [(node, self.figures[node.id]) for node in self._posed if node.id in self.figures]

    def shown_models(self) -> list[CharacterView]:
        """Views of the visible models."""
        return [self.models[node.id] for node in self._visible["model"] if node.id in self.models]

    def shown_cloths(self) -> list[ClothView]:
        """Views of the visible cloths."""
        return [self.cloths[node.id] for node in self._visible["cloth"] if node.id in self.cloths]

    def shown_emitters(self) -> list[EmitterView]:
        """Views of the emitters whose particles are drawn."""
        views = [self.emitters.get(node.id) for node in self._visible["emitter"] if node.id in self._heard]
        return [view for view in views if view is not None]

    def drawables(self) -> tuple[Drawable, ...]:
        """What has a surface, or lines and points."""
        return (*self.shown_models(), *self.shown_cloths())

    def bodies(self, selected: NodeId | None) -> tuple[Body, ...]:
        """The colliders that are drawn, where they are now; one of them may be selected."""
        drawn = self._visible["collider"] if self.scene.view.colliders else []
        placed = placements(self.scene.of_kind("collider"), self.places) if drawn else {}
        return tuple(self._bodies.bodies({node.id: placed[node.id] for node in drawn}, selected))

    def _follow_cloths(self, simulation: Simulation, images: Images) -> None:
        cloths = {n: s.cloth for n, s in simulation.systems.items() if isinstance(s, ClothSystem) and s.cloth}
        for node_id, view in list(self.cloths.items()):
            if cloths.get(node_id) is not view.cloth:
                self.cloths.pop(node_id).release()
        for node_id, cloth in cloths.items():
            view = self.cloths.get(node_id)
            if view is None:
                view = self.cloths[node_id] = ClothView(self._context, node_id, cloth)
            settings = self.scene.node(node_id).settings
            assert settings is not None
            view.settings = settings
            view.set_images(images)
