from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.palette import dual_quaternions, lbs_rows, rigid_and_scale
from sinew.sim.animation.pose import Pose, Warps
from sinew.sim.assets.model import Mesh, Skin, Targets
from sinew.sim.characters.deformers.functions import mask_of, seams_of
from sinew.sim.characters.deformers.settings import FUNCTIONS
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.gl.buffer import Buffer, copy_buffer, upload_buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.task import Task, finish
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.maths.arrays import Float32, Float64, Int32

WARP_CASES = " ".join(
    f"case {number}: warp = {name}(a, b, c, p, n, s); break;" for number, name in enumerate(FUNCTIONS)
)
"""Macro of `shaders/model/warps.glsl`: every function by its number."""


class WarpBuffers(Owner):
    def __init__(self, context: Context, mesh: Mesh, skin: Skin | None) -> None:
        self._mesh, self._skin = mesh, skin
        self._values = self.owns(TexelBuffer(context, 16, usage="stream", label="deformers"))
        self._masks = self.owns(TexelBuffer(context, 16, usage="dynamic", label="deformer masks"))
        self._masked: tuple[int, ...] | None = ()
        self._seams: Float64 | None = None
        self._looks_for_seams = True

    def uniforms(self, warps: Warps) -> dict[str, Any]:
        masked = tuple(dict.fromkeys(bone for bone in warps.bones if bone >= 0))
        if self._looks_for_seams and "bulge" in warps.functions:
            self._looks_for_seams, self._seams = False, seams_of(self._mesh)
            if self._seams is not None:
                self._masked = None
        if masked != self._masked and (masked or self._seams is not None):
            masks = [mask_of(self._mesh, self._skin, bone) for bone in masked if self._skin is not None]
            masks += [self._seams] if self._seams is not None else []
            self._masks.buffer.orphan(np.concatenate(masks).astype(np.float32))
            self._masked = masked
        texels = np.zeros((len(warps.functions), 4, 4), np.float32)
        texels[:, 0, 0] = [FUNCTIONS.index(function) for function in warps.functions]
        texels[:, 0, 1] = [masked.index(bone) if bone >= 0 else -1 for bone in warps.bones]
        texels[:, 1:] = warps.values.reshape(-1, 3, 4)
        self._values.buffer.orphan(texels)
        return {
            "u_warps": self._values,
            "u_warp_count": len(texels),
            "u_masks": self._masks,
            "u_vertex_count": self._mesh.vertex_count,
            "u_seams": len(masked) if self._seams is not None else -1,
        }


WEIGHT_MIN = 1e-6
"""Morph targets with a smaller absolute weight are skipped."""

FEW = 4
"""Maximum number of morph targets as uniforms of the kernel; more need a program with a loop, which is slower."""


class MorphBuffers(Owner):
    """Morph targets for `shaders/model/deform.glsl`; owns `deltas`, raises GLLimitError if there are too many."""

    def __init__(self, context: Context, targets: Targets, deltas: Buffer) -> None:
        self.owns(deltas)
        self._deltas = self.owns(BufferTexture(context, deltas, "rgba32f", label="morph differences"))
        self._more = self.owns(TexelBuffer(context, 16, "rgba32ui", usage="stream", label="morph slots"))
        self._weight_of = targets.weight_of
        self._table = np.zeros((len(targets.firsts), 4), np.int32)
        self._table[:, 0] = targets.starts * targets.deltas.shape[1]
        self._table[:, 1], self._table[:, 2] = targets.firsts, targets.counts - 1

    def slots(self, weights: Float64) -> Int32:
        """Returns a row for each weight, shape (M,), that is not 0."""
        used = weights.take(self._weight_of).astype(np.float32)
        active = np.flatnonzero(np.abs(used) > WEIGHT_MIN)
        slots = self._table.take(active, 0)
        slots[:, 3] = used.take(active).view(np.int32)
        return slots

    def uniforms(self, slots: Int32) -> dict[str, Any]:
        few = np.zeros((FEW, 4), np.int32)
        few[: len(slots)] = slots[:FEW]
        uniforms: dict[str, Any] = {"u_slots": few, "u_deltas": self._deltas}
        if len(slots) > FEW:
            self._more.buffer.orphan(slots[FEW:].view(np.uint32))
            uniforms |= {"u_more_slots": self._more, "u_more_slot_count": len(slots) - FEW}
        return uniforms


