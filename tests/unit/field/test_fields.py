"""Force fields: placements, records, which nodes they act on, keys and files."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.app.project.node_names import renamed_links
from sinew.app.project.node_text import nodes_of, nodes_text
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.cache.keys import digest, node_keys
from sinew.sim.fields.pack import pack_fields
from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.contract import AddPlace, Adds, Form, World
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.field.kind import acts_on
from sinew.sim.kinds.field.place import numbers_at, placements
from sinew.sim.kinds.field.settings import FieldSettings, FieldSource, VortexProfile
from sinew.sim.kinds.group.kind import GROUP
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.simulation import SharedServices
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.params import params_of
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.oracles.fields import field_at, pulse_mean, vortex_speed

FIELD = FieldSettings
PLAIN = FieldSettings()
CLOTH = Node(id="c", name="Cape", settings=ClothSettings())
HAIR = Node(id="h", name="Hair", settings=HairSettings())
SPARKS = Node(id="e", name="Sparks", settings=EmitterSettings())


def field(settings: FieldSettings = PLAIN, **changes: object) -> Node:
    return Node(**{"id": "f", "name": "Field", "settings": settings} | changes)


def world(*nodes: Node) -> World:
    scene = Scene(nodes=nodes)
    return World(Applied(scene, scene, scene), scene, {}, WorldTransforms(scene, {}), SharedServices(None, None))


def test_vortices_have_the_speeds_of_the_sources() -> None:
    radius = np.array([0.1, 0.2, 0.4])
    for profile, expected in {
        VortexProfile.RANKINE: (0.397887, 0.795775, 0.397887),
        VortexProfile.LAMB_OSEEN: (0.352049, 0.503026, 0.390600),
    }.items():
        settings = FIELD(type=FieldType.VORTEX, circulation=1.0, core=0.2, profile=profile)
        np.testing.assert_allclose(vortex_speed(settings, radius), expected, atol=1e-6)


@pytest.mark.parametrize("speed", [0.3, 3.0, 30.0, -3.0])
def test_a_pulse_gives_its_impulse_whatever_its_way_in_a_step(speed: float) -> None:
    settings = FIELD(type=FieldType.PULSE, strength=100.0, scale=0.1, speed=speed, start=0.5)
    moments = np.arange(600) * STEP_TIME
    gained = sum(STEP_TIME * pulse_mean(settings, np.array([0.8]), time)[0] for time in moments)
    assert gained == pytest.approx(2.0 * 100.0 * 0.1 / abs(speed), rel=1e-3)


def test_turbulence_has_no_divergence() -> None:
    settings = FIELD(type=FieldType.TURBULENCE, speed=1.0, scale=1.0)
    points, step = np.random.default_rng(3).uniform(-3.0, 3.0, (200, 3)), 1e-5
    divergence = np.zeros(len(points))
    for axis in range(3):
        way = step * np.eye(3)[axis]
        ends = [field_at(settings, np.eye(4), points + sign * way, 0.7).air[:, axis] for sign in (1.0, -1.0)]
        divergence += (ends[0] - ends[1]) / (2.0 * step)
    assert np.abs(divergence).max() < 2e-8 * 1e3  # slopes break at the borders of cells
    assert np.median(np.abs(divergence)) < 2e-8


def test_records_are_sorted_by_type_and_hold_motion_and_weight() -> None:
    drag = field(FIELD(type=FieldType.DRAG, drag=3.0, shape=FieldShape.BOX), id="d")
    windy = field(FIELD(type=FieldType.WIND, speed=2.0), transform=Transform(rotation=(0.0, 0.0, -90.0)))
    places = WorldTransforms(Scene(nodes=(drag, windy)), {})
    found = placements((drag, windy), places)
    later = placements((msgspec.structs.replace(drag, transform=Transform(position=(0.5, 0.0, 0.0))),), places)
    records, ends = pack_fields([(found["d"], later["d"]), (found["f"], found["f"])], 0.0, 0.5)
    assert ends == (1, 1, 1, 1, 2, 2)
    np.testing.assert_allclose(records[1, 1, :3], [0.5, 0.0, 0.0])
    np.testing.assert_allclose(records[1, 2:5, 3], [0.5, 0.5, 0.5])
    assert (records[0, 5, 0], records[1, 5, 0]) == (1.0, 1.5)
    np.testing.assert_allclose(records[0, 3, :3], [1.0, 0.0, 0.0], atol=1e-6)


def test_the_scale_of_the_node_and_its_parent_multiplies_the_shape() -> None:
    parent = Node(id="p", transform=Transform(scale=(2.0, 2.0, 2.0)), settings=LightSettings())
    capsule = FIELD(shape=FieldShape.CAPSULE, radius=0.5, length=1.0, falloff=0.1)
    node = field(capsule, transform=Transform(scale=(1.0, 3.0, 1.0)), attachment=Attachment(node="p"))
    found = placements((node,), WorldTransforms(Scene(nodes=(parent, node)), {}))["f"]
    np.testing.assert_allclose(found.half_extents, [0.0, 3.0, 0.0])
    assert (found.radius, found.falloff) == pytest.approx((1.0, 0.1 * 24.0 ** (1.0 / 3.0)))


def test_a_field_acts_on_chosen_kinds_objects_and_groups() -> None:
    group = Node(id="g", settings=GROUP.settings())
    inside = msgspec.structs.replace(HAIR, within="g")
    scene = Scene(nodes=(CLOTH, inside, SPARKS, group, field()))
    for settings, names in (
        (FIELD(), "che"),
        (FIELD(on_cloth=False), "he"),
        (FIELD(on_hair=False, on_particles=False), "c"),
        (FIELD(objects=("c",)), "c"),
        (FIELD(objects=("g",)), "h"),
        (FIELD(objects=("gone",)), ""),
        (FIELD(on_hair=False, objects=("g", "e")), "e"),
    ):
        acted = [node.id for node in (CLOTH, inside, SPARKS) if acts_on(field(settings), node, scene)]
        assert "".join(acted) == names


def test_a_field_belongs_to_the_keys_of_the_nodes_that_it_acts_on() -> None:
    alone = node_keys(world(CLOTH, HAIR, SPARKS))
    chosen = FIELD(objects=("c",))
    windy = node_keys(world(CLOTH, HAIR, SPARKS, field(chosen)))
    assert {name for name in alone if alone[name] != windy[name]} == {"c"}
    for changed in (
        field(msgspec.structs.replace(chosen, speed=4.0)),
        field(chosen, transform=Transform(position=(1.0, 0.0, 0.0))),
    ):
        again = node_keys(world(CLOTH, HAIR, SPARKS, changed))
        assert {name for name in windy if again[name] != windy[name]} == {"c"}
    for same in (field(chosen, visible=False), field(msgspec.structs.replace(chosen, objects=("c", "x")))):
        assert node_keys(world(CLOTH, HAIR, SPARKS, same)) == windy
    assert node_keys(world(CLOTH, HAIR, SPARKS, field(chosen, muted=True))) == alone
    parent = Node(id="p", settings=LightSettings())
    carried = [
        node_keys(world(CLOTH, HAIR, SPARKS, field(chosen, attachment=Attachment(node="p")), one))
        for one in (parent, msgspec.structs.replace(parent, transform=Transform(position=(0.0, 1.0, 0.0))))
    ]
    assert {name for name in alone if carried[0][name] != carried[1][name]} == {"c"}


def test_a_weight_of_one_changes_no_key_and_a_weight_of_zero_ends_the_dependence() -> None:
    weightless = msgspec.structs.replace(CLOTH, settings=ClothSettings(field_weight=0.0))
    assert node_keys(world(weightless, field()))["c"] == node_keys(world(weightless))["c"]
    assert '"field_weight"' not in str(node_keys(world(CLOTH)))


def test_old_keys_and_files_do_not_change(tmp_path: Path) -> None:
    scene = Scene(nodes=(CLOTH, HAIR, SPARKS))
    project = tmp_path / "a.sinew"
    save_project(project, scene, ViewState())
    text = project.read_text()
    assert "field_weight" not in text
    assert '"fields"' not in text
    old = digest(world(CLOTH), CLOTH)
    heavier = msgspec.structs.replace(CLOTH, settings=ClothSettings(field_weight=0.5))
    assert digest(world(heavier), heavier) != old
    save_project(project, with_value(scene, ParamRef("c", "cloth", "field_weight"), 0.5), ViewState())
    assert load_project(project).scene.node("c").settings.field_weight == 0.5


def test_fields_are_saved_and_loaded(tmp_path: Path) -> None:
    settings = FIELD(type=FieldType.PULSE, source=FieldSource.PLANE, shape=FieldShape.BOX, objects=("c", "gone"),
                     half_sizes=(0.1, 0.2, 0.3), seed=2**31 - 1)  # fmt: skip
    scene = Scene(nodes=(CLOTH, field(settings)))
    save_project(tmp_path / "a.sinew", scene, ViewState())
    loaded = load_project(tmp_path / "a.sinew")
    assert (loaded.scene, loaded.warnings) == (scene, ())


def test_chosen_objects_follow_copies() -> None:
    node = field(FIELD(objects=("c", "h")))
    assert renamed_links(node, {"c": "c-2"}).settings.objects == ("c-2", "h")
    scene = Scene(nodes=(CLOTH, HAIR, node))
    text = nodes_text(WorldTransforms(scene, {}), ["f", "c"])
    other = Scene(nodes=(msgspec.structs.replace(HAIR, id="h-7"), msgspec.structs.replace(SPARKS, id="h")))
    pasted = nodes_of(text, other)
    assert next(one for one in pasted if one.id == "f").settings.objects == ("c", "h-7")


def test_every_entry_makes_a_field_whose_settings_have_an_effect() -> None:
    place = AddPlace(Scene(), ViewState())
    for entry in KINDS["field"].part(Adds).entries:
        node = entry.make(place)
        shown = {record.name for record in params_of(FieldSettings)} - KINDS["field"].part(Form).idle(node)
        assert node.settings.type.value == entry.id
        assert ("radius" in shown) == (node.settings.shape is FieldShape.SPHERE)
        assert ("drag" in shown) == (entry.id == "drag")


def test_settings_whose_change_would_let_a_field_jump_take_no_keys() -> None:
    unkeyable = KINDS["field"].part(Form).unkeyable
    windy, pulse = (field(FIELD(type=kind)) for kind in (FieldType.WIND, FieldType.PULSE))
    assert [unkeyable(node, "field", "speed") == "" for node in (windy, pulse)] == [True, False]
    assert unkeyable(windy, "field", "on_cloth") != ""
    assert [unkeyable(windy, *place) for place in (("field", "strength"), ("transform", "position"))] == ["", ""]


def test_a_project_with_a_field_is_of_the_version_that_older_programs_refuse(tmp_path: Path) -> None:
    for nodes, version in (((CLOTH,), 2), ((CLOTH, field()), 3)):
        save_project(tmp_path / "a.sinew", Scene(nodes=nodes), ViewState())
        assert f'"version": {version}' in (tmp_path / "a.sinew").read_text()


def test_gusts_travel_as_far_as_a_keyed_wind() -> None:
    """From scene time 1 s on the speed is 0 to 2 m/s over 2 s: after 1 s the gusts are 0.5 m further, then 2 m."""
    gusty = field(FIELD(type=FieldType.WIND, speed=1.0, gusts=0.3))
    keys = Curve(part="field", field="speed", keys=(Key(1.0, 0.0, KeyMode.LINEAR), Key(3.0, 2.0)))
    keyed = msgspec.structs.replace(gusty, curves=(keys,))
    for time, way in ((0.0, 0.0), (1.0, 0.5), (2.0, 2.0)):
        np.testing.assert_allclose(numbers_at(keyed, 1.0, time), numbers_at(gusty, 0.0, way), atol=1e-12)
