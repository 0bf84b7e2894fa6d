"""Turns of joints that are simulated on the GPU; a character applies them after its pose and before its skin."""

import msgspec
import numpy as np

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Skeleton, Skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.maths.transform import transform_points
from sinew.sim.memo import Memo
from sinew.sim.scene.world_transforms import rigid_frames

JOINT_STATE = record("JointState", head=(4, "f4"), arm=(4, "f4"), move=(4, "f4"), turn=(4, "f4"))
"""State of a joint, in the world but for the turn: head.xyz: from the joint that its path hangs on [m] | arm.xyz: end
of the bone from the head [m] | move.xyz: motion of the end over the last substep [m] | turn: rotation away from the
pose, a quaternion in model space."""

ENTRIES: dict[SkinningMethod, tuple[Record, dict[str, object]]] = {
    SkinningMethod.LBS: (record("TurnedRows", x=(4, "f4"), y=(4, "f4"), z=(4, "f4")), {"ROWS": True}),
    SkinningMethod.DQS: (record("TurnedMotion", real=(4, "f4"), dual=(4, "f4")), {"DUAL": True}),
    SkinningMethod.DQS_SCALE: (
        record("TurnedMotionScale", real=(4, "f4"), dual=(4, "f4"), x=(4, "f4"), y=(4, "f4"), z=(4, "f4")),
        {"DUAL": True, "ROWS": True},
    ),
}
"""Palette entry of each method, and the macros of the kernel that turns it."""


