import numpy as np

from sinew.resources.samples.figure_skeleton import HAND, arm_from_model
from sinew.resources.samples.sdf import (
    Distances,
    Points,
    Profile,
    capsule,
    ellipsoid,
    loft,
    mirrored,
    plane,
    smooth_cut,
    smooth_intersection,
    smooth_union,
    sphere,
)

EYE = (0.0315, 1.6375, 0.0815)  # centre of the left eyeball in the frame of the head

HEAD_SCALE = 1.09  # relative to the frame in which the head is modelled

_CHIN = np.array([0.0, 1.555, -0.010])
_CHIN_IN_MODEL = np.array([0.0, 1.543, -0.014])


def head_from_model(points: Points) -> Points:
    """Points in the frame in which head and hair are modelled."""
    local: Points = (points - _CHIN_IN_MODEL) / HEAD_SCALE + _CHIN
    return local


_ARM = Profile(
    [
        # along, centre y, centre z, half height, half depth to the front, half depth to the back
        [0.050, -0.006, 0.000, 0.034, 0.038, 0.038],
        [0.130, -0.003, 0.000, 0.040, 0.043, 0.042],
        [0.190, -0.001, 0.001, 0.040, 0.043, 0.041],
        [0.240, 0.000, 0.000, 0.0355, 0.0365, 0.0375],
        [0.275, 0.000, -0.001, 0.0345, 0.0360, 0.0385],
        [0.315, 0.000, 0.001, 0.0375, 0.0405, 0.0375],
        [0.360, 0.000, 0.001, 0.0365, 0.0390, 0.0355],
        [0.420, 0.000, 0.000, 0.0305, 0.0335, 0.0305],
        [0.480, 0.000, 0.000, 0.0238, 0.0275, 0.0265],
        [0.515, 0.000, 0.000, 0.0215, 0.0265, 0.0262],
        [0.545, -0.001, 0.000, 0.0200, 0.0300, 0.0295],
        [0.575, -0.002, 0.000, 0.0185, 0.0380, 0.0365],
        [0.605, -0.003, 0.000, 0.0165, 0.0415, 0.0395],
        [0.622, -0.003, 0.000, 0.0130, 0.0400, 0.0380],
        [0.640, -0.003, 0.000, 0.0100, 0.0360, 0.0340],
    ]
)


def head(points: Points) -> Distances:
    """The neck ends inside the shirt."""
    p = head_from_model(mirrored(points, 0.004))
    skull = ellipsoid(p, (0.0, 1.668, -0.010), (0.0765, 0.090, 0.0975))
    face = ellipsoid(p, (0.0, 1.612, 0.026), (0.0610, 0.084, 0.0660))
    jaw = capsule(p, (0.038, 1.575, 0.008), (0.006, 1.5435, 0.066), 0.0255, 0.0220)
    shape = smooth_union(smooth_union(skull, face, 0.05), jaw, 0.032)
    shape = smooth_union(shape, sphere(p, (0.034, 1.600, 0.058), 0.0235), 0.03)
    shape = smooth_union(shape, capsule(p, (0.0, 1.656, 0.083), (0.040, 1.655, 0.066), 0.0105, 0.010), 0.024)
    shape = _features(p, shape) * HEAD_SCALE
    q = mirrored(points)
    neck = capsule(q, (0.0, 1.415, -0.026), (0.0, 1.570, -0.012), 0.0580, 0.0530)
    tendon = capsule(q, (0.018, 1.450, 0.024), (0.050, 1.570, -0.022), 0.012, 0.012)
    return smooth_union(shape, smooth_union(neck, tendon, 0.03), 0.028)


def _features(p: Points, shape: Distances) -> Distances:
    shape = smooth_cut(shape, sphere(p, (0.033, 1.638, 0.1015), 0.0150), 0.022)
    eye = ellipsoid(p, EYE, (0.0195, 0.0155, 0.0098))
    shape = smooth_union(shape, eye, 0.006)
    nose = capsule(p, (0.0, 1.648, 0.0865), (0.0, 1.6065, 0.1065), 0.0075, 0.0115)
    nose = smooth_union(nose, sphere(p, (0.0105, 1.6015, 0.0970), 0.0082), 0.010)
    shape = smooth_union(shape, nose, 0.014)
    mouth = ellipsoid(p, (0.0, 1.5735, 0.070), (0.034, 0.021, 0.0185))
    shape = smooth_union(shape, mouth, 0.024)
    upper = capsule(p, (0.0, 1.5785, 0.0895), (0.0205, 1.5750, 0.0775), 0.0042, 0.0028)
    lower = capsule(p, (0.0, 1.5675, 0.0885), (0.0175, 1.5700, 0.0785), 0.0056, 0.0034)
    shape = smooth_union(shape, np.minimum(upper, lower), 0.008)
    tilt = np.array([[0.93, 0.0, -0.36], [0.07, 0.97, 0.20], [0.35, -0.21, 0.91]])
    ear = ellipsoid(p, (0.0790, 1.630, -0.012), (0.0105, 0.0270, 0.0175), tilt)
    bowl = ellipsoid(p, (0.0915, 1.633, -0.003), (0.0075, 0.0170, 0.0105), tilt)
    return smooth_union(shape, smooth_cut(ear, bowl, 0.012), 0.010)


