from typing import Any

from sinew.sim.kinds.hair.settings import HairLook, HairSettings, HairSolver, HairSource
from sinew.sim.scene.params import validated

_DARK, _BROWN, _BLOND = ((0.10, 0.07, 0.05), (0.18, 0.12, 0.09)), ((0.28, 0.18, 0.11), (0.42, 0.28, 0.16)), (
    (0.55, 0.40, 0.22), (0.80, 0.65, 0.40))  # fmt: skip
_RED, _FOX = ((0.36, 0.12, 0.05), (0.60, 0.24, 0.10)), ((0.40, 0.20, 0.09), (0.86, 0.56, 0.30))

_CHANGES: dict[str, dict[str, Any]] = {
    "Long": {"length": 0.4, "bending_length": 0.05, "carried": 0.5, "lean": 0.9, "bow": 1.0, "clump": 0.4,
             "root_radius": 1e-4, "colours": _BROWN},
    "Wavy": {"length": 0.35, "bending_length": 0.05, "carried": 0.6, "lean": 0.85, "bow": 1.0, "clump": 0.8,
             "curl_radius": 0.008, "curl_turns": 10.0, "guides": 300, "colours": _BLOND},
    "Curls": {"length": 0.25, "bending_length": 0.04, "carried": 0.7, "lean": 0.75, "bow": 0.9, "clump": 0.95,
              "curl_radius": 0.011, "curl_turns": 24.0, "guides": 200, "noise": 0.003, "colours": _RED},
    "Bob": {"length": 0.2, "bending_length": 0.06, "carried": 0.8, "lean": 0.85, "bow": 1.0, "clump": 0.3,
            "root_radius": 1.3e-4, "colours": _DARK},
    "Short": {"length": 0.05, "bending_length": 0.08, "carried": 1.0, "lean": 0.6, "bow": 0.4, "clump": 0.3,
              "knots": 8, "root_radius": 1.6e-4, "colours": _BROWN},
    "Ponytail": {"length": 0.4, "bending_length": 0.06, "carried": 0.6, "lean": 0.9, "bow": 0.9, "clump": 0.8,
                 "comb": (0.0, -1.0, -0.3), "root_radius": 1e-4, "colours": _BLOND},
    "Beard": {"length": 0.04, "bending_length": 0.04, "carried": 0.9, "lean": 0.4, "bow": 0.8, "clump": 0.3,
              "comb": (0.0, -1.0, 0.3), "knots": 8, "curl_radius": 0.002, "curl_turns": 60.0,
              "root_radius": 1.4e-4, "colours": _DARK},
    "Mane": {"length": 0.15, "bending_length": 0.1, "carried": 0.9, "lean": 0.6, "bow": 0.6, "clump": 0.5,
             "root_radius": 1.6e-4, "colours": _DARK},
    "Short fur": {"length": 0.02, "bending_length": 0.03, "carried": 1.0, "lean": 0.6, "bow": 0.2, "clump": 0.3,
                  "knots": 6, "children": 150_000, "guides": 2000, "root_radius": 3.5e-4, "noise": 0.001,
                  "shadow": 0.4, "roughness": 0.5,
                  "comb": (0.0, -0.5, -1.0), "colours": _FOX},
    "Long fur": {"length": 0.06, "bending_length": 0.04, "carried": 0.9, "lean": 0.6, "bow": 0.4, "clump": 0.6,
                 "knots": 8, "children": 120_000, "guides": 2000, "root_radius": 3e-4, "noise": 0.003,
                 "shadow": 0.4, "roughness": 0.5,
                 "comb": (0.0, -0.5, -1.0), "colours": _FOX},
    "Grass": {"length": 0.12, "bending_length": 0.15, "carried": 1.0, "lean": 0.0, "disorder": 0.4, "clump": 0.2,
              "knots": 6, "root_radius": 8e-4, "noise": 0.01, "comb": (1.0, 0.0, 0.3), "bow": 0.3,
              "colours": ((0.10, 0.22, 0.05), (0.38, 0.55, 0.16))},
    "Layers": {"solver": HairSolver.LAYERS, "length": 0.05, "length_spread": 0.3, "knots": 6, "lean": 0.6, "bow": 0.0,
               "disorder": 0.3, "fur_stiffness": 1.0, "fur_damping": 0.5, "substeps": 1, "drag": 0.0,
               "children": 100_000, "guides": 3000, "root_radius": 2.5e-4, "comb": (0.0, -0.5, -1.0), "colours": _FOX},
    "Springs on a head": {
        "solver": HairSolver.SPRINGS, "source": HairSource.ELLIPSOID, "radii": (0.5, 0.5, 0.5), "guides": 10_000,
        "children": 0, "knots": 11, "length": 1.0, "length_spread": 0.0, "lean": 0.0, "bow": 0.0, "disorder": 0.0,
        "spring_stiffness": 100.0, "knot_mass": 0.05, "knot_drag": 1.0, "head_stiffness": 1e4, "drag": 0.0,
        "gravity": (0.0, -9.8, 0.0), "substeps": 1, "look": HairLook.KAJIYA, "root_radius": 6e-4, "tip_radius": 4e-4,
        "colours": _BROWN,
    },
}  # fmt: skip

_BASE = HairSettings()


def _values(name: str) -> dict[str, Any]:
    values = dict(_CHANGES[name])
    root, tip = values.pop("colours")
    return values | {"root_colour": root, "tip_colour": tip}


_TOUCHED = {key for name in _CHANGES for key in _values(name)} - {"source", "radii"}

PRESETS: dict[str, dict[str, Any]] = {
    name: {key: getattr(_BASE, key) for key in sorted(_TOUCHED)} | _values(name) for name in _CHANGES
}

PRESET_FIELDS: tuple[str, ...] = tuple(sorted(_TOUCHED))


def with_preset(settings: HairSettings, name: str) -> HairSettings:
    """Returns settings with a preset; raises KeyError for an unknown name."""
    return validated(settings, **PRESETS[name])
