"""Surfaces and strands of a recording as fitted bones, children of one joint of a character or of the world."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import assembled
from sinew.sim.assets.model import LocalPose
from sinew.sim.export.formats import BoneOptions, BoneQuality, Characters, ExportError
from sinew.sim.export.scene.recording import BoneMotion, JointMotion, LinearSkin, SceneRecording, Topology, Track
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32, Float64, Intp
from sinew.sim.maths.bone_fit import BONES_MAX, BoneFit, Progress, fit_bones, fit_error, memory, part_of
from sinew.sim.maths.transform import compose, inverse_affine, transform_points
from sinew.sim.printable import counted, size_text

ROUNDS = {BoneQuality.DRAFT: 15, BoneQuality.NORMAL: 40, BoneQuality.EXACT: 300}

MEMORY = 2 << 30
"""Maximum size of a fit [bytes]."""

HELD = 1e-5
"""Distance [m] per metre of extent within which a point that keeps its place in a joint is held by it."""

PROBES = 8
"""Number of frames and, without held points, of points that are compared first."""

SIMILAR = 1e-4
"""Maximum relative deviation of a joint from one constant scale, if it is to have fitted bones below it."""

ROOT = -1
"""Number of the root of a character, or of the world, among the joints."""


@dataclass(frozen=True, slots=True)
class BoneResult:
    """What the bones of a node lost; distances in metres."""

    name: str
    bones: int
    distances: Float32  # Of the points from the recorded ones by frame, (F, V)
    between: float  # Root mean square distance half-way between frames
    first: int
    gap: float | None  # Root mean square distance of the first and the last frame before blending
    blend: int
    target: float  # Root mean square distance that was asked for, or 0
    influences: int

    @property
    def mean(self) -> float:
        return _mean_square(self.distances)

    def text(self) -> str:
        """Returns, for instance, "Cape: 20 bones, 3.5 mm rms, 99 % below 10.1, largest 26 at frame 97"."""
        frame = int(self.distances.max(axis=1).argmax())
        distances = self.mean, float(np.percentile(self.distances, 99.0)), float(self.distances.max()), self.between
        mean, large, most, between = map(_millimetres, distances)
        text = f"{self.name}: {counted(self.bones, 'bone')}, {mean} mm rms, 99 % below {large}, largest {most}"
        text += f" at frame {self.first + frame}, {between} rms between frames"
        if self.gap is not None:
            text += f"; the last {counted(self.blend, 'frame')} close a gap of {_millimetres(self.gap)} mm rms"
        return text

    def warnings(self) -> list[str]:
        found = []
        if self.target and self.mean > self.target:
            reached = f"{counted(self.bones, 'bone')} leave {_millimetres(self.mean)} mm rms"
            found.append(f"{self.name}: {reached}, more than bone_error={self.target * 1e3:g}")
        if self.influences > 4:
            found.append(f"{self.name}: up to {self.influences} bones move a point; many programs read 4 only")
        return found


def _millimetres(metres: float) -> str:
    value = metres * 1e3
    return f"{value:.0f}" if value >= 20.0 else f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"


def with_bones(
    recording: SceneRecording, options: BoneOptions, progress: Progress = lambda _: None
) -> tuple[SceneRecording, list[BoneResult]]:
    """Returns surfaces without rig and strands with bones, behind their character; their positions are the fitted ones.

    Raises:
        ExportError: If positions are not finite, a fit needs too much memory, or `bone_parent` does not exist.
    """
    require_options(options, recording.frame_count)
    rigs = {track.name: _Rig(track.rig) for track in recording.tracks if track.rig is not None}
    _require_parent(options, rigs)
    chosen = [track for track in recording.tracks if track.rig is None and track.form is not Topology.POINTS]
    for track in chosen:
        _require(track, options, recording.first)
    results, made = list[BoneResult](), dict[str, Track]()
    for number, track in enumerate(chosen):
        fitted, result = _with_bones(track, recording.first, options, rigs, part_of(progress, number, len(chosen)))
        made[track.name] = fitted
        results.append(result)
    tracks = [made.get(track.name, track) for track in recording.tracks]
    owners = [one.bones.owner if one.bones is not None else "" for one in tracks]
    free = [one for one, owner in zip(tracks, owners, strict=True) if not owner]
    ordered = [own for one in free for own in (one, *(t for t, o in zip(tracks, owners, strict=True) if o == one.name))]
    return replace(recording, tracks=tuple(ordered)), results


def require_options(options: BoneOptions, frames: int) -> None:
    """Raises ExportError for options that do not fit together or to the number of frames."""
    if options.characters is Characters.POINTS:
        raise ExportError("characters=points: bones need characters as skins")
    if options.loop_blend > frames // 2:
        raise ExportError(f"loop_blend={options.loop_blend}: {counted(frames, 'frame')} allow up to {frames // 2}")


def _require_parent(options: BoneOptions, rigs: Mapping[str, "_Rig"]) -> None:
    names = list(dict.fromkeys(name for rig in rigs.values() for name in rig.skeleton.names))
    if options.bone_parent and options.bone_parent not in names:
        known = ", ".join(names) or "none"
        raise ExportError(f"bone_parent={options.bone_parent}: no such bone is exported as a skin; there are: {known}")


def _require(track: Track, options: BoneOptions, first: int) -> None:
    if not len(track.positions[0]):
        raise ExportError(f"{track.name}: has no points for bones to move")
    for frame, positions in enumerate(track.positions):
        if not np.isfinite(positions).all():
            raise ExportError(
                f"{track.name}: frame {first + frame}: its positions are not finite, so no bones can be fitted"
            )
    most = BONES_MAX if options.bone_error else options.bones
    size = memory(track.point_count, len(track.positions), most)
    if size > MEMORY:
        remedy = "fewer frames or bones take less"
        raise ExportError(f"{track.name}: fitting bones needs {size_text(size)}, at most {size_text(MEMORY)}; {remedy}")


class _Rig:
    """World transforms of the joints of a character, (F, J, 4, 4), and of its root, (F, 4, 4)."""

    def __init__(self, rig: JointMotion) -> None:
        assert rig.model.skeleton is not None
        self.skeleton, self.root = rig.model.skeleton, rig.world_from_model
        local = zip(rig.positions, rig.orientations, rig.scales, rig.weights, strict=True)
        poses = np.stack([assembled(rig.model, LocalPose(*frame)).model_from_joint for frame in local])
        self.joints: Float64 = self.root[:, None] @ poses

    def world(self, joint: int) -> Float64:
        world: Float64 = self.root if joint == ROOT else self.joints[:, joint]
        return world

    def above(self, joint: int) -> list[int]:
        """Returns a joint and all above it, the root last."""
        line = [joint]
        while line[-1] != ROOT:
            line.append(int(self.skeleton.parents[line[-1]]))
        return line

    def deepest_above(self, joints: Sequence[int]) -> int:
        lines = [self.above(joint) for joint in joints]
        return next(joint for joint in lines[0] if all(joint in line for line in lines))


Pins = dict[int, Intp]
"""Points that keep their place in a joint, by joint."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the bones of a track are: below a joint of a rig, or below the world."""

    owner: str
    rig: _Rig | None
    parent: int
    pins: Pins
    world: Float64  # Transforms of the parent, (F, 4, 4)
    scale: float  # Of the parent in the world

    @property
    def fit_from_world(self) -> Float64:
        """Transforms to metres in the frame of the parent, (F, 4, 4)."""
        matrices: Float64 = inverse_affine(self.world)
        matrices[:, :3] *= self.scale
        return matrices

    def skinning(self, joint: int) -> Float64:
        """Returns transforms from the bind pose in metres in the frame of the parent to the world, (F, 4, 4)."""
        metres = np.diag([1.0 / self.scale] * 3 + [1.0])
        if self.rig is None or joint == ROOT:
            return self.world @ metres
        skeleton = self.rig.skeleton
        bind = np.eye(4) if self.parent == ROOT else skeleton.model_from_bind[self.parent]
        matrices: Float64 = self.rig.world(joint) @ skeleton.bind_from_model[joint] @ bind @ metres
        return matrices


