"""Materials of files of other programs, against the formulas of the glTF specification on what the files state."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Sampler
from sinew.sim.assets.raw import ModelError

FIELDS = {
    "emission_image": ("emissiveTexture",),
    "normal_image": ("normalTexture",),
    "occlusion_image": ("occlusionTexture",),
    "surface_image": ("pbrMetallicRoughness", "metallicRoughnessTexture"),
}
SAMPLING = {"wrapS": 10497, "wrapT": 10497, "magFilter": 9729, "minFilter": 9987}


def document_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        data = data[20 : 20 + length]
    return json.loads(data)


def at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key, {})
    return value


def expected_factors(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Base colour, reflectance where it is not metallic, metal and roughness."""
    extensions, pbr = stored.get("extensions", {}), stored.get("pbrMetallicRoughness", {})
    if glossy := extensions.get("KHR_materials_pbrSpecularGlossiness"):
        specular = np.array(glossy.get("specularFactor", [1.0] * 3))
        base = np.array(glossy.get("diffuseFactor", [1.0] * 4)[:3]) * (1.0 - specular.max())
        return base, specular, 0.0, 1.0 - glossy.get("glossinessFactor", 1.0)
    ior = at(extensions, "KHR_materials_ior").get("ior", 1.5)
    own = at(extensions, "KHR_materials_specular")
    tint = np.array(own.get("specularColorFactor", [1.0] * 3))
    dielectric = ((ior - 1.0) / (ior + 1.0)) ** 2 * own.get("specularFactor", 1.0) * tint
    roughness = 1.0 if "KHR_materials_unlit" in extensions else pbr.get("roughnessFactor", 1.0)
    base = np.array(pbr.get("baseColorFactor", [1.0] * 4)[:3])
    return base, np.minimum(dielectric, 1.0), pbr.get("metallicFactor", 1.0), roughness


def check(model: CharacterModel, document: dict[str, Any], path: Path) -> int:
    materials = document.get("materials", [])
    for number, stored in enumerate(materials):
        material = model.materials[number]
        found, place = material.reflectance, f"{path.name} {material.name}"
        base, dielectric, metal, roughness = expected_factors(stored)
        np.testing.assert_allclose(found.base, base, atol=1e-6, err_msg=place)
        np.testing.assert_allclose(found.dielectric, dielectric, atol=1e-6, err_msg=place)
        assert found.roughness == pytest.approx(roughness), place
        # An image that is not drawn, for coordinates of its own, must not make the surface metallic.
        is_mapped = "metallicRoughnessTexture" in at(stored, "pbrMetallicRoughness")
        is_drawn = material.surface_image is not None or not is_mapped
        assert found.metal == pytest.approx(metal if is_drawn else 0.0), place
        strength = at(stored, "extensions", "KHR_materials_emissive_strength").get("emissiveStrength", 1.0)
        emission = np.array(stored.get("emissiveFactor", [0.0] * 3)) * strength
        np.testing.assert_allclose(material.emission, emission, rtol=1e-6, err_msg=place)
        assert material.alpha_mode.name == stored.get("alphaMode", "OPAQUE"), place
        assert material.alpha_cutoff == pytest.approx(stored.get("alphaCutoff", 0.5)), place
        for field, keys in FIELDS.items():
            if (source := material.sampled(field)) is None:
                continue
            texture = document["textures"][at(stored, *keys)["index"]]
            sampler = document["samplers"][texture["sampler"]] if "sampler" in texture else {}
            wanted = Sampler(*(sampler.get(key, default) for key, default in SAMPLING.items()))
            assert source[1] == wanted, place
    return len(materials)


def test_every_material_of_other_programs(assets: Path) -> None:
    files = [path for path in sorted((assets / "gltf").rglob("*")) if path.suffix in (".gltf", ".glb")]
    files += sorted((assets / "vrm").glob("*.vrm"))
    count, refused = 0, []
    for path in files:
        try:
            model = load_model(path)
        except ModelError as error:
            refused.append(str(error))
            continue
        count += check(model, document_of(path), path)
    assert count > 100
    assert all("needs the package" in reason for reason in refused)
