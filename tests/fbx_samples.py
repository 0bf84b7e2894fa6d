"""FBX files written by the tests: text of version 7.4, as Mixamo's characters are built."""

from pathlib import Path

import numpy as np

SIDE = {
    "Shoulder": ("Spine2", (6.0, 13.0, 0.0)), "Arm": ("Shoulder", (12.0, 0.0, 0.0)),
    "ForeArm": ("Arm", (28.0, 0.0, 0.0)), "Hand": ("ForeArm", (28.0, 0.0, 0.0)),
    "HandThumb1": ("Hand", (3.0, -2.0, 3.0)), "HandThumb2": ("HandThumb1", (3.0, -1.0, 3.0)),
    "HandThumb3": ("HandThumb2", (3.0, 0.0, 1.0)),
    "HandIndex1": ("Hand", (12.0, 0.0, 3.0)), "HandIndex2": ("HandIndex1", (4.0, 0.0, 0.0)),
    "HandIndex3": ("HandIndex2", (3.0, 0.0, 0.0)), "HandIndex4": ("HandIndex3", (2.0, 0.0, 0.0)),
    "UpLeg": ("Hips", (9.0, -6.0, 0.0)), "Leg": ("UpLeg", (0.0, -43.0, 0.0)), "Foot": ("Leg", (0.0, -42.0, -1.0)),
    "ToeBase": ("Foot", (0.0, -8.0, 12.0)), "Toe_End": ("ToeBase", (0.0, 0.0, 7.0)),
}  # fmt: skip
JOINTS = {
    "Hips": ("", (0.0, 100.0, 0.0)), "Spine": ("Hips", (0.0, 10.0, -1.0)), "Spine1": ("Spine", (0.0, 12.0, 0.0)),
    "Spine2": ("Spine1", (0.0, 13.0, 0.0)), "Neck": ("Spine2", (0.0, 15.0, 0.0)), "Head": ("Neck", (0.0, 9.0, 2.0)),
    "HeadTop_End": ("Head", (0.0, 18.0, 0.0)),
    **{f"{side}{name}": (parent if parent in ("Spine2", "Hips") else f"{side}{parent}", (sign * x, y, z))
       for side, sign in (("Left", 1.0), ("Right", -1.0)) for name, (parent, (x, y, z)) in SIDE.items()},
}  # fmt: skip
"""Parent and offset of each joint [cm], in a T-pose that faces z."""


def _numbers(name: str, values: object) -> str:
    flat = np.asarray(values).ravel().tolist()
    return f"{name}: *{len(flat)} {{ a: {','.join(map(str, flat))} }}"


def write_mixamo(path: Path) -> Path:
    """A skinned character in centimetres whose joints have the prefix of Mixamo, one small box for each bone."""
    places = {"": np.zeros(3)}
    for name, (parent, offset) in JOINTS.items():
        places[name] = places[parent] + offset
    corners = np.array([[x, y, z] for x in (-2, 2) for y in (-2, 2) for z in (-2, 2)], float)
    faces = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    points = np.concatenate([places[name] + corners for name in JOINTS])
    polygons = np.concatenate([faces + 8 * number for number in range(len(JOINTS))])
    polygons[:, -1] = ~polygons[:, -1]
    objects = [
        f'Geometry: 1, "Geometry::Body", "Mesh" {{ GeometryVersion: 124 {_numbers("Vertices", points)}'
        f" {_numbers('PolygonVertexIndex', polygons)} }}",
        'Model: 2, "Model::Body", "Mesh" { Version: 232 }',
        'Deformer: 3, "Deformer::", "Skin" { Version: 101 }',
    ]
    links = ["2,0", "1,2", "3,1"]
    for number, (name, (parent, offset)) in enumerate(JOINTS.items()):
        x, y, z = offset
        at = np.eye(4)
        at[3, :3] = places[name]
        objects += [
            f'NodeAttribute: {100 + number}, "NodeAttribute::", "LimbNode" {{ TypeFlags: "Skeleton" }}',
            f'Model: {200 + number}, "Model::mixamorig:{name}", "LimbNode" {{ Version: 232 Properties70: {{\n'
            f'P: "Lcl Translation", "Lcl Translation", "", "A",{x},{y},{z}\n}} }}',
            f'Deformer: {300 + number}, "SubDeformer::", "Cluster" {{ Version: 100'
            f" {_numbers('Indexes', np.arange(8 * number, 8 * number + 8))} {_numbers('Weights', np.ones(8))}"
            f" {_numbers('Transform', np.linalg.inv(at))} {_numbers('TransformLink', at)} }}",
        ]
        above = 200 + list(JOINTS).index(parent) if parent else 0
        links += [
            f"{100 + number},{200 + number}", f"{200 + number},{above}", f"{300 + number},3",
            f"{200 + number},{300 + number}",
        ]  # fmt: skip
    settings = "\n".join(
        f'P: "{key}", "{kind}", "", "",{value}'
        for key, kind, value in (
            ("UpAxis", "int", 1), ("UpAxisSign", "int", 1), ("FrontAxis", "int", 2), ("FrontAxisSign", "int", 1),
            ("CoordAxis", "int", 0), ("CoordAxisSign", "int", 1), ("UnitScaleFactor", "double", 1),
        )
    )  # fmt: skip
    path.write_text(
        "; FBX 7.4.0 project file\nFBXHeaderExtension: { FBXHeaderVersion: 1003 FBXVersion: 7400 }\n"
        f"GlobalSettings: {{ Version: 1000 Properties70: {{\n{settings}\n}} }}\n"
        "Objects: {\n" + "\n".join(objects) + "\n}\nConnections: {\n"
        + "\n".join(f'C: "OO",{link}' for link in links) + "\n}\n"
    )  # fmt: skip
    return path


def write_shapes(path: Path, percents: list[float], weight: float, point: int = 0) -> Path:
    """The same character with a blend shape of in-betweens; number i moves a point by i + 1 cm along x."""
    objects = [
        'Deformer: 900, "Deformer::Face", "BlendShape" { Version: 100 }',
        f'Deformer: 901, "SubDeformer::smile", "BlendShapeChannel" {{ Version: 100 DeformPercent: {weight}'
        f" {_numbers('FullWeights', percents)} }}",
    ]
    links = ["900,1", "901,900"]
    for number in range(len(percents)):
        objects.append(
            f'Geometry: {910 + number}, "Geometry::", "Shape" {{ Version: 100 {_numbers("Indexes", [point])}'
            f" {_numbers('Vertices', [number + 1, 0, 0])} }}"
        )
        links.append(f"{910 + number},901")
    text = write_mixamo(path).read_text().replace("Objects: {\n", "Objects: {\n" + "\n".join(objects) + "\n")
    added = "\n".join(f'C: "OO",{link}' for link in links)
    path.write_text(text.replace("Connections: {\n", f"Connections: {{\n{added}\n"))
    return path