def _placed(track: Track, options: BoneOptions, rigs: Mapping[str, _Rig]) -> _Place:
    known = {name: rig for name, rig in rigs.items() if options.bone_parent in ("", *rig.skeleton.names)}
    pins = {name: _pins(track.positions, rig) for name, rig in known.items()}
    held = {name: sum(map(len, found.values())) for name, found in pins.items()}
    moving = {name for name, found in pins.items() if set(found) - {ROOT}}
    if options.bone_parent:
        owner = max(known, key=lambda name: held[name])
        parent = known[owner].skeleton.index(options.bone_parent)
        if _scale(known[owner].world(parent)) is None:
            raise ExportError(f"bone_parent={options.bone_parent}: changes its scale, which fitted bones cannot follow")
    elif moving:
        owner = max((name for name in known if name in moving), key=lambda name: held[name])
        parent = known[owner].deepest_above(list(pins[owner]))
    else:
        still = _held(track.positions, np.tile(np.eye(4), (len(track.positions), 1, 1)))
        owner, parent = ("", ROOT) if len(still) else _steadiest(track.positions, known)
        pins = {**pins, "": {ROOT: still}}
    rig = known.get(owner)
    line = rig.above(parent) if rig is not None else []
    for joint in line:
        scale = _scale(known[owner].world(joint))
        if scale is not None:
            # The root is no joint; it can only hold points of bones right below it.
            own = {j: points for j, points in pins[owner].items() if len(points) and (j != ROOT or joint == ROOT)}
            return _Place(owner, rig, joint, own, known[owner].world(joint), scale)
    world = np.tile(np.eye(4), (len(track.positions), 1, 1))
    return _Place("", None, ROOT, {j: own for j, own in pins.get("", {}).items() if len(own)}, world, 1.0)