SKINNED = record("Skinned", position=(4, "f4"), normal=(4, "f4"))
"""Skinned vertex: position.xyz, 1 | normal.xyz, 0; model space, file units."""

SKINNED_TANGENT = record("SkinnedTangent", position=(4, "f4"), normal=(4, "f4"), tangent=(4, "f4"))
"""Skinned vertex as `SKINNED`, then tangent.xyz and handedness."""

INFLUENCE_MAX = 8

INFLUENCE_4 = np.dtype([("weights", "f4", 4), ("joints", "u2", 4)])
INFLUENCE_8 = np.dtype([("weights", "f4", 4), ("weights_more", "f4", 4), ("joints", "u2", 4), ("joints_more", "u2", 4)])

SHADER_FUNCTIONS = {
    SkinningMethod.LBS: "skin_lbs",
    SkinningMethod.DQS: "skin_dqs",
    SkinningMethod.DQS_SCALE: "skin_dqs_scale",
}


def rest_records(mesh: Mesh) -> npt.NDArray[np.void]:
    """Returns the bind pose as records of shape (V,), `SKINNED_TANGENT` if the mesh has tangents, else `SKINNED`.

    Normals and tangents have length 1, or 0 if the mesh gives no direction.
    """
    layout = SKINNED if mesh.tangents is None else SKINNED_TANGENT
    out = layout.zeros(mesh.vertex_count)
    out["position"][:, :3] = mesh.positions
    out["position"][:, 3] = 1.0
    out["normal"][:, :3] = _unit(mesh.normals)
    if mesh.tangents is not None:
        out["tangent"][:, :3] = _unit(mesh.tangents[:, :3])
        out["tangent"][:, 3] = mesh.tangents[:, 3]
    return out


def influence_records(skin: Skin) -> npt.NDArray[np.void]:
    """Returns records of shape (V,), `INFLUENCE_4` or `INFLUENCE_8`."""
    wide = skin.influence_max > 4
    out = np.zeros(len(skin.joints), INFLUENCE_8 if wide else INFLUENCE_4)
    out["joints"], out["weights"] = skin.joints[:, :4], skin.weights[:, :4]
    if wide:
        out["joints_more"], out["weights_more"] = skin.joints[:, 4:8], skin.weights[:, 4:8]
    return out


@dataclass(frozen=True, slots=True)
class SkinningRecords:
    record: Record  # Layout of the vertices
    rest: npt.NDArray[np.void]  # Bind pose, shape (V,)
    influences: npt.NDArray[np.void] | None  # Joints and weights, shape (V,); None without joints
    deltas: Float32 | None = None  # Of morph targets, shape (R, 2 or 3, 4); None without any


def skinning_records(mesh: Mesh, skin: Skin | None) -> SkinningRecords:
    layout = SKINNED if mesh.tangents is None else SKINNED_TANGENT
    deltas = mesh.targets.deltas if mesh.targets is not None and len(mesh.targets.deltas) else None
    return SkinningRecords(layout, rest_records(mesh), influence_records(skin) if skin is not None else None, deltas)


@dataclass(frozen=True, slots=True)
class SkinningBuffers:
    rest: Buffer
    influences: Buffer | None
    vertices: Buffer  # Skinned records; the bind pose at first
    deltas: Buffer | None = None