def arm(points: Points) -> Distances:
    """In the bind pose; the upper end lies inside the sleeve."""
    return arm_local(arm_from_model(points))


def arm_local(p: Points) -> Distances:
    """Left arm along x: y towards the back of the hand, z towards the thumb, shoulder joint at the origin."""
    tube = loft(p, _ARM, (0, 1, 2), 2.15)
    tube = smooth_intersection(tube, plane(p, (0.060, 0, 0), (-1, 0, 0)), 0.02)
    shape = smooth_intersection(tube, plane(p, (0.612, 0, 0), (1.0, 0.0, 0.12)), 0.014)
    ball = ellipsoid(p, (0.560, -0.010, 0.026), (0.034, 0.017, 0.017))
    shape = smooth_union(shape, ball, 0.018)
    elbow = sphere(p, (0.272, 0.004, -0.020), 0.022)
    shape = smooth_union(shape, elbow, 0.020)
    for name, joints in HAND.items():
        shape = smooth_union(shape, _finger(p, joints.points, joints.radii), 0.016 if name == "thumb" else 0.0075)
    return shape


def _finger(p: Points, joints: Points, radii: tuple[float, ...]) -> Distances:
    """Chain of capsules through the joints of one finger, slightly swollen at the knuckles."""
    shape = capsule(p, joints[0], joints[1], radii[0], radii[1])
    for i in range(1, len(joints) - 1):
        shape = smooth_union(shape, capsule(p, joints[i], joints[i + 1], radii[i], radii[i + 1]), 0.003)
    return shape


def hair(points: Points) -> Distances:
    """Closed cap around the skull, its lower side inside the head."""
    p = head_from_model(points)
    shape = ellipsoid(p, (0.0, 1.676, -0.014), (0.0865, 0.0965, 0.1055))
    quiff = capsule(p, (-0.030, 1.742, 0.050), (0.040, 1.752, 0.046), 0.026, 0.031)
    shape = smooth_union(shape, quiff, 0.045)
    shape = shape + _locks(p)
    return _trimmed(mirrored(p), shape) * HEAD_SCALE


def strand(p: Points) -> Distances:
    """Angle about the crown's whorl [rad], constant along a strand; points in the frame of the head."""
    offset = p - np.array([0.0, 1.672, -0.012])
    whorl = np.array([0.10, 0.62, -0.78])
    ahead = np.array([0.0, 0.78, 0.62])
    side = np.array([0.99, -0.06, 0.08])
    angle: Distances = np.arctan2((offset * side).sum(axis=1), (offset * ahead).sum(axis=1))
    along = (offset * whorl).sum(axis=1)
    spiral: Distances = angle + 2.2 * along
    return spiral


def _locks(p: Points) -> Distances:
    """Ridges along the strands over the top, fading towards the neck."""
    across = strand(p)
    height = np.clip((p[:, 1] - 1.67) / 0.06, 0.0, 1.0) * np.clip((p[:, 2] + 0.065) / 0.06, 0.0, 1.0)
    ridges: Distances = height * (0.0024 * np.sin(11.0 * across) + 0.0012 * np.sin(23.0 * across + 1.0))
    return ridges


def _trimmed(q: Points, shape: Distances) -> Distances:
    """Hairline: forehead, temples, around the ears, neck."""
    forehead = plane(q, (0.0, 1.696, 0.060), (0.0, -0.85, 0.53))
    shape = smooth_intersection(shape, forehead, 0.012)
    temple = plane(q, (0.060, 1.665, 0.034), (0.10, -0.30, 0.94))
    top = plane(q, (0.0, 1.706, 0.0), (0.0, -1.0, 0.0))
    shape = smooth_intersection(shape, smooth_union(temple, top, 0.02), 0.012)
    sideburn = plane(q, (0.07, 1.622, 0.0), (0.0, -1.0, 0.0))
    neck = plane(q, (0.0, 1.583, -0.060), (0.0, -0.86, -0.50))
    behind = plane(q, (0.0, 1.583, -0.034), (0.0, 0.0, 1.0))
    low = smooth_union(np.maximum(neck, behind), sideburn, 0.012)
    shape = smooth_intersection(shape, low, 0.012)
    ear = ellipsoid(q, (0.088, 1.626, -0.010), (0.030, 0.034, 0.026))
    return smooth_cut(shape, ear, 0.010)
