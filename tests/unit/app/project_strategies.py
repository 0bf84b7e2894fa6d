import typing

import msgspec
import numpy as np
from hypothesis import strategies as st
from msgspec import inspect

from sinew.sim.assets.build import build_model
from sinew.sim.assets.influences import influences_in
from sinew.sim.characters.weights import SkinWeights
from sinew.sim.characters.weights import packed as packed_weights
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.maps import ClothMap, ClothMaps, ClothTopology
from sinew.sim.kinds.cloth.maps import packed as packed_maps
from sinew.sim.kinds.hair.groom_edits import EditedGuides, GroomEdits, packed
from sinew.sim.kinds.hair.roots import unit
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import Role, params_of
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import Selection, ViewState
from tests.synthetic_models import synthetic_tube

# Half of a surrogate pair is in a file name that is no text.
texts = st.text(
    st.characters(exclude_categories=("Cs",), include_characters="\udcff", exclude_characters="\0"), max_size=12
)
names = st.lists(texts.map(lambda text: " ".join(text.split())).filter(bool), unique=True, max_size=4)
model_paths = st.lists(st.sampled_from(["a", "b c", "ä", "..x", "m.ezm"]), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


def settings(cls: type[msgspec.Struct]) -> st.SearchStrategy[msgspec.Struct]:
    hints = typing.get_type_hints(cls, include_extras=True)
    values = {
        record.name: model_paths | st.just("")
        if record.declared.role is Role.PATH
        else _values(inspect.type_info(hints[record.name]))
        for record in params_of(cls)
    }
    return st.builds(cls, **values)


def _values(kind: inspect.Type) -> st.SearchStrategy:
    match kind:
        case inspect.Metadata(type=inner):
            return _values(inner)
        case inspect.UnionType(types=kinds):
            return st.one_of([_values(inner) for inner in kinds])
        case inspect.TupleType(item_types=items):
            return st.tuples(*(_values(item) for item in items))
        case inspect.VarTupleType(item_type=inspect.UnionType() as item):  # entries of a list
            return st.lists(_values(item), max_size=2).map(tuple)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls)) if cls is GroomEdits:
            return st.lists(grooms(), max_size=1).map(tuple)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls)) if cls is SkinWeights:
            return st.lists(skin_weights(), max_size=1).map(tuple)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls)) if cls is ClothMaps:
            return st.lists(cloth_maps(), max_size=1).map(tuple)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls) as item) if cls is AvatarMeta:
            return st.lists(_values(item), max_size=1).map(tuple)
        case inspect.StructType(cls=cls):
            fields = inspect.type_info(cls).fields
            files = {record.name for record in params_of(cls) if record.declared.role is Role.PATH}
            paths = model_paths | st.just("")
            named = {
                field.name: (paths | st.none() if _is_optional(field.type) else paths)
                if field.name in files
                else _values(field.type)
                for field in fields
            }
            return st.builds(cls, **named)
        case inspect.VarTupleType(item_type=inspect.StructType() as item):
            return st.lists(_values(item), max_size=3).map(tuple)
        case inspect.VarTupleType(item_type=item):  # stops, in the order of their places
            return st.lists(_values(item), min_size=1, max_size=3).map(lambda stops: tuple(sorted(stops)))
        case inspect.FloatType(ge=lo, le=hi):
            return st.floats(min_value=lo, max_value=hi, allow_nan=False, allow_infinity=False)
        case inspect.IntType(ge=lo, le=hi):
            return st.integers(min_value=lo, max_value=hi)
        case inspect.EnumType(cls=cls):
            return st.sampled_from(list(cls))
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.StrType():
            return texts
    raise TypeError(f"no values for {kind}")


def _is_optional(kind: inspect.Type) -> bool:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return isinstance(kind, inspect.UnionType)


@st.composite
def grooms(draw: st.DrawFn) -> GroomEdits:
    """Edited guides; their data is that of so many."""
    guides, segments = draw(st.integers(1, 6)), draw(st.integers(2, 15))
    numbers = sorted(draw(st.sets(st.integers(0, guides - 1), min_size=1)))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    edges = unit(random.normal(size=(len(numbers), segments, 3)))
    factors = random.uniform(0.1, 4.0, len(numbers))
    return packed(EditedGuides(random.normal(size=(guides, 3)), np.array(numbers), factors, edges))


@st.composite
def cloth_maps(draw: st.DrawFn) -> ClothMaps:
    columns, rows = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    name = draw(st.sampled_from([f"{columns}x{rows}", "a mesh"]))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    painted = draw(st.sets(st.sampled_from(list(ClothMap)), min_size=1))
    values = {one: random.uniform(0.2, 0.9, columns * rows) for one in painted}
    return packed_maps(values, ClothTopology(name, random.normal(size=(columns * rows, 3))))[0]


@st.composite
def skin_weights(draw: st.DrawFn) -> SkinWeights:
    model = synthetic_tube(draw(st.integers(3, 12)), joints=6, frames=1)
    return packed_weights(build_model(model), influences_in(build_model(model)))  # type: ignore[arg-type]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Any scene with unique names and no circle of riders, as the document keeps it."""
    nodes = []
    for index, name in enumerate(draw(names)):
        kind = draw(st.sampled_from(list(KINDS)))
        carrier = draw(st.sampled_from(["", "gone", *(node.id for node in nodes)]))
        nodes.append(
            Node(
                id=f"{kind}-{index}",
                name=name,
                visible=draw(st.booleans()),
                muted=draw(st.booleans()),
                solo=draw(st.booleans()),
                locked=draw(st.booleans()),
                within=draw(st.sampled_from(["", "gone", *(node.id for node in nodes)])),
                transform=draw(settings(Transform)),
                attachment=Attachment(node=carrier, bone=draw(texts)),
                settings=draw(settings(KINDS[kind].settings)),
            )
        )
    nodes = draw(st.permutations(nodes))
    return Scene(nodes=tuple(nodes), playback=draw(settings(PlaybackSettings)), view=draw(settings(ViewSettings)))


@st.composite
def projects(draw: st.DrawFn) -> tuple[Scene, ViewState]:
    scene = draw(scenes())
    chosen = draw(st.sampled_from([None, *(node.id for node in scene.nodes)]))
    bone = draw(st.none() | texts) if chosen else None
    selection = Selection(node=chosen, bone=bone, view=draw(st.booleans()) if chosen is None else False)
    time = draw(st.floats(allow_nan=False, allow_infinity=False))
    return scene, ViewState(camera=draw(settings(Camera)), time=time, selection=selection)