def upload_skinning(context: Context, records: SkinningRecords) -> Task[SkinningBuffers]:
    rest = yield from upload_buffer(context, records.rest, label="skinning rest")
    influences = None
    if records.influences is not None:
        influences = yield from upload_buffer(context, records.influences, label="skinning influences")
    vertices = yield from copy_buffer(rest, label="skinned vertices")
    deltas = None
    if records.deltas is not None:
        deltas = yield from upload_buffer(context, records.deltas, label="morph differences")
    return SkinningBuffers(rest, influences, vertices, deltas)


def palette_texels(pose: Pose, method: SkinningMethod) -> Float32:
    """Returns texels, (B, texels, 4): 3 matrix rows for LBS, 2 for a dual quaternion, 5 with the rows of the scale."""
    if method is SkinningMethod.LBS:
        return lbs_rows(pose.palette)
    if method is SkinningMethod.DQS:
        return dual_quaternions(pose.palette, pose.centres)
    return np.concatenate(rigid_and_scale(pose.palette, pose.centres), axis=1, dtype=np.float32, casting="same_kind")


class PaletteTurns(Protocol):
    """Turns of joints on the GPU; `write_count` changes whenever they may have."""

    @property
    def write_count(self) -> int: ...

    def turned_palette(self, palette: TexelBuffer, method: SkinningMethod) -> TexelBuffer:
        """Returns a palette of a method with the turns."""