def _scale(matrices: Float64) -> float | None:
    """Returns the scale of transforms (F, 4, 4); None unless it is the same along all axes and in all frames."""
    linear = matrices[:, :3, :3]
    gram = np.swapaxes(linear, 1, 2) @ linear
    square = float(np.trace(gram, axis1=1, axis2=2).mean()) / 3.0
    is_similar = np.abs(gram - square * np.eye(3)).max() <= SIMILAR * square and (np.linalg.det(linear) > 0.0).all()
    return math.sqrt(square) if square > 0.0 and is_similar else None


def _pins(positions: Float32, rig: _Rig) -> Pins:
    """Returns the points that the root or a joint holds; of several such joints, the highest holds them."""
    found, free = Pins(), np.arange(positions.shape[1])
    depths = [len(rig.above(joint)) for joint in range(len(rig.skeleton.names))]
    for joint in (ROOT, *np.argsort(depths, kind="stable").tolist()):
        held = _held(positions, rig.world(joint), free)
        if len(held):
            found[joint], free = held, np.setdiff1d(free, held)
    return found


def _held(positions: Float32, world: Float64, points: Intp | None = None) -> Intp:
    """Returns the points that keep their place in a frame that moves, (F, 4, 4)."""
    held = np.arange(positions.shape[1]) if points is None else points
    frames = range(_start(positions), len(positions))
    first, inverse = positions[frames[0]].astype(np.float64), inverse_affine(world[frames[0]])
    local, limit = transform_points(inverse, first), HELD * max(float(np.ptp(first, axis=0).max()), 1e-3)
    for frame in (*frames[:: max(len(frames) // PROBES, 1)], *frames):
        if not len(held):
            break
        moved = transform_points(world[frame], local[held])
        held = held[np.abs(moved - positions[frame][held]).max(axis=1) <= limit]
    return held


def _start(positions: Float32) -> int:
    """Returns the first frame in which pins follow: a simulation may begin before they do."""
    return 1 if len(positions) > 2 else 0


def _steadiest(positions: Float32, rigs: Mapping[str, _Rig]) -> tuple[str, int]:
    """Returns the character and joint in which points move least; the world unless that is much less."""
    frames = np.unique(np.linspace(0, len(positions) - 1, PROBES).astype(int))
    points = np.unique(np.linspace(0, positions.shape[1] - 1, 8 * PROBES).astype(int))
    moved = positions[frames][:, points].astype(np.float64)
    best, least = ("", ROOT), 0.5 * float(moved.var(axis=0).sum())
    for name, rig in rigs.items():
        for joint in range(len(rig.skeleton.names)):
            world = rig.world(joint)[frames]
            if _scale(world) is None:
                continue
            matrices = inverse_affine(world)
            local = np.einsum("fij,fvj->fvi", matrices[:, :3, :3], moved) + matrices[:, None, :3, 3]
            variance = float(local.var(axis=0).sum()) * (_scale(world) or 1.0) ** 2
            if variance < least:
                best, least = (name, joint), variance
    return best


# --- fit ----------------------------------------------------------------------------------------------


def _with_bones(
    track: Track, first: int, options: BoneOptions, rigs: Mapping[str, _Rig], progress: Progress
) -> tuple[Track, BoneResult]:
    place = _placed(track, options, rigs)
    fit_from_world, points = place.fit_from_world, np.empty(track.positions.shape, np.float32)
    for frame, matrix in enumerate(fit_from_world):
        points[frame] = track.positions[frame] @ matrix[:3, :3].T + matrix[:3, 3]
    rest, held = points[0].astype(np.float64), np.full(track.point_count, -1)
    fixed = np.empty((len(points), len(place.pins), 4, 4))
    for number, (joint, pinned) in enumerate(place.pins.items()):
        fixed[:, number] = fit_from_world @ place.skinning(joint)
        inverse, start = inverse_affine(fixed[:, number])[_start(points) :], _start(points)
        local = np.einsum("fij,fvj->vi", inverse[:, :3, :3], points[start:, pinned], optimize=True) / len(inverse)
        rest[pinned], held[pinned] = local + inverse[:, :3, 3].mean(axis=0), number
    free = np.flatnonzero(held < 0)
    fit = _fit(rest[free], points[:, free], fixed[:, :, :3], options, len(held), progress) if len(free) else None
    motion = _motion(track.name, place, rest, held, fit, options.influences)
    positions = np.stack(list(_blended(motion, _world_matrices(motion, place))))
    apart = np.empty(positions.shape[:2], np.float32)
    for frame, fitted in enumerate(positions):
        apart[frame] = np.linalg.norm(fitted - track.positions[frame], axis=1)
    count, gap = 0 if fit is None else fit.transforms.shape[1] - len(place.pins), None
    between = _between(motion, place, points)
    if options.loop_blend:
        gap = _mean_square(np.linalg.norm(points[-1] - points[0], axis=1))
        motion = _looped(motion, options.loop_blend)
        positions = np.stack(list(_blended(motion, _world_matrices(motion, place))))
    result = BoneResult(
        track.name, count, apart, between, first, gap, options.loop_blend, options.bone_error * 1e-3, options.influences
    )
    return replace(track, positions=positions, bones=motion, normals=None, tangents=None, velocities=None), result


def _fit(
    rest: Float64, points: Float32, fixed: Float64, options: BoneOptions, count: int, progress: Progress
) -> BoneFit:
    rounds, most = ROUNDS[options.bone_quality], math.ceil(len(rest) / 3)  # three points determine a bone
    if options.bone_error:
        target = options.bone_error * 1e-3 * math.sqrt(count / len(rest))  # held points have no error
        return fit_error(
            rest, points, target, fixed=fixed, influences=options.influences, rounds=rounds, most=min(most, BONES_MAX),
            progress=progress,
        )  # fmt: skip
    return fit_bones(
        rest, points, min(options.bones, most), fixed=fixed, influences=options.influences, rounds=rounds,
        progress=progress,
    )  # fmt: skip


def _motion(name: str, place: _Place, rest: Float64, held: Intp, fit: BoneFit | None, influences: int) -> BoneMotion:
    """Returns local transforms of the bones, and their skin; points that the root holds have a bone that is still."""
    pins, frames = list(place.pins), len(place.world)
    made = np.zeros((frames, 0, 3, 4)) if fit is None else fit.transforms[:, len(pins) :]
    names = [f"{name}_{number:02d}" for number in range(made.shape[1])]
    if ROOT in pins:
        made = np.concatenate((made, np.tile(np.eye(3, 4), (frames, 1, 1, 1))), axis=1)
        names.append(f"{name}_root")
    joints = [joint for joint in pins if joint != ROOT]
    entry_of = [len(names) - 1 if joint == ROOT else len(names) + joints.index(joint) for joint in pins]
    columns = np.array([*entry_of, *range(len(names) - (ROOT in pins))], np.intp)
    width = 4 if influences <= 4 else 8
    entries, weights = np.zeros((len(rest), width), np.uint16), np.zeros((len(rest), width), np.float32)
    is_held, free = held >= 0, held < 0
    entries[is_held, 0], weights[is_held, 0] = columns[held[is_held]], 1.0
    if fit is not None:
        rest[free] = fit.rest
        order = np.argsort(-fit.weights, axis=1, kind="stable")
        used = slice(0, fit.weights.shape[1])
        entries[free, used] = columns[np.take_along_axis(fit.bones, order, 1)]
        weights[free, used] = np.take_along_axis(fit.weights, order, 1)
    weights[:, 0] = 1.0 - weights[:, 1:].sum(axis=1, dtype=np.float64)
    dense = np.zeros((len(rest), max(len(names) + len(joints), 1)))
    for column in range(width):
        dense[np.arange(len(rest)), entries[:, column]] += weights[:, column]
    squares = np.square(dense[:, : len(names)])
    totals = squares.sum(axis=0)[:, None]
    pivots = np.where(totals > 0.0, squares.T @ rest / np.where(totals > 0.0, totals, 1.0), rest.mean(axis=0))
    positions = np.einsum("fbij,bj->fbi", made[..., :3], pivots) + made[..., 3]
    bind = np.eye(4) if place.rig is None or place.parent == ROOT else place.rig.skeleton.model_from_bind[place.parent]
    inverse = np.tile(inverse_affine(bind), (len(names), 1, 1))
    inverse[:, :3, 3] -= pivots / place.scale
    return BoneMotion(
        names=tuple(names), positions=positions / place.scale, orientations=quaternion.from_matrix(made[..., :3]),
        pivots=pivots / place.scale, owner=place.owner, parent=place.parent, joints=np.array(joints, np.intp),
        bind_from_mesh=inverse, entries=entries, weights=weights,
        rest=transform_points(bind, rest / place.scale).astype(np.float32),
    )  # fmt: skip


def _world_matrices(motion: BoneMotion, place: _Place) -> Float64:
    """Returns the transforms of the points by bones and joints, (F, E, 4, 4)."""
    local = compose(motion.positions, motion.orientations, np.ones_like(motion.positions))
    matrices = place.world[:, None] @ local @ motion.bind_from_mesh
    if place.rig is None or not len(motion.joints):
        return matrices
    joints = place.rig.joints[:, motion.joints] @ place.rig.skeleton.bind_from_model[motion.joints]
    return np.concatenate((matrices, joints), axis=1)


def _blended(motion: BoneMotion, matrices: Float64) -> Iterator[Float32]:
    rest = motion.rest.astype(np.float64)
    yield from LinearSkin(motion.entries, motion.weights).moved((rest, palette) for palette in matrices)


def _between(motion: BoneMotion, place: _Place, points: Float32) -> float:
    """Returns the error half-way between frames, where other programs interpolate, from the mean of both frames."""
    if len(points) < 2:
        return 0.0
    turned = quaternion.slerp(motion.orientations[:-1], motion.orientations[1:], 0.5)
    placed = (motion.positions[:-1] + motion.positions[1:]) / 2.0
    half = replace(motion, positions=placed, orientations=turned)
    fit_from_world = place.fit_from_world
    matrices = fit_from_world[:, None] @ _world_matrices(motion, place)
    still = replace(place, world=np.tile(np.diag([place.scale] * 3 + [1.0]), (len(points) - 1, 1, 1)), rig=None)
    joints = (matrices[:-1, len(motion.names) :] + matrices[1:, len(motion.names) :]) / 2.0
    halves = np.concatenate((_world_matrices(half, still), joints), axis=1)
    total = 0.0
    for frame, found in enumerate(_blended(motion, halves)):
        total += float(np.square(found - (points[frame] + points[frame + 1]) / 2.0, dtype=np.float64).sum())
    return math.sqrt(total / max((len(points) - 1) * points.shape[1], 1))


def _looped(motion: BoneMotion, blend: int) -> BoneMotion:
    """Returns a motion whose last frame equals its first, by changing the last `blend` frames."""
    share = np.clip((np.arange(len(motion.positions)) - (len(motion.positions) - 1 - blend)) / blend, 0.0, 1.0)
    share = (share**2 * (3.0 - 2.0 * share))[:, None]
    turn = quaternion.multiply(quaternion.conjugate(motion.orientations[-1]), motion.orientations[0])
    turns = quaternion.slerp(np.broadcast_to(quaternion.IDENTITY, turn.shape), turn, share)
    positions = motion.positions + share[..., None] * (motion.positions[0] - motion.positions[-1])
    return replace(motion, positions=positions, orientations=quaternion.multiply(motion.orientations, turns))


def _mean_square(distances: npt.NDArray[np.floating]) -> float:
    return math.sqrt(float(np.square(distances, dtype=np.float64).mean()))
