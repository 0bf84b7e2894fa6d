import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec import structs

from sinew import resources
from sinew.app.headless.scene import OpenedScene, opened
from sinew.sim.assets.content import content_sum
from sinew.sim.assets.load import load_model
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.keys import _values, digest, is_current, node_keys
from sinew.sim.characters.modifiers.settings import Aim
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.maps import ClothMaps
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Files, World
from sinew.sim.kinds.emitter.settings import CollisionResponse, EmitterSettings
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.kinds.partners import partners
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.params import Effect
from sinew.sim.scene.scene import PLAYBACK, Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.permissions import OWN


def world_of(source: OpenedScene, scene: Scene | None = None) -> World:
    characters = {node: SimpleNamespace(model=model, pose=None) for node, model in source.models.items()}
    scene = source.scene if scene is None else scene
    applied = Applied(scene, scene, scene, assets=source.assets)
    return World(applied, scene, characters, WorldTransforms(scene, characters), None)  # type: ignore[arg-type]


def project(name: str) -> OpenedScene:
    return opened(resources.path("projects") / f"{name}.sinew", OWN)


@pytest.fixture(scope="module")
def cape() -> OpenedScene:
    return project("cape")


def cape_key(source: OpenedScene, scene: Scene | None = None) -> str:
    return node_keys(world_of(source, scene))["cape"]


def character_of(scene: Scene) -> Node:
    return scene.characters[0]


def collider_of(scene: Scene) -> Node:
    return scene.of_kind("collider")[0]


UNRELATED = {
    "a light": lambda s: structs.replace(s, nodes=(Node(id="l", settings=LightSettings()), *s.nodes)),
    "another cloth": lambda s: structs.replace(s, nodes=(Node(id="x", settings=ClothSettings()), *s.nodes)),
    "particles": lambda s: structs.replace(s, nodes=(*s.nodes, Node(id="x", settings=EmitterSettings()))),
    "names": lambda s: structs.replace(s, nodes=tuple(structs.replace(n, name=f"{n.name} 2") for n in s.nodes)),
    "a look": lambda s: with_value(s, ParamRef("cape", "cloth", "colour"), (0.1, 0.2, 0.3)),
    "a mesh that it drives": lambda s: with_value(s, ParamRef("cape", "cloth", "driven_path"), "/a.ezm"),
    "visibility": lambda s: with_value(s, ParamRef("cape", "node", "visible"), False),
    "the end": lambda s: with_value(s, ParamRef(PLAYBACK, PLAYBACK, "end"), 77),
}
PAINTED = ClothMaps(count=1, topology="1x1", pin="ADw=")
RELATED = {
    "a setting": lambda s: with_value(s, ParamRef("cape", "cloth", "stretch_stiffness"), 91.0),
    "a painted map": lambda s: with_value(s, ParamRef("cape", "cloth", "maps"), (PAINTED,)),
    "its place": lambda s: with_value(s, ParamRef("cape", "transform", "position"), (0.0, 0.1, 0.0)),
    "mute": lambda s: with_value(s, ParamRef("cape", "node", "muted"), True),
    "the start": lambda s: with_value(s, ParamRef(PLAYBACK, PLAYBACK, "start"), 3),
    "run-up": lambda s: with_value(s, ParamRef(PLAYBACK, PLAYBACK, "run_up"), 0.5),
    "a collider": lambda s: structs.replace(s, nodes=(*s.nodes, Node(id="x", settings=ColliderSettings()))),
    "its size": lambda s: with_value(s, ParamRef(collider_of(s).id, "collider", "radius"), 0.077),
    "where it is": lambda s: with_value(s, ParamRef(collider_of(s).id, "transform", "position"), (0.0, 0.0, 0.3)),
    "the character": lambda s: with_value(s, ParamRef(character_of(s).id, "transform", "rotation"), (0.0, 5.0, 0.0)),
    "how it is read": lambda s: with_value(s, ParamRef(character_of(s).id, character_of(s).kind, "lock_root"), True),
}


def test_keys_change_with_what_acts_and_nothing_else(cape: OpenedScene) -> None:
    before = cape_key(cape)
    for name, change in UNRELATED.items():
        assert cape_key(cape, change(cape.scene)) == before, name
    for name, change in RELATED.items():
        assert cape_key(cape, change(cape.scene)) != before, name