class SkinnedMesh(Owner):
    """A mesh with its deformed vertices on the GPU; morph targets, deformers and joints take one pass.

    Args:
        skin: None for a mesh without joints, which only morph targets and deformers move.
        buffers: The mesh on the GPU, owned from now on; created here if None.

    Attributes:
        vertices: Skinned records in file order.
        deforms: Whether joints or morph targets move the vertices; deformers can do so with any mesh.
        write_count: Changes whenever the vertices may have changed.
        name: Name of its pass in the timings.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        mesh: Mesh,
        skin: Skin | None,
        buffers: SkinningBuffers | None = None,
    ) -> None:
        buffers = buffers or finish(upload_skinning(context, skinning_records(mesh, skin)))
        self.context = context
        self.library = library
        self.vertex_count = mesh.vertex_count
        self.record: Record = SKINNED if mesh.tangents is None else SKINNED_TANGENT
        self.rest, self.vertices = self.owns(buffers.rest), self.owns(buffers.vertices)
        self.write_count = 0
        self.name = ""
        self._kernels: dict[tuple[SkinningMethod, bool, int, int], Kernel] = {}
        self._applied: tuple[object, ...] | None = (None,)
        self._mesh, self._skin = mesh, skin
        self._warps: WarpBuffers | None = None
        self._morphs: MorphBuffers | None = None
        if mesh.targets is not None and buffers.deltas is not None:
            self._morphs = self.owns(MorphBuffers(context, mesh.targets, buffers.deltas))
        self._influences = None if buffers.influences is None else self.owns(buffers.influences)
        self._palette = self.owns(TexelBuffer(context, 16, usage="stream", label="skinning palette"))
        self._source = self.owns(self._make_source())
        self.deforms = self._influences is not None or self._morphs is not None

    def _make_source(self) -> VertexArray:
        streams = [Stream(self.rest)]
        if self._skin is not None and self._influences is not None:
            self._joint_count = int(self._skin.joints.max(initial=0)) + (self._skin.joints.size > 0)
            streams.append(Stream(self._influences))
        return VertexArray(self.context, streams, label="skinning source")

    def reweigh(self, skin: Skin, records: npt.NDArray[np.void]) -> None:
        """Replaces the weights, which the records hold too; the vertices follow with the next `skin`."""
        self._skin = skin
        if self._influences is not None and self._influences.dtype == records.dtype:
            self._influences.write(records)
            self._joint_count = int(skin.joints.max(initial=0)) + (skin.joints.size > 0)
        else:
            if self._influences is not None:
                self._influences.release()
            self._source.release()
            self._influences = self.owns(Buffer(self.context, records, label="skinning influences"))
            self._source = self.owns(self._make_source())
            self.deforms = True
        self.invalidate()

    def skin(
        self, pose: Pose | None, method: SkinningMethod = SkinningMethod.LBS, turns: Sequence[PaletteTurns] = ()
    ) -> bool:
        """Writes `vertices`, in the bind pose for None; returns False if all arguments and the back end are unchanged.

        The turns are applied to the palette on the GPU, in order.

        Raises:
            ValueError: If the pose has fewer joints than the skin uses.
        """
        applied: tuple[object, ...] = (None,)
        if pose is not None:
            # A comparison of back ends skins one pose with both.
            back_end = self.context.back_ends.chosen(self.vertex_count, self.record.dtype.itemsize)
            applied = (pose, method, back_end)
            for one in turns:
                applied += (one, one.write_count)
        if applied == self._applied:
            return False
        with self.context.timers.scope("skinning", self.name):
            if pose is None:
                self.rest.copy_to(self.vertices)
            else:
                self._run(pose, method, turns)
        self._applied = applied
        self.write_count += 1
        return True

    def invalidate(self) -> None:
        self._applied = None

    def read(self) -> npt.NDArray[np.void]:
        """Returns the records of shape (V,); waits for the GPU."""
        return self.vertices.read()

    def prepare(self, method: SkinningMethod) -> None:
        if self.deforms:
            for slots in (0, 1) if self._morphs is not None else (0,):
                self._kernel(method, slots, is_warped=False)

    def _run(self, pose: Pose, method: SkinningMethod, turns: Sequence[PaletteTurns]) -> None:
        warps = pose.warps if pose.warps is not None and pose.warps.functions else None
        if not self.deforms and warps is None:
            self.rest.copy_to(self.vertices)
            return
        uniforms: dict[str, Any] = {}
        if self._influences is not None:
            if len(pose.palette) < self._joint_count:
                raise ValueError(f"pose of {len(pose.palette)} joints for a skin that uses {self._joint_count}")
            with self.context.timers.scope("palette"):
                self._palette.buffer.orphan(palette_texels(pose, method))
                palette = self._palette
                for one in turns:
                    palette = one.turned_palette(palette, method)
            uniforms["u_palette"] = palette
        slot_count = 0
        if self._morphs is not None:
            slots = self._morphs.slots(pose.local.weights)
            slot_count = len(slots)
            if slot_count:
                uniforms |= self._morphs.uniforms(slots)
        if warps is not None:
            self._warps = self._warps or self.owns(WarpBuffers(self.context, self._mesh, self._skin))
            uniforms |= self._warps.uniforms(warps)
        self._kernel(method, slot_count, is_warped=warps is not None).run(self._source, self.vertices, **uniforms)

    def _kernel(self, method: SkinningMethod, slot_count: int, *, is_warped: bool) -> Kernel:
        # No targets, few, or many.
        count = min(max(self._skin.influence_max, 1), INFLUENCE_MAX) if self._skin is not None else 0
        key = method, is_warped, (slot_count > 0) + (slot_count > FEW), count
        kernel = self._kernels.get(key)
        if kernel is None:
            defines: dict[str, object] = {
                "TANGENT": self.record is SKINNED_TANGENT,
                "MORPHS": slot_count > 0,
                "MANY_MORPHS": slot_count > FEW,
                "WARP_CASES": WARP_CASES if is_warped else None,
            }
            inputs: list[Record | np.dtype] = [self.record]
            if self._influences is not None and self._skin is not None:
                defines |= {"METHOD": SHADER_FUNCTIONS[method], "INFLUENCES": count}
                inputs.append(self._influences.dtype)
            kernel = self._kernels[key] = Kernel(
                self.library, "model/skin.glsl", self.record, inputs=inputs, defines=defines, records=self.vertex_count
            )
        return kernel


def _unit(vectors: Float32) -> Float64:
    wide = vectors.astype(np.float64)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    missing = length < 1e-12
    return np.where(missing, wide, wide / np.where(missing, 1.0, length))
