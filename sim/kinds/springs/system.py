"""The simulation of spring bones on the GPU, as VRMC_springBone 1.0 defines it."""

from collections.abc import Mapping

import numpy as np

from sinew.sim.characters.character import Character
from sinew.sim.characters.joint_turns import JOINT_STATE, JointTurns
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.skin import NearTriangles, SkinSurface
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.contract import Array, LiveNode, StepInputs, Stoppable, System, World
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.kinds.springs.chain_pose import ChainPose, ChainPoses
from sinew.sim.kinds.springs.chains import Chains, chains_of, joint_values
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.scene.params import Effect, SettingsError, changed_effects
from sinew.sim.scene.scene import Node

PAGE_SLIDERS = ("stiffness", "gravity", "drag", "stiffness_factor", "gravity_factor", "drag_factor")

CHECKED = 0.2
"""Shortest time between two checks for infinite values [s]."""

_FILE = "springs/step.glsl"
_BROKEN = "the bones left all bounds; reset it, or resume it from the last valid state"


class SpringSystem(System, Stoppable):
    """The spring bones of one node, which is attached to a character.

    Attributes:
        chains: None while there is no character, or nothing of it swings.
        turns: What the character applies.
    """

    chains: Chains | None = None
    turns: JointTurns | None = None

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self.settings = SpringBoneSettings()
        self.missing_text = ""
        self._character: Character | None = None
        self._kernels: dict[tuple[str, ...], Kernel] = {}
        self._sampler: FieldSampler | None = None
        self._near: NearTriangles | None = None
        self._tables: dict[str, TexelBuffer] = {}
        self._uploaded: dict[str, object] = {}
        """What each table was filled from."""
        self._unit, self._is_on = 1.0, True
        self._pose: ChainPose | None = None
        self._readback: Readback | None = None
        self._valid: np.ndarray | None = None
        self._checked_at, self._stopped = -np.inf, ""

    @property
    def is_ready(self) -> bool:
        return self.chains is not None

    # --- the scene ------------------------------------------------------------------------------------

    def apply(self, node: Node, world: World) -> None:
        super().apply(node, world)
        settings, before = node.settings, self.settings
        assert isinstance(settings, SpringBoneSettings)
        character = world.characters.get(node.attachment.node)
        assert isinstance(character, Character | None)
        parent = world.scene.by_id.get(node.attachment.node)
        unit = parent.settings.unit_scale if parent is not None and isinstance(parent.settings, ModelSettings) else 1.0
        effects = changed_effects(before, settings)
        self.settings = settings
        is_same = character is self._character and unit == self._unit and self.chains is not None
        self._unit = unit
        if not is_same or Effect.REBUILD in effects:
            self._build(character)
        elif effects:
            chains = self._find_chains(character)
            self.chains = chains if chains is not None else self.chains
        # Nodes apply in the order of the scene, which the turns have too.
        if self._character is not None and self.turns is not None:
            was_on, self._is_on = self._is_on, node.id in world.scene.simulated
            self._character.set_turns(node.id, self.turns if self._is_on else None)
            if self._is_on and not was_on:
                self.reset()

    def _build(self, character: Character | None) -> None:
        self._drop()
        self._character, self._stopped = character, ""
        chains = self._find_chains(character)
        if chains is None or character is None:
            return
        skeleton = character.model.skeleton
        assert skeleton is not None
        self.turns = self.owns(
            JointTurns(
                self.context, self.library, skeleton, character.model.skin, chains.joints, chains.parents,
                label=self.label,
            )
        )  # fmt: skip
        self._readback = self.owns(Readback(self.context, label=self.label))
        self.chains = chains
        self._poses = ChainPoses(skeleton, chains, self.turns)
        flat: list[int] = []
        ranges = []
        for path, met in zip(self.turns.paths, chains.met, strict=True):
            ranges.append((len(flat), len(path), len(flat) + len(path), len(met)))
            flat += [*path, *(4 * (self._poses.frame_count + solid) for solid in met)]
        self._ranges = np.array(ranges, np.float32)
        self._tables["lists"] = self.owns(
            TexelBuffer(self.context, np.array(flat, np.float32), "r32f", label=f"{self.label} lists")
        )
        for name in ("values", "joints", "joints before", "frames"):
            table = TexelBuffer(self.context, 16, usage="stream", label=f"{self.label} {name}")
            self._tables[name] = self.owns(table)
        self.reset()

    def _find_chains(self, character: Character | None) -> Chains | None:
        """Returns the chains of a character; reports what is missing."""
        scene, self.missing_text = self.world.scene, ""
        parent = scene.by_id.get(self.node.attachment.node)
        if parent is None or not parent.settings.is_character:
            self.missing_text = "Choose the model whose bones swing, under Attachment."
        if character is None or parent is None:
            return None
        chains = chains_of(character.model, self.settings, self._unit)
        if chains is None:
            self.missing_text = "Name the root bones."
            if self.settings.from_file:
                self.missing_text = "The file of the model has no spring bones."
            elif self.settings.roots:
                self.missing_text = "No bone swings: the model has none of the root bones, or they have no length."
        self.report(*(f"{self.label}: {note}" for note in chains.notes) if chains is not None else ())
        return chains

    def _drop(self) -> None:
        if self._character is not None:
            self._character.set_turns(self.node.id, None)
        self.disown(self.turns, self._readback, self._sampler, self._near, *self._tables.values())
        self._tables.clear()
        self._uploaded.clear()
        self.chains = self.turns = self._readback = self._sampler = self._near = self._pose = self._valid = None

    def release(self) -> None:
        if hasattr(self, "node"):
            self._drop()
        super().release()

    # --- time -----------------------------------------------------------------------------------------

    def step(self, inputs: StepInputs) -> None:
        self.world = inputs.world
        before, now = self._pose, self._pose_now()
        if self._stopped:
            return
        if before is None or self._is_cut(before, now):
            self._jump(before or now, now)
            before = now
        self._pose = now
        collides, fields = self.settings.collide and bool(inputs.colliders), inputs.fields.get(self.node.id)
        skin = inputs.colliders.skin if self.settings.collide else None
        parts = {"COLLIDE": collides, "SKIN": skin is not None, "FIELDS": fields is not None}
        kernel = self._kernel(*(name for name, is_needed in parts.items() if is_needed))
        self._set(kernel, before, now)
        if fields is not None:
            kernel.program["u_fields"] = self._field_samples(fields, before)
        if collides:
            kernel.program["u_colliders"] = inputs.colliders.texture
            kernel.program["u_collider_count"] = inputs.colliders.count
        if skin is not None:
            kernel.program.update(self._near_skin(skin, before))
        if collides or skin is not None:
            kernel.program["u_origin"] = self._origin(now)
        count = self.settings.substeps
        substeps = [(1.0 / count, (index + 1) / count) for index in range(count)]
        self._turns.state.run(kernel, "u_state", "u_step", substeps)
        self._turns.changed()

    def reset(self) -> None:
        if self.turns is None:
            return
        records = JOINT_STATE.zeros(self._turns.state.count)
        records["turn"][:, 3] = 1.0
        self._turns.state.write(records)
        self._stopped, self._valid = "", None
        self._pose = self._pose_now()
        self._jump(self._pose, self._pose)

    def teleport(self, world: World) -> None:
        self.world = world
        if self.turns is not None:
            before, self._pose = self._pose, self._pose_now()
            self._jump(before or self._pose, self._pose)

    def _pose_now(self) -> ChainPose:
        assert self._character is not None
        return self._poses.now(self._character)

    def _is_cut(self, before: ChainPose, now: ChainPose) -> bool:
        assert self._character is not None
        if before.time is None or now.time is None:
            return True
        return now.has_moved(before) and self._character.is_cut(before.time, now.time)

    def _jump(self, before: ChainPose, now: ChainPose) -> None:
        """Moves the tips with the character; the turns stay."""
        kernel = self._kernel("JUMP")
        self._set(kernel, before, now)
        self._turns.state.run(kernel, "u_state", "u_step", [(1.0, 1.0)])
        self._turns.changed()

    def _kernel(self, *macros: str) -> Kernel:
        if macros not in self._kernels:
            self._kernels[macros] = Kernel(self.library, _FILE, JOINT_STATE, defines=dict.fromkeys(macros, True))
        return self._kernels[macros]

    def _field_samples(self, fields: Fields, before: ChainPose) -> BufferTexture:
        """Samples fields at the tips, which hang on the pose at the start of the step."""
        state = self._turns.state
        if self._sampler is None:
            self._sampler = self.owns(FieldSampler(self.library, state.count, joints=True))
        return self._sampler.sample(fields, state.texture, roots=self._roots(before))

    def _near_skin(self, skin: SkinSurface, before: ChainPose) -> Mapping[str, object]:
        """Lists the triangles near the tips over the step; returns uniforms."""
        assert self.chains is not None
        state, radii = self._turns.state, joint_values(self.chains, self.settings)[:, 5]
        if self._near is None:
            self._near = self.owns(NearTriangles(self.library, state.count, joints=True, is_fast=True))
        return self._near.find(
            skin, state.texture, (0.0, 1.0), float(radii.max()) * before.scale, u_roots=self._roots(before),
            u_substeps=float(self.settings.substeps),
        )  # fmt: skip

    def _roots(self, before: ChainPose) -> TexelBuffer:
        """Uploads the places that the paths of the joints hang on at the start of the step."""
        if "roots" not in self._tables:
            self._tables["roots"] = self.owns(
                TexelBuffer(self.context, 16, usage="stream", label=f"{self.label} roots")
            )
        roots = np.zeros((self._turns.state.count, 4), np.float32)
        roots[: len(self._poses.first), :3] = before.frames[self._poses.first, 1, :3]
        self._tables["roots"].buffer.orphan(roots)
        return self._tables["roots"]

    def _set(self, kernel: Kernel, before: ChainPose, now: ChainPose) -> None:
        """Uploads what a step from one pose to another reads; values and joints only if they have changed."""
        tables, values = self._tables, (self.chains, self.settings)
        if values != self._uploaded.get("values"):
            self._uploaded["values"] = values
            tables["values"].buffer.orphan(self._value_texels())
        self._upload_joints("joints", now.joints)
        if self.settings.substeps > 1:
            self._upload_joints("joints before", before.joints)
        tables["frames"].buffer.orphan(self._frame_texels(before, now))
        program = kernel.program
        program["u_values"], program["u_lists"] = tables["values"], tables["lists"]
        program["u_joints"], program["u_joints_before"] = tables["joints"], tables["joints before"]
        program["u_frames"], program["u_scale"] = tables["frames"], now.scale

    def _upload_joints(self, name: str, joints: Float32) -> None:
        if joints is not self._uploaded.get(name):
            self._uploaded[name] = joints
            texels = np.zeros((self._turns.state.count, 3, 4), np.float32)
            texels[: len(joints)] = joints
            self._tables[name].buffer.orphan(texels)

    def _value_texels(self) -> Float32:
        assert self.chains is not None
        values = joint_values(self.chains, self.settings)
        texels = np.zeros((self._turns.state.count, 3, 4), np.float32)
        count = len(values)
        texels[:count, 0], texels[:count, 1, :2] = values[:, :4], values[:, 4:]
        texels[:count, 1, 2], texels[:count, 1, 3] = self._poses.centers, self._poses.first
        texels[:count, 2] = self._ranges
        return texels

    def _origin(self, pose: ChainPose) -> Float64:
        origin: Float64 = pose.frames[self._poses.first, 1, :3].mean(axis=0)
        return origin

    def _frame_texels(self, before: ChainPose, now: ChainPose) -> Float32:
        """Returns frames, then colliders, at both ends of the step; places are relative to the origin."""
        frames, origin = np.stack([before.frames, now.frames], axis=1), self._origin(now)
        solids = np.stack([now.solids, before.solids], axis=1)
        frames[:, 0, 1] = frames[:, 1, 1] - frames[:, 0, 1]
        frames[:, 1, 1, :3] -= origin
        solids[:, :, 0, :3] -= origin
        solids[~self._poses.is_plane, :, 1, :3] -= origin
        return np.concatenate([frames.reshape(-1, 4), solids.reshape(-1, 4)]).astype(np.float32)

    # --- states ---------------------------------------------------------------------------------------

    def page(self) -> LiveNode | None:
        return LiveNode(self._turns.state.newest, len(self._turns.joints), texels=4, sliders=PAGE_SLIDERS)

    def snapshot(self) -> State:
        return State({}, BufferSpan(self._turns.state.newest))

    def restore(self, state: bytes, world: World) -> None:
        _, (records, *_) = unpacked_state(state)
        if (records.dtype, len(records)) != (JOINT_STATE.dtype, self._turns.state.count):
            raise SettingsError("the state has another number of bones")
        self._turns.state.write(records)
        self._turns.changed()
        self.world, self._pose, self._stopped = world, self._pose_now(), ""
        self._take_checked(records)

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        (_, (first,)), (_, (second,)) = unpacked_state(one), unpacked_state(other)
        if len(first) == len(second):
            for name in ("head", "arm"):
                second[name] = blended(first[name], second[name], share)
            near = quaternion.aligned(first["turn"], second["turn"]).astype(np.float32)
            second["turn"] = blended(near, second["turn"], share)
        return State({}, second).packed()

    def arrays(self) -> Mapping[str, Array]:
        if self.turns is None or self._pose is None:
            return {}
        state, count = self.turns.state, len(self.turns.joints)
        places = self._pose.frames[self._poses.first, 1, :3]

        def tips() -> Float32:
            records = state.newest.read(count=count)
            values: Float32 = (places + records["head"][:, :3] + records["arm"][:, :3]).astype(np.float32)
            return values

        return {
            "tips": Array(tips, (count, 3), np.float32, "tips"),
            "turns": Array(lambda: state.newest.read(count=count)["turn"], (count, 4), np.float32, "turns"),
        }

    # --- stopping -------------------------------------------------------------------------------------

    @property
    def stopped(self) -> str:
        return self._stopped

    def poll(self, now: float) -> None:
        readback = self._readback
        if readback is None or self._stopped:
            return
        records = readback.poll()
        if records is not None:
            self._take_checked(records)
        if now - self._checked_at >= CHECKED and not readback.pending:
            self._checked_at = now
            readback.request(self._turns.state.newest)

    def check(self) -> None:
        if not self._stopped:
            self._take_checked(self._turns.state.newest.read())

    def resume(self) -> None:
        if self._stopped and self._valid is not None:
            self._turns.state.write(self._valid)
            self._turns.changed()
            self._stopped = ""
        elif self._stopped:
            self.reset()

    def _take_checked(self, records: np.ndarray) -> None:
        """Stops if a state has values that are not finite, otherwise keeps it."""
        if all(np.isfinite(records[name]).all() for name in JOINT_STATE.dtype.names or ()):
            self._valid = records
            return
        self._stopped = _BROKEN
        if self._valid is not None:
            self._turns.state.write(self._valid)
            self._turns.changed()

    @property
    def _turns(self) -> JointTurns:
        assert self.turns is not None
        return self.turns