def test_targets_of_modifiers_count_with_what_carries_them_and_others_do_not(cape: OpenedScene) -> None:
    character = character_of(cape.scene).id
    parent, target, other = (
        Node(id=name, settings=GroupSettings(), attachment=Attachment(node=above))
        for name, above in (("parent", ""), ("target", "parent"), ("other", ""))
    )
    scene = structs.replace(cape.scene, nodes=(*cape.scene.nodes, parent, target, other))
    assert cape_key(cape, scene) == cape_key(cape)
    modified = with_value(scene, ParamRef(character, "model", "modifiers"), (Aim(bone="neck", target="target"),))
    before = cape_key(cape, modified)
    assert before != cape_key(cape)
    for name, is_related in (("target", True), ("parent", True), ("other", False)):
        moved = with_value(modified, ParamRef(name, "transform", "position"), (0.1, 0.2, 0.3))
        assert (cape_key(cape, moved) != before) is is_related, name
    cloth = cape.scene.node("cape")
    assert digest(world_of(cape, modified), cloth) != digest(world_of(cape, scene), cloth)
    muted = with_value(modified, ParamRef(character, "modifiers.0", "muted"), True)
    still = with_value(muted, ParamRef("target", "transform", "position"), (0.1, 0.2, 0.3))
    assert cape_key(cape, still) == cape_key(cape, muted)


def with_model(source: OpenedScene, node: str, **changes: object) -> OpenedScene:
    models = {**source.models, node: dataclasses.replace(source.models[node], **changes)}
    return dataclasses.replace(source, models=models)


