"""The VRM extensions of the JSON of a glTF file as typed records."""

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import field

from sinew.sim.assets.gltf.document import GltfDocument, GltfObject, Index, Vec3
from sinew.sim.refusal import refusal

Override = Literal["none", "block", "blend"]
Decoded = TypeVar("Decoded", bound=GltfObject)


class HumanBone(GltfObject, frozen=True):
    node: Index


class Humanoid(GltfObject, frozen=True):
    human_bones: dict[str, HumanBone] = {}


class TargetBind(GltfObject, frozen=True):
    node: Index
    index: Index
    weight: float


class VrmExpression(GltfObject, frozen=True):
    morph_target_binds: list[TargetBind] = []
    material_color_binds: list[Any] = []
    texture_transform_binds: list[Any] = []
    is_binary: bool = False
    override_blink: Override = "none"
    override_look_at: Override = "none"
    override_mouth: Override = "none"


class VrmExpressions(GltfObject, frozen=True):
    preset: dict[str, VrmExpression] = {}
    custom: dict[str, VrmExpression] = {}


class Vrm(GltfObject, frozen=True):
    """Extension VRMC_vrm 1.0."""

    humanoid: Humanoid = Humanoid()
    expressions: VrmExpressions = VrmExpressions()


class AnimatedExpressions(GltfObject, frozen=True):
    preset: dict[str, HumanBone] = {}
    custom: dict[str, HumanBone] = {}


class VrmAnimation(GltfObject, frozen=True):
    """Extension VRMC_vrm_animation 1.0; the x of the translation of an expression's node is its value."""

    humanoid: Humanoid = Humanoid()
    expressions: AnimatedExpressions = AnimatedExpressions()
    look_at: Any = None


class ShapeForm(GltfObject, frozen=True):
    offset: Vec3 = (0.0, 0.0, 0.0)
    radius: float = 0.0
    tail: Vec3 = (0.0, 0.0, 0.0)
    normal: Vec3 = (0.0, 0.0, 1.0)
    inside: bool = False


ShapeForms = dict[Literal["sphere", "capsule", "plane"], ShapeForm]
"""Form of one shape by its kind."""


class ExtendedCollider(GltfObject, frozen=True):
    shape: ShapeForms = {}


class ColliderExtensions(GltfObject, frozen=True):
    extended: ExtendedCollider | None = field(default=None, name="VRMC_springBone_extended_collider")


class BoneCollider(GltfObject, frozen=True):
    node: Index
    shape: ShapeForms = {}
    extensions: ColliderExtensions = ColliderExtensions()


class ColliderGroup(GltfObject, frozen=True):
    colliders: list[Index] = []


class SpringBoneJoint(GltfObject, frozen=True):
    node: Index
    hit_radius: float = 0.0
    stiffness: float = 1.0
    gravity_power: float = 0.0
    gravity_dir: Vec3 = (0.0, -1.0, 0.0)
    drag_force: float = 0.5


class BoneSpring(GltfObject, frozen=True):
    joints: list[SpringBoneJoint]
    name: str = ""
    collider_groups: list[Index] = []
    center: int = -1


class SpringBone(GltfObject, frozen=True):
    """Extension VRMC_springBone 1.0."""

    colliders: list[BoneCollider] = []
    collider_groups: list[ColliderGroup] = []
    springs: list[BoneSpring] = []


class OldBone(GltfObject, frozen=True):
    bone: str
    node: int


class OldHumanoid(GltfObject, frozen=True):
    human_bones: list[OldBone] = []


class OldBind(GltfObject, frozen=True):
    mesh: int
    index: int
    weight: float


class BlendShapeGroup(GltfObject, frozen=True):
    name: str = ""
    preset_name: str = ""
    binds: list[OldBind] = []
    material_values: list[Any] = []
    is_binary: bool = False


class BlendShapeMaster(GltfObject, frozen=True):
    blend_shape_groups: list[BlendShapeGroup] = []


class Vector(GltfObject, frozen=True):
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class OldCollider(GltfObject, frozen=True):
    offset: Vector = Vector()
    radius: float = 0.0


class OldColliderGroup(GltfObject, frozen=True):
    node: int
    colliders: list[OldCollider] = []


class BoneGroup(GltfObject, frozen=True):
    comment: str = ""
    stiffiness: float = 1.0  # As the format spells it
    gravity_power: float = 0.0
    gravity_dir: Vector = Vector(y=-1.0)
    drag_force: float = 0.4
    center: int = -1
    hit_radius: float = 0.02
    bones: list[int] = []
    collider_groups: list[int] = []


class SecondaryAnimation(GltfObject, frozen=True):
    bone_groups: list[BoneGroup] = []
    collider_groups: list[OldColliderGroup] = []


class MaterialProperties(GltfObject, frozen=True):
    shader: str = ""
    float_properties: dict[str, float] = {}
    vector_properties: dict[str, list[float]] = {}
    texture_properties: dict[str, int] = {}


class OldVrm(GltfObject, frozen=True):
    """Extension VRM 0.x."""

    humanoid: OldHumanoid = OldHumanoid()
    blend_shape_master: BlendShapeMaster = BlendShapeMaster()
    secondary_animation: SecondaryAnimation = SecondaryAnimation()
    material_properties: list[MaterialProperties] = []


def extension_of(document: GltfDocument, name: str, form: type[Decoded], warnings: list[str]) -> Decoded:
    """Returns an extension of the whole file; without content if missing, or damaged, with a warning."""
    stored = document.extensions.get(name)
    if stored is None:
        return form()
    try:
        return msgspec.json.decode(stored, type=form)
    except msgspec.ValidationError as error:
        place, reason = refusal(error)
        warnings.append(f"extensions.{name}{'.' * bool(place)}{place} {reason}; the extension is left out."[:300])
    except RecursionError:
        warnings.append(f"extensions.{name} is nested too deeply; the extension is left out.")
    return form()
