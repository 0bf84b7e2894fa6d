"""Meshes of files as others than characters use them."""

import dataclasses

import numpy as np

from sim.assets.model import CharacterModel, Mesh


def upright_mesh(model: CharacterModel) -> Mesh:
    """Mesh of a file with v = 0 at the bottom of the image, as fabrics are drawn."""
    mesh = model.mesh
    if model.default_texture_origin == "bottom":
        return mesh
    u, v = mesh.texcoords.T
    return dataclasses.replace(mesh, texcoords=np.stack([u, np.float32(1.0) - v], axis=1))