def test_a_clip_counts_in_full_and_where_it_lies_does_not(cape: OpenedScene) -> None:
    """One key frame of one joint that was altered is another clip; the same clip that was read again is not."""
    node = character_of(cape.scene).id
    model = load_model(cape.models[node].path)
    assert model is not cape.models[node]
    again = dataclasses.replace(cape, models={**cape.models, node: model})
    assert cape_key(again) == cape_key(cape)
    assert cape_key(with_model(cape, node, path=Path("/elsewhere.ezm"))) == cape_key(cape)
    clip = load_model(model.path).clips[0]
    clip._linear.flags.writeable = True  # type: ignore[attr-defined]
    clip._linear[len(clip._linear) // 2, 3, 0] += 0.1  # type: ignore[attr-defined]
    changed = with_model(cape, node, clips=(clip, *model.clips[1:]))
    assert cape_key(changed) != cape_key(cape)
    assert digest(world_of(changed), cape.scene.node("cape")) == digest(world_of(cape), cape.scene.node("cape")), (
        "the key of older versions did not notice"
    )


def test_an_image_that_is_repainted_changes_the_hair_that_it_drives_and_no_other_node() -> None:
    source = project("humanoid")
    (hair,) = source.scene.of_kind("hair")
    nodes = (*source.scene.nodes, Node(id="x", settings=ClothSettings()))
    before = node_keys(world_of(source, structs.replace(source.scene, nodes=nodes)))
    use = next(use for use in KINDS["hair"].part(Files).used(hair.settings) if use.content == "image")
    images = source.assets.images
    inverted = {**images, Path(use.path): 255 - images[Path(use.path)]}
    changed = dataclasses.replace(source, assets=dataclasses.replace(source.assets, images=inverted))
    after = node_keys(world_of(changed, structs.replace(source.scene, nodes=nodes)))
    assert after[hair.id] != before[hair.id]
    assert after["x"] == before["x"]


def test_nodes_without_collisions_do_not_depend_on_colliders() -> None:
    free = {
        "emitter": EmitterSettings(collision=CollisionResponse.NONE),
        "stateless": EmitterSettings(stateless=True),
        "hair": HairSettings(collide=False),
    }
    met = {"bounce": EmitterSettings(), "brushed": HairSettings(collide=True), "cloth": ClothSettings()}
    nodes = tuple(Node(id=name, settings=settings) for name, settings in {**free, **met}.items())
    source = OpenedScene(Path("a.sinew"), Scene(nodes=nodes), None, {}, {}, SceneAssets())
    before = node_keys(world_of(source))
    floor = Node(id="f", settings=ColliderSettings(), attachment=Attachment(node="g"))
    carrier = Node(id="g", settings=LightSettings())
    scene = structs.replace(source.scene, nodes=(*nodes, carrier, floor))
    after = node_keys(world_of(source, scene))
    assert {name for name in before if before[name] != after[name]} == set(met)
    moved = with_value(scene, ParamRef("g", "transform", "position"), (1.0, 0.0, 0.0))
    last = node_keys(world_of(source, moved))
    assert {name for name in before if last[name] != after[name]} == set(met), "nor on what carries these"


def test_a_key_of_an_older_version_is_compared_as_that_did(cape: OpenedScene, monkeypatch: pytest.MonkeyPatch) -> None:
    world, node = world_of(cape), cape.scene.node("cape")
    assert is_current(digest(world, node), world, node)
    assert is_current(cape_key(cape), world, node)
    other = world_of(cape, RELATED["a setting"](cape.scene))
    assert not is_current(digest(world, node), other, other.scene.node("cape"))
    assert not is_current(cape_key(cape), other, other.scene.node("cape"))
    before, kind = cape_key(cape), KINDS["cloth"]
    monkeypatch.setitem(KINDS, "cloth", dataclasses.replace(kind, version=kind.version + 1))
    assert cape_key(cape) != before, "another solver"


def test_models_of_every_format_have_a_sum_that_reading_again_gives() -> None:
    for name in ("arm/arm.ezm", "head/head.glb"):
        path = resources.path("models") / name
        assert content_sum(load_model(path)) == content_sum(load_model(path))


def test_last_bits_of_derived_matrices_do_not_count_except_in_former_sums():
    model = load_model(resources.path("models") / "arm" / "arm.ezm")
    skeleton = model.skeleton
    other = dataclasses.replace(
        model, skeleton=dataclasses.replace(skeleton, model_from_bind=skeleton.model_from_bind * (1.0 + 2e-16))
    )
    assert content_sum(other) == content_sum(model)
    assert content_sum(other, is_former=True) != content_sum(model, is_former=True)
    moved = dataclasses.replace(
        model, skeleton=dataclasses.replace(skeleton, bind_positions=skeleton.bind_positions * (1.0 + 2e-16))
    )
    assert content_sum(moved) != content_sum(model)


def test_sums_tell_types_and_shapes_apart_and_are_forgotten_with_their_content() -> None:
    values = np.arange(12, dtype=np.float32)
    sums = {content_sum(array) for array in (values, values.reshape(3, 4), values.view(np.int32), values[:11])}
    assert len(sums) == 4
    assert content_sum(values.copy()) in sums
    values[3] = 7.0
    assert content_sum(values.copy()) not in sums


def test_keys_of_older_versions_do_not_change_with_settings_that_they_did_not_have() -> None:
    posed = frozenset((Effect.POSE,))
    values = _values(ModelSettings(), posed)
    assert len(_values(ModelSettings(modifiers=(Aim(),)), posed)) == len(values) + 1
    assert len(_values(ModelSettings(expressions=(("happy", 1.0),)), posed)) == len(values) + 1
    assert len(values) == 13


MEETING = Scene(
    nodes=(
        Node(id="a", settings=ClothSettings(other_cloths=True, met_cloths=("b",))),
        Node(id="b", settings=ClothSettings()),
        Node(id="c", settings=ClothSettings(other_cloths=True, met_cloths=("g",))),
        Node(id="d", settings=ClothSettings(), within="g"),
        Node(id="g", settings=GroupSettings()),
        Node(id="e", settings=ClothSettings()),
    )
)


def keys_of(scene: Scene) -> dict[str, str]:
    return node_keys(world_of(OpenedScene(Path("a.sinew"), scene, None, {}, {}, SceneAssets())))


def test_cloths_that_meet_share_one_key() -> None:
    keys = keys_of(MEETING)
    assert keys["a"] == keys["b"]
    assert keys["c"] == keys["d"]
    assert len(set(keys.values())) == 3
    softer = keys_of(with_value(MEETING, ParamRef("b", "cloth", "density"), 0.3))
    assert softer["a"] == softer["b"] != keys["a"]
    assert {node: softer[node] for node in "cde"} == {node: keys[node] for node in "cde"}
    muted = keys_of(with_value(MEETING, ParamRef("b", "node", "muted"), True))
    assert muted["a"] not in (keys["a"], muted["b"])
    linked = keys_of(with_value(MEETING, ParamRef("e", "cloth", "other_cloths"), True))
    assert len(set(linked.values())) == 1
    fewer = keys_of(with_value(MEETING, ParamRef("e", "cloth", "met_cloths"), ("d",)))
    assert fewer == keys, "without effect"
    order = structs.replace(MEETING, nodes=MEETING.nodes[::-1])
    assert keys_of(order) == keys


def test_cloths_that_meet_are_those_that_choose_or_are_chosen() -> None:
    assert partners(MEETING) == {"a": ("a", "b"), "b": ("a", "b"), "c": ("c", "d"), "d": ("c", "d")}
    alone = with_value(MEETING, ParamRef("a", "cloth", "met_cloths"), ("gone",))
    assert set(partners(alone)) == {"c", "d"}
    alone = with_value(MEETING, ParamRef("d", "node", "muted"), True)
    assert set(partners(alone)) == {"a", "b"}
    all_others = with_value(MEETING, ParamRef("a", "cloth", "met_cloths"), ())
    assert set(partners(all_others)["e"]) == {"a", "b", "c", "d", "e"}