class JointTurns(Owner):
    """Turns of some joints about their heads; everything below a joint moves with it.

    Turns are relative to the pose, so that chains stay connected when only the pose changes.

    Args:
        joints: The joints, parents before children, shape (J,).
        parents: For each the nearest one above it among them, as a number in `joints`, or -1, shape (J,).
        label: Name for messages and timers.

    Attributes:
        state: `JOINT_STATE` of each joint, padded; call `changed` after writing it.
        write_count: Changes whenever the state may have.
        paths: For each joint the numbers of the joints from the first one above it down to itself.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, skeleton: Skeleton, skin: Skin | None, joints: Intp,
        parents: Intp, *, label: str,
    ) -> None:  # fmt: skip
        self.joints, self._parents, self._skeleton, self._label = joints, parents, skeleton, label
        self._context, self._library = context, library
        state = JOINT_STATE.zeros(padded_count(len(joints)))
        state["turn"][:, 3] = 1.0
        self.state = self.owns(PingPong(context, state, label=label))
        self.write_count = 0
        self.paths: list[tuple[int, ...]] = []
        for number, parent in enumerate(parents.tolist()):
            self.paths.append((*(self.paths[parent] if parent >= 0 else ()), number))
        self._levels = [
            np.array([number for number, path in enumerate(self.paths) if len(path) == depth + 1], np.intp)
            for depth in range(max(map(len, self.paths), default=0))
        ]
        self._roots = np.array([path[0] for path in self.paths], np.intp)
        self._nearest = np.full(skeleton.joint_count, -1, np.intp)
        self._nearest[joints] = np.arange(len(joints))
        for level in skeleton.hierarchy.levels:
            free = level[self._nearest[level] < 0]
            self._nearest[free] = self._nearest[skeleton.parents[free]]
        palette = skin.palette if skin is not None else None
        self._sources = self._nearest if palette is None else self._nearest[palette.entry_joints]
        self._heads = self.owns(TexelBuffer(context, 16, usage="stream", label=f"{label} heads"))
        self._placed: Float64 | None = None
        self._kernels: dict[SkinningMethod, Kernel] = {}
        self._turned: TexelBuffer | None = None
        self._read: tuple[int, Float64] = (-1, np.tile(quaternion.IDENTITY, (len(joints), 1)))
        self._pose = Memo[Pose]()
        self._upload_paths()

    def _upload_paths(self) -> None:
        lengths = np.array([len(path) for path in self.paths])
        firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        flat = np.array([number for path in self.paths for number in path], np.float32)
        entries = np.zeros((len(self._sources), 4), np.float32)
        moved = self._sources >= 0
        entries[moved, 0], entries[moved, 1] = firsts[self._sources[moved]], lengths[self._sources[moved]]
        label = f"{self._label} paths"
        self._paths = self.owns(TexelBuffer(self._context, flat, "r32f", label=label))
        self._entries = self.owns(TexelBuffer(self._context, entries, label=label))

    def changed(self) -> None:
        self.write_count += 1

    def moves(self, joints: Intp) -> bool:
        """Returns True if any of some joints of the skeleton is turned, or is below one that is."""
        return bool(self.is_moved[joints].any())

    @property
    def is_moved(self) -> Bool:
        """Whether each joint of the skeleton is turned, or is below one that is."""
        moved: Bool = self._nearest >= 0
        return moved

    # --- on the GPU -----------------------------------------------------------------------------------

    def place(self, heads: Float64) -> None:
        """Sets the heads of the joints in the pose before the turns, in model space, shape (J, 3)."""
        if self._placed is None or not np.array_equal(heads, self._placed):
            texels = np.zeros((len(heads), 4), np.float32)
            texels[:, :3] = heads
            self._heads.buffer.orphan(texels)
            self._placed = heads

    def turned_palette(self, palette: TexelBuffer, method: SkinningMethod) -> TexelBuffer:
        """Returns a palette with the turns, valid until the next call."""
        layout, defines = ENTRIES[method]
        count = len(self._sources)
        if method not in self._kernels:
            self._kernels[method] = Kernel(
                self._library, "springs/palette.glsl", layout, defines=defines, records=count
            )
        if self._turned is None:
            largest = max(entry.dtype.itemsize for entry, _ in ENTRIES.values())
            size = padded_count(count) * largest
            self._turned = self.owns(TexelBuffer(self._context, size, usage="copy", label=f"{self._label} palette"))
        self._kernels[method].run(
            None, self._turned.buffer, count, u_palette=palette, u_state=self.state.texture, u_heads=self._heads,
            u_entries=self._entries, u_paths=self._paths,
        )  # fmt: skip
        return self._turned

    # --- on the CPU -----------------------------------------------------------------------------------

    def read(self) -> Float64:
        """Returns the turns, shape (J, 4); waits for the GPU once after each change.

        While the context is not current, for instance in an event of a widget, these are the ones that were read last.
        """
        if self._read[0] != self.write_count and self._context.is_current:
            turns = self.state.newest.read(count=len(self.joints))["turn"].astype(np.float64)
            self._read = self.write_count, quaternion.normalised(turns)
        return self._read[1]

    def applied(self, pose: Pose) -> Pose:
        """Returns a pose with the turns; waits for the GPU, see `read`."""
        turns = self.read()
        return self._pose.get((pose, turns), lambda: self._applied(pose, turns))

    def _applied(self, pose: Pose, turns: Float64) -> Pose:
        old = pose.model_from_joint
        heads = old[self.joints, :3, 3]
        moved = heads.copy()
        for level in self._levels[1:]:
            above = self._parents[level]
            moved[level] = moved[above] + quaternion.rotate(turns[above], heads[level] - heads[above])
        motions = np.tile(np.eye(4), (len(turns), 1, 1))
        motions[:, :3, :3] = quaternion.to_matrix(turns)
        motions[:, :3, 3] = moved - quaternion.rotate(turns, heads)
        model_from_joint, palette = old.copy(), pose.palette.copy()
        below, entries = np.flatnonzero(self._nearest >= 0), np.flatnonzero(self._sources >= 0)
        model_from_joint[below] = motions[self._nearest[below]] @ old[below]
        palette[entries] = motions[self._sources[entries]] @ pose.palette[entries]
        local = msgspec.structs.replace(pose.local, orientations=self._turned_locals(pose, turns))
        return msgspec.structs.replace(pose, local=local, model_from_joint=model_from_joint, palette=palette)

    def _turned_locals(self, pose: Pose, turns: Float64) -> Float64:
        """Returns local orientations; the positions stay, because every joint turns about its own head."""
        skeleton_parents = self._skeleton.parents[self.joints]
        is_root = skeleton_parents < 0
        parent_frames = rigid_frames(pose.model_from_joint[np.where(is_root, 0, skeleton_parents)])
        parent_frames[is_root] = np.eye(4)
        above = np.where((self._parents < 0)[:, None], quaternion.IDENTITY, turns[self._parents])
        frame = quaternion.from_matrix(parent_frames[:, :3, :3])
        relative = quaternion.multiply(quaternion.conjugate(above), turns)
        relative = quaternion.multiply(quaternion.conjugate(frame), quaternion.multiply(relative, frame))
        orientations = pose.local.orientations.copy()
        orientations[self.joints] = quaternion.multiply(relative, orientations[self.joints])
        return orientations

    def reach(
        self, entries: Intp, middles: Float64, halves: Float64, pose: Pose, world_from_model: Float64
    ) -> tuple[Float64, Float64]:
        """Returns middles and half extents (N, 3) in the world of boxes moved by palette entries, for any turns.

        A box below a turned joint becomes the ball about the first joint of the path; nothing is read back.
        """
        source = self._sources[entries]
        moved = np.flatnonzero(source >= 0)
        if not len(moved):
            return middles, halves
        heads = transform_points(world_from_model, pose.model_from_joint[self.joints, :3, 3])
        along = np.zeros(len(heads))
        for level in self._levels[1:]:
            above = self._parents[level]
            along[level] = along[above] + np.linalg.norm(heads[level] - heads[above], axis=1)
        own = source[moved]
        far = np.linalg.norm(middles[moved] - heads[own], axis=1) + np.linalg.norm(halves[moved], axis=1)
        middles, halves = middles.copy(), halves.copy()
        middles[moved], halves[moved] = heads[self._roots[own]], (along[own] + far)[:, None]
        return middles, halves
